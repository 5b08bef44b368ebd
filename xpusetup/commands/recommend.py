"""The bare command: this machine, the shortest way to a working PyTorch on it, the next command."""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from xpusetup.base.errors import XpuError
from xpusetup.commands.result import Result
from xpusetup.doctor.question import Question
from xpusetup.doctor.registry import about_machine, all_checks, examine, root_causes
from xpusetup.recommend.answer import with_obstacles
from xpusetup.recommend.machine import find_cards, other_gpus, unknown_gpus
from xpusetup.recommend.solve import has_own_pytorch, make_way
from xpusetup.run.tables import check_texts, gpu_table, known, shipped
from xpusetup.run.workspace import load_device, load_settings

if TYPE_CHECKING:
    from xpusetup.config.profile import Profile
    from xpusetup.machine.facts import Facts, Section
    from xpusetup.recommend.answer import Way


WAY_SECTIONS: tuple[Section, ...] = (
    *("system", "hardware", "kernel", "userland", "container"),
    *("python", "torch", "environment"),
)
"""What the way follows from; compilers and toolkits decide a build, and doctor asks for them."""


INTEL = (
    *("hardware", "firmware", "kernel", "container", "permissions", "driver", "toolkit", "shell", "triton"),
    "torch.is_xpu_build",
)
"""Areas, and one check, that are about Intel GPUs alone."""


def show_way() -> Result[Any]:
    """Give this machine's way. Ends well whatever is wrong here: an error becomes part of the answer."""
    from xpusetup.machine.probe import Ask, probe  # noqa: PLC0415 - facts that are read need no probe

    return way_of(probe(WAY_SECTIONS, Ask(imports=False)))


def way_of(facts: Facts) -> Result[Any]:
    """Give the way of a machine that was seen."""
    try:
        profiles = shipped()
        way = find_way(facts, load_settings().profile)
    except XpuError as error:
        told = {"message": error.message, "fix": error.fix, "code": error.code}
        return Result("xpusetup", {"machine": machine_line(facts), "way": None, "error": told})
    return Result("xpusetup", {"machine": machine_line(facts), "way": way_data(way, facts), **_source(way, profiles)})


def find_way(facts: Facts, asked: str) -> Way:
    """Give the way to the release that was asked for (empty: to the one that fits), with what stands in it."""
    way = make_way(facts, shipped(), known(), asked=asked)
    profile = next((each for each in shipped() if each.name == way.profile), next(iter(shipped()), None))
    if profile is None or way.route == "none":
        return way
    question = Question(facts, profile, load_device(profile.accelerator), "run", gpu_table())
    left = set() if way.kept else set(all_checks()) - set(about_machine())
    foreign = about_intel() if has_own_pytorch(facts, known()) else ()
    found = examine(question, check_texts(), skip=(*left, *foreign))
    causes = [finding for finding in found if finding.id in root_causes(found)]
    return with_obstacles(way, causes, tuple(facts.system.families) if facts.system else ())


def about_intel() -> tuple[str, ...]:
    """Give the checks that are about Intel GPUs alone."""
    texts = check_texts()
    return tuple(name for name in all_checks() if texts[name].area in INTEL or name in INTEL)


def accelerator_names(facts: Facts) -> list[str]:
    """Give the accelerators here as people know them, and how many of each."""
    names = [card.product.title() for card in find_cards(facts, known())]
    counted = [f"{names.count(name)} x {name}" if names.count(name) > 1 else name for name in dict.fromkeys(names)]
    return [*counted, *(f"Intel GPU {each}" for each in unknown_gpus(facts, known()))]


def machine_line(facts: Facts) -> str:
    """Say in one line what this machine is."""
    system = facts.system
    others = list(other_gpus(facts)) or ["no accelerator"]
    words = accelerator_names(facts) or (["WSL2"] if facts.in_wsl else others)
    if system is not None:
        words += [system.name, f"Linux {'.'.join(system.kernel.split('-')[0].split('.')[:2])}"]
    if facts.torch is not None:
        words.append(f"PyTorch {facts.torch.version}" if facts.torch.version else "no PyTorch yet")
    return " · ".join(words)


def way_data(way: Way, facts: Facts) -> dict[str, Any]:
    """Give a way as JSON has it; the age of what it is found from is counted to the day of the facts."""
    return {
        "route": way.route,
        "profile": way.profile,
        "commands": list(way.commands),
        "why": way.why,
        "source": way.source,
        "gpus": list(way.gpus),
        "steps": [{**asdict(step), "commands": list(step.commands), "mends": list(step.mends)} for step in way.steps],
        "refusals": [asdict(refusal) for refusal in way.refusals],
        "collected": way.collected.isoformat(),
        "age_days": max(0, (_day(facts, way.collected) - way.collected).days),
    }


def _day(facts: Facts, otherwise: dt.date) -> dt.date:
    """Give the day on which facts were taken; a file that somebody edited may not say it."""
    try:
        return dt.datetime.fromisoformat(facts.taken).date()
    except ValueError:
        return otherwise


def _source(way: Way, profiles: tuple[Profile, ...]) -> dict[str, Any]:
    """Give what building the same release would be."""
    profile = next((each for each in profiles if each.name == way.profile), None)
    if profile is None or way.route not in ("wheel", "build"):
        return {"build": None}
    toolkit = f"oneAPI {profile.toolkit.preferred}" if profile.toolkit else ""
    return {"build": {"command": f"xpusetup build --profile {profile.name}", "toolkit": toolkit}}
