"""The `next` of each result in JSON: the whole commands that lead on from it, in the order to run them.

A result knows its own commands already (how to go on, verify, use); here they get titles, words and reasons. A program
that runs the first of them, again and again, comes to a verified build or to a result whose `next` is empty.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from inspect import isfunction
from typing import TYPE_CHECKING

from xpusetup.base.command import Command, whole_lines
from xpusetup.commands.result import complete, takes_result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

    from xpusetup.base.errors import XpuError
    from xpusetup.commands.adopt import AdoptedProject
    from xpusetup.commands.build_result import BuildResult, InstallResult
    from xpusetup.commands.bundle import CreatedBundle, VerifiedBundle
    from xpusetup.commands.devices import DeviceList
    from xpusetup.commands.doctor import Diagnosis
    from xpusetup.commands.emit import Emitted
    from xpusetup.commands.explain import ExplainResult
    from xpusetup.commands.list import BuildList
    from xpusetup.commands.members import InstalledMisfit
    from xpusetup.commands.offer import InstallOffer
    from xpusetup.commands.plan import PlanResult
    from xpusetup.commands.profiles import CheckedProfile, LockedProfile, NewProfile
    from xpusetup.commands.recommend import Overview, Recommendation
    from xpusetup.commands.setup import SetupResult
    from xpusetup.commands.site import SiteFile
    from xpusetup.commands.status import BuildStatus
    from xpusetup.commands.suites import SuiteList
    from xpusetup.commands.verify import DeviceVerification
    from xpusetup.commands.wheel_rebuild import RebuildResult

    Lines: TypeAlias = Iterable[tuple[str, str, str]]
    """Title, command and reason of each; one whose command is empty is left out."""


@dataclass(frozen=True)
class NextCommand:
    """A command that leads on from a result: what it does, its words, and why it comes next."""

    title: str
    argv: list[str]
    why: str


USE = "xpusetup run -- python -c 'import torch; print(torch.__version__)'"


def list_next(data: object, situation: Mapping[str, Sequence[str]]) -> list[NextCommand]:
    """Give the commands that lead on from a result, with the options that this run was given."""
    find = find_lines(type(data))
    lines = find(data) if find else ()
    found = [(title, complete(Command(line, why), situation)) for title, line, why in lines if line.strip()]
    return [NextCommand(title, each.argv, each.why) for title, each in found if not each.gaps]


def find_lines(kind: type) -> Callable[[Any], Lines] | None:
    """Give the function that says what leads on from a type of result; None where nothing does."""
    return next((each for each in globals().values() if isfunction(each) and takes_result(each, kind)), None)


def list_after(error: XpuError, situation: Mapping[str, Sequence[str]]) -> list[NextCommand]:
    """Give the commands that lead on from an error: what it names, else each that is a line of its fix."""
    lines = [Command(error.follows)] if error.follows else whole_lines(error.fix)
    told = [complete(line, situation).argv for line in lines if not line.gaps and line.startswith("xpusetup ")]
    return [NextCommand("mend it", argv, error.message.partition("\n")[0]) for argv in told]


def _way(way: Recommendation) -> Iterator[tuple[str, str, str]]:
    for step in way.steps:
        for line in step.commands:
            yield step.title, line, way.why
    if not way.steps:
        for line in way.commands:
            yield "the shortest way here", line, way.why


def _overview(data: Overview) -> Lines:
    if data.way is None:
        return (("see what is wrong here", "xpusetup doctor", data.error.message if data.error else ""),)
    return _way(data.way)


def _setup(data: SetupResult) -> Lines:
    if data.stopped:
        line = f"{data.apply} --yes" if data.stopped == "restart" else data.follows
        return (("go on after it", line, f"{data.stopped} first"),)
    if data.commands and not data.ran:
        return (("install what is missing", f"{data.apply} --yes", "this machine lacks it; nobody is asked"),)
    if data.left:
        return (("see what no command mends", data.checks, data.left[0].seen),)
    return ((f"{data.goal} it", data.follows, "nothing is missing for it"),)


def _plan(data: PlanResult) -> Lines:
    if data.missing:
        return (("see what stops it", "xpusetup doctor --for build", data.fix.partition("\n")[0]),)
    todo = sum(step.state != "done" for step in data.steps)
    if todo:
        return (("build it", data.build, f"{todo} of {len(data.steps)} steps are to be run"),)
    return (("use it", USE, "every step is done"),)


def _build(data: BuildResult | InstallResult) -> Lines:
    if data.failure:
        why = data.failure.causes[0].cause if data.failure.causes else f"{data.failure.step} failed"
        yield "read why it failed", f"xpusetup explain {shlex.quote(data.failure.log)}", why
        yield "go on from there, once that is mended", data.failure.go_on.command, f"{data.failure.step} failed"
    elif data.left:
        yield "build the rest", data.go_on, f"{len(data.left)} steps are to come"
    else:
        yield from _mends(data.misfits)
        if data.verified:
            yield "use it", USE, "it is verified on a device"
        else:
            if data.not_verified == "no device":
                yield "see why there is no device", "xpusetup doctor --for run", "nothing was computed on a device yet"
            yield "verify it where one is", data.verify, "built is not verified"
        for each in data.starts:
            yield each.title, shlex.join(each.argv), each.why


def _mends(misfits: Sequence[InstalledMisfit] | None) -> Iterator[tuple[str, str, str]]:
    for one in misfits or ():
        yield f"put {one.name} right", one.fix, f"{one.name} {one.version} {one.reason}"


def _status(data: BuildStatus) -> Lines:
    if data.at_work is not None:
        return (("follow it", data.follow, "a build is at work"),)
    if data.failed:
        log = shlex.quote(f"{data.root}/logs/{data.failed}.log")
        return (
            ("read why it failed", f"xpusetup explain {log}", f"{data.failed} failed"),
            ("go on from there", data.fix.splitlines()[-1], "what is done is not done again"),
        )
    if data.left or data.damaged or data.replaced:
        return (("make it whole", data.fix.splitlines()[-1], "not all of it is there as it was made"),)
    if data.newer:
        return (("build it again", data.fix, f"{', '.join(data.newer)} changed since it was built"),)
    if data.verified:
        return (*_mends(data.misfits), ("use it", USE, "it is verified on a device"))
    return (
        *_mends(data.misfits),
        (
            "verify it",
            data.verify,
            "the last verification failed" if data.verified is False else "it is not verified yet",
        ),
    )


def _builds(data: BuildList) -> Lines:
    for row in data.builds:
        root = shlex.quote(f"{data.root}/{row.name}")
        line = f"xpusetup status --root {root}"
        yield f"look at {row.name}", line, f"{row.done} of {row.steps} steps are done"


def _verify(data: DeviceVerification) -> Lines:
    if data.verified:
        return (("use it", USE, "it is verified on a device"),)
    return (("see what ails the device", data.fix, "it is not verified"),) if data.fix else ()


def _explain(data: ExplainResult) -> Lines:
    return [(cause.fix.rstrip("."), line, cause.cause) for cause in data.causes[:1] for line in cause.commands]


def _created(data: CreatedBundle) -> Lines:
    line = f"xpusetup bundle verify {shlex.quote(data.file)}"
    return (("look whether it is whole", line, "on the machine without a network"),)


def _verified(data: VerifiedBundle) -> Lines:
    line = f"xpusetup {data.purpose} {shlex.quote(data.profile)} --bundle {shlex.quote(data.file)}"
    return () if data.missing else ((f"{data.purpose} from it", line, "all of it is there"),)


def _offer(data: InstallOffer) -> Lines:
    line = f"xpusetup install {shlex.quote(data.profile)}"
    return (("install it", line, "all parts are found"),) if data.steps else ()


def _adopted(data: AdoptedProject) -> Lines:
    if data.written or data.undone:
        return (("take it back", data.undo, "the files are as they were then"),) if data.written else ()
    return (("write it", data.apply, f"{len(data.changes)} files change"),) if data.changes else ()


def _rebuilt(data: RebuildResult) -> Lines:
    if data.failed:
        why = f"{data.failed} failed under other conditions"
        yield "read why it failed", f"xpusetup explain {shlex.quote(data.log)}", why


def _diagnosed(data: Diagnosis) -> Lines:
    return _way(data.way)


def _devices(data: DeviceList) -> Lines:
    return () if data.checked else (("load each of them", data.follows, "it is seen what breaks `import torch`"),)


def _new(data: NewProfile) -> Lines:
    return (("check it", f"xpusetup profiles check {shlex.quote(data.file)}", "after changes by hand"),)


def _checked(data: CheckedProfile) -> Lines:
    return (("see what it would do", f"xpusetup plan {shlex.quote(data.named)}", "its form is right"),)


def _locked(data: LockedProfile) -> Lines:
    return (("build it", data.follows, "its revisions are pinned"),)


def _emitted(data: Emitted) -> Lines:
    return (("start it", data.start, f"{len(data.files)} files are written"),)


def _suites(data: SuiteList) -> Lines:
    return (("run the first", data.follows, "it installs what the suite needs"),)


def _site(data: SiteFile) -> Lines:
    return [("see what it does", line, "the site file is written") for line in data.checks]
