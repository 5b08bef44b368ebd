"""Files: read as text, written whole through a temporary name; and the room that is left for them."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import os
import shlex
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from xpusetup.base.errors import NotReadyError, UsageError, WorkFailedError, XpuError
from xpusetup.base.text import render_size
from xpusetup.system.environment import cache_folder, config_folder, from_home, is_adrift

# What room places have left, so that a full one is said by name.


FULL_BELOW = 1 << 20
"""A file system with fewer bytes left counts as full: no step can do anything with them."""


@dataclass(frozen=True, kw_only=True)
class FreeSpace:
    """A file system: where it is mounted, the bytes that are left and all of them, the files that it still takes."""

    path: str
    free: int
    total: int
    files: int | None

    @property
    def full(self) -> bool:
        """Say whether nothing more can be written; what has no size at all, as /proc, is no disk."""
        return self.total > 0 and (self.free < FULL_BELOW or self.files == 0)

    def __str__(self) -> str:
        if self.files == 0:
            return f"{self.path} takes no more files"
        return f"{self.path} has {render_size(self.free)} of {render_size(self.total)} left"


def read_free_space(place: Path) -> FreeSpace | None:
    """Look at the file system that a place lies on, or will; None where it cannot be asked."""
    try:
        there = next(folder for folder in (place, *place.parents) if folder.exists()).resolve()
        status, device = os.statvfs(there), there.stat().st_dev
        above = (folder for folder in (there, *there.parents) if folder.parent.stat().st_dev != device)
        mount = next(above, Path(there.anchor))
    except (OSError, StopIteration):
        return None
    files = status.f_favail if status.f_files else None  # btrfs and others count none
    unit = status.f_frsize
    return FreeSpace(path=str(mount), free=status.f_bavail * unit, total=status.f_blocks * unit, files=files)


def read_free_spaces(places: Iterable[Path]) -> list[FreeSpace]:
    """Look at the file systems of several places, each once."""
    rooms = {room.path: room for place in places if (room := read_free_space(place))}
    return list(rooms.values())


# Reads below /, or below a folder that stands for it (XPUSETUP_SYSROOT: tests, support).


@dataclass(frozen=True)
class Sysroot:
    """What stands for /; the text is empty for the machine itself."""

    text: str = ""

    @classmethod
    def from_environment(cls) -> Sysroot:
        return cls(os.environ.get("XPUSETUP_SYSROOT", "").rstrip("/"))

    def path(self, name: str) -> Path:
        return Path(f"{self.text}{name}")

    def read(self, name: str) -> str | None:
        """Read a small file; None where there is none that may be read."""
        return read_text(self.path(name))

    def listing(self, name: str) -> list[Path]:
        """List a folder in order; empty where there is none that may be read."""
        try:
            return sorted(self.path(name).iterdir())
        except OSError:
            return []


# What chose a place: the option, variable or argument by which advice says how to choose another.


_CHOSEN: dict[Path, str] = {}
OF_ROOTS = "--root DIR (or XPUSETUP_ROOT)"


@contextmanager
def places_of(chosen: Mapping[Path, str]) -> Iterator[None]:
    """Remember, while a command is at work, by what it was told of its places."""
    for path, how in chosen.items():
        note_place(path, how)
    try:
        yield
    finally:
        _CHOSEN.clear()


def note_place(path: Path, how: str) -> Path:
    """Remember by what a file or folder was chosen, as a person would choose another: --out DIR."""
    _CHOSEN[Path(os.path.abspath(path))] = how  # noqa: PTH100 - of links too what was named
    return path


def how_chosen(path: Path) -> str:
    """Say how another place is chosen in place of this: by what chose it, or the nearest folder above it."""
    ours = {cache_folder(""): "export XDG_CACHE_HOME=DIR", config_folder(): "export XDG_CONFIG_HOME=DIR"}
    known, here = {**ours, **_CHOSEN}, Path(os.path.abspath(path))  # noqa: PTH100 - same
    return next((known[each] for each in (here, *here.parents) if each in known), OF_ROOTS)


def _elsewhere(path: Path) -> str:
    return f"choose another place: {how_chosen(path)}"


# What the system answered about a file: the true cause in plain words, and what mends it.


FULL = {errno.ENOSPC, errno.EDQUOT}
ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG}
"""What is answered where there can be no such file."""
SILENT = (errno.EIO, errno.ESTALE, errno.ENODEV, errno.ENXIO, errno.ENOTCONN, errno.EHOSTDOWN, errno.EREMOTEIO)
"""What a broken disk or a network file system that has gone answers."""
PLAIN = {
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
    if code in {errno.EACCES, errno.EPERM}:
        return _closed(says, path, writing=writing)
    if code in {errno.ENOTDIR, errno.EEXIST} and (way := _in_the_way(path)):
        moved = shlex.join(("mv", str(way), f"{way}.old"))
        return Fault(f"{way} is a file, not a folder", f"choose another place, or move it away: {moved}")
    if code == errno.ENOENT and not os.path.lexists(path.parent) and not (writing and _was_making(error, path)):
        return Fault(f"there is no folder {path.parent}", f"make it: {shlex.join(('mkdir', '-p', str(path.parent)))}")
    if code in {errno.EROFS, *FULL} or (code == errno.ENOENT and writing):  # as below /proc, or mounted on demand
        room = read_free_space(path) if code in FULL else None
        return Fault(f"{says} ({room})" if room else says, f"{'free space or ' * (code in FULL)}{_elsewhere(path)}")
    if code in {errno.ELOOP, errno.EBUSY, errno.ETXTBSY}:
        look = ("fuser", "-v") if code != errno.ELOOP else ("ls", "-l")
        return Fault(says, f"look at it: {shlex.join((*look, str(path)))}")
    return _plain(error)


def _plain(error: OSError) -> Fault:
    known = PLAIN.get(error.errno or 0)
    fix = known or "the same command with -v says where in the program this happened"
    return Fault(error.strerror or str(error), fix, of_machine=known is not None)


def _was_making(error: OSError, path: Path) -> bool:
    """Say whether what failed was to make a folder above a file: it cannot be made then."""
    return isinstance(error.filename, str | os.PathLike) and Path(error.filename) in path.parents


def _closed(says: str, path: Path, *, writing: bool) -> Fault:
    """Say who may: of a file that is there its own mode counts for a reader, that of its folder for a writer.

    A folder on the way that is closed counts before, also where a link leads through it.
    """
    way = reversed(Path(os.path.realpath(path)).parents)
    if shut := next((place for place in way if place.is_dir() and not os.access(place, os.X_OK)), None):
        says, path = f"{says} ({shut} is closed to you)", shut if not writing else path
    there = next((place for place in (path, *path.parents) if os.path.lexists(place)), path)
    place = there.parent if writing and there == path and not path.is_dir() else there
    look = f"check its permissions: {shlex.join(('ls', '-ld', str(place)))}"
    return Fault(says, f"{look}; then {_elsewhere(path)}" if writing else look)


def _in_the_way(path: Path) -> Path | None:
    """Give the file that stands where a folder has to be."""
    there = next((place for place in (path, *path.parents) if os.path.lexists(place)), None)
    return there if there and not there.is_dir() else None


def cannot_write(path: Path, error: OSError) -> NotReadyError:
    """Say why a place can't be written to, and what to do."""
    fault = find_fault(error, path, writing=True)
    return NotReadyError(f"cannot write {path}: {fault.why}", fix=fault.fix)


