"""Two lanes: which steps may run beside each other, and which of a plan may start now.

A step that needs the network is of the network lane, any other of the work lane; each lane holds one step at a time.
"""

from collections.abc import Collection, Sequence
from typing import Literal

from xpusetup.base.model import Step

Lane = Literal["network", "work"]


def lane_of(step: Step) -> Lane:
    return "network" if "network" in step.needs else "work"


def make_startable(steps: Sequence[Step], *, done: Collection[str], running: Collection[str]) -> tuple[Step, ...]:
    """Give the steps that may start now, in the order of the plan; `done` and `running` are ids.

    A step may start when all it comes after is done, and no step at work or chosen before it stands in its way. A
    download also lets an earlier one go first that is ready in a moment: the pinned requirements, which everything
    waits for, must not wait for a long fetch that began while the environment was made.
    """
    busy = [step for step in steps if step.id in running]
    chosen: list[Step] = []
    kept_free = False
    for step in (step for step in steps if step.id not in done and step.id not in running):
        missing = set(step.after) - set(done)
        if missing:
            kept_free |= _comes_soon(step, missing, (*busy, *chosen))
        elif not (kept_free and lane_of(step) == "network") and not any(exclude(step, one) for one in (*busy, *chosen)):
            chosen.append(step)
    return tuple(chosen)


def _comes_soon(step: Step, missing: Collection[str], busy: Sequence[Step]) -> bool:
    """Say of a download whether it waits for nothing but steps at work that are a matter of seconds."""
    short = {one.id for one in busy if lane_of(one) == "work" and "compiler" not in one.needs}
    return lane_of(step) == "network" and set(missing) <= short


def exclude(one: Step, other: Step) -> bool:
    """Say whether two steps must not run at once: they share a lane or a lock, or one changes what the other reads."""
    shared = lane_of(one) == lane_of(other) or bool(set(one.locks) & set(other.locks))
    return shared or _disturbs(one, other) or _disturbs(other, one)


def _disturbs(writer: Step, reader: Step) -> bool:
    # a compiler looks for headers and packages in the environment: an installation beside it would decide by chance
    return "venv" in writer.locks and "compiler" in reader.needs
