"""A bundle as a file: a tar whose first member says what all others are; written whole, and believed by hash alone."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tarfile
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.bundles.contents import HEAD, is_safe, parse_bundle
from xpusetup.effects.faults import cannot_write
from xpusetup.effects.files import make_folder
from xpusetup.errors import NotReadyError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import IO

    from xpusetup.bundles.contents import Bundle, Member

BLOCK = 1 << 20
LARGEST_HEAD = 64 << 20
AGAIN = "copy it again, or create it again: xpusetup bundle create FILE"


def write_bundle(path: Path, head: str, files: Mapping[str, Path]) -> None:
    """Write a bundle: the same bytes for the same contents."""
    size = sum(file.stat().st_size for file in files.values())
    make_folder(path.parent)
    if (free := shutil.disk_usage(path.parent).free) < size:
        raise NotReadyError(
            f"{path} takes {size} bytes, and there are {free} left", fix="write it elsewhere, or free space there"
        )
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with tarfile.open(temporary, "w", format=tarfile.PAX_FORMAT) as tar:
            text = head.encode()
            tar.addfile(_describe(HEAD, len(text)), io.BytesIO(text))
            for name in sorted(files):
                with files[name].open("rb") as stream:
                    tar.addfile(_describe(name, files[name].stat().st_size), stream)
        temporary.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def _describe(name: str, size: int) -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.size, found.mode, found.mtime = size, 0o644, 0
    return found


@contextmanager
def _open(path: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(path, "r:") as tar:
            yield tar
    except tarfile.TarError as error:
        raise _no_tar(path, error) from error
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", fix="look at its name and its mode") from error


def _no_tar(path: Path, error: tarfile.TarError) -> UsageError:
    return UsageError(f"{path} is no bundle of xpusetup, or was cut off: {error}", fix=AGAIN)


def read_head(path: Path) -> Bundle:
    """Read what a bundle says of itself. Raises UsageError for a file that is none."""
    with _open(path) as tar:
        return parse_bundle(_head(tar, path), str(path))


def hash_head(path: Path) -> str:
    """Give the hash of what a bundle says of itself, hence of all that it holds."""
    with _open(path) as tar:
        return hashlib.sha256(_head(tar, path)).hexdigest()


def _head(tar: tarfile.TarFile, path: Path) -> bytes:
    first = tar.next()
    stream = tar.extractfile(first) if first is not None and first.isreg() and first.name == HEAD else None
    if stream is None or first is None or first.size > LARGEST_HEAD:
        raise UsageError(f"{path} is no bundle of xpusetup: it does not begin with {HEAD}", fix="look at its name")
    return stream.read()


def read_members(path: Path, bundle: Bundle) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Give each member's name and its content in blocks, which the caller has to read to its end.

    Raises UsageError at the first that is not what the bundle says, that it does not name, or that is not there.
    """
    wanted = {member.name: member for member in bundle.members}
    with _open(path) as tar:
        _head(tar, path)
        while (info := tar.next()) is not None:
            if not is_safe(info.name):
                raise UsageError(f"{path} holds {info.name!r}, which leads out of it", fix="do not use this file")
            member = wanted.pop(info.name, None)
            stream = tar.extractfile(info) if info.isreg() else None
            if member is None or stream is None:
                why = "is no plain file" if stream is None else "stands twice in it, or it does not name it"
                raise UsageError(f"{path}: {info.name} {why}", fix=AGAIN)
            yield info.name, _blocks(stream, member, path)
    if wanted:
        raise UsageError(f"{path} was cut off: it lacks {min(wanted)} and {len(wanted) - 1} more", fix=AGAIN)


def _blocks(stream: IO[bytes], member: Member, path: Path) -> Iterator[bytes]:
    digest = hashlib.sha256()
    try:
        while block := stream.read(BLOCK):
            digest.update(block)
            yield block
    except tarfile.TarError as error:
        raise _no_tar(path, error) from error
    if digest.hexdigest() != member.sha256:
        raise UsageError(f"{path}: {member.name} is not what it was: its hash differs", fix=AGAIN)


def unpack(path: Path, bundle: Bundle, to: Path, finish: Callable[[Path], None], only: str = "") -> None:
    """Unpack a bundle into a folder that appears when all of it is right; one that is there already is taken as it is.

    `finish` is called with the folder before it appears; `only` unpacks the members whose names begin so, and checks
    the others all the same.
    """
    if to.is_dir():
        return
    make_folder(to.parent)
    folder = Path(tempfile.mkdtemp(prefix=f".{to.name}.", dir=to.parent))
    try:
        for name, blocks in read_members(path, bundle):
            _write(folder / name, blocks, keep=name.startswith(only))
        finish(folder)
        folder.chmod(0o755)
        _appear(folder, to)
    except OSError as error:
        raise cannot_write(to, error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write(path: Path, blocks: Iterator[bytes], *, keep: bool) -> None:
    if not keep:
        for _block in blocks:
            pass
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as stream:
        stream.writelines(blocks)


def _appear(folder: Path, to: Path) -> None:
    try:
        folder.rename(to)
    except OSError:  # another process unpacked the same bundle meanwhile
        if not to.is_dir():
            raise
