"""All checks in the order in which they are shown, and the one function that asks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.checks import hardware, resources, space, toolchain, toolkit
from xpusetup.checks.question import Answer, Check, Question
from xpusetup.model import Finding, Fix

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from xpusetup.catalog import CheckText

CHECKS: tuple[Check, ...] = (
    Check("hw.intel_gpu_present", hardware.check_gpu_present),
    Check("perm.dri_nodes", hardware.check_render_node),
    Check("perm.render_group", hardware.check_render_group),
    Check("oneapi.compiler", toolkit.check_compiler),
    Check("oneapi.version_vs_torch", toolkit.check_version),
    Check("setvars.completed", toolkit.check_setvars),
    Check("cc.gcc", toolchain.check_gcc),
    Check("cc.gcc_version", toolchain.check_gcc_version),
    Check("git.present", toolchain.check_git),
    Check("py.version", toolchain.check_python),
    Check("py.headers", toolchain.check_headers),
    Check("py.venv", toolchain.check_venv),
    Check("py.environment", toolchain.check_environment),
    Check("res.disk", space.check_disk),
    Check("res.filesystem", space.check_filesystem),
    Check("res.memory_jobs", resources.check_memory),
    Check("res.cgroup", resources.check_cgroup),
)
BAD = ("fail", "crash")


def examine(
    question: Question, texts: Mapping[str, CheckText], *, only: Iterable[str] = (), skip: Iterable[str] = ()
) -> tuple[Finding, ...]:
    """Ask every check that applies. What follows from a cause that failed is skipped and names it."""
    wanted, left = set(only) or {check.id for check in CHECKS}, set(skip)
    found: dict[str, Finding] = {}
    for check in CHECKS:
        if check.id in wanted and check.id not in left:
            finding = _examine_one(check, question, texts[check.id], found)
            if finding is not None:
                found[check.id] = finding
    return tuple(found.values())


def _examine_one(check: Check, question: Question, text: CheckText, found: Mapping[str, Finding]) -> Finding | None:
    answer = _ask(check, question)
    if answer is None:
        return None
    cause = next((name for name in text.follows if name in found and found[name].level in (*BAD, "warn", "skip")), "")
    if cause and answer.level not in ("ok", "info"):
        answer = Answer("skip", f"waits for {cause}", answer.words)
    quiet = answer.level in ("ok", "skip")
    return Finding(
        id=check.id,
        area=text.area,
        level=answer.level,
        title=text.title,
        seen=answer.seen,
        why="" if quiet else text.reason(answer.words),
        fix=Fix() if quiet else text.fix(answer.words),
        source=text.source,
        caused_by=(found[cause].caused_by or cause) if answer.level == "skip" else "",
    )


def _ask(check: Check, question: Question) -> Answer | None:
    try:
        return check.ask(question)
    except Exception as error:  # noqa: BLE001 - a check cannot kill the doctor, whatever the facts hold
        return Answer("crash", f"the check itself failed: {type(error).__name__}: {error}")


def root_causes(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Give the ids of what fails by itself."""
    return tuple(finding.id for finding in findings if finding.level in BAD and not finding.caused_by)
