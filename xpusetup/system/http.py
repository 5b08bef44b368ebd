"""What package indexes say, and one file from an address, resumed where it was cut off."""

import errno
import json
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xpusetup.base.errors import NotReadyError
from xpusetup.base.text import render_size
from xpusetup.system import files
from xpusetup.system.files import FULL, cannot_write, make_folder, read_text, write_text
from xpusetup.system.process import run_process

# What package indexes say: asked by pip, with all its settings.


HELPER = "helpers/ask_index.py"
TIMEOUT_S = 600.0
"""Seconds for all the names of a profile: most answers come in less than one."""


@dataclass(frozen=True)
class PinHashes:
    """The hashes by pin, and why there are none, where pip could not be asked."""

    hashes: Mapping[str, list[str]] = field(default_factory=dict)
    why: str = ""


def read_hashes(pins: Sequence[str], indexes: Sequence[str], env: Mapping[str, str]) -> PinHashes:
    """Ask the indexes for the hashes of all files of some pins."""
    text, why = _ask("hashes", pins, indexes, env)
    return PinHashes(json.loads(text) if text else {}, why)


def _ask(what: str, pins: Sequence[str], indexes: Sequence[str], env: Mapping[str, str]) -> tuple[str, str]:
    """Run the helper with the first interpreter here that has a pip; give its JSON, or why there is none."""
    words = [word for index in indexes for word in ("--index", index)]
    why = ""
    for python in (sys.executable, "python3"):
        command = (python, "-B", str(files.package_file(HELPER)), *words, what, *pins)
        done = run_process(command, seconds=TIMEOUT_S, env=dict(env))
        if done.code == 0:
            return done.out.strip().splitlines()[-1], ""
        lines = [line.strip() for line in done.err.strip().splitlines() if line.strip()]
        why = why or next((line for line in lines if line.startswith("xpusetup: ")), done.why or "pip did not answer")
    return "", why.removeprefix("xpusetup: ")


BLOCK = 1 << 20
DOWNLOAD_TIMEOUT_S = 60
TRIES = 5
PAUSE = 1.0
"""Seconds; after each try that brought nothing, one more of them."""
PARTIAL, NOTHING_MORE, SERVER_FAILS = 206, 416, 500
PASSING = {408, 421, 425, 429}
"""Answers below 500 that another try may change: too slow, another server, too early, too often."""
LOCAL = FULL | {errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG, errno.EIO, errno.EISDIR}
"""What this machine answers when it is written to."""


def download(address: str, to: Path, say: Callable[[str], None]) -> None:
    """Fetch a file unless it is there.

    Raises NotReadyError for what the server refuses, and after several tries in which nothing more came.
    """
    from http.client import HTTPException  # noqa: PLC0415 - slow to import, and seldom needed

    make_folder(to.parent)
    part = to.with_name(f"{to.name}.part")
    tries, most = 0, _size(part)
    while not to.exists():
        try:
            _receive(address, part, say)
            part.replace(to)
            _mark(part).unlink(missing_ok=True)
        except (OSError, EOFError, HTTPException) as error:
            getattr(error, "close", int)()  # an answer of the server is a file as well
            why = _judge(error, address, part)
            tries, most = 0 if _size(part) > most else tries + 1, max(most, _size(part))
            time.sleep(PAUSE * tries)
        if tries == TRIES:
            fix = "look at the network and the proxy; the same command goes on where it was cut off"
            raise NotReadyError(f"cannot get {address}: {why}", fix=fix)


def _judge(error: Exception, address: str, part: Path) -> str:
    """Say why a try failed. Raises NotReadyError where another one would fail as well."""
    code, reason = getattr(error, "code", 0), getattr(error, "reason", "")
    cause = reason if isinstance(reason, OSError) else error
    if isinstance(cause, OSError) and cause.errno in LOCAL:
        raise cannot_write(part, cause) from error
    if code == NOTHING_MORE:  # all of it had come, or the file is another one now
        part.unlink(missing_ok=True)
    elif code and code < SERVER_FAILS and code not in PASSING:
        whole = part.with_name(part.name.removesuffix(".part"))
        fix = f"the network is there, the file is not for us: fetch it by hand, and put it at {whole}"
        raise NotReadyError(f"cannot get {address}: the server says {code} {reason}", fix=fix)
    return str(error if code else reason or error)


def _receive(address: str, part: Path, say: Callable[[str], None]) -> None:
    import urllib.request  # noqa: PLC0415 - slow to import, and seldom needed

    there, mark = _size(part), read_text(_mark(part)) or ""
    ranged = {"Range": f"bytes={there}-", "If-Range": mark} if there and mark else {}
    asked = urllib.request.Request(address, headers=ranged)  # noqa: S310
    with urllib.request.urlopen(asked, timeout=DOWNLOAD_TIMEOUT_S) as answer:  # noqa: S310 - the address is our own data's
        begins = re.match(r"bytes (\d+)-", answer.headers.get("Content-Range") or "")
        going_on = answer.status == PARTIAL and begins is not None and int(begins[1]) == there
        if answer.status == PARTIAL and not going_on:
            part.unlink(missing_ok=True)
            raise EOFError(f"the server went on at another place than byte {there}")
        whole = int(answer.headers.get("Content-Length") or 0) + (there if going_on else 0)
        already = f", {render_size(there)} of it there" if going_on else ""
        say(f"{address.rpartition('/')[2]}: {render_size(whole)}{already}")
        if not going_on:
            part.unlink(missing_ok=True)  # never old bytes beside the mark of the new file
            tag = answer.headers.get("ETag") or ""  # a strong one names this version for certain, else its date does
            strong = tag and not tag.startswith("W/")
            write_text(_mark(part), tag if strong else answer.headers.get("Last-Modified") or "")
        with part.open("ab") as stream:
            for block in iter(lambda: answer.read(BLOCK), b""):
                stream.write(block)
    if whole and _size(part) < whole:
        raise EOFError("the connection was cut")


def _mark(part: Path) -> Path:
    """Give the file that says which version of a file the part is of, as its server names it."""
    return part.with_name(f"{part.name}.of")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
