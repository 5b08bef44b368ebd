"""The builds of a matrix for `emit`: each a folder that builds as it lies."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xpusetup.aim import make_target
from xpusetup.commands.gate import probe_all
from xpusetup.commands.knowledge import load_profile, target_table
from xpusetup.commands.locking import ensure_locked
from xpusetup.commands.purpose import BUILD, INSTALL
from xpusetup.commands.workspace import open_workspace
from xpusetup.effects.root import helper_files, lock_document
from xpusetup.emit.shell import render_shell
from xpusetup.errors import UsageError
from xpusetup.matrix import Cell, make_places
from xpusetup.model import Layout
from xpusetup.targets import check_targets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xpusetup.commands.places import Where
    from xpusetup.commands.purpose import Purpose
    from xpusetup.commands.workspace import Workspace
    from xpusetup.facts import Facts
    from xpusetup.matrix import Place
    from xpusetup.model import Request

VERSION = re.compile(r"\d+\.\d+")


SOURCES = {"source": BUILD, "wheels": INSTALL}


@dataclass(frozen=True, kw_only=True)
class Axes:
    """What several cells are made of: profiles, versions of Python, lists of device targets; empty for the usual one.

    `source` is a key of SOURCES; cells lie in `folder`. `portable`: they go to another machine, where the site's own
    folders mean nothing.
    """

    profiles: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ()
    archs: tuple[tuple[str, ...], ...] = ()
    source: str = "source"
    folder: str = ""
    portable: bool = True


@dataclass(frozen=True, kw_only=True)
class Cells:
    """The builds of a matrix, and the files of their folders by name below the folder that is written."""

    cells: tuple[Cell, ...]
    files: Mapping[str, str]


def make_cells(where: Where, request: Request, axes: Axes) -> Cells:
    """Make the builds of a matrix. Raises UsageError where one of its pairs is impossible."""
    spaces = _open(where, axes)
    purpose = SOURCES[axes.source]
    for place, space in spaces.items():
        check_targets(space.profile, place.arch, space.settings, target_table())
    facts = probe_all(next(iter(spaces.values())), ("python", "toolkits"))  # what targets are made from
    cells: list[Cell] = []
    texts: dict[str, str] = {}
    for place, space in spaces.items():
        cell, folder = _make_cell(place, space, (request, purpose, facts, axes.portable))
        cells.append(cell)
        texts |= {f"{axes.folder}{cell.name}/{name}": text for name, text in folder.items()}
    return Cells(cells=tuple(cells), files=texts)


def _open(where: Where, axes: Axes) -> dict[Place, Workspace]:
    if axes.source not in SOURCES:
        raise UsageError(f"--from {axes.source!r} means nothing", fix=f"one of {', '.join(SOURCES)}")
    if where.into:
        raise UsageError("--into names an environment of this machine", fix="leave it out: each build makes its own")
    words = axes.profiles or (open_workspace(where).profile.name,)
    named = [(word, load_profile(word)) for word in words]
    places = make_places(named, [_version(text) for text in axes.pythons], axes.archs, target_table())
    return {place: _workspace(where, place, f"{where.root}/{axes.folder}{place.name}") for place in places}


def _workspace(where: Where, place: Place, root: str) -> Workspace:
    own = replace(where, profile=place.word, root=root, python="")
    return ensure_locked(open_workspace(own), lambda _text: None)


def _make_cell(
    place: Place, space: Workspace, how: tuple[Request, Purpose, Facts, bool]
) -> tuple[Cell, dict[str, str]]:
    request, purpose, facts, portable = how
    seen = make_target(space.profile, facts, space.device, replace(request, arch=place.arch), space.settings)
    version = place.python or seen.python_version
    target = replace(seen, python=f"python{version}", python_version=version)  # whatever its place elsewhere
    layout = Layout() if portable else space.layout
    plan = purpose.make(space.profile, request, target, layout)
    folder = {
        **render_shell(plan, device_required=request.verify == "require"),
        **helper_files(space.profile),
        "profile.lock.json": lock_document(space.profile, plan.target, layout, {}),
    }
    return Cell(name=place.name, profile=space.profile, plan=plan), folder


def _version(text: str) -> str:
    if VERSION.fullmatch(text) is None:
        raise UsageError(f"--python {text!r} is no version", fix="as in: --python 3.12 (a path says nothing elsewhere)")
    return text
