"""What of an environment was replaced since it was made, and by whom: what `status` says of it."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xpusetup.effects.distributions import read_changes, read_distributions
from xpusetup.effects.manifest import read_document
from xpusetup.effects.root import read_stamps
from xpusetup.guard import find_replaced

if TYPE_CHECKING:
    from xpusetup.effects.root import Root
    from xpusetup.guard import Replaced


def list_replaced(root: Root) -> list[dict[str, Any]]:
    """List what was replaced, removed or added against the guard; empty where nothing was ever guarded."""
    found = read_changes(read_document(root / "results/guard.json"), read_stamps(root).values())
    if found is None or not found[1]:
        return []
    guard, changes = found
    return [_row(each) for each in find_replaced(changes, read_distributions(Path(guard.packages)))]


def _row(each: Replaced) -> dict[str, Any]:
    when = datetime.fromtimestamp(each.when).astimezone().isoformat(timespec="seconds") if each.when else None
    return {**asdict(each), "when": when}
