"""A bundle as a file, believed by hash alone, and the git repositories in it."""

import hashlib
import io
import os
import shutil
import stat
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from xpusetup.base.command import Advice
from xpusetup.base.errors import NotReadyError, UsageError, WorkFailedError
from xpusetup.base.text import render_size
from xpusetup.bundle.contents import (
    AGAIN,
    HEAD,
    Bundle,
    BundleMember,
    BundleRepository,
    asked_words,
    create_again,
    has_files,
    is_safe,
    parse_bundle,
    resolve_address,
)
from xpusetup.system.files import cannot_write, hash_file, make_folder
from xpusetup.system.git import Submodule, list_submodules

# Git repositories for bundles: the commits that a fetched tree is made of, a pack for each, repositories of them.


PLAIN = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
BRANCH = "refs/heads/bundle"


@dataclass(frozen=True)
class CheckedOutTree:
    """A commit that lies checked out in a folder, and the addresses that git asks for it."""

    path: Path
    rev: str
    addresses: tuple[str, ...]


def list_trees(path: Path, addresses: tuple[str, ...], sparse: Sequence[str] = ()) -> Iterator[CheckedOutTree]:
    """Give a fetched tree and its submodules, however deep; of a sparse one those in its folders.

    Raises WorkFailedError where one is not there.
    """
    rev = _git(path, "rev-parse", "HEAD^{commit}").strip()
    yield CheckedOutTree(path, rev, addresses)
    for module in submodules_of(path, rev, sparse):
        folder = path / module.path
        if not (folder / ".git").exists():
            raise WorkFailedError(f"{folder} was not fetched", fix="the same command again fetches it")
        told = _git(path, "config", "--default", "", "--get", f"submodule.{module.name}.url").strip()
        known = dict.fromkeys(each for each in (resolve_address(addresses[0], module.address), told) if each)
        yield from list_trees(folder, tuple(known))


def tags_at(path: Path) -> list[str]:
    return _git(path, "tag", "--points-at", "HEAD").split()


def submodules_of(repository: Path, rev: str, sparse: Sequence[str] = ()) -> list[Submodule]:
    """Give the submodules of one commit that a fetch brings; of a sparse tree those in its folders."""
    return [module for module in list_submodules(repository, rev) if has_files(module.path, sparse)]


def write_pack(tree: CheckedOutTree, to: Path) -> None:
    """Pack a commit with all of its tree, without its history; a pack that is there is left alone."""
    if to.exists():
        return
    to.parent.mkdir(parents=True, exist_ok=True)
    objects = _git(tree.path, "rev-list", "--objects", "--no-walk", tree.rev)
    base = to.with_name(f".{to.name}.{os.getpid()}")
    packing = ("pack-objects", "-q", "--threads=1", "--no-reuse-delta", str(base))
    name = _git(tree.path, *packing, text=objects).strip()
    for ending in ("idx", "rev"):
        Path(f"{base}-{name}.{ending}").unlink(missing_ok=True)
    Path(f"{base}-{name}.pack").rename(to)


def make_repository(repository: BundleRepository, folder: Path) -> None:
    """Make the bare repository of which a bundle holds the packs; they lie below the folder, and move into it."""
    place = folder / repository.folder
    place.parent.mkdir(parents=True, exist_ok=True)
    _git(place.parent, "init", "--quiet", "--bare", "--template=", str(place))
    for rev, pack in repository.commits.items():
        moved = place / f"objects/pack/pack-{rev}.pack"
        (folder / pack).rename(moved)
        _git(place, "index-pack", str(moved))
    (place / "shallow").write_text("".join(f"{rev}\n" for rev in sorted(repository.commits)))
    first = next(iter(repository.commits))
    branches = {f"{BRANCH}-{rev[:12]}": rev for rev in repository.commits}
    updates = "".join(f"create {name} {rev}\n" for name, rev in {**branches, **repository.refs, BRANCH: first}.items())
    _git(place, "update-ref", "--stdin", text=updates)
    _git(place, "symbolic-ref", "HEAD", BRANCH)
    # A step fetches the pinned commit by its hash, as from a forge.
    _git(place, "config", "uploadpack.allowAnySHA1InWant", "true")


def find_broken(place: Path, revs: Iterable[str]) -> dict[str, str]:
    """Say of each commit that is not whole in a repository what git says of it."""
    found = {rev: _run(place, ("rev-list", "--objects", "--quiet", f"{rev}^{{commit}}"), "") for rev in revs}
    return {rev: _last(done.stderr) for rev, done in found.items() if done.returncode}


def read_commit_file(place: Path, rev: str, path: str) -> str:
    done = _run(place, ("show", f"{rev}:{path}"), "")
    return "" if done.returncode else done.stdout.decode(errors="replace")


def hash_members(files: dict[str, Path]) -> list[dict[str, object]]:
    """Give name, size and hash of files, as a bundle names its members."""
    rows = sorted(files.items())
    return [{"name": name, "size": path.stat().st_size, "sha256": hash_file(path)} for name, path in rows]


def _git(place: Path, *arguments: str, text: str = "") -> str:
    done = _run(place, arguments, text)
    if done.returncode:
        raise WorkFailedError(f"git {arguments[0]} failed in {place}: {_last(done.stderr)}", fix="look at that folder")
    return done.stdout.decode(errors="surrogateescape")