def check_output(path: Path) -> None:
    """Make the folder of a file, and refuse one that could not be written, before the work whose result it is to hold.

    Raises NotReadyError.
    """
    there = next((each for each in (path, *path.absolute().parents) if each.exists()), path)
    code = errno.EISDIR if there == path and path.is_dir() else 0 if there.is_dir() or there == path else errno.ENOTDIR
    if code or not os.access(there, os.W_OK):
        code = code or errno.EACCES
        raise cannot_write(path, OSError(code, os.strerror(code)))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_read(path: Path, error: OSError) -> UsageError:
    """Say why a file can't be read, and what to do."""
    if error.errno == errno.ENOENT:
        return UsageError(f"there is no file {path}", fix=f"check its name: {shlex.join(('ls', str(path.parent)))}")
    fault = find_fault(error, path, writing=False)
    return UsageError(f"cannot read {path}: {fault.why}", fix=fault.fix)


def unforeseen(error: OSError) -> XpuError:
    """Say what an answer means that nothing in the program expected: the machine is not ready, or the work failed."""
    named = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes | os.PathLike) else ""
    if not named and error.errno == errno.ENOENT and is_adrift():
        return NotReadyError("the folder in which this was called is gone", fix="cd to one that is there, and again")
    fault = find_fault(error, Path(named), writing=False) if named else _plain(error)
    kind = NotReadyError if fault.of_machine else WorkFailedError
    return kind(f"{named}: {fault.why}" if named else fault.why, fix=fault.fix)


