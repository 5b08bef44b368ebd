"""The bare command: this machine, the shortest way to a working PyTorch on it, the next command."""

import datetime as dt
import shlex
from dataclasses import dataclass, field, replace

from xpusetup.base.command import Command
from xpusetup.base.errors import XpuError
from xpusetup.base.model import BuildSummary
from xpusetup.commands.result import Result
from xpusetup.config.profile import Profile
from xpusetup.config.settings import Scheduler
from xpusetup.config.shipped import load_profile, shipped
from xpusetup.doctor.question import Question, check_texts
from xpusetup.doctor.registry import about_machine, all_checks, examine, root_causes
from xpusetup.machine.facts import Facts, Section
from xpusetup.machine.tables import gpu_table, known_bad
from xpusetup.recommend.answer import Refusal, Way, WayStep, with_obstacles
from xpusetup.recommend.machine import find_cards, known, other_gpus, unknown_gpus
from xpusetup.recommend.setup import mend_here
from xpusetup.recommend.solve import UNSEEN, has_own_pytorch, is_release, make_way
from xpusetup.run.workspace import load_device, load_settings
from xpusetup.system.environment import variable

WAY_SECTIONS: tuple[Section, ...] = (
    *("system", "hardware", "kernel", "userland", "container"),
    *("python", "torch", "environment", "network"),
)
"""What the way follows from; compilers and toolkits decide a build, and doctor asks for them."""


INTEL = (
    *("hardware", "firmware", "kernel", "container", "permissions", "driver", "toolkit", "shell", "triton"),
    "torch.is_xpu_build",
)
"""Areas, and one check, that are about Intel GPUs alone."""
OF_ANY = ("sys.glibc",)
"""Checks of these areas that are about any accelerator."""


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """The shortest way on a machine, its commands in order and why.

    Where it was found from what is known of releases, `steps`, `refusals`, and the day on which that was collected,
    with its age in days.
    """

    route: str
    profile: str
    commands: list[Command]
    why: str
    source: str = ""
    gpus: list[str] = field(default_factory=list)
    steps: list[WayStep] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    collected: str = ""
    age_days: int = 0


@dataclass(frozen=True)
class SourceBuild:
    """What building the same release would be."""

    command: str
    toolkit: str


@dataclass(frozen=True)
class ToldError:
    """An error that became part of an answer, with the exit code that it would have had."""

    message: str
    fix: str
    code: int


@dataclass(frozen=True, kw_only=True)
class Overview:
    """What this machine is, the builds on it, and the shortest way on it, or the error that hides that.

    `builds` are as in `list`, without their sizes.
    """

    machine: str
    way: Recommendation | None
    build: SourceBuild | None = None
    error: ToldError | None = None
    builds: list[BuildSummary] = field(default_factory=list)


def show_way() -> Result[Overview]:
    """Give this machine's way. Ends well whatever is wrong here: an error becomes part of the answer."""
    from xpusetup.commands.list import glance  # noqa: PLC0415 - doctor, which imports this module, lists no builds
    from xpusetup.machine.probe import Ask, probe  # noqa: PLC0415 - facts that are read need no probe

    found = way_of(probe(WAY_SECTIONS, Ask(imports=False)))
    return replace(found, data=with_builds(found.data, glance()))


def with_builds(data: Overview, builds: list[BuildSummary]) -> Overview:
    """Add the builds that are here; the way sends nobody to build again what is finished."""
    done = {f"xpusetup build {row.profile}" for row in builds if row.state == "done"}
    if data.way is None or not done:
        return replace(data, builds=builds)
    steps = [step for step in data.way.steps if not done.issuperset(step.commands)]
    commands = [line for line in data.way.commands if line not in done]
    return replace(data, builds=builds, way=replace(data.way, steps=steps, commands=commands))


def way_of(facts: Facts) -> Result[Overview]:
    try:
        profiles = shipped()
        settings = load_settings()
        way = _without_hardware(find_way(facts, settings.profile), settings.profile)
        way = _on_login_node(way, settings.scheduler)
    except XpuError as error:
        problem = ToldError(error.message, error.fix, error.code)
        return Result("xpusetup", Overview(machine=machine_line(facts), way=None, error=problem))
    found = Overview(machine=machine_line(facts), way=describe_way(way, facts), build=_source(way, profiles))
    return Result("xpusetup", found)


