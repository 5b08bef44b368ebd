"""`--only`: what the named components are built on has to be there, and is not built along.

It is there where this root has built it, or where the environment that `--into` names holds its release. What the
profile takes as a ready wheel needs no build: it comes along.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from xpusetup.errors import NotReadyError
from xpusetup.order import find_needed
from xpusetup.request import render_request

if TYPE_CHECKING:
    from xpusetup.commands.workspace import Workspace
    from xpusetup.model import Request
    from xpusetup.profile import SourceComponent, WheelComponent


def find_ready(workspace: Workspace, request: Request) -> Request:
    """Give the request with what is ready in the environment. Raises NotReadyError for what is nowhere."""
    if request.until.endswith(".fetch"):
        return request  # a source is fetched whatever it is built on
    needed = find_needed(workspace.profile.components, request.only)
    parts = [part for part in workspace.profile.components if part.kind != "skip" and part.name in needed]
    lacking = [part for part in parts if not _built(workspace.root, part.name)]
    here = {part.name: _stands(workspace, part) for part in lacking}
    for part in lacking:
        found = here[part.name]
        if (not found and part.kind == "source") or (found and not _same_release(found, part.version)):
            raise _refuse(workspace, request, part, found)
    return replace(request, ready=tuple(name for name, version in here.items() if version))


def _built(root: Path, name: str) -> bool:
    return (root / f"stamps/{name}.install").exists()


def _stands(workspace: Workspace, part: SourceComponent | WheelComponent) -> str:
    """Give the version that the environment of others holds; empty where it holds none, or is ours."""
    if not workspace.layout.adopted:
        return ""
    from xpusetup.effects.distributions import list_versions  # noqa: PLC0415 - an environment of ours needs no look
    from xpusetup.effects.probe_torch import site_packages  # noqa: PLC0415

    name = canonicalize_name(part.distribution)
    found = (list_versions(place) for place in site_packages(Path(workspace.layout.venv)))
    return next((versions[name] for versions in found if name in versions), "")


def _same_release(found: str, wanted: str) -> bool:
    try:
        return Version(found).public == Version(wanted).public
    except InvalidVersion:
        return found == wanted


def _refuse(
    workspace: Workspace, request: Request, part: SourceComponent | WheelComponent, found: str
) -> NotReadyError:
    """Say what is missing, and the whole command that builds it first."""
    only, adopted = " and ".join(request.only), workspace.layout.adopted
    places = f"{workspace.layout.venv} has {found or 'none'}" if adopted else f"{workspace.root} has not built it"
    needed = find_needed(workspace.profile.components, request.only)
    more = replace(request, only=(*needed, *request.only))
    command = f"xpusetup build {workspace.options} {shlex.join(render_request(more))}"
    return NotReadyError(
        f"--only {only} needs {part.distribution} {part.version}, and {places}",
        fix=f"build it first, with the same command: {command}",
    )
