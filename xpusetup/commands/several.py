"""status of a folder that holds several builds, as those of a cluster: one row for each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from xpusetup.commands.replaced import find_altered_steps
from xpusetup.commands.result import Result
from xpusetup.effects import files
from xpusetup.effects.manifest import list_wheels, read_document, read_manifest
from xpusetup.effects.root import find_damage, read_lock, read_stamps
from xpusetup.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.effects.root import Root

COLLECTED = "results"
"""The folder beside roots in which a cluster's jobs put copies of what they made."""


def status_of_several(folder: str, roots: Sequence[Root], *, check: bool = False) -> Result:
    """Say of each root how far it is, what it made and whether that was verified."""
    rows = [row for root in roots if root.path.name != COLLECTED and (row := _row(root, check=check))]
    bad = any(row["failed"] or row["damaged"] or row["verified"] is False for row in rows)
    return Result(
        "status", {"root": str(Path(folder).absolute()), "builds": rows, "checked": check}, code=1 if bad else 0
    )


def _row(root: Root, *, check: bool) -> dict[str, Any]:
    """Describe a root from its files alone: it may be at work on another machine."""
    lock = read_lock(root)
    if lock is None:
        return {}
    manifest, stamps = read_manifest(root), read_stamps(root)
    steps = [path.stem for path in (root / "steps").glob("*.sh")]
    made_by = "install" if "wheels.install" in steps else "build"
    wheels = list_wheels(root, Profile.model_validate(lock["profile"]), made_by)
    damaged = {**(find_altered_steps(root) if check else {}), **find_damage(root, check=check)}
    return {
        "name": root.path.name,
        "profile": lock["profile"]["name"],
        "python": lock["target"]["python_version"],
        "arch": lock["target"]["arch"],
        "steps": len(steps),
        "done": len(stamps.keys() & set(steps)),
        "failed": (files.read_text(root / "failed") or "").strip() or manifest.get("failed"),
        "damaged": damaged,
        "wheels": [{"name": wheel.name, "version": wheel.version, "sha256": wheel.sha256} for wheel in wheels],
        "verified": None if damaged else _verified(root, "verify.smoke" in stamps),
    }


def _verified(root: Root, stamped: bool) -> bool | None:
    """Say what the last verification proved; one whose step did not end well has failed, if it said anything."""
    said = read_document(root / "results/verify.json").get("verified")
    return said if said is None or stamped else False
