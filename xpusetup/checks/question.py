"""What a check is asked, and what it may answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from xpusetup.devices import Device
    from xpusetup.facts import Facts, Section
    from xpusetup.gpus import GpuTable
    from xpusetup.model import Goal, Level
    from xpusetup.profile import Profile


@dataclass(frozen=True)
class Question:
    """A machine, what is to be built or run on it, the accelerator that it is for, and the GPUs that are known."""

    facts: Facts
    profile: Profile
    device: Device
    goal: Goal
    gpus: GpuTable | None = None


@dataclass(frozen=True)
class Answer:
    """What a check saw. `words` fill the gaps in the check's text."""

    level: Level
    seen: str
    words: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Check:
    """One check: its id in the catalogue, and the function that answers (None: it does not apply here).

    `reads` are the sections of the facts that the function looks at: what is not read by any check that is asked need
    not be probed. `goals` are those for which it is asked.
    """

    id: str
    ask: Callable[[Question], Answer | None]
    reads: tuple[Section, ...] = ()
    goals: tuple[Goal, ...] = ("build", "run")
