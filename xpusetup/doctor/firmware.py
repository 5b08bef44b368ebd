"""Firmware and faults of a GPU in the kernel's messages: what did not start, hung, or was lost by the bus."""

import re

from xpusetup.doctor.ages import before_kernel
from xpusetup.doctor.question import (
    CheckAnswer,
    Question,
    family,
    gpus,
    intel_gpus,
    kernel_of,
    lists_all,
    messages,
    nodes,
    unbound,
)
from xpusetup.machine.facts import Gpu
from xpusetup.machine.works import fails, lists_gpu

NO_FIRMWARE = (
    r"fetch failed (?:with error )?-(?:E[A-Z]+|\d+)\b|Failed to initialize uC"
    r"|Direct firmware load for .* failed with error -2"
    r"|GuC init(?:iali[sz]ation)? failed (?:with )?(?:error )?-(?:2|ENOENT)\b"
)
STILL_LISTED = "Without its GuC firmware the GPU is found and then given up; a node that is listed serves nothing"
TOO_OLD = r"Unsupported [GH]uC v\d|\bv[\d.]+ or newer is required"
GUC = r"(?i)\bguc\b|/\w+_guc_"
WEDGED = (
    r"(?i)declar\w+ (?:it |device \S+ (?:as )?)?wedged|Device initialization failed"
    r"|\b(?:i915|xe): probe of \S+ failed|GuC initiali[sz]ation failed|GuC init failed|Enabling uc failed"
    r"|GUC: load failed|GuC load failed|Unsupported GuC v|firmware production part check failure"
    r"|probe with driver (?:xe|i915) failed with error|Failed to initialize (?:GPU|uC)\b"
)
PROBE_FAILED = r"Device initialization failed|\b(?:i915|xe): probe of \S+ failed|probe with driver (?:xe|i915) failed"
CAME_UP = r"\bInitialized (?:i915|xe) .* on minor"
HANG = (
    r"GPU HANG|context reset due to GPU hang|Fence expiration time out|\b(?:Engine|GT) reset\b|Timedout job"
    r"|Engine memory CAT error|device coredump has been created|\bhang on [rcbv]cs\d|Resetting (?:chip|[rcbv]cs\d)"
    r"|\btrying reset from\b|\breset (?:queued|started)\b|\bGuC reset\b|TLB invalidation\b.*\btime"
    r"|\b(?:GuC|CT)\b.*\b(?:timed out|no response|not responding|dead|broken)\b"
)
FIRMWARE = {"bmg": "xe/bmg_guc", "dg2": "i915/dg2_guc", "pvc": "i915/pvc_guc", "mtl": "i915/mtl_guc"}
"""Which firmware a family needs, as its file below the firmware folder begins."""
BUS_ERROR = (
    r"(?i)\b(?:DMAR|AMD-Vi): .*\bfault\b|\bAER: .*(?:fatal|uncorrect)|severity=uncorrect|fell off the bus"
    r"|device is inaccessible|unable to change power state"
)
"""What the kernel says of a device that the bus has lost or that reads what it may not; corrected errors are none."""


def check_firmware(question: Question) -> CheckAnswer | None:
    """Look for firmware that the kernel did not find, in its messages or, where no node is, in the files."""
    kernel = kernel_of(question)
    if kernel is None:
        return None
    lines = messages(question, NO_FIRMWARE)
    told = messages(question, TOO_OLD)
    guc = told or [line for line in lines if re.search(GUC, line)]
    gone = not nodes(question) and question.facts.is_told("hardware.nodes")
    if lines and (
        gone or (guc and not lists_all(question) and not _came_up(kernel.messages or [], (guc or lines)[-1]))
    ):
        listed = {"means": STILL_LISTED} if nodes(question) else {}
        return CheckAnswer("fail", (guc or lines)[-1], listed)
    if kernel.firmware is not None and not nodes(question):
        lacking = [start for gpu in intel_gpus(question) if (start := _lacking(question, gpu, kernel.firmware))]
        if lacking:
            return CheckAnswer("fail", f"no /lib/firmware/{lacking[0]}*")
    if kernel.messages is None and not lists_gpu(question.facts):
        return None  # the kernel keeps them for root, and a node alone does not tell
    return CheckAnswer("info", lines[-1]) if lines else CheckAnswer("ok", "nothing is missing")


def _came_up(said: list[str], missed: str) -> bool:
    """Say whether a driver came up after it missed a firmware and gave nothing up: older graphics run without one."""
    later = said[len(said) - said[::-1].index(missed) :]
    return any(re.search(CAME_UP, line) for line in later) and not _still_wedged(said)


def _lacking(question: Question, gpu: Gpu, files: list[str]) -> str:
    kind = family(question, gpu)
    wanted = next((start for name, start in FIRMWARE.items() if kind and kind.id.startswith(name)), "")
    return "" if any(file.startswith(wanted) for file in files) else wanted


def check_wedged(question: Question) -> CheckAnswer | None:
    """Look for a GPU that the kernel has given up: its firmware did not start, or a reset failed."""
    kernel = kernel_of(question)
    if kernel is None or kernel.messages is None:
        return None
    lines = _still_wedged(kernel.messages)
    late = [gpu for gpu in unbound(question) if before_kernel(question, gpu, kernel.release)]
    if late and lines and all(re.search(PROBE_FAILED, line) for line in lines):
        return None  # what no driver of this kernel knows: kmd.force_probe
    if not lines:
        return CheckAnswer("ok", "none")
    first = next((line for line in lines if "wedged" not in line), lines[0])
    return CheckAnswer("warn" if lists_all(question) else "fail", first, {"kernel": kernel.release})


def _still_wedged(said: list[str]) -> list[str]:
    """Give what tells of a GPU that was given up, less the probes that failed before one that did not."""
    came = max((place for place, line in enumerate(said) if re.search(CAME_UP, line)), default=-1)
    found = [(place, line) for place, line in enumerate(said) if re.search(WEDGED, line)]
    return [line for place, line in found if place > came or not re.search(PROBE_FAILED, line)]


def check_hang(question: Question) -> CheckAnswer | None:
    kernel = kernel_of(question)
    if kernel is None or kernel.messages is None:
        return None
    lines = messages(question, HANG)
    return CheckAnswer("warn", f"{len(lines)}, the last: {lines[-1]}") if lines else CheckAnswer("ok", "none recorded")


def check_bus(question: Question) -> CheckAnswer | None:
    """Look for errors of the bus at the place of a device; a line without its place may be about another one."""
    places = [gpu.address for gpu in gpus(question)] if question.facts.kernel else []
    short = [place.removeprefix("0000:") for place in places]
    lines = [line for line in messages(question, BUS_ERROR) if any(place in line for place in short)]
    if not lines:
        return None
    return CheckAnswer("fail" if fails(question.facts) else "warn", f"{len(lines)}, the last: {lines[-1]}")
