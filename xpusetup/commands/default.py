"""Which build is meant where none is named: the one that is there, if it is the only one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xpusetup.commands.workspace import load_settings, open_workspace, profile_names, roots_folder
from xpusetup.effects import files

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.commands.workspace import Where, Workspace

ONLY = "the only build here"


def open_built(where: Where) -> Workspace:
    """Open the workspace of what is built: where nothing is named and just one shipped profile is built, that one."""
    settings = load_settings()
    if where.profile or where.root or where.name or where.rev or settings.profile:
        return open_workspace(where)
    built = _built(roots_folder(settings))
    if len(built) != 1:
        return open_workspace(where)
    return replace(open_workspace(replace(where, profile=built[0])), chosen_by=ONLY)


def _built(parent: Path) -> list[str]:
    return [name for name in profile_names() if files.read_text(parent / name / "profile.lock.json") is not None]
