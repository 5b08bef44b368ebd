"""The answers: a way with its steps, what comes first, and why other releases are not taken."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable

    from xpusetup.base.command import Command
    from xpusetup.base.model import Finding, Step
    from xpusetup.machine.platforms import Route


After = Literal["", "restart", "login"]


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why a release is not taken.

    `firm`: nothing in it was compiled for the GPU; otherwise something else speaks against it.
    """

    profile: str
    why: str
    source: str
    firm: bool


@dataclass(frozen=True, kw_only=True)
class WayStep:
    """One change, with the commands that make it and what has to happen before the next.

    `mends` are the checks that find fault until it is done.
    """

    title: str
    commands: tuple[Command, ...] = ()
    then: After = ""
    mends: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Way:
    """The shortest way. `gpus` are the names of what it is for; the profile is empty where none serves it.

    `kept`: a PyTorch that serves them is here, and stays.
    """

    route: Route
    profile: str
    why: str
    source: str = ""
    gpus: tuple[str, ...] = ()
    steps: tuple[WayStep, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    kept: bool = False
    collected: dt.date

    @property
    def commands(self) -> tuple[Command, ...]:
        return tuple(command for step in self.steps for command in step.commands)


@dataclass(frozen=True, kw_only=True)
class Task:
    """A step of system setup, and what has to happen before the next."""

    step: Step
    then: After = ""


@dataclass(frozen=True, kw_only=True)
class Note:
    """Something that setup knows and can't do. `id` is that of the task that it stands for.

    `commands` are for whoever looks after the machine: they are shown and never run.
    """

    id: str
    title: str
    say: str
    source: str
    commands: tuple[Command, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What this machine lacks, in order, and what has to be done by hand."""

    tasks: tuple[Task, ...]
    notes: tuple[Note, ...] = ()


# What doctor finds and no step of the way mends: it comes first, else the way ends at a torch that sees no GPU.


def with_obstacles(way: Way, causes: Iterable[Finding], families: tuple[str, ...]) -> Way:
    """Put the fixes of root causes before the steps that they would spoil."""
    mended = {name for step in way.steps for name in step.mends}
    left = [cause for cause in causes if cause.id not in mended]
    if not left or way.route == "none":
        return way
    steps = []
    for cause in left:
        commands = cause.fix.commands_for(families)
        said = "" if commands or not cause.fix.say else f". {cause.fix.say}"
        title = f"{cause.title}: {cause.seen.splitlines()[0]}{said}"
        steps.append(WayStep(title=title, commands=commands, mends=(cause.id,)))
    return replace(way, steps=(*steps, *way.steps))
