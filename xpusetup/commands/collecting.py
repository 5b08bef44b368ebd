"""What goes into a bundle, from a root in which everything was fetched."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xpusetup import __version__
from xpusetup.bundles.contents import PROGRAM, TOOLKIT, WHEELS, Bundle, Member
from xpusetup.bundles.wheels import missing_wheels
from xpusetup.effects import files
from xpusetup.effects.manifest import list_wheels
from xpusetup.effects.repositories import hash_members, list_trees, tags_at, write_pack
from xpusetup.effects.scanning import scan_tree
from xpusetup.emit.profile import render_profile
from xpusetup.errors import WorkFailedError
from xpusetup.model import ROOT
from xpusetup.plan.bundle import GATHERED, bundled_parts, bundled_pins
from xpusetup.values import PACKAGED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from xpusetup.bundles.downloads import Download
    from xpusetup.commands.prepare import Prepared
    from xpusetup.commands.workspace import Workspace
    from xpusetup.effects.repositories import Tree
    from xpusetup.profile import SourceComponent


@dataclass
class _Gathered:
    """A repository as its trees are found: the addresses it is asked by, packs by commit, refs by name."""

    folder: str
    addresses: dict[str, None] = field(default_factory=dict)
    commits: dict[str, str] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)


def collect(workspace: Workspace, prepared: Prepared, say: Callable[[str], None]) -> tuple[Bundle, dict[str, Path]]:
    """Give what the bundle says of itself, and its files by name. Raises WorkFailedError where something lacks."""
    place = Path(GATHERED.replace(ROOT, str(prepared.root.path)))
    parts, pins = bundled_parts(prepared.plan), bundled_pins(workspace.profile, prepared.plan)
    sources = [part for part in _sources(workspace) if part.name in parts]
    repositories = _repositories(prepared, sources, place, say)
    say("reading what the sources may download")
    downloads = [item for part in sources for item in scan_tree(_tree(prepared, part), part.name)]
    file = f"profile/{workspace.base.name}.toml"
    files.write_text(place / file, render_profile(workspace.base, "The profile that this bundle was made for."))
    found = {file: place / file, **_packs(repositories, place), **_wheels(workspace, prepared, parts, place)}
    found |= {f"{TOOLKIT}/{path.name}": path for path in sorted((place / TOOLKIT).glob("*.sh"))}
    say(f"hashing {len(found)} files")
    bundle = _describe(workspace, prepared, found, (parts, pins), repositories, downloads)
    if lacking := missing_wheels(pins, bundle.python, bundle.machine, bundle.names(WHEELS)):
        raise WorkFailedError(f"no wheel was gathered of {', '.join(lacking)}", fix="the same command again")
    return bundle, found


def _describe(
    workspace: Workspace,
    prepared: Prepared,
    found: dict[str, Path],
    served: tuple[list[str], list[str]],
    repositories: list[_Gathered],
    downloads: list[Download],
) -> Bundle:
    facts = prepared.facts
    python = facts.python.version if facts and facts.python else ""
    machine = facts.system.machine if facts and facts.system else ""
    toolkit = next((name for name in found if name.startswith(f"{TOOLKIT}/")), "")
    described: list[dict[str, Any]] = [
        {"folder": each.folder, "addresses": list(each.addresses), "commits": each.commits, "refs": each.refs}
        for each in repositories
    ]
    return Bundle.model_validate(
        {
            "schema": 1,
            "created_by": __version__,
            "profile": workspace.profile.model_dump(by_alias=True, mode="json"),
            "base": workspace.base.model_dump(by_alias=True, mode="json"),
            "file": f"profile/{workspace.base.name}.toml",
            "revs": workspace.revs,
            "parts": served[0],
            "pins": served[1],
            "python": python,
            "machine": machine,
            "toolkit": toolkit,
            "repositories": described,
            "members": [Member.model_validate(row).model_dump() for row in hash_members(found)],
            "downloads": [item.model_dump() for item in downloads],
        }
    )


def _sources(workspace: Workspace) -> Iterator[SourceComponent]:
    """Give the components that are fetched by git; what travels with this program is not."""
    for part in workspace.profile.components:
        if part.kind == "source" and not part.repo.startswith(PACKAGED):
            yield part


def _tree(prepared: Prepared, part: SourceComponent) -> Path:
    return Path(prepared.plan.layout.src.replace(ROOT, str(prepared.root.path))) / part.name


def _repositories(
    prepared: Prepared, sources: list[SourceComponent], place: Path, say: Callable[[str], None]
) -> list[_Gathered]:
    """Pack every commit of every tree, submodule and vendored source."""
    found: dict[str, _Gathered] = {}
    for part in sources:
        tree = _tree(prepared, part)
        own = {f"refs/tags/{part.tag}" if part.tag else "", part.ref} - {""}
        for one in list_trees(tree, part.repo, part.sparse):
            _add(found, one, own if one.path == tree else set(), place, say)
        for item in part.vendored:
            for one in list_trees(tree / item.path, item.repo):
                top = one.path == tree / item.path
                tags = tags_at(one.path) if item.clones else [item.tag] if item.tag else []
                _add(found, one, {f"refs/tags/{tag}" for tag in tags if top}, place, say)
    return list(found.values())


def _add(found: dict[str, _Gathered], tree: Tree, refs: set[str], place: Path, say: Callable[[str], None]) -> None:
    address = tree.addresses[0]
    gathered = found.setdefault(address, _Gathered(_folder(address)))
    gathered.addresses.update(dict.fromkeys(tree.addresses))
    gathered.refs.update(dict.fromkeys(sorted(refs), tree.rev))
    name = f"{gathered.folder.removesuffix('.git')}-{tree.rev}.pack"
    say(f"packing {address} {tree.rev[:9]}")
    write_pack(tree, place / name)
    gathered.commits[tree.rev] = name


def _folder(address: str) -> str:
    """Give a folder name that people know, and that no two addresses share."""
    last = re.sub(r"[^A-Za-z0-9._-]", "-", address.rstrip("/").rpartition("/")[2].removesuffix(".git")).lstrip(".-")
    return f"git/{last or 'repository'}-{hashlib.sha256(address.encode()).hexdigest()[:8]}.git"


def _packs(repositories: list[_Gathered], place: Path) -> dict[str, Path]:
    return {name: place / name for each in repositories for name in each.commits.values()}


def _wheels(workspace: Workspace, prepared: Prepared, parts: list[str], place: Path) -> dict[str, Path]:
    """Give the wheels of the pins, the ready ones of the profile, and those of this program."""
    ready = {part.distribution for part in workspace.profile.components if part.kind == "wheel" and part.name in parts}
    taken = [Path(wheel.path) for wheel in list_wheels(prepared.root, workspace.profile) if wheel.name in ready]
    gathered = [*(place / WHEELS).glob("*.whl"), *taken]
    own = (place / PROGRAM).glob("*.whl")
    return {**{f"{WHEELS}/{path.name}": path for path in gathered}, **{f"{PROGRAM}/{path.name}": path for path in own}}