def _is_odd(char: str) -> bool:
    return char.isspace() or not char.isprintable() or char in ":;'\"`\\$&|<>()[]{}*?!#@"


def plain_folder(name: str) -> str:
    """Give the name of a folder with a dash for each character that `check_folder` refuses."""
    return "".join("-" if _is_odd(char) else char for char in name)


def is_open_to_others(path: Path) -> bool:
    """Say whether other users may run a file, or enter a folder; what cannot be looked at counts as open."""
    try:
        return bool(path.stat().st_mode & stat.S_IXOTH)
    except OSError:
        return True


def check_folder(path: Path, *, there: bool = False, how: str = "") -> Path:
    """Refuse a folder that flags or PATH cannot hold; what is `there` has to move. `how`: what chose it."""
    if odd := sorted(set(filter(_is_odd, str(path)))):
        what = "move it to a plainer one, and name that" if there else "choose a plainer one"
        said = f"the folder {str(path)!r} holds {' '.join(map(repr, odd))}, which compiler flags and PATH cannot carry"
        raise UsageError(said, fix=f"{what}: {how or how_chosen(path)}")
    return path


# Files: read as text, written whole through a temporary name; and where the package's own data lies.


PACKAGE = Path(__file__).resolve().parent.parent
LARGEST_INPUT = 64 << 20
"""Bytes; profiles have thousands, facts of a machine a million."""


def package_file(name: str) -> Path:
    """Find a data file in a checkout, an editable install and a wheel. `name` is as in the checkout's top level.

    `profiles/x.toml` lies at the top level for people and inside the package in a wheel.
    """
    for base in (PACKAGE / "_shipped", PACKAGE, PACKAGE.parent):
        if (base / name).exists():
            return base / name
    raise UsageError(f"xpusetup was installed without its file {name}", fix="install it again: pip install xpusetup")


def package_text(name: str) -> str:
    return package_file(name).read_text(encoding="utf-8")


def package_texts(name: str) -> str:
    """Read the TOML files of a data folder, in the order of their names, as one text."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(package_file(name).glob("*.toml")))


def read_bytes(path: Path) -> bytes:
    """Read a file; nothing where there is none or it can't be read."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def read_text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # also where /sys and /proc answer with EIO or EINVAL: the kernel has nothing to say
        return None


def read_input(path: Path) -> str | None:
    """Read a text file that someone named, or that holds settings; None where there is none.

    Raises UsageError for one that is there and can't be read, and for what has no end, or waits for one: a device, a
    pipe. A file in a home that is closed to us is as good as none, as git has it.
    """
    try:
        _must_be_file(path)
        return _read_noted(path).decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        closed = error.errno == errno.EACCES and not os.path.exists(path.parent)  # noqa: PTH110 - Path's may raise here
        if error.errno in ABSENT or closed:
            return None
        raise cannot_read(path, error) from error


@dataclass(frozen=True)
class ReadFile:
    """A file as it was when it was read."""

    path: Path
    status: os.stat_result
    sha256: str


_NOTED: ContextVar[list[ReadFile] | None] = ContextVar("noted", default=None)


@contextmanager
def noting() -> Iterator[list[ReadFile]]:
    """Give the files that are read meanwhile because someone named them, or because they hold settings."""
    seen: list[ReadFile] = []
    token = _NOTED.set(seen)
    try:
        yield seen
    finally:
        _NOTED.reset(token)


def _read_noted(path: Path) -> bytes:
    with path.open("rb") as stream:
        data, status = stream.read(), os.fstat(stream.fileno())
    # what is the program's came with the code that reads it
    own = any(path.is_relative_to(folder) for folder in (PACKAGE, PACKAGE.parent / "profiles"))
    if (seen := _NOTED.get()) is not None and not own:
        seen.append(ReadFile(path.absolute(), status, hashlib.sha256(data).hexdigest()))
    return data


def read_input_bytes(path: Path) -> bytes:
    """Read a file that someone named as it is. Raises UsageError where it cannot be read, or has no end."""
    try:
        _must_be_file(path)
        return _read_noted(path)
    except OSError as error:
        raise cannot_read(path, error) from error


