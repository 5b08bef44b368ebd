"""Objects that were compiled before, found by all that decides their bytes.

A cache that stands before the compiler sees the text of one pass, and gives an old object where a header changes that
the other pass includes. Here the key holds the preprocessed texts of both passes, the words, the wheel, g++ and this
driver. What the compiler said is kept with the object, and said again.

XPUSETUP_SYCL_CACHE names the folder, or `off`; XPUSETUP_SYCL_CACHE_SIZE the GiB that it may take, 5 if not said.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from helperlib.output import whole
from helperlib.sycl import passes
from helperlib.sycl.device import NOTED
from helperlib.sycl.device_pass import ask_device

if TYPE_CHECKING:
    from helperlib.sycl.call import Input
    from helperlib.sycl.depend import Notes
    from helperlib.sycl.work import CompileWork

FOLDER, SIZE = "XPUSETUP_SYCL_CACHE", "XPUSETUP_SYCL_CACHE_SIZE"
DEFAULT_GIB = 5.0
GIB = 1 << 30
KEPT = 0.8
"""The part of the size that stays when old objects go."""
READS_FILES = (b".incbin", b"#embed")
"""What brings bytes into an object that no preprocessed text holds."""


def place() -> Path | None:
    """Give the cache's folder; None where there is to be none."""
    told = os.environ.get(FOLDER, "")
    if told in {"off", "0", "none"}:
        return None
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(told or f"{base}/xpusetup/sycl")


def find_key(work: CompileWork, source: Input, words: list[str], notes: Notes) -> str:
    """Give the key of a compile, and leave the lists of included files in the work's folder; empty without a cache."""
    if place() is None:
        return ""
    noted = [notes.kind or "-MD", "-MF", NOTED]
    with ThreadPoolExecutor(1) as pool:
        host = pool.submit(_preprocess, work, source, notes)
        device = ask_device(work, source, [*words, *noted], only_hash=True)
        text = host.result()
    if device["failed"] or not text or any(each in text for each in READS_FILES):
        return ""
    call = work.call
    told = [
        call.stage,
        call.name,
        call.both,
        call.device,
        call.host,
        call.host_options,
        call.host_compiler,
        call.suffix,
    ]
    where = os.getcwd() if any(word.startswith("-g") for word in (*call.both, *call.host_options)) else ""  # noqa: PTH109 - as text
    parts = (
        told,
        where,
        source.word,
        device["hash"],
        work.home.wheels,
        stat_of(work.home.jit),
        _tools(work),
        _driver(),
    )
    return sha256(json.dumps(parts).encode() + text).hexdigest()


def _preprocess(work: CompileWork, source: Input, notes: Notes) -> bytes:
    """Give the preprocessed text of the host pass without the integration header, which follows from the other pass."""
    noted = (notes.kind or "-MD", "-MF", str(work.folder / "host.d"), "-MT", "host")
    command = (*passes.host_command(work.call, source, work.home, None), "-E", *noted)
    done = subprocess.run(command, check=False, capture_output=True, env=passes.environment())
    return b"" if done.returncode else done.stdout


def _tools(work: CompileWork) -> list[str]:
    """Say which g++ and assembler compile."""
    driver = passes.host_driver(work.call)
    return [stat_of(Path(shutil.which(driver) or driver)), *_programs(driver)]


@cache
def _programs(driver: str) -> tuple[str, ...]:
    found = []
    for name in ("cc1plus", "as"):
        words = (driver, f"-print-prog-name={name}")
        told = subprocess.run(words, check=False, capture_output=True, text=True).stdout.strip()
        found.append(stat_of(Path(shutil.which(told) or told)))
    return tuple(found)


@cache
def _driver() -> str:
    """Hash this driver."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return sha256(b"".join(each.read_bytes() for each in files)).hexdigest()


def stat_of(path: Path) -> str:
    """Tell a file from another one at its place, without reading it."""
    try:
        real = path.resolve(strict=True)
        found = real.stat()
    except OSError:
        return str(path)
    return f"{real} {found.st_size} {found.st_mtime_ns}"


def fetch(key: str) -> tuple[Path, str] | None:
    """Give the object of a key and what the compiler said of it."""
    folder = place()
    if not key or folder is None:
        return None
    kept = folder / key[:2] / key
    try:
        said = json.loads(kept.with_suffix(".json").read_text(encoding="utf-8"))["said"]
        os.utime(kept)
    except (OSError, ValueError, KeyError):
        return None
    return kept, str(said)


def keep(key: str, made: Path, said: str) -> None:
    """Keep an object; a cache that cannot be written is passed over."""
    folder = place()
    if not key or folder is None:
        return
    try:
        kept = folder / key[:2] / key
        with whole(kept) as draft:
            shutil.copyfile(made, draft)
        with whole(kept.with_suffix(".json")) as draft:
            draft.write_text(json.dumps({"said": said}), encoding="utf-8")
        if key.startswith("0"):  # one in sixteen
            shrink(folder)
    except OSError:
        return


def shrink(folder: Path) -> None:
    """Take away what was not asked for the longest, where the folder has grown too large."""
    limit = _limit()
    found = sorted((each.stat().st_mtime, each.stat().st_size, each) for each in folder.glob("*/*") if each.is_file())
    total = sum(size for _, size, _ in found)
    if total <= limit:
        return
    for _, size, path in found:
        if total <= limit * KEPT:
            return
        path.unlink(missing_ok=True)
        total -= size


def _limit() -> float:
    try:
        return float(os.environ.get(SIZE) or DEFAULT_GIB) * GIB
    except ValueError:
        return DEFAULT_GIB * GIB
