"""install: the published wheels of a profile's release instead of compiling, guarded and verified as a build is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.commands.build import BuildOptions, run_purpose
from xpusetup.commands.purpose import INSTALL
from xpusetup.commands.workspace import open_workspace
from xpusetup.effects.manifest import read_document
from xpusetup.errors import UsageError

if TYPE_CHECKING:
    from xpusetup.commands.places import Where
    from xpusetup.commands.result import Result
    from xpusetup.model import Request


def install(where: Where, request: Request, options: BuildOptions) -> Result:
    """Install what was published, going on where the last run stopped. Raises UsageError where nothing was."""
    workspace = open_workspace(where)
    if workspace.profile.published is None and workspace.profile.installer is None:
        raise UsageError(
            f"{workspace.profile.name} names no published wheels",
            fix=f"build it instead: xpusetup build {workspace.options}",
        )
    result = run_purpose(workspace, request, options, INSTALL)
    told = read_document(workspace.root / "results/installed.json")
    result.data["removed"] = told.get("removed", []) if "wheels.install" in result.data["ran"] else []
    result.data["orphans"] = told.get("orphans", [])
    result.data["tidy"] = told.get("tidy", "")
    return result
