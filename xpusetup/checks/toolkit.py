"""The toolkit: whether a compiler is there that this profile can use, and setvars.sh is not in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from xpusetup.checks.question import Answer, Question

if TYPE_CHECKING:
    from xpusetup.facts import ToolkitSeen
    from xpusetup.profile import ToolkitWanted


def words_of(wanted: ToolkitWanted) -> dict[str, str]:
    """Give what a toolkit's fix is made of: version, packages and where they come from."""
    packages = wanted.packages
    return {
        "toolkit": wanted.preferred,
        "apt": " ".join(packages.apt),
        "apt_source": packages.apt_source,
        "rpm": " ".join(packages.rpm),
        "rpm_source": packages.rpm_source,
        "key": packages.key,
        "page": packages.page or wanted.source,
    }


def usable_toolkits(question: Question) -> list[ToolkitSeen]:
    """Give the toolkits whose version the profile accepts, the preferred one first."""
    wanted, seen = question.profile.toolkit, question.facts.toolkits
    if wanted is None or seen is None:
        return []
    accepted = SpecifierSet(wanted.accepts)
    fitting = [kit for kit in seen.found if kit.version and accepted.contains(kit.version)]
    return sorted(fitting, key=lambda kit: not (kit.version or "").startswith(wanted.preferred))


def check_compiler(question: Question) -> Answer | None:
    """Look for any SYCL compiler; running a finished wheel needs none."""
    wanted, seen = question.profile.toolkit, question.facts.toolkits
    if wanted is None or seen is None or question.goal == "run":
        return None
    if not seen.found:
        return Answer("fail", f"no icpx below {', '.join(seen.searched)}", words_of(wanted))
    return Answer("ok", ", ".join(f"{kit.compiler} ({kit.version or 'no version'})" for kit in seen.found))


def check_version(question: Question) -> Answer | None:
    """Hold the compilers that are here against what the profile accepts."""
    wanted, seen = question.profile.toolkit, question.facts.toolkits
    if wanted is None or seen is None or question.goal == "run":
        return None
    usable = usable_toolkits(question)
    if usable:
        return Answer("ok", f"{usable[0].version} (accepted: {wanted.accepts})", words_of(wanted))
    there = ", ".join(kit.version or "unknown" for kit in seen.found) or "none"
    return Answer("fail", f"here: {there}; accepted: {wanted.accepts}", words_of(wanted))


def check_setvars(question: Question) -> Answer | None:
    """Look for setvars.sh in this shell: fine for building, wrong for running."""
    environment = question.facts.environment
    if question.profile.toolkit is None or environment is None:
        return None
    if environment.get("SETVARS_COMPLETED") == "1":
        return Answer("warn" if question.goal == "run" else "info", "setvars.sh was sourced in this shell")
    return Answer("ok", "not sourced in this shell")
