"""build --bundle: a bundle in place of the network, and a word on each step that asked for the network all the same."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.bundles.contents import find_lacking, make_offline
from xpusetup.commands.knowledge import load_profile, profile_names
from xpusetup.commands.places import check_folder
from xpusetup.commands.workspace import open_workspace
from xpusetup.effects import without_network
from xpusetup.effects.bundle_file import hash_head, read_head, unpack
from xpusetup.effects.environment import cache_folder, short_path
from xpusetup.effects.probe_system import read_machine
from xpusetup.effects.process import run_process
from xpusetup.effects.repositories import make_repository
from xpusetup.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from xpusetup.bundles.contents import Bundle
    from xpusetup.commands.places import Where
    from xpusetup.commands.workspace import Workspace
    from xpusetup.model import Request, Step

PATIENCE = 30
SHORT = 16


@dataclass(frozen=True)
class AirGap:
    """What stands for the network: the variables that point git, pip and uv at the bundle, and what takes it away.

    `wrap` is empty where this machine lets nobody take it away.
    """

    bundle: Bundle
    network: dict[str, str]
    wrap: tuple[str, ...]

    def before(self, step: Step) -> tuple[str, ...]:
        """Give the command that runs a step without a network. A device may need more than a namespace has."""
        return () if "device" in step.needs else self.wrap

    def refuse_other_target(self, python: str) -> None:
        """Stop where the wheels are those of another Python. Raises UsageError."""
        made = ".".join(self.bundle.python.split(".")[:2])
        if made != python:
            raise UsageError(f"the bundle holds wheels for Python {made}, and this is {python}", fix=f"--python {made}")


def enter(where: Where, request: Request, file: str, say: Callable[[str], None]) -> tuple[Workspace, AirGap]:
    """Unpack a bundle unless that was done, and open the workspace that it was made for.

    Raises UsageError for a file that is none, or that was made for something else.
    """
    path = Path(file)
    bundle = read_head(path)
    _refuse_other(bundle, request, file)
    folder = check_folder(cache_folder("bundles") / hash_head(path)[:SHORT])
    if not folder.is_dir():
        say(f"unpacking {file} to {short_path(str(folder))}")
    unpack(path, bundle, folder, lambda made: _make_repositories(bundle, made))
    workspace = _open(where, bundle, folder)
    wrap, why = _take_away()
    if why:
        say(f"the network cannot be taken away here ({why}): a download that goes well would not be noticed")
    return workspace, AirGap(bundle, make_offline(bundle, str(folder)), wrap)


def _refuse_other(bundle: Bundle, request: Request, file: str) -> None:
    if (here := read_machine()) != bundle.machine:
        raise UsageError(
            f"{file} was made for {bundle.machine}, and this is {here}", fix="create one on such a machine"
        )
    sources = [part.name for part in bundle.profile.components if part.kind != "skip"]
    lacking = find_lacking(request.only or sources, bundle)
    if lacking:
        only = " ".join(f"--only {name}" for name in bundle.parts)
        raise UsageError(f"{file} holds nothing of {', '.join(lacking)}", fix=f"build what it holds: {only}")


def _make_repositories(bundle: Bundle, folder: Path) -> None:
    for repository in bundle.repositories:
        make_repository(repository, folder)


def _open(where: Where, bundle: Bundle, folder: Path) -> Workspace:
    """Open the workspace of the bundle's profile, pinned as the bundle is."""
    name = where.profile or _name(bundle, folder)
    if load_profile(name) != bundle.base:
        fix = f"leave --profile out, or create a bundle for it: xpusetup bundle create FILE --profile {name}"
        raise UsageError(f"the bundle was made for another {bundle.base.name} than {name} is here", fix=fix)
    revs = where.rev or tuple(f"{part}={ref}" for part, ref in bundle.revs.items())
    workspace = open_workspace(replace(where, profile=name, rev=revs))
    if workspace.revs != bundle.revs:
        given = " ".join(f"--rev {part}={ref}" for part, ref in bundle.revs.items()) or "no revision"
        raise UsageError(f"the bundle was made with {given}", fix="leave --rev out")
    return replace(workspace, profile=bundle.profile, locked=bool(bundle.revs))


def _name(bundle: Bundle, folder: Path) -> str:
    """Give the profile's name where the same one ships with this program, else its file in the bundle."""
    name = bundle.base.name
    shipped = name in profile_names() and load_profile(name) == bundle.base
    return name if shipped else str(folder / bundle.file)


def _take_away() -> tuple[tuple[str, ...], str]:
    """Give the command that runs another without a network, or why there is none."""
    wrap = (sys.executable, "-I", str(without_network.__file__))
    tried = run_process((*wrap, "true"), seconds=PATIENCE)
    if tried.code == 0:
        return wrap, ""
    return (), (tried.err.strip().splitlines() or [tried.why or "it cannot be tried"])[-1]
