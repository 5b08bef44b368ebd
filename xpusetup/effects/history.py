"""What earlier builds of a profile took: read from the root's own journal and from those of the roots beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xpusetup.effects import files
from xpusetup.effects.journal import JOURNAL
from xpusetup.effects.manifest import read_document
from xpusetup.effects.root import Root, read_lock
from xpusetup.estimate import History, merge_histories, parse_journal

if TYPE_CHECKING:
    from pathlib import Path

DISK = "results/disk.json"


def read_history(root: Path, profile: str) -> History:
    """Give what is known of a profile's builds here; the root's own come first."""
    beside = sorted(path.parent for path in root.parent.glob(f"*/{JOURNAL}")) if root.parent.is_dir() else []
    others = [path for path in beside if path != root and _builds(path, profile)]
    return merge_histories([_read_root(path) for path in (root, *others)])


def _builds(path: Path, profile: str) -> bool:
    lock = read_lock(Root(path)) or {}
    return bool(lock.get("profile", {}).get("name") == profile)


def _read_root(path: Path) -> History:
    disk = read_document(path / DISK).get("bytes")
    return replace(parse_journal(files.read_text(path / JOURNAL) or ""), disk=disk if isinstance(disk, int) else None)
