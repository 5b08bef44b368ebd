"""One build at a time in a root: a lock whose descriptor the steps inherit, and what outlived a killed build."""

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from xpusetup.base.errors import NotReadyError
from xpusetup.system.files import cannot_write, how_chosen, package_file, read_text
from xpusetup.system.process import ProcessOutput, run_process

# What outlived a build that was killed: processes of its steps, which go on writing into the root.
#
# The lock's descriptor is not enough: Python closes it for what it starts, so that a compiler below a helper
# may live on without it. Every process of a step has a variable that names root and session; a daemon, which
# makes a session of its own, is none of them.


MARK = "XPUSETUP_LOCKED"
SESSION = 2
"""The place of a process's session in /proc/N/stat, after its name and state."""


def find_orphans(root: Path, mark: str = MARK) -> Iterator[int]:
    """Give the processes that belong to a step of a root, or to what another mark names; nobody else may work there."""
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended, or is someone else's
            prefix = os.fsencode(f"{mark}={root} ")
            found = (each for each in (entry / "environ").read_bytes().split(b"\0") if each.startswith(prefix))
            text = next(found, b"").removeprefix(prefix)
            marked = int(text) if text.isdigit() else None
            if marked is not None and marked == _session(entry):
                yield int(entry.name)


def _session(entry: Path) -> int | None:
    """Give a process's session; None for one that has ended and waits for its parent to notice."""
    state, *fields = (entry / "stat").read_text(errors="replace").rpartition(") ")[2].split()
    return None if state == "Z" else int(fields[SESSION])


# One build at a time in a root: a lock whose descriptor the steps inherit.
#
# While a step lives the lock is held, even when the program that started it was killed: a second run waits for
# the orphaned compiler instead of starting another beside it. Where the file system has no flock, a file that
# names its owner serves instead (helpers/lock.sh, whose functions the scripts use too).


PAUSE = 0.2
TIMEOUT_S = 60.0
NO_FLOCK = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}
"""What flock answers where it does not work: NFS without lockd, Lustre without -o flock, some FUSE."""
OWNER = "lock.owner"
WIDTH = 48
"""Bytes of the lock's file, which says which process holds it."""
BOOT = Path("/proc/sys/kernel/random/boot_id")
STARTED = 19
"""The place of a process's start in /proc/N/stat, after its name."""


class BusyError(NotReadyError):
    """Another program of this machine is at work in a root."""


@contextmanager
def hold_lock(path: Path, say: Callable[[str], None]) -> Iterator[int]:
    """Hold the lock of a root and give its descriptor. Raises NotReadyError while another program builds there."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        _acquire(handle, path, say)
        if _owner(handle) is not None:  # who held it last did not let it go
            # for what still writes into the root though no shell of a step is left that holds the lock
            _wait_while(lambda: next(find_orphans(path.parent), None), say)
        _write_owner(handle, path, describe_process(os.getpid()))
        yield handle
        _write_owner(handle, path, "")
    finally:
        os.close(handle)
        if (path.parent / OWNER).exists():
            _call("disown_root", path.parent, os.getpid())


@contextmanager
def hold_file(path: Path) -> Iterator[bool]:
    """Hold a file's lock for a short work, waiting for whoever has it; False where flock does not work."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        yield _wait_for(handle)
    finally:
        os.close(handle)


def _wait_for(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in NO_FLOCK:
            raise
        return False
    return True


def _acquire(handle: int, path: Path, say: Callable[[str], None]) -> None:
    """Take the lock, or the weaker one where the file system has no other."""
    try:
        _wait_while(lambda: _take(handle, path), say)
    except OSError as error:
        if error.errno not in NO_FLOCK:
            raise
        say(f"flock does not work on this file system ({error.strerror}); {path.parent / OWNER} is the lock instead")
        _must("own_root", path.parent, os.getpid())
        _wait_while(lambda: int(found.out) if (found := _call("outlived", path.parent)).code == 0 else None, say)
        return
    if (path.parent / OWNER).exists():
        _must("respect_owner", path.parent)


def _wait_while(outlived: Callable[[], int | None], say: Callable[[str], None]) -> None:
    """Wait as long as there is a process of a step that outlived its program, and say so once."""
    said = False
    while (process := outlived()) is not None:
        if not said:
            say(f"waiting for a step that outlived its xpusetup (process {process})")
            said = True
        time.sleep(PAUSE)


def _take(handle: int, path: Path) -> int | None:
    """Take the lock, or give the process that held it where a step of its own outlived that."""
    with suppress(BlockingIOError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return None
    owner = _owner(handle)
    if owner is None or _lives(owner):
        who = "another build" if owner is None else f"another xpusetup (process {_number(owner)})"
        fix = f"wait until it ends, or build elsewhere: {how_chosen(path.parent)}"
        raise BusyError(f"{who} is at work in {path.parent}", fix=fix)
    return _number(owner)


def _must(function: str, root: Path, *arguments: object) -> None:
    answer = _call(function, root, *arguments)
    if answer.code != 0:
        message, _, fix = answer.err.strip().partition("\n")
        raise NotReadyError(
            message or answer.why or f"{root} cannot be locked", fix=fix or f"build elsewhere: {how_chosen(root)}"
        )


def _call(function: str, root: Path, *arguments: object) -> ProcessOutput:
    """Call a function of the scripts' own lock."""
    words = (function, str(root), *map(str, arguments))
    return run_process(("bash", str(package_file("helpers/lock.sh")), *words), seconds=TIMEOUT_S)


def describe_process(number: int) -> str:
    """Give what tells a process from a later one of its number: its start, and since when this machine runs."""
    boot = (read_text(BOOT) or "").strip()[:8]
    _before, _, fields = (read_text(Path(f"/proc/{number}/stat")) or "").rpartition(") ")
    return f"{number} {fields.split()[STARTED]} {boot}" if fields and not fields.startswith("Z") else ""


def _number(owner: str) -> int:
    return int(owner.partition(" ")[0])


def _lives(owner: str) -> bool:
    return describe_process(_number(owner)) == owner


def is_held(path: Path) -> bool:
    """Say whether the program that took a lock still lives. It is not touched, so that no build is disturbed."""
    owner = _parse_owner(read_text(path) or "")
    return owner is not None and _lives(owner)


def is_abandoned(path: Path) -> bool:
    """Say whether who took a lock last was ended before it let it go: by Ctrl-C, a signal, a crash."""
    owner = _parse_owner(read_text(path) or "")
    return owner is not None and not _lives(owner)


def _write_owner(handle: int, path: Path, text: str) -> None:
    """Write over what is there, and never cut it off: so it works on a full disk as well, but for the first time."""
    try:
        os.pwrite(handle, f"{text:<{WIDTH - 1}}\n".encode(), 0)
    except OSError as error:
        raise cannot_write(path, error) from error


def _owner(handle: int) -> str | None:
    return _parse_owner(os.pread(handle, WIDTH, 0).decode(errors="replace"))


def _parse_owner(text: str) -> str | None:
    return text.strip() if text.partition(" ")[0].strip().isdecimal() else None
