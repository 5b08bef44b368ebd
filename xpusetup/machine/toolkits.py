"""Which of the tool chains that were found a profile can be compiled with, and why not with the others."""

import re
from collections.abc import Sequence

from packaging.specifiers import SpecifierSet

from xpusetup.config.profile import Profile
from xpusetup.config.toolkit import MADE, ToolkitWanted, begin
from xpusetup.machine.facts import Facts, ToolkitSeen


def found_toolkits(wanted: ToolkitWanted, facts: Facts) -> list[ToolkitSeen]:
    """Give what was found of this kind; what a step makes counts as found."""
    if wanted.kind == "wheels":
        compiler = f"{MADE}/bin/{wanted.product.compiler}"
        scripts = [f"{MADE}/{script}" for script in wanted.scripts]
        return [ToolkitSeen(kind=wanted.kind, root=MADE, version=wanted.preferred, compiler=compiler, scripts=scripts)]
    return [kit for kit in (facts.toolkits.found if facts.toolkits else []) if kit.kind == wanted.kind]


def usable_toolkits(wanted: ToolkitWanted, facts: Facts) -> list[ToolkitSeen]:
    """Give those whose version is accepted, the preferred one first."""
    accepted = SpecifierSet(wanted.accepts)
    fitting = [kit for kit in found_toolkits(wanted, facts) if kit.version and accepted.contains(kit.version)]
    return sorted(fitting, key=lambda kit: not (kit.version or "").startswith(wanted.preferred))


def find_others(profile: Profile, facts: Facts) -> list[ToolkitWanted]:
    """Give what else a profile can be compiled with that is here, or that this distribution has as packages."""
    fits = runs_wheels(facts)
    others = (kit for kit in profile.other_toolkits if fits or kit.kind != "wheels")
    return [kit for kit in others if usable_toolkits(kit, facts) or _packages(kit, facts)]


def runs_wheels(facts: Facts) -> bool:
    """Say whether Intel's compiler runs on this processor; its wheels are for x86_64 alone."""
    return facts.system is None or facts.system.machine == "x86_64"


def say_others(profile: Profile, facts: Facts) -> str:
    """Give a sentence for each of them, with a space before it; empty where there is none."""
    return "".join(_say_other(kit, facts) for kit in find_others(profile, facts))


def _packages(kit: ToolkitWanted, facts: Facts) -> list[str]:
    return kit.packages.own(facts.system.places if facts.system else ())


def _say_other(kit: ToolkitWanted, facts: Facts) -> str:
    if kit.kind == "wheels":  # what it gives up is said where it is asked for: it can be had on each machine
        return f" Or build without oneAPI: --toolkit {kit.called} ({kit.title}, {kit.confidence})."
    here, packages = usable_toolkits(kit, facts), _packages(kit, facts)
    where = f"is here: {here[0].compiler}" if here else f"is in its own archive: {' '.join(packages)}"
    version = here[0].version if here else kit.preferred
    lost = f"; it gives up {kit.gives_up}" if kit.gives_up else ""
    return f" {begin(kit.product.title)} {version} {where} (--toolkit {kit.called}{lost})."


def needs_ocloc(wanted: ToolkitWanted | None, facts: Facts) -> bool:
    """Say whether code for GPUs waits for an ocloc: a tool chain of wheels brings none, and there is none here."""
    return wanted is not None and wanted.kind == "wheels" and not (facts.toolkits and facts.toolkits.ocloc)


def unknown_targets(facts: Facts, targets: Sequence[str]) -> list[str]:
    """Give the device targets that the device compiler here does not know; none where it is not known what it knows."""
    known = facts.toolkits.targets if facts.toolkits else None
    return [target for target in targets if known and target != "none" and not _is_known(target, known)]


GROUP = re.compile(r"(xe|gen)\d*(-|$)")
"""Words for families and releases of GPUs, as xe2 and xe2-hpg."""


def _is_known(target: str, known: Sequence[str]) -> bool:
    """Say whether a word is one of a list; what `ocloc compile --help` may take and not list counts as known.

    Those are versions (20.1.0), ranges (bmg:) and, where it lists none of them, words for families.
    """
    unlisted = target[:1].isdigit() or ":" in target
    group = GROUP.match(target) and not any(map(GROUP.match, known))
    return target in known or unlisted or bool(group)


def find_refusal(wanted: ToolkitWanted, version: str | None) -> str:
    """Say what is known against a version, what would mend it and what that gives up; empty where it is accepted.

    Empty as well where the profile knows nothing of this version.
    """
    if version is None or SpecifierSet(wanted.accepts).contains(version):
        return ""
    known = next((each for each in wanted.refused if SpecifierSet(each.versions).contains(version)), None)
    if known is None:
        return ""
    mends = f"; it would need {', '.join(known.patches)}" if known.patches else ""
    return f"{known.why}{mends}{f', and gives up {known.gives_up}' if known.gives_up else ''}"