def _run(place: Path, arguments: tuple[str, ...], text: str) -> subprocess.CompletedProcess[bytes]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    words = ("git", "-C", str(place), *arguments)
    try:
        sent = text.encode(errors="surrogateescape")
        return subprocess.run(words, input=sent, capture_output=True, check=False, env={**kept, **PLAIN})
    except FileNotFoundError as error:
        raise NotReadyError("there is no git on PATH", command="xpusetup doctor --only git.present") from error


def _last(words: bytes) -> str:
    """Give what git died of; after it may come advice."""
    lines = words.decode(errors="replace").strip().splitlines() or ["it gave no message"]
    return next((line.removeprefix("fatal: ") for line in lines if line.startswith("fatal: ")), lines[-1])


# A bundle as a file: a tar whose first member says what all others are; written whole, and believed by hash alone.


BLOCK = 1 << 20
LARGEST_HEAD = 64 << 20


def write_bundle(path: Path, head: str, files: Mapping[str, Path]) -> None:
    size = sum(file.stat().st_size for file in files.values())
    check_place(path)
    if (free := shutil.disk_usage(path.parent).free) < size:
        raise NotReadyError(
            f"{path} takes {render_size(size)}, and its disk has {render_size(free)} left",
            fix="write it elsewhere, or free space there",
        )
    temporary = _draft(path)
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


def check_place(path: Path) -> None:
    """Make the folder of a bundle, and try whether a file can lie there. Raises NotReadyError where none can."""
    make_folder(path.parent)
    try:
        _draft(path).touch()
    except OSError as error:
        raise cannot_write(path, error) from error
    _draft(path).unlink(missing_ok=True)


def _draft(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}")


def _describe(name: str, size: int) -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.size, found.mode, found.mtime = size, 0o644, 0
    return found


@contextmanager
def _open(path: Path, fix: Advice = AGAIN) -> Iterator[tarfile.TarFile]:
    try:
        if not (stat.S_ISREG(mode := path.stat().st_mode) or stat.S_ISDIR(mode)):
            raise UsageError(f"{path} is no file but a pipe or a device", fix="save it as a file, and name that")
        with tarfile.open(path, "r:") as tar:
            yield tar
    except tarfile.TarError as error:
        raise _no_tar(path, error, fix) from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", fix="check its name and permissions") from error


def _no_tar(path: Path, error: tarfile.TarError, fix: Advice) -> UsageError:
    return UsageError(f"{path} is no bundle of xpusetup, or was cut off: {error}", fix=fix)


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
        raise UsageError(f"{path} is no bundle of xpusetup: it does not begin with {HEAD}", fix="check its name")
    return stream.read()


def read_members(path: Path, bundle: Bundle) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Give each member's name and its content in blocks, which the caller has to read to its end.

    Raises UsageError at the first that is not what the bundle says, that it does not name, or that is not there.
    """
    wanted = {member.name: member for member in bundle.members}
    words = asked_words(bundle.base.name, bundle.revs, bundle.takes, bundle.toolkit)
    fix = Advice("copy it again, or create it again: ", create_again(str(path), bundle.purpose, words))
    with _open(path, fix) as tar:
        _head(tar, path)
        while (info := tar.next()) is not None:
            if not is_safe(info.name):
                raise UsageError(f"{path} holds {info.name!r}, which leads out of it", fix="do not use this file")
            member = wanted.pop(info.name, None)
            stream = tar.extractfile(info) if info.isreg() else None
            if member is None or stream is None:
                why = "is no plain file" if stream is None else "stands twice in it, or it does not name it"
                raise UsageError(f"{path}: {info.name} {why}", fix=fix)
            yield info.name, _blocks(stream, member, path, fix)
    if wanted:
        more = f" and {len(wanted) - 1} more" if len(wanted) > 1 else ""
        raise UsageError(f"{path} was cut off: it lacks {min(wanted)}{more}", fix=fix)


def _blocks(stream: IO[bytes], member: BundleMember, path: Path, fix: Advice) -> Iterator[bytes]:
    digest = hashlib.sha256()
    try:
        while block := stream.read(BLOCK):
            digest.update(block)
            yield block
    except tarfile.TarError as error:
        raise _no_tar(path, error, fix) from error
    if digest.hexdigest() != member.sha256:
        raise UsageError(f"{path}: {member.name} is not what it was: its hash differs", fix=fix)


def unpack(path: Path, bundle: Bundle, to: Path, finish: Callable[[Path], None], *, only: str = "") -> None:
    """Unpack a bundle into a folder that appears when all of it is right; one that is there already is taken as it is.

    `finish` is called with the folder before it appears; `only` unpacks the members whose names begin so, and checks
    the others all the same.
    """
    if to.is_dir():
        return
    make_folder(to.parent)
    try:
        with tempfile.TemporaryDirectory(prefix=f".{to.name}.", dir=to.parent, ignore_cleanup_errors=True) as name:
            folder = Path(name)
            for member, blocks in read_members(path, bundle):
                _write(folder / member, blocks, keep=member.startswith(only))
            finish(folder)
            folder.chmod(0o755)
            _appear(folder, to)
    except OSError as error:
        raise cannot_write(to, error) from error


def _appear(folder: Path, to: Path) -> None:
    """Give an unpacked bundle its name. Another process may have unpacked the same one meanwhile."""
    try:
        folder.rename(to)
    except OSError:
        if not to.is_dir():
            raise


def _write(path: Path, blocks: Iterator[bytes], *, keep: bool) -> None:
    if not keep:
        for _block in blocks:
            pass
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as stream:
        stream.writelines(blocks)
