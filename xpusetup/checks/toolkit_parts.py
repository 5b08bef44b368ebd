"""The parts of a toolkit: device compiler, libraries that a profile's build asks for, and the compilers' caches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.checks.question import Answer, Question
from xpusetup.checks.toolkit import usable_toolkits, words_of
from xpusetup.jobs import GIB

if TYPE_CHECKING:
    from xpusetup.facts import ToolkitSeen
    from xpusetup.model import Level

ROOM = GIB


def _kit(question: Question) -> ToolkitSeen | None:
    """Give the toolkit that a build would take, where its parts were looked at."""
    seen = question.facts.toolkits
    kits = usable_toolkits(question) or (seen.found if seen else [])
    return next((kit for kit in kits if kit.parts is not None), None) if question.profile.toolkit else None


def _wanted(question: Question) -> set[str]:
    """Give the components whose scripts the profile's build sources, and oneMKL where the wheels will require it."""
    toolkit, runtime = question.profile.toolkit, question.profile.runtime_requirements
    sourced = {script.partition("/")[0] for script in toolkit.scripts} if toolkit else set()
    required = any(pin.startswith("onemkl-sycl") for pin in (runtime.pins if runtime else []))
    return {*sourced, "mkl"} if required else sourced


def _check_part(question: Question, part: str, lacking: Level) -> Answer | None:
    """Look for a part. Its lack is no failure: the configure step stops at it within a minute, where it matters."""
    kit, toolkit = _kit(question), question.profile.toolkit
    if kit is None or toolkit is None or part not in _wanted(question):
        return None
    if part in (kit.parts or []):
        return Answer("ok", f"{kit.root}/{part}", words_of(toolkit))
    return Answer(lacking, f"no {kit.root}/{part}", words_of(toolkit))


def check_mkl(question: Question) -> Answer | None:
    """Look for oneMKL with its SYCL libraries."""
    return _check_part(question, "mkl", "warn")


def check_pti(question: Question) -> Answer | None:
    """Look for the library that the profiler is built with."""
    return _check_part(question, "pti", "warn")


def check_ccl(question: Question) -> Answer | None:
    """Look for oneCCL, without which there is no XCCL."""
    return _check_part(question, "ccl", "info")


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
