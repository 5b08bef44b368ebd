"""Which releases fit a machine, and why others do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from xpusetup.way.answer import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from xpusetup.facts import Facts
    from xpusetup.platforms import Needs
    from xpusetup.profile import Profile
    from xpusetup.way.machine import Card, Known

RELEASE = "torch-"


def release_of(profile: Profile) -> Version | None:
    """Give the release of PyTorch that a profile is, as 2.14; None for one that is no release."""
    try:
        return Version(profile.name.removeprefix(RELEASE)) if profile.name.startswith(RELEASE) else None
    except InvalidVersion:  # torch-experiment: someone's own
        return None


def is_release(profile: Profile) -> bool:
    """Say whether the way knows a profile: a release for Intel GPUs."""
    return profile.accelerator == "xpu" and release_of(profile) is not None


def releases(profiles: Iterable[Profile]) -> list[Profile]:
    """Give the profiles that are releases for Intel GPUs, the newest first."""
    found = [(release, profile) for profile in profiles if (release := release_of(profile)) is not None]
    ordered = sorted(found, key=lambda pair: pair[0], reverse=True)
    return [profile for _, profile in ordered if profile.accelerator == "xpu"]


def refuse(profile: Profile, facts: Facts, cards: Sequence[Card], known: Known) -> Refusal | None:
    """Give the weightiest reason against a release on this machine."""
    found = list(_reasons(profile, facts, cards, known))
    return min(found, key=lambda refusal: not refusal.firm, default=None)


def _reasons(profile: Profile, facts: Facts, cards: Sequence[Card], known: Known) -> Iterator[Refusal]:
    yield from _of_python(profile, facts)
    for card in cards:
        yield from _of_card(profile, card)
    for needs in known.platforms.needs:
        yield from _of_distribution(profile, facts, needs)


def _of_card(profile: Profile, card: Card) -> Iterator[Refusal]:
    name, family, platform = profile.name, card.product.family, card.platform
    if profile.arch and not family.target_in(profile.arch.default):
        listed, title = ", ".join(profile.arch.default), card.product.title()
        then = f"kernels are compiled for {title} when first used" if profile.arch.spirv else f"nothing runs on {title}"
        why = f"no {_best(card)} in its targets ({listed}): {then}"
        yield Refusal(profile=name, why=why, source=profile.arch.source, firm=not profile.arch.spirv)
    if platform is None:
        return
    release = release_of(profile)
    if platform.release and release is not None and release < Version(platform.release.first):
        why = f"{platform.name} is documented from PyTorch {platform.release.first} on"
        yield Refusal(profile=name, why=why, source=platform.release.source, firm=False)
    wanted = profile.toolkit.preferred if profile.toolkit else ""
    if platform.toolkits and wanted and not SpecifierSet(platform.toolkits.accepts).contains(f"{wanted}.0"):
        why = f"it is made with oneAPI {wanted}; {platform.toolkits.why}"
        yield Refusal(profile=name, why=why, source=platform.toolkits.source, firm=False)


def has_code(profile: Profile, cards: Iterable[Card]) -> bool:
    """Say whether a release was compiled for these GPUs."""
    return profile.arch is None or all(card.product.family.target_in(profile.arch.default) for card in cards)


def _best(card: Card) -> str:
    """Give the spelling of a target that current releases use."""
    targets = card.product.family.targets
    return min(targets, key=len, default=card.product.family.id)


def _of_python(profile: Profile, facts: Facts) -> Iterator[Refusal]:
    python = facts.python
    if python is not None and not SpecifierSet(profile.python).contains(python.version):
        why = f"it takes Python {profile.python}; here: {python.version}"
        yield Refusal(profile=profile.name, why=why, source=f"the profile {profile.name}", firm=False)


def _of_distribution(profile: Profile, facts: Facts, needs: Needs) -> Iterator[Refusal]:
    there = facts.torch.distributions.get(needs.distribution, "") if facts.torch else ""
    release = release_of(profile)
    if not there or release is None or not SpecifierSet(needs.version).contains(there):
        return
    if not SpecifierSet(needs.torch).contains(f"{release}.0"):
        why = f"{needs.distribution} {there} is here: {needs.why}"
        yield Refusal(profile=profile.name, why=why, source=needs.source, firm=False)
