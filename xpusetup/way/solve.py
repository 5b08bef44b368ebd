"""The smallest change that brings a machine to a working PyTorch: wheel, image, build or none, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.gpus import LEGACY
from xpusetup.way.answer import Way, WayStep
from xpusetup.way.machine import choose_cards, find_cards, other_gpus, unknown_gpus
from xpusetup.way.release import has_code, refuse, release_of, releases
from xpusetup.way.steps import last_step, python_steps, step_to_prove, system_steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from xpusetup.facts import Facts, Torch
    from xpusetup.profile import Profile
    from xpusetup.way.answer import Refusal
    from xpusetup.way.machine import Card, Known

SIMULATED = "xpusetup build --profile sim"
LEGACY_PAGE = "https://github.com/intel/compute-runtime/blob/master/documentation/LEGACY_PLATFORMS.md"
LOCALLY = "https://pytorch.org/get-started/locally/"
PROVE = "import torch; print(torch.xpu.get_device_properties(0))"
OFFICIAL = "x86_64"
"""The only architecture for which XPU wheels are published."""


def make_way(facts: Facts, profiles: Iterable[Profile], known: Known, *, asked: str = "") -> Way:
    """Give the shortest way. `asked` is a release that was named: it is taken unless it is refused firmly."""
    cards = find_cards(facts, known)
    chosen = choose_cards(cards)
    ordered = releases(profiles)
    other = _elsewhere(facts, cards, known) if not chosen else None
    if other is not None:
        return other
    if chosen or facts.in_wsl:
        return _with_gpu(facts, ordered, chosen, known, asked)
    return _without_gpu(facts, ordered, known, asked)


def has_own_pytorch(facts: Facts, known: Known) -> bool:
    """Say whether the accelerator here has a PyTorch of its own (Gaudi, Ascend), and no Intel GPU is beside it."""
    cards = find_cards(facts, known)
    return not choose_cards(cards) and _elsewhere(facts, cards, known) is not None


def choose_release(facts: Facts, profiles: Iterable[Profile], known: Known) -> tuple[str, str]:
    """Give the release to take where none is named, and why, in a few words."""
    ordered = releases(profiles)
    cards = choose_cards(find_cards(facts, known))
    refusals = {refusal.profile: refusal for refusal in _refusals(facts, ordered, cards, known)}
    best = _best(ordered, refusals)
    if best is None:
        return (ordered[0].name, "the newest release") if ordered else ("", "")
    fits = cards and has_code(best, cards)
    return best.name, f"the newest that fits {cards[0].product.title()}" if fits else "the newest release"


def _refusals(facts: Facts, ordered: Sequence[Profile], cards: Sequence[Card], known: Known) -> tuple[Refusal, ...]:
    found = (refuse(profile, facts, cards, known) for profile in ordered)
    return tuple(refusal for refusal in found if refusal is not None)


def _best(ordered: Sequence[Profile], refusals: dict[str, Refusal], asked: str = "") -> Profile | None:
    """Take what was asked unless it is refused firmly, then the newest without a refusal, then one that may work."""
    works = [each for each in ordered if each.name not in refusals or not refusals[each.name].firm]
    named = [each for each in works if each.name == asked]
    fits = [each for each in works if each.name not in refusals]
    return next(iter([*named, *fits, *works]), None)


def _with_gpu(facts: Facts, ordered: Sequence[Profile], cards: tuple[Card, ...], known: Known, asked: str) -> Way:
    found = _refusals(facts, ordered, cards, known)
    refusals = {refusal.profile: refusal for refusal in found}
    profile = _best(ordered, refusals, asked)
    gpus = tuple(dict.fromkeys(card.product.title() for card in cards))
    if profile is None:
        why = f"no release of PyTorch that is known here was compiled for {gpus[0]}" if gpus else "no release is known"
        return Way(route="none", profile="", why=why, gpus=gpus, refusals=found, collected=known.platforms.collected)
    wheel = _has_wheels(profile, facts)
    options = f" --profile {profile.name}" if asked else ""
    kept = _kept(facts, ordered, cards, refusals, asked)
    steps = (
        *system_steps(facts, profile, known, cards, options, wheel=wheel or kept is not None),
        *(python_steps(profile, refusals) if kept is None else ()),
        step_to_prove(kept, f"PyTorch {kept.version} for Intel GPUs", PROVE)
        if kept
        else last_step(profile, options, wheel=wheel),
    )
    return Way(
        route="wheel" if wheel else "build",
        profile=profile.name,
        why="; ".join(
            [
                *_why(profile, refusals.get(asked), cards, facts, kept, wheel=wheel),
                *_newer(ordered, profile, refusals),
            ]
        ),
        source=_source(profile, wheel=wheel),
        gpus=gpus or ("a GPU of Windows (WSL2)",),
        steps=steps,
        refusals=found,
        kept=kept is not None,
        collected=known.platforms.collected,
    )


def _kept(
    facts: Facts, ordered: Sequence[Profile], cards: Sequence[Card], refusals: dict[str, Refusal], asked: str
) -> Torch | None:
    """Give the PyTorch that is here, where it is built for Intel GPUs and is what was asked.

    One without code for these stays where no release has any.
    """
    torch = facts.torch
    if torch is None or torch.version is None or not torch.xpu:
        return None
    name = next((each.name for each in ordered if torch.version.startswith(f"{release_of(each)}.")), "")
    here = next((each for each in ordered if each.name == name), None)
    better = any(has_code(each, cards) for each in ordered if each.name not in refusals)
    unfit = name in refusals and (refusals[name].firm or (here is not None and better and not has_code(here, cards)))
    other = asked in {each.name for each in ordered} and asked != name
    refused = asked in refusals and refusals[asked].firm
    return None if unfit or (other and not refused) else torch


def _has_wheels(profile: Profile, facts: Facts) -> bool:
    return profile.published is not None and (facts.system is None or facts.system.machine == OFFICIAL)


def _why(
    profile: Profile, refused: Refusal | None, cards: Sequence[Card], facts: Facts, kept: Torch | None, *, wheel: bool
) -> list[str]:
    words = [f"{refused.profile} is {'refused' if refused.firm else 'not advised'}: {refused.why}"] if refused else []
    names = " and ".join(dict.fromkeys(card.product.title() for card in cards)) or "the GPUs of WSL2"
    runs = "holds code for" if has_code(profile, cards) else "compiles its kernels when they are first used on"
    if kept is not None:
        words.append(f"PyTorch {kept.version} is here and {runs} {names}; nothing has to be installed")
    elif wheel and not has_code(profile, cards):
        words.append(f"published wheels of {profile.name} have generic code, which the driver compiles for {names}")
        words += dict.fromkeys(card.platform.undocumented for card in cards if card.platform and not card.documented)
    elif wheel:
        words.append(f"published wheels of {profile.name} are made for {names}; nothing has to be built")
    elif profile.published is None:
        words.append(f"no wheels of {profile.name} are published for Intel GPUs")
    else:
        machine = facts.system.machine if facts.system else "this architecture"
        words.append(f"wheels for Intel GPUs are published for {OFFICIAL}, and this is {machine}")
    return words


def _newer(ordered: Sequence[Profile], profile: Profile, refusals: dict[str, Refusal]) -> Iterator[str]:
    """Say why the newest release is not taken."""
    newest = ordered[0].name
    if newest != profile.name and newest in refusals:
        yield f"not {newest}: {refusals[newest].why}"


def _source(profile: Profile, *, wheel: bool) -> str:
    return profile.published.source if wheel and profile.published else ""


def _elsewhere(facts: Facts, cards: Sequence[Card], known: Known) -> Way | None:
    for card in cards:
        found = known.platforms.elsewhere_for(card.product.family.id)
        if found is not None:
            kept = facts.torch if facts.torch and found.plugin in facts.torch.distributions else None
            step = WayStep(title=found.title, commands=tuple(found.commands))
            if kept is not None:
                step = step_to_prove(kept, f"{found.plugin} {kept.distributions[found.plugin]}", found.prove)
            return Way(
                route=found.route,
                profile="",
                why=found.why,
                source=found.source,
                gpus=(card.product.title(),),
                steps=(step,),
                kept=kept is not None,
                collected=known.platforms.collected,
            )
    return None


def _without_gpu(facts: Facts, ordered: Sequence[Profile], known: Known, asked: str) -> Way:
    """Say that nothing can run here, and how to build for a machine where it can."""
    cards = find_cards(facts, known)
    name = next((each.name for each in ordered if each.name == asked), ordered[0].name if ordered else "")
    for_others = (f"xpusetup setup --profile {name}", f"xpusetup build --profile {name}")
    steps = (
        WayStep(title="build for a machine that has a GPU", commands=for_others),
        WayStep(title="see the whole program work on a simulated accelerator", commands=(SIMULATED,)),
    )
    why, source = _why_not(facts, known)
    return Way(
        route="none",
        profile=name,
        why=why,
        source=source,
        gpus=tuple(dict.fromkeys(card.product.title() for card in cards)),
        steps=steps,
        collected=known.platforms.collected,
    )


def _why_not(facts: Facts, known: Known) -> tuple[str, str]:
    """Say why nothing here serves, and where that is known from."""
    others = other_gpus(facts)
    if others:
        why = f"{others[0]} is served by PyTorch's own wheels, which this program has no part in: {LOCALLY}"
        return why, LOCALLY
    unknown = unknown_gpus(facts, known)
    if unknown:
        if unknown[0].partition(":")[2].startswith(LEGACY):
            return f"Intel GPU {unknown[0]} is older than Tiger Lake, and no PyTorch has code for it", LEGACY_PAGE
        age = f"this table is of {known.gpus.collected}, and the GPU may be newer"
        return f"Intel GPU {unknown[0]} is not among those that are known here: {age}", LEGACY_PAGE
    return (
        "no accelerator is on the PCI bus, so that nothing can be verified here; what is built here runs elsewhere",
        "",
    )
