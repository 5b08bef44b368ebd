"""What the system answered about a file: the true cause in plain words, and what mends it."""

from __future__ import annotations

import errno
import os
import shlex
from pathlib import Path
from typing import NamedTuple

from xpusetup.effects.room import read_room
from xpusetup.errors import NotReadyError, UsageError, WorkFailedError, XpuError

FULL = {errno.ENOSPC, errno.EDQUOT}
ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG}
"""What is answered where there can be no such file."""
ELSEWHERE = "choose another place: --root DIR (or XPUSETUP_ROOT)"
SILENT = (errno.EIO, errno.ESTALE, errno.ENODEV, errno.ENXIO, errno.ENOTCONN, errno.EHOSTDOWN, errno.EREMOTEIO)
"""What a broken disk or a network file system that has gone answers."""
PLAIN = {
    errno.ENOSPC: f"free space or {ELSEWHERE}",
    errno.EDQUOT: f"free space or {ELSEWHERE}",
    errno.EROFS: ELSEWHERE,
    errno.EISDIR: "name a file, not a folder",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EMFILE: "allow more open files in this shell: ulimit -n 4096",
    errno.ENFILE: "end what holds many files open: the whole machine has no more",
    errno.EFBIG: "allow larger files in this shell: ulimit -f unlimited",
    errno.ENOMEM: "free memory: another program took what was left",
    **dict.fromkeys(SILENT, "look at the disk or the network file system (dmesg | tail), then the same command"),
}
"""What mends an answer, whatever the place."""


class Fault(NamedTuple):
    """Why something could not be done, what mends it, and whether that is a state of the machine."""

    why: str
    fix: str
    of_machine: bool = True


def find_fault(error: OSError, path: Path, *, writing: bool) -> Fault:
    """Say why a file could not be written or read; the folders on the way to it are looked at."""
    says, code = error.strerror or str(error), error.errno
    room = read_room(path) if code in FULL else None
    if code in {errno.EACCES, errno.EPERM}:
        return _closed(says, path, writing=writing)
    if code in {errno.ENOTDIR, errno.EEXIST} and (way := _in_the_way(path)):
        moved = shlex.join(("mv", str(way), f"{way}.old"))
        return Fault(f"{way} is a file, not a folder", f"choose another place, or move it away: {moved}")
    if code == errno.ENOENT and not _is_there(path.parent):
        return Fault(f"there is no folder {path.parent}", f"make it: {shlex.join(('mkdir', '-p', str(path.parent)))}")
    if code == errno.ENOENT and writing:
        return Fault(says, ELSEWHERE)  # as below /proc
    if code in {errno.ELOOP, errno.EBUSY, errno.ETXTBSY}:
        look = ("fuser", "-v") if code != errno.ELOOP else ("ls", "-l")
        return Fault(says, f"look at it: {shlex.join((*look, str(path)))}")
    return _plain(error, f" ({room})" if room else "")


def _plain(error: OSError, more: str = "") -> Fault:
    known = PLAIN.get(error.errno or 0)
    fix = known or "the same command with -v says where in the program this happened"
    return Fault(f"{error.strerror or error}{more}", fix, of_machine=known is not None)


def _closed(says: str, path: Path, *, writing: bool) -> Fault:
    """Say who may: of a file that is there its own mode counts for a reader, that of its folder for a writer."""
    there = next((place for place in (path, *path.parents) if _is_there(place)), path)
    place = there.parent if writing and there == path and not path.is_dir() else there
    look = shlex.join(("ls", "-ld", str(place)))
    return Fault(says, f"see who may: {look}; then {ELSEWHERE}" if writing else f"see who may: {look}")


def _is_there(place: Path) -> bool:
    try:
        place.lstat()
    except OSError:
        return False
    return True


def _in_the_way(path: Path) -> Path | None:
    """Give the file that stands where a folder has to be."""
    there = next((place for place in (path, *path.parents) if _is_there(place)), None)
    return there if there and not there.is_dir() else None


def cannot_write(path: Path, error: OSError) -> NotReadyError:
    """Say why a place can't be written to, and what to do."""
    fault = find_fault(error, path, writing=True)
    return NotReadyError(f"cannot write {path}: {fault.why}", fix=fault.fix)


def cannot_read(path: Path, error: OSError) -> UsageError:
    """Say why a file that is there can't be read, and what to do."""
    fault = find_fault(error, path, writing=False)
    return UsageError(f"cannot read {path}: {fault.why}", fix=fault.fix)


def unforeseen(error: OSError) -> XpuError:
    """Say what an answer means that nothing in the program expected: the machine is not ready, or the work failed."""
    named = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes | os.PathLike) else ""
    fault = find_fault(error, Path(named), writing=False) if named else _plain(error)
    kind = NotReadyError if fault.of_machine else WorkFailedError
    return kind(f"{named}: {fault.why}" if named else fault.why, fix=fault.fix)
