"""What of an environment was replaced since it was made, and by whom: what `status` says of it."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xpusetup.effects.distributions import find_altered, read_changes, read_distributions
from xpusetup.effects.manifest import read_document
from xpusetup.effects.root import read_stamps
from xpusetup.guard import LIBRARIES, find_replaced

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xpusetup.effects.root import Root
    from xpusetup.guard import Replaced
    from xpusetup.keys import Stamp

GUARDED = "results/guard.json"


def list_replaced(root: Root) -> list[dict[str, Any]]:
    """List what was replaced, removed or added against the guard; empty where nothing was ever guarded."""
    found = read_changes(read_document(root / GUARDED), read_stamps(root).values())
    if found is None or not found[1]:
        return []
    guard, changes = found
    return [_row(each) for each in find_replaced(changes, read_distributions(Path(guard.packages)))]


def find_altered_steps(root: Root) -> dict[str, str]:
    """Give the steps whose installed files are no longer as they were installed; every file is hashed."""
    stamps = read_stamps(root)
    altered = find_altered(read_document(root / GUARDED))
    return {_installed_by(record, stamps): why for record, why in reversed(altered.items())}


def _installed_by(record: str, stamps: Mapping[str, Stamp]) -> str:
    named = [name for name, stamp in stamps.items() if any(made.path == record for made in stamp.made)]
    return next(iter([*named, *(name for name in LIBRARIES if name in stamps)]), Path(record).parent.name)


def _row(each: Replaced) -> dict[str, Any]:
    when = datetime.fromtimestamp(each.when).astimezone().isoformat(timespec="seconds") if each.when else None
    return {**asdict(each), "when": when}
