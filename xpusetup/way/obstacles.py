"""What doctor finds and no step of the way mends: it comes first, else the way ends at a torch that sees no GPU."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xpusetup.way.answer import WayStep

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from xpusetup.model import Finding
    from xpusetup.way.answer import Way


def with_obstacles(way: Way, causes: Iterable[Finding], families: tuple[str, ...]) -> Way:
    """Put the fixes of root causes before the steps that they would spoil."""
    mended = {name for step in way.steps for name in step.mends}
    left = [cause for cause in causes if cause.id not in mended]
    if not left or way.route == "none":
        return way
    return replace(way, steps=(*_steps(left, families), *way.steps))


def _steps(causes: Iterable[Finding], families: tuple[str, ...]) -> Iterator[WayStep]:
    for cause in causes:
        commands = cause.fix.commands_for(families)
        said = "" if commands or not cause.fix.say else f". {cause.fix.say}"
        yield WayStep(
            title=f"{cause.title}: {cause.seen.splitlines()[0]}{said}", commands=tuple(commands), mends=(cause.id,)
        )
