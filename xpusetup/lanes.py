"""Two lanes: which steps may run beside each other, and which of a plan may start now.

A step that needs the network is of the network lane, any other of the work lane; each lane holds one step at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from xpusetup.model import Step

Lane = Literal["network", "work"]


def lane_of(step: Step) -> Lane:
    """Give the lane that a step runs in."""
    return "network" if "network" in step.needs else "work"


def make_startable(steps: Sequence[Step], *, done: Collection[str], running: Collection[str]) -> tuple[Step, ...]:
    """Give the steps that may start now, in the order of the plan; `done` and `running` are ids.

    A step may start when all it comes after is done, and no step at work or chosen before it stands in its way.
    """
    at_work = [step for step in steps if step.id in running]
    chosen: list[Step] = []
    for step in steps:
        waits = step.id not in done and step.id not in running and set(step.after) <= set(done)
        if waits and not any(exclude(step, other) for other in (*at_work, *chosen)):
            chosen.append(step)
    return tuple(chosen)


def exclude(one: Step, other: Step) -> bool:
    """Say whether two steps must not run at once: they share a lane or a lock, or one changes what the other reads."""
    shared = lane_of(one) == lane_of(other) or bool(set(one.locks) & set(other.locks))
    return shared or _disturbs(one, other) or _disturbs(other, one)


def _disturbs(writer: Step, reader: Step) -> bool:
    # a compiler looks for headers and packages in the environment: an installation beside it would decide by chance
    return "venv" in writer.locks and "compiler" in reader.needs