def find_way(facts: Facts, asked: str) -> Way:
    """Give the way to the release that was asked for (empty: to the one that fits), with what stands in it."""
    way = make_way(facts, shipped(), known(), asked=asked)
    profile = next((each for each in shipped() if each.name == way.profile), next(iter(shipped()), None))
    if profile is None or way.route == "none":
        return way
    question = Question(facts, profile, load_device(profile.accelerator), "run", gpu_table(), known_bad())
    left = set() if way.kept else set(all_checks()) - set(about_machine())
    foreign = about_intel() if has_own_pytorch(facts, known()) else ()
    found = mend_here(examine(question, check_texts(), skip=(*left, *foreign)), facts, profile, known())
    causes = [finding for finding in found if finding.id in root_causes(found)]
    return with_obstacles(way, causes, facts.system.places if facts.system else ())


def _without_hardware(way: Way, asked: str) -> Way:
    """Give the way to a profile that was named and computes without an accelerator on the bus, else the one found."""
    profile = load_profile(asked) if asked and way.route == "none" else None
    if profile is None or is_release(profile) or load_device(profile.accelerator, profile.device).pci_vendors:
        return way
    verb = "build" if profile.compiles else "install"
    step = WayStep(title=profile.summary, commands=(Command(f"xpusetup {verb} {shlex.quote(asked)}"),))
    why = f"{asked} is what this place builds, and it needs no accelerator on the bus"
    return replace(way, route="build", profile=profile.name, why=why, source="", steps=(step,))


def gpus_elsewhere(scheduler: Scheduler) -> bool:
    """Say whether a site's GPUs are on another partition of Slurm than this node is used by."""
    return bool(scheduler.gpu_partition) and variable("SLURM_JOB_PARTITION") not in scheduler.gpu_partition.split(",")


def _on_login_node(way: Way, scheduler: Scheduler) -> Way:
    """Send who has no GPU on a login node to where the site's are, and nobody to its slots."""
    if way.route != "none" or not gpus_elsewhere(scheduler):
        return way
    why = f"none is on this node; the site file says that GPUs are on partition {scheduler.gpu_partition}"
    look = WayStep(title="the same question on a node that has one", commands=(Command(scheduler.on_gpu("xpusetup")),))
    return replace(way, why=why, steps=(look, *(step for step in way.steps if step.title != UNSEEN)))


def about_intel() -> tuple[str, ...]:
    """Give the checks that are about Intel GPUs alone."""
    texts = check_texts()
    return tuple(name for name in all_checks() if name not in OF_ANY and (texts[name].area in INTEL or name in INTEL))


def accelerator_names(facts: Facts) -> list[str]:
    names = [card.product.title() for card in find_cards(facts, known())]
    counted = [f"{names.count(name)} x {name}" if names.count(name) > 1 else name for name in dict.fromkeys(names)]
    return [*counted, *(f"Intel GPU {each}" for each in unknown_gpus(facts, known()))]


def machine_line(facts: Facts) -> str:
    system = facts.system
    looked = facts.hardware is not None and facts.is_told("hardware.gpus")
    others = list(other_gpus(facts)) or (["no accelerator"] if looked else [])
    words = accelerator_names(facts) or (["WSL2"] if facts.in_wsl else others)
    if system is not None:
        words += [system.name, f"Linux {'.'.join(system.kernel.split('-')[0].split('.')[:2])}"]
    if facts.torch is not None:
        there = facts.torch.report is not None and not facts.torch.report.error
        lacks = "a PyTorch of unknown version" if there else "no PyTorch yet"
        words.append(f"PyTorch {facts.torch.version}" if facts.torch.version else lacks)
    return " · ".join(words) or "nothing was told of it"


def describe_way(way: Way, facts: Facts) -> Recommendation:
    """Give a way as it is told; the age of what it is found from is counted to the day of the facts."""
    return Recommendation(
        route=way.route,
        profile=way.profile,
        commands=list(way.commands),
        why=way.why,
        source=way.source,
        gpus=list(way.gpus),
        steps=list(way.steps),
        refusals=list(way.refusals),
        collected=way.collected.isoformat(),
        age_days=max(0, (_day(facts, way.collected) - way.collected).days),
    )


def _day(facts: Facts, otherwise: dt.date) -> dt.date:
    """Give the day on which facts were taken; a file that somebody edited may not say it."""
    try:
        return dt.datetime.fromisoformat(facts.taken).date()
    except ValueError:
        return otherwise


def _source(way: Way, profiles: tuple[Profile, ...]) -> SourceBuild | None:
    """Give what building the same release would be."""
    profile = next((each for each in profiles if each.name == way.profile), None)
    if profile is None or not is_release(profile) or way.route not in ("wheel", "build"):
        return None
    toolkit = profile.toolkit.title if profile.toolkit else ""
    return SourceBuild(f"xpusetup build {profile.name}", toolkit)
