"""What lies in a built environment and was made for another torch: what install, build and status say of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.base.model import Misfit


@dataclass(frozen=True, kw_only=True)
class InstalledMisfit:
    """A distribution that cannot be loaded beside the torch of its environment: why, and the command that mends it."""

    name: str
    version: str
    reason: str
    fix: str


def list_misfits(venv: Path) -> list[InstalledMisfit] | None:
    """Give what does not fit the torch of an environment; None where there is none, or where nobody could look."""
    from xpusetup.machine.probe_fit import find_misfits, site_packages  # noqa: PLC0415 - it looks, so that who plans has no use for it

    places = list(site_packages(venv))
    found = find_misfits(venv, places)
    return [_row(each, venv, places) for each in found] if found is not None else None


def _row(one: Misfit, venv: Path, places: list[Path]) -> InstalledMisfit:
    from xpusetup.machine.fit import mend_command  # noqa: PLC0415 - most environments have no misfit
    from xpusetup.machine.probe_fit import read_version  # noqa: PLC0415 - same
    from xpusetup.run.tables import versions_beside  # noqa: PLC0415 - same

    torch = read_version(places)
    fix = mend_command(one, str(venv / "bin/python"), torch, versions_beside(torch))
    return InstalledMisfit(name=one.name, version=one.version, reason=one.reason, fix=fix)
