"""Hardware: whether there is a GPU, one that the driver knows, with what it can and cannot do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.checks.question import Answer, Question
from xpusetup.checks.seen import family, gpus, intel_gpus, is_discrete, is_xpu, named, of_family
from xpusetup.gpus import LEGACY

if TYPE_CHECKING:
    from xpusetup.facts import Gpu
    from xpusetup.model import Level

SMALL = 256 << 20
GENERIC = (
    "For any other GPU they hold generic code (SPIR-V), from which the driver compiles a kernel when it is first used:"
    " minutes at the first run (327 seconds until the first tensor, in one report of Intel's extension), and what"
    " it made is kept in ~/.cache/neo_compiler_cache"
)


def weight(question: Question) -> Level:
    """Give how much the lack of a device matters: running needs one, building does not."""
    return "fail" if question.goal == "run" else "warn"


def check_gpu_present(question: Question) -> Answer | None:
    """Look for the device; building needs none, running does."""
    if not question.device.pci_vendors or question.facts.hardware is None:
        return None
    if is_xpu(question) and question.facts.in_wsl:
        return Answer("info", "WSL2 hides it: Windows drives it")
    found = gpus(question)
    if not found:
        title = question.device.title
        return Answer(weight(question), f"no {title} on the PCI bus{_beside(question)}", {"device": title})
    return Answer("ok", named(question, found))


def _beside(question: Question) -> str:
    """Name the display devices that are there instead."""
    hardware = question.facts.hardware
    others = [gpu for gpu in (hardware.gpus if hardware else []) if gpu.pci_class.startswith("03")]
    return f"; there is {named(question, others)}" if others else ""


def _unknown(question: Question) -> list[Gpu]:
    return [gpu for gpu in intel_gpus(question) if family(question, gpu) is None] if question.gpus else []


def check_legacy(question: Question) -> Answer | None:
    """Look for graphics that only the legacy packages of the driver serve."""
    old = [gpu for gpu in _unknown(question) if gpu.device.startswith(LEGACY)]
    if not old:
        return None
    alone = len(old) == len(intel_gpus(question))
    return Answer("fail" if alone else "info", named(question, old))


def check_supported(question: Question) -> Answer | None:
    """Look the ids up in the table of the compute driver."""
    if question.gpus is None or not intel_gpus(question):
        return None
    unknown = [gpu for gpu in _unknown(question) if not gpu.device.startswith(LEGACY)]
    if not unknown:
        return Answer("ok", "in the driver's table")
    words = {"collected": str(question.gpus.collected)}
    return Answer("warn", f"not in the table of {question.gpus.collected}: {named(question, unknown)}", words)


def check_release(question: Question) -> Answer | None:
    """Hold the GPUs against the targets that the release was compiled for."""
    listed, arch = intel_gpus(question), question.profile.arch
    known = [(gpu, kind) for gpu in listed if (kind := family(question, gpu)) is not None]
    if arch is None or not known or arch.default == ["none"]:
        return None
    left_out = [gpu for gpu, kind in known if not kind.target_in(arch.default)]
    words = {"profile": question.profile.name, "targets": ", ".join(arch.default)}
    words["others"] = GENERIC if arch.spirv else "Nothing is known to be in them for another GPU"
    if not left_out:
        return Answer("ok", f"in the targets of {question.profile.name}", words)
    seen = f"{question.profile.name} holds no code for {named(question, left_out)}"
    if arch.spirv:
        seen = f"{question.profile.name} compiles its kernels for {named(question, left_out)} when they are first used"
    worst: Level = "warn" if arch.spirv else "fail"
    return Answer(worst if len(left_out) == len(listed) else "info", seen, words)


def check_fp64(question: Question) -> Answer | None:
    """Look for GPUs that compute in double precision only by emulation."""
    kinds = ((gpu, family(question, gpu)) for gpu in intel_gpus(question))
    lacking = [gpu for gpu, kind in kinds if kind is not None and kind.native_fp64 is False]
    return Answer("info", named(question, lacking)) if lacking else None


def check_small_bar(question: Question) -> Answer | None:
    """Look at the window to the memory of each card; xe refuses a small one, i915 is slow with it."""
    cards = [gpu for gpu in intel_gpus(question) if is_discrete(question, gpu) and gpu.bar is not None]
    small = [gpu for gpu in cards if (gpu.bar or 0) <= SMALL]
    if not cards:
        return None
    if not small:
        return Answer("ok", ", ".join(f"{(gpu.bar or 0) >> 20} MiB at {gpu.address}" for gpu in cards))
    level: Level = "fail" if any(gpu.driver == "xe" for gpu in small) else "warn"
    return Answer(level, ", ".join(f"{(gpu.bar or 0) >> 20} MiB at {gpu.address} ({gpu.driver})" for gpu in small))


def check_several_battlemage(question: Question) -> Answer | None:
    """Hold the Battlemage cards on the bus against those that Level Zero lists."""
    cards, userland = of_family(question, "bmg"), question.facts.userland
    ladder = userland.level_zero if userland else None
    if len(cards) < 2 or ladder is None or ladder.drivers is None:  # noqa: PLR2004 - several
        return None
    seen = sum(device.kind in ("gpu", "") for device in ladder.devices)
    return Answer("ok" if seen >= len(cards) else "warn", f"{seen} of {len(cards)} are listed by Level Zero")