def _must_be_file(path: Path) -> None:
    seen = path.stat()
    if not (stat.S_ISREG(seen.st_mode) or stat.S_ISDIR(seen.st_mode)):
        raise UsageError(f"{path} is no file but a pipe or a device", fix="save it as a file, and name that")
    if seen.st_size > LARGEST_INPUT:
        raise UsageError(f"{path} has {render_size(seen.st_size)}: no such file is that long", fix="check its name")


def write_text(
    path: Path, text: str | bytes, *, executable: bool = False, theirs: bool = False, mode: int | None = None
) -> None:
    """Write a file whole or not at all; one that holds this text already is left alone.

    A pipe, a terminal and what else lies in /dev and /proc is written into and never replaced. `theirs`: somebody's own
    file is changed, so that a link to it stays a link, and its mode and owner stay.
    """
    data = text if isinstance(text, bytes) else text.encode()
    try:
        if _is_open_elsewhere(path):
            with io.BufferedWriter(_open(path, "wb")) as stream:
                stream.write(data)
            return
        if path.is_file() and read_bytes(path) == data:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        place = Path(os.path.realpath(path)) if theirs else path
        before = place.stat() if theirs and place.exists() else None
        _write_whole(place, data, mode or (0o755 if executable else 0o644), before)
    except OSError as error:
        raise cannot_write(path, error) from error


def _is_open_elsewhere(path: Path) -> bool:
    """Say whether what is written goes to somebody who reads it: a pipe, a device, a descriptor by its name."""
    if not path.exists() or path.is_dir():
        return False
    return not path.is_file() or str(path.absolute()).startswith(("/dev/", "/proc/"))


def _open(path: Path, mode: Literal["wb", "ab"]) -> io.FileIO:
    """Open a file; one that is open already as it is, for by its name it would be emptied, or begun anew."""
    number = _find_descriptor(path)
    return io.FileIO(path if number is None else os.dup(number), mode)


def _find_descriptor(path: Path) -> int | None:
    """Give the number of the open file that a name stands for, as /dev/stdout and /dev/fd/9; None for other names."""
    name = {"/dev/stdout": "/dev/fd/1", "/dev/stderr": "/dev/fd/2"}.get(str(path), str(path))
    begins = next((each for each in ("/dev/fd/", "/proc/self/fd/") if name.startswith(each)), "")
    return int(name.removeprefix(begins)) if begins and name.removeprefix(begins).isdigit() else None


def _write_whole(path: Path, data: bytes, mode: int, before: os.stat_result | None = None) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        if before is not None:
            with suppress(OSError):  # only root gives files away
                os.chown(temporary, before.st_uid, before.st_gid)
        Path(temporary).chmod(stat.S_IMODE(before.st_mode) if before is not None else mode)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def remove(path: Path) -> None:
    """Remove a file; one that is not there is no fault."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error


def append_line(path: Path, line: str) -> None:
    """Add one line to a file that only grows, whole or not at all; what others add meanwhile stays."""
    try:
        with _open(path, "ab") as stream:
            with suppress(OSError):  # not every file system has it
                fcntl.flock(stream, fcntl.LOCK_EX)
            _write_all(stream, f"{line}\n".encode())
    except OSError as error:
        raise cannot_write(path, error) from error


def _write_all(stream: io.FileIO, data: bytes) -> None:
    """Write at the end; of what does not fit there nothing stays, unless someone has written behind it."""
    written = stream.write(data) or 0
    if written != len(data):
        end = stream.tell()
        if os.fstat(stream.fileno()).st_size == end:
            stream.truncate(end - written)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def make_folder(path: Path, *, private: bool = False) -> None:
    """Make a folder and those above it; `private`: others may not look into it."""
    try:
        path.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error


def find_wheel(name: str) -> Path:
    """Give the wheel that was named. Raises UsageError for what is none by its name, or not there."""
    path = from_home(name)
    if name and path.is_file() and path.suffix == ".whl":
        return path
    if not name or not path.exists():
        fix = f"see what is there: ls {shlex.quote(str(path.parent))}"
        raise UsageError(f"there is no wheel {name!r}", fix=fix)
    what = "a folder, and no wheel" if path.is_dir() else "no wheel"
    raise UsageError(f"{name} is {what}", fix="name a file that ends with .whl")


def hash_file(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        for block in iter(lambda: stream.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()
