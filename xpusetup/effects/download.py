"""One file from an address, resumed where it was cut off."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from xpusetup.effects.faults import FULL, cannot_write
from xpusetup.effects.files import make_folder
from xpusetup.errors import NotReadyError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BLOCK = 1 << 20
PATIENCE = 60
TRIES = 5
PAUSE = 1.0
"""Seconds; after each try that brought nothing, one more of them."""
PARTIAL, NOTHING_MORE = 206, 416


def download(address: str, to: Path, say: Callable[[str], None]) -> None:
    """Fetch a file unless it is there. Raises NotReadyError after several tries in which nothing more came."""
    from http.client import HTTPException  # noqa: PLC0415 - slow to import, and seldom needed

    make_folder(to.parent)
    part = to.with_name(f"{to.name}.part")
    why, tries = "", 0
    while not to.exists():
        before = _size(part)
        try:
            _receive(address, part, say)
            part.replace(to)
        except (OSError, EOFError, HTTPException) as error:
            if getattr(error, "errno", None) in FULL:
                raise cannot_write(part, error) from error  # type: ignore[arg-type]  # an OSError has such a number
            code = getattr(error, "code", 0)
            why = str(error if code else getattr(error, "reason", "") or error)
            tries = 0 if _size(part) > before else tries + 1
            if code == NOTHING_MORE:  # all of it had come, or the file is another one now
                part.unlink(missing_ok=True)
            time.sleep(PAUSE * tries)
        if tries == TRIES:
            fix = "look at the network and the proxy; the same command goes on where it was cut off"
            raise NotReadyError(f"cannot get {address}: {why}", fix=fix)


def _receive(address: str, part: Path, say: Callable[[str], None]) -> None:
    import urllib.request  # noqa: PLC0415 - slow to import, and seldom needed

    there = _size(part)
    asked = urllib.request.Request(address, headers={"Range": f"bytes={there}-"} if there else {})  # noqa: S310
    with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:  # noqa: S310 - the address is our own data's
        going_on = answer.status == PARTIAL
        whole = int(answer.headers.get("Content-Length") or 0) + (there if going_on else 0)
        say(f"{address.rpartition('/')[2]}: {whole >> 20} MiB{f', {there >> 20} MiB of it there' if going_on else ''}")
        with part.open("ab" if going_on else "wb") as stream:
            for block in iter(lambda: answer.read(BLOCK), b""):
                stream.write(block)
    if whole and _size(part) < whole:
        raise EOFError("the connection was cut")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
