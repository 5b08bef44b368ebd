"""What doctor says of one machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.commands.doctor import Diagnosis, DoctorOptions, examine_machine

if TYPE_CHECKING:
    from xpusetup.run.workspace import Where


def diagnose(where: Where, asked: DoctorOptions) -> Diagnosis:
    """Examine one machine."""
    found = examine_machine(where, asked).data
    assert isinstance(found, Diagnosis)
    return found
