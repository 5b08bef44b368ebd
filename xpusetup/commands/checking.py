"""bundle verify: every hash, every commit with its whole tree, every wheel that the lock asks for."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.bundles.cmake import find_tag
from xpusetup.bundles.contents import PROGRAM, WHEELS
from xpusetup.bundles.submodules import resolve_address
from xpusetup.bundles.wheels import missing_wheels
from xpusetup.commands.bundling import describe, describe_file
from xpusetup.commands.result import Result
from xpusetup.effects.bundle_file import read_head, unpack
from xpusetup.effects.repositories import find_broken, make_repository, read_commit_file, submodules_of
from xpusetup.refs import COMMIT
from xpusetup.values import PACKAGED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xpusetup.bundles.contents import Bundle, Repository
    from xpusetup.profile import SourceComponent


def verify_bundle(file: str) -> Result:
    """Check a bundle against what it says of itself, and that against its lock. Raises UsageError for a damaged one."""
    path = Path(file)
    bundle = read_head(path)
    with tempfile.TemporaryDirectory(prefix="xpusetup-bundle-") as scratch:
        folder = Path(scratch) / "bundle"
        unpack(path, bundle, folder, lambda made: _make_all(bundle, made), only="git/")
        missing = [*_missing_sources(bundle, folder), *_missing_wheels(bundle)]
    data = {**describe(bundle), **describe_file(path), "files": len(bundle.members), "missing": missing}
    return Result("bundle verify", data, code=1 if missing else 0)


def _make_all(bundle: Bundle, folder: Path) -> None:
    for repository in bundle.repositories:
        make_repository(repository, folder)


def _missing_wheels(bundle: Bundle) -> Iterator[str]:
    ready = [
        f"{part.distribution}=={part.version}"
        for part in bundle.profile.components
        if part.kind == "wheel" and part.name in bundle.parts
    ]
    there = bundle.names(WHEELS)
    for pin in missing_wheels([*bundle.pins, *ready], bundle.python, bundle.machine, there):
        yield f"a wheel of {pin} for Python {bundle.python} on {bundle.machine}"
    own = missing_wheels([f"xpusetup=={bundle.created_by}"], bundle.python, bundle.machine, bundle.names(PROGRAM))
    yield from (f"a wheel of {pin}" for pin in own)


def _missing_sources(bundle: Bundle, folder: Path) -> Iterator[str]:
    """Follow the lock from its components to their submodules, in the packs themselves."""
    known = {address: each for each in bundle.repositories for address in each.addresses}
    for part in bundle.profile.components:
        if part.kind != "source" or part.name not in bundle.parts or part.repo.startswith(PACKAGED):
            continue
        rev = part.rev or _ref(known.get(part.repo), f"refs/tags/{part.tag}" if part.tag else part.ref)
        yield from _missing_tree(known, folder, part.repo, rev, part.sparse)
        top = known.get(part.repo)
        for address, pinned in _vendored(part, folder / top.folder if top else None, rev, known):
            yield from _missing_tree(known, folder, address, pinned)


def _ref(repository: Repository | None, name: str) -> str:
    return repository.refs.get(name, "") if repository else ""


def _vendored(
    part: SourceComponent, top: Path | None, rev: str, known: dict[str, Repository]
) -> Iterator[tuple[str, str]]:
    """Give address and commit of what lies in a tree besides; the tree's own file rules, as it does when fetching."""
    for item in part.vendored:
        text = read_commit_file(top, rev, item.pin_file) if top is not None and item.pin_file else ""
        words = [find_tag(text, item.clones)] if item.clones else text.split()
        named = next((word for word in words if COMMIT.fullmatch(word)), "")
        tag = words[0] if item.clones and words[0] and not named else item.tag
        tagged = _ref(known.get(item.repo), f"refs/tags/{tag}")
        yield item.repo, named or (tagged if tag != item.tag else "") or item.rev or tagged


def _missing_tree(
    known: dict[str, Repository], folder: Path, address: str, rev: str, sparse: Sequence[str] = ()
) -> Iterator[str]:
    repository = known.get(address)
    if repository is None or rev not in repository.commits:
        yield f"{address} {rev}".rstrip()
        return
    place = folder / repository.folder
    if broken := find_broken(place, [rev]):
        yield f"{address} {rev} is not whole: {broken[rev]}"
        return
    for module in submodules_of(place, rev, sparse):
        asked = resolve_address(address, module.address)
        inside = next((each for each in (asked, module.address) if each in known), asked)
        yield from _missing_tree(known, folder, inside, module.rev)
