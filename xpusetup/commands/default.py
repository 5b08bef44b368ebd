"""Which build is meant where none is named: the one that is there, if it is the only one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xpusetup.commands.knowledge import profile_names
from xpusetup.commands.workspace import load_settings, open_workspace, roots_folder
from xpusetup.effects.root import find_roots, read_lock
from xpusetup.refs import plain_name

if TYPE_CHECKING:
    from xpusetup.commands.places import Where
    from xpusetup.commands.workspace import Workspace

ONLY = "the only build here"


def open_built(where: Where) -> Workspace:
    """Open the workspace of what is built: where nothing is named and just one build is here, that one."""
    settings = load_settings()
    if where.profile or where.root or where.name or where.rev or settings.profile:
        return open_workspace(where)
    built = [root.path.name for root in find_roots(roots_folder(settings)) if read_lock(root)]
    if len(built) != 1:
        return open_workspace(where)
    shipped = next((name for name in profile_names() if built[0] in {name, plain_name(name)}), "")
    named = replace(where, profile=shipped) if shipped else replace(where, name=built[0])
    return replace(open_workspace(named), chosen_by=ONLY)
