"""The kernel's drivers and their firmware: whether a driver has taken the GPU, and what keeps it from that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.checks.question import Answer, Question
from xpusetup.checks.seen import (
    DRIVERS,
    family,
    intel_gpus,
    messages,
    named,
    nodes,
    numbers,
    of_family,
    package,
    unbound,
)

if TYPE_CHECKING:
    from xpusetup.facts import Gpu, Kernel

REFUSED = r"Your graphics device ([0-9a-f]{4}) is not properly supported by"
NO_FIRMWARE = (
    r"fetch failed (?:with error )?-ENOENT|Failed to initialize uC|Direct firmware load for .* failed with error -2"
)
HANG = r"GPU HANG|context reset due to GPU hang|Fence expiration time out"
FIRMWARE = {"bmg": "xe/bmg_guc", "dg2": "i915/dg2_guc", "pvc": "i915/pvc_guc", "mtl": "i915/mtl_guc"}
"""Which firmware a family needs, as its file below the firmware folder begins."""
WRONG_KERNEL, WRONG_DRIVER = (6, 18), (25, 31)
XE_ON_ALCHEMIST = (6, 9)


def _kernel(question: Question) -> Kernel | None:
    return question.facts.kernel if intel_gpus(question) and not question.facts.in_wsl else None


def _words(kernel: Kernel, lost: list[Gpu]) -> dict[str, str]:
    device = lost[0].device if lost else ""
    return {"kernel": kernel.release, "device": device, "address": lost[0].address if lost else ""}


def check_firmware(question: Question) -> Answer | None:
    """Look for firmware that the kernel did not find, in its messages or, where no node is, in the files."""
    kernel = _kernel(question)
    if kernel is None:
        return None
    lines = messages(question, NO_FIRMWARE)
    if lines and not nodes(question):
        return Answer("fail", lines[-1])
    if kernel.firmware is not None and not nodes(question):
        lacking = [start for gpu in intel_gpus(question) if (start := _lacking(question, gpu, kernel.firmware))]
        if lacking:
            return Answer("fail", f"no /lib/firmware/{lacking[0]}*")
    return Answer("info", lines[-1]) if lines else Answer("ok", "none is missed")


def _lacking(question: Question, gpu: Gpu, files: list[str]) -> str:
    kind = family(question, gpu)
    wanted = next((start for name, start in FIRMWARE.items() if kind and kind.id.startswith(name)), "")
    return "" if any(file.startswith(wanted) for file in files) else wanted


def check_hang(question: Question) -> Answer | None:
    """Look for hangs and resets in the kernel's messages."""
    kernel = _kernel(question)
    if kernel is None or kernel.messages is None:
        return None
    lines = messages(question, HANG)
    return Answer("warn", f"{len(lines)}, the last: {lines[-1]}") if lines else Answer("ok", "none recorded")


def check_max_driver(question: Question) -> Answer | None:
    """Look for a Data Center GPU Max that no driver has taken: it needs Intel's own build of i915."""
    kernel, cards = _kernel(question), of_family(question, "pvc")
    lost = [gpu for gpu in cards if gpu.driver not in DRIVERS]
    if kernel is None or not cards:
        return None
    if lost:
        built = "built by DKMS, for another kernel" if "i915" in kernel.dkms else "not the one of DKMS"
        return Answer("fail", f"{named(question, lost)} has no driver; i915 is {built}", _words(kernel, lost))
    version = kernel.modules.get("i915")
    return Answer("ok", f"i915 {version or 'of the kernel'}" if "i915" in kernel.modules else str(cards[0].driver))


def check_known(question: Question) -> Answer | None:
    """Look whether the kernel would drive the GPU by itself: by its messages, or by its table of drivers."""
    kernel, lost = _kernel(question), unbound(question)
    if kernel is None or not intel_gpus(question):
        return None
    if not lost:
        return Answer("ok", f"Linux {kernel.release} knows it")
    refused = messages(question, REFUSED)
    if refused:
        return Answer("fail", refused[-1], _words(kernel, lost))
    unclaimed = [gpu for gpu in lost if kernel.claims is not None and kernel.claims.get(gpu.device) == []]
    if unclaimed:
        seen = f"Linux {kernel.release} has no driver for {named(question, unclaimed)}"
        return Answer("fail", seen, _words(kernel, unclaimed))
    return None


def check_blacklist(question: Question) -> Answer | None:
    """Look for drivers that were told not to load, where a GPU waits for one."""
    kernel, lost = _kernel(question), unbound(question)
    if kernel is None or not lost:
        return None
    if kernel.blacklisted:
        return Answer("fail", f"{', '.join(kernel.blacklisted)} may not load", {"module": kernel.blacklisted[0]})
    if "nomodeset" in kernel.cmdline.split():
        return Answer("fail", "the kernel was started with nomodeset", {"module": "nomodeset"})
    return None


def check_bound(question: Question) -> Answer | None:
    """Look which driver has each GPU; one that serves another purpose (vfio-pci) does not count."""
    found, lost = intel_gpus(question), unbound(question)
    if question.facts.in_wsl or not found:
        return None
    seen = ", ".join(f"{gpu.address}: {gpu.driver or 'no driver'}" for gpu in found)
    if not lost:
        return Answer("ok", seen)
    words = {"address": lost[0].address, "mend": _mend_binding(lost[0])}
    return Answer("fail" if len(lost) == len(found) else "warn", seen, words)


def _mend_binding(gpu: Gpu) -> str:
    """Give the command that brings a driver: loads one, or takes the GPU back from the one that has it."""
    if gpu.driver is None:
        return "sudo modprobe xe || sudo modprobe i915"
    place = f"/sys/bus/pci/devices/{gpu.address}"
    take = f"echo > {place}/driver_override; echo {gpu.address} > {place}/driver/unbind"
    return f"sudo sh -c '{take}; echo {gpu.address} > /sys/bus/pci/drivers_probe'"


def check_xe_on_alchemist(question: Question) -> Answer | None:
    """Look for an Alchemist card on xe under an old kernel."""
    kernel = _kernel(question)
    cards = [gpu for gpu in of_family(question, "dg2") if gpu.driver == "xe"]
    if kernel is None or not cards or numbers(kernel.release) >= XE_ON_ALCHEMIST:
        return None
    return Answer("warn", f"xe has {named(question, cards)} under Linux {kernel.release}", _words(kernel, cards))


def check_driver_age(question: Question) -> Answer | None:
    """Hold the age of the user-mode driver against that of the kernel."""
    kernel = _kernel(question)
    version = package(question, "libze-intel-gpu1", "intel-opencl-icd")
    if kernel is None or not version:
        return None
    late = numbers(kernel.release) >= WRONG_KERNEL and numbers(version) <= WRONG_DRIVER
    return Answer("warn" if late else "ok", f"{version} on Linux {kernel.release}")
