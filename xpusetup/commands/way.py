"""The bare command: this machine, the shortest way to a working PyTorch on it, the next command."""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from xpusetup.commands.knowledge import known, shipped
from xpusetup.commands.result import Result
from xpusetup.commands.workspace import load_settings
from xpusetup.effects.probe import Ask, probe
from xpusetup.errors import XpuError
from xpusetup.way.machine import find_cards, is_wsl, unknown_gpus
from xpusetup.way.solve import make_way

if TYPE_CHECKING:
    from xpusetup.facts import Facts, Section
    from xpusetup.profile import Profile
    from xpusetup.way.answer import Way

ASKED: tuple[Section, ...] = ("system", "hardware", "kernel", "userland", "container", "python", "torch")
"""What the way follows from; compilers and toolkits decide a build, and doctor asks for them."""


def show_way() -> Result:
    """Give this machine's way. Ends well whatever is wrong here: an error becomes part of the answer."""
    return way_of(probe(ASKED, Ask(imports=False)))


def way_of(facts: Facts) -> Result:
    """Give the way of a machine that was seen."""
    try:
        profiles = shipped()
        way = make_way(facts, profiles, known(), asked=load_settings().profile)
    except XpuError as error:
        told = {"message": error.message, "fix": error.fix, "code": error.code}
        return Result("xpusetup", {"machine": machine_line(facts), "way": None, "error": told})
    return Result("xpusetup", {"machine": machine_line(facts), "way": way_data(way, facts), **_source(way, profiles)})


def machine_line(facts: Facts) -> str:
    """Say in one line what this machine is."""
    system = facts.system
    names = [card.product.title() for card in find_cards(facts, known())]
    counted = [f"{names.count(name)} x {name}" if names.count(name) > 1 else name for name in dict.fromkeys(names)]
    unknown = [f"Intel GPU {each}" for each in unknown_gpus(facts, known())]
    words = [*counted, *unknown] or (["WSL2"] if is_wsl(facts) else ["no accelerator"])
    if system is not None:
        words += [system.name, f"Linux {'.'.join(system.kernel.split('-')[0].split('.')[:2])}"]
    if facts.torch is not None:
        words.append(f"PyTorch {facts.torch.version}" if facts.torch.version else "no PyTorch yet")
    return " · ".join(words)


def way_data(way: Way, facts: Facts) -> dict[str, Any]:
    """Give a way as JSON has it; the age of what it is found from is counted to the day of the facts."""
    taken = dt.datetime.fromisoformat(facts.taken).date()
    return {
        "route": way.route,
        "profile": way.profile,
        "commands": list(way.commands),
        "why": way.why,
        "source": way.source,
        "gpus": list(way.gpus),
        "steps": [{**asdict(step), "commands": list(step.commands)} for step in way.steps],
        "refusals": [asdict(refusal) for refusal in way.refusals],
        "collected": way.collected.isoformat(),
        "age_days": max(0, (taken - way.collected).days),
    }


def _source(way: Way, profiles: tuple[Profile, ...]) -> dict[str, Any]:
    """Give what building the same release would be."""
    profile = next((each for each in profiles if each.name == way.profile), None)
    if profile is None or way.route not in ("wheel", "build"):
        return {"build": None}
    toolkit = f"oneAPI {profile.toolkit.preferred}" if profile.toolkit else ""
    return {"build": {"command": f"xpusetup build --profile {profile.name}", "toolkit": toolkit}}
