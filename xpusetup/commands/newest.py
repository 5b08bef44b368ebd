"""The newest release that fits this machine: what is meant where no profile is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.commands.knowledge import known, shipped
from xpusetup.errors import UsageError
from xpusetup.way.solve import choose_release

if TYPE_CHECKING:
    from xpusetup.facts import Facts, Section

SEEN: tuple[Section, ...] = ("hardware",)
"""Read from files within a few milliseconds; no process is started for a default."""


def newest_that_fits(facts: Facts | None = None) -> tuple[str, str]:
    """Give the newest release that the GPUs of these facts, or of this machine, can use, and why it is that one."""
    name, why = choose_release(facts or _seen_here(), shipped(), known())
    if not name:
        raise UsageError("no profile of a release ships with this program", fix="name one: --profile FILE")
    return name, why


def _seen_here() -> Facts:
    from xpusetup.effects.probe import probe  # noqa: PLC0415 - facts that are read need no probe

    return probe(SEEN)
