"""The parts of a toolkit: device compiler, libraries that a profile's build asks for, and the compilers' caches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from xpusetup.checks.question import Answer, Question
from xpusetup.checks.resources import GIB
from xpusetup.checks.toolkit import usable_toolkits, words_of

if TYPE_CHECKING:
    from xpusetup.facts import ToolkitSeen

ROOM = GIB


def _kit(question: Question) -> ToolkitSeen | None:
    """Give the toolkit that a build would take, where its parts were looked at."""
    seen = question.facts.toolkits
    kits = usable_toolkits(question) or (seen.found if seen else [])
    return next((kit for kit in kits if kit.parts is not None), None) if question.profile.toolkit else None


def _wanted(question: Question) -> set[str]:
    """Give the components whose scripts the profile's build sources."""
    toolkit = question.profile.toolkit
    return {script.partition("/")[0] for script in toolkit.scripts} if toolkit else set()


def _check_part(question: Question, part: str, *, needed: bool) -> Answer | None:
    kit, toolkit = _kit(question), question.profile.toolkit
    if kit is None or toolkit is None or part not in _wanted(question):
        return None
    if part in (kit.parts or []):
        return Answer("ok", f"{kit.root}/{part}", words_of(toolkit))
    return Answer("fail" if needed else "info", f"no {kit.root}/{part}", words_of(toolkit))


def check_mkl(question: Question) -> Answer | None:
    """Look for oneMKL with its SYCL libraries, in the toolkit or among what the build installs for itself."""
    pins = {Requirement(pin).name for pin in question.profile.build_requirements.pins}
    if question.profile.toolkit is not None and any(pin.startswith("onemkl-sycl") for pin in pins):
        return Answer("ok", "the build installs it for itself")
    return _check_part(question, "mkl", needed=True)


def check_pti(question: Question) -> Answer | None:
    """Look for the library that the profiler is built with."""
    return _check_part(question, "pti", needed=True)


def check_ccl(question: Question) -> Answer | None:
    """Look for oneCCL, without which there is no XCCL."""
    return _check_part(question, "ccl", needed=False)


def _targets(question: Question) -> list[str]:
    return question.profile.arch.default if question.profile.arch else []


def check_ocloc(question: Question) -> Answer | None:
    """Look for the device compiler that ahead-of-time targets need."""
    seen = question.facts.toolkits
    if seen is None or _kit(question) is None or _targets(question) in ([], ["none"]):
        return None
    return Answer("ok", seen.ocloc) if seen.ocloc else Answer("fail", "no ocloc on PATH or in the toolkit")


def check_ocloc_targets(question: Question) -> Answer | None:
    """Hold the profile's targets against those that the device compiler takes."""
    seen = question.facts.toolkits
    if seen is None or not seen.targets or not _targets(question):
        return None
    strange = [target for target in _targets(question) if target not in seen.targets]
    words = {"targets": ",".join(target for target in _targets(question) if target not in strange)}
    return Answer("warn", f"it does not know {', '.join(strange)}", words) if strange else Answer("ok", "all are known")


def check_caches(question: Question) -> Answer | None:
    """Look for room and rights where drivers and compilers keep what they compiled."""
    caches = question.facts.caches
    if caches is None:
        return None
    closed = [cache.path for cache in caches if not cache.writable]
    full = [cache.path for cache in caches if cache.free is not None and cache.free < ROOM]
    if closed or full:
        return Answer("warn", f"{closed[0]} may not be written to" if closed else f"less than 1 GiB for {full[0]}")
    return Answer("ok", ", ".join(cache.path for cache in caches))
