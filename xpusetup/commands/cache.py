"""cache: what the program keeps on the disk, how large it is, and what of it can go."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xpusetup.commands.result import Result
from xpusetup.commands.workspace import load_settings, roots_folder
from xpusetup.effects.environment import cache_folder
from xpusetup.effects.store import list_repositories, measure_roots, remove_repository
from xpusetup.errors import UsageError

if TYPE_CHECKING:
    from xpusetup.effects.store import Repository
    from xpusetup.settings import Settings

STORE = "git"
OFF = "off"


def size() -> Result:
    """Say what the git store and the roots of builds take."""
    store, settings = cache_folder(STORE), load_settings()
    repositories = list_repositories(store)
    site = _site_store(settings)
    data = {
        "store": str(store),
        "site": _look_at_site(site) if site else None,
        "repositories": [asdict(one) for one in repositories],
        "bytes": sum(one.bytes for one in repositories),
        "freed": sum(one.bytes for one in repositories if not one.used),
        "roots": [asdict(root) for root in measure_roots(roots_folder(settings))],
    }
    return Result("cache size", data)


def _site_store(settings: Settings) -> Path | None:
    """Give the store of this place, which its settings file names beside one's own."""
    named = settings.network.git_store
    return Path(named).expanduser() if named and named != OFF else None


def _look_at_site(store: Path) -> dict[str, Any]:
    repositories = list_repositories(store)
    return {
        "store": str(store),
        "repositories": [asdict(one) for one in repositories],
        "bytes": sum(one.bytes for one in repositories),
    }


def prune(*, everything: bool, site: bool = False) -> Result:
    """Remove from the git store what no tree uses any more, or all of it; trees keep what they have.

    `site`: from the store of this place instead of one's own. Raises UsageError where it has none.
    """
    store = _site_store(load_settings()) if site else cache_folder(STORE)
    if store is None:
        raise UsageError("the settings file names no git store", fix="leave --site out")
    wanted = [one for one in list_repositories(store) if everything or not one.used]
    done = [one for one in wanted if remove_repository(Path(one.path))]
    removed = {one.path for one in done}
    data = {
        "store": str(store),
        "removed": [asdict(one) for one in done],
        "busy": [asdict(one) for one in wanted if one.path not in removed],
        "freed": _freed(done),
    }
    return Result("cache prune", data)


def _freed(removed: list[Repository]) -> int:
    return sum(one.bytes for one in removed if not one.used)
