"""Hardware: whether there is a GPU, what it can do, and whether the kernel's driver has it."""

import re

from xpusetup.base.model import Level
from xpusetup.doctor.ages import (
    age,
    all_old,
    before_kernel,
    first_of,
    how_to_bind,
    newer_than,
    newest_first,
    newest_is_older,
    say_kernel,
)
from xpusetup.doctor.question import (
    BINDS,
    DRIVERS,
    CheckAnswer,
    Question,
    family,
    gpus,
    intel_gpus,
    is_discrete,
    is_xpu,
    kernel_of,
    lists_all,
    messages,
    named,
    nodes,
    numbers,
    of_family,
    package,
    unbound,
    variable,
)
from xpusetup.doctor.userland import check_stock
from xpusetup.machine.facts import SEEN_ELSEWHERE, VGA_ALONE, Gpu, LinuxKernel
from xpusetup.machine.gpus import ONLY_XE, Family
from xpusetup.machine.versions import DRIVER_PACKAGES, driver_build
from xpusetup.machine.works import fails, is_gpu_line, lists_gpu, torch_works

SMALL = 256 << 20
SLOWLY = " If the board cannot, let i915 have this Alchemist card: it is slow, and works."
FORCED = re.compile(r"\b(?:i915|xe)\.force_probe=\S+")
GENERIC = (
    "For any other GPU they hold generic code (SPIR-V), from which the driver compiles a kernel when it is first used:"
    " minutes at the first run (327 seconds until the first tensor, in one report of Intel's extension), and what"
    " it made is kept in ~/.cache/neo_compiler_cache"
)


NOT_BUILT = "i915 is not the one of DKMS"
INSTALL_DKMS = (
    "Intel's i915 of DKMS is not installed, as far as was told: set up Intel's repository for this release"
    " (<xpusetup setup>), then install intel-i915-dkms with the headers of this kernel, and intel-fw-gpu, its firmware."
)
BUILD_AGAIN = (
    "Install the headers of the running kernel and build the module again: sudo dkms autoinstall -k $(uname -r); "
    "dkms status tells what failed."
)


def weight(question: Question) -> Level:
    """Give how much the lack of a device matters: running needs one, building does not."""
    return "fail" if question.goal == "run" else "warn"


def check_gpu_present(question: Question) -> CheckAnswer | None:
    """Look for the device; building needs none, running does."""
    if not question.device.pci_vendors or question.facts.hardware is None:
        return None
    if is_xpu(question) and question.facts.in_wsl:
        return CheckAnswer("info", "WSL2 hides it: Windows drives it")
    found = gpus(question)
    if not found:
        title, words = question.device.title, {"device": question.device.title}
        if question.facts.notes.get("hardware.gpus") == VGA_ALONE:
            return CheckAnswer("warn", f"no {title} among the VGA controllers{_beside(question)}", words)
        return CheckAnswer(weight(question), f"no {title} on the PCI bus{_beside(question)}", words)
    return CheckAnswer("ok", named(question, found))


def _beside(question: Question) -> str:
    """Name the display devices that are there instead."""
    hardware = question.facts.hardware
    others = [gpu for gpu in (hardware.gpus if hardware else []) if gpu.pci_class.startswith("03")]
    return f"; there is {named(question, others)}" if others else ""


def _unknown(question: Question) -> list[Gpu]:
    found = [gpu for gpu in intel_gpus(question) if gpu.device and family(question, gpu) is None]
    return found if question.gpus else []


def check_supported(question: Question) -> CheckAnswer | None:
    if question.gpus is None or not intel_gpus(question):
        return None
    unknown = [gpu for gpu in _unknown(question) if not age(question, gpu)]
    if not unknown:
        return CheckAnswer("ok", "the table of its current release has it")
    words = {"collected": str(question.gpus.collected)}
    return CheckAnswer("warn", f"not in the table of {question.gpus.collected}: {named(question, unknown)}", words)


def check_release(question: Question) -> CheckAnswer | None:
    listed, arch = intel_gpus(question), question.profile.arch
    known = [(gpu, kind) for gpu in listed if (kind := family(question, gpu)) is not None]
    if arch is None or not known or arch.default == ["none"]:
        return None
    left_out = [gpu for gpu, kind in known if not kind.target_in(arch.default)]
    words = {"profile": question.profile.name, "targets": ", ".join(arch.default)}
    words["others"] = GENERIC if arch.spirv else "Nothing is known to be in them for another GPU"
    if not left_out:
        return CheckAnswer("ok", f"{question.profile.name} has it", words)
    seen = f"{question.profile.name} holds no code for {named(question, left_out)}"
    if arch.spirv:
        seen = f"{question.profile.name} compiles its kernels for {named(question, left_out)} when they are first used"
    asked: Level = "warn" if question.facts.is_told("torch") else "info"
    worst: Level = asked if arch.spirv else "fail"
    return CheckAnswer(worst if len(left_out) == len(listed) else "info", seen, words)


def check_fp64(question: Question) -> CheckAnswer | None:
    """Look for GPUs that compute in double precision only by emulation."""
    kinds = ((gpu, family(question, gpu)) for gpu in intel_gpus(question))
    lacking = [gpu for gpu, kind in kinds if kind is not None and kind.native_fp64 is False]
    return CheckAnswer("info", named(question, lacking)) if lacking else None


def check_small_bar(question: Question) -> CheckAnswer | None:
    """Look at the window to the memory of each card; xe refuses a small one, i915 is slow with it."""
    cards = [gpu for gpu in intel_gpus(question) if is_discrete(question, gpu) and gpu.bar is not None]
    small = [gpu for gpu in cards if (gpu.bar or 0) <= SMALL]
    if not small:
        seen = ", ".join(f"{(gpu.bar or 0) >> 20} MiB at {gpu.address}" for gpu in cards)
        return CheckAnswer("ok", seen) if cards else None
    ladder = question.facts.userland.level_zero if question.facts.userland else None
    starts = lists_all(question) and ladder is not None and not ladder.init
    blind = REFUSES_MEMORY in question.facts.refused or (any(gpu.driver == "xe" for gpu in small) and not starts)
    seen = ", ".join(f"{(gpu.bar or 0) >> 20} MiB at {gpu.address} ({gpu.driver or 'no driver'})" for gpu in small)
    words = {"instead": SLOWLY if any(gpu in small for gpu in of_family(question, "dg2")) else ""}
    return CheckAnswer("fail" if blind else "warn", seen, words)


def check_several_battlemage(question: Question) -> CheckAnswer | None:
    """Hold the Battlemage cards on the bus against those that Level Zero lists, where no variable chooses."""
    cards = [gpu for gpu in of_family(question, "bmg") if gpu.driver in BINDS]
    ladder = question.facts.userland.level_zero if question.facts.userland else None
    if len(cards) < 2 or ladder is None or ladder.drivers is None:  # noqa: PLR2004 - several
        return None
    if variable(question, "ZE_AFFINITY_MASK"):
        return None
    seen = sum(device.kind in ("gpu", "") for device in ladder.devices)
    return CheckAnswer("ok" if seen >= len(cards) else "warn", f"{seen} of {len(cards)} are listed by Level Zero")


REFUSED = r"Your graphics device ([0-9a-f]{4}) is not (?:properly|officially) supported"
AGES: tuple[tuple[tuple[int, int], int, Level], ...] = (
    ((6, 18), 34666, "warn"),
    ((6, 11), 28202, "warn"),
    ((6, 8), 27641, "warn"),
)
"""Kernels from which on drivers up to a build are too old: 34666 is of 25.31, 28202 of the end of 2023, 27642 of 23.43,
which Ubuntu ships with 6.8 (compute-runtime#710, openvino#24797)."""
REFUSES_MEMORY = "OUT_OF_DEVICE_MEMORY"
"""How a driver that is too old for its kernel was seen to fail (compute-runtime#710)."""
FIRST_WITH_XE = 28202
"""Builds up to this one, of the end of 2023, knew of xe only where they were compiled for it (compute-runtime#696)."""
OF_LATER = r"\.el\d|-oem\b"
"""Kernels that have drivers of later ones."""
XE_ON_ALCHEMIST = (6, 9)
GIVEN = "vfio-pci"
"""The driver that has what was given to a virtual machine."""
FLEX = ("56c0", "56c1", "56c2")
"""Data Center GPU Flex: Alchemist by its chip, and Intel's own i915 is the only driver that is meant for it."""


def _words(question: Question, kernel: LinuxKernel, lost: list[Gpu]) -> dict[str, str]:
    device = lost[0].device if lost else ""
    first = first_of(question, lost[0], "kernel") if lost else None
    newer = f": {say_kernel(question, first)} or newer" if first and _is_before(question, kernel, lost[0]) else ""
    if package(question, "intel-i915-dkms") or "i915" in kernel.dkms:
        newer += ". Intel's i915 of DKMS keeps this kernel and does not know newer cards: remove it (intel-i915-dkms)"
    address = lost[0].address if lost else ""
    if first and lost and age(question, lost[0]):
        means = f"This kernel ({kernel.release}) does not know the GPU ({device}): i915 is loaded and takes none"
        mend = f"Boot {say_kernel(question, first)} or newer: a newer release of the distribution, or its backports."
        return {"kernel": kernel.release, "device": device, "address": address, "means": means, "mend": mend}
    asked = f"xe.force_probe={device} i915.force_probe=!{device}"
    if first and first.module == "i915":
        asked = f"i915.force_probe={device}"  # xe is not meant for it
    words = {"kernel": kernel.release, "device": device, "address": address, "newer": newer, "asked": asked}
    if first and kernel.release.endswith("-pve"):
        return {**words, **_of_proxmox(words)}
    return {**words, **(newest_is_older(question, lost[0], kernel.release) if lost else {})}


def _of_proxmox(words: dict[str, str]) -> dict[str, str]:
    """Give what mends a kernel of Proxmox VE that does not drive a GPU: it has kernels of its own."""
    means = f"This kernel ({words['kernel']}) does not drive {words['device']} by itself; containers have the host's"
    mend = (
        f"A newer kernel does{words['newer']}: Proxmox offers newer ones beside its usual one (pve-kernel-5.19 and -6.2"
        f" for 7, proxmox-kernel-6.8 and newer for 8), and its next release has one. Until then {words['asked']} on the"
        " kernel's command line may do. Then restart the host."
    )
    commands = "apt update\napt-cache search --names-only '^(pve|proxmox)-kernel-[0-9.]+$'\nreboot"
    return {"means": means, "mend": mend, "commands": commands}


def check_max_driver(question: Question) -> CheckAnswer | None:
    """Look for a Data Center GPU Max that no driver has taken: it needs Intel's own build of i915."""
    kernel = kernel_of(question)
    cards = [*of_family(question, "pvc"), *(gpu for gpu in intel_gpus(question) if gpu.device in FLEX)]
    dark = not nodes(question) and question.facts.is_told("hardware.nodes")
    lost = [gpu for gpu in cards if gpu.driver is None or (gpu.driver == SEEN_ELSEWHERE and dark)]
    if kernel is None or not cards or (not lost and cards[0].driver not in DRIVERS):
        return None  # where another driver has it, as vfio-pci: kmd.bound
    if lost and ("i915" in kernel.blacklisted or "nomodeset" in kernel.cmdline.split()):
        return None
    if lost:
        built = "i915 is built by DKMS, for another kernel" if "i915" in kernel.dkms else NOT_BUILT
        mend = BUILD_AGAIN if "i915" in kernel.dkms else INSTALL_DKMS
        words = {**_words(question, kernel, lost), "mend": mend}
        return CheckAnswer("fail", f"{named(question, lost)} has no driver; {built}", words)
    version = kernel.modules.get("i915")
    return CheckAnswer("ok", f"i915 {version or 'of the kernel'}" if "i915" in kernel.modules else str(cards[0].driver))


def check_known(question: Question) -> CheckAnswer | None:
    """Look whether the kernel would drive the GPU by itself: by its messages, or by its table of drivers."""
    kernel, lost = kernel_of(question), unbound(question)
    if kernel is None or not intel_gpus(question):
        return None
    if early := too_early(question):
        return _older(question, kernel, early)
    return _refusal(question, kernel, lost) if lost else CheckAnswer("ok", f"Linux {kernel.release} knows it")


def _refusal(question: Question, kernel: LinuxKernel, lost: list[Gpu]) -> CheckAnswer | None:
    """Say why no driver has a GPU: the kernel refuses it, has no driver for it, or is older than it."""
    refused = messages(question, REFUSED)
    if refused and _barred(question, kernel, lost):
        return None  # the driver that would take it by itself may not load, and the other one says that it will not
    if refused:
        return CheckAnswer("fail", refused[-1], _words(question, kernel, lost))
    unclaimed = [gpu for gpu in lost if kernel.claims is not None and kernel.claims.get(gpu.device) == []]
    if unclaimed:
        seen = f"Linux {kernel.release} has no driver for {named(question, unclaimed)}"
        return CheckAnswer("fail", seen, _words(question, kernel, unclaimed))
    late = [gpu for gpu in lost if gpu.driver is None and _is_before(question, kernel, gpu)]
    if late and kernel.claims is None and not (re.search(OF_LATER, kernel.release) and kernel.blacklisted):
        return _older(question, kernel, late)
    return None


def _older(question: Question, kernel: LinuxKernel, those: list[Gpu]) -> CheckAnswer:
    first = first_of(question, those[0], "kernel")
    by = f": the first that does by itself is {say_kernel(question, first)}" if first else ""
    seen = f"Linux {kernel.release} is older than the first that drives {named(question, those)}{by}"
    return CheckAnswer("fail", seen, _words(question, kernel, those))


def too_early(question: Question) -> list[Gpu]:
    """Give the GPUs of which nothing works and that the kernel is too old for, where no driver of its own is built in.

    Kernels of RHEL and those that makers of machines get from Ubuntu (-oem) have drivers of later ones.
    """
    kernel, userland = kernel_of(question), question.facts.userland
    shown = [*(userland.clinfo or []), *(userland.sycl or [])] if userland else []
    listed = any(is_gpu_line(line) for line in shown)
    if kernel is None:
        return []
    own = bool(kernel.dkms) or bool(package(question, "intel-i915-dkms", "xe-dkms"))
    gone = question.facts.is_told("hardware.nodes") and not nodes(question)
    if own or torch_works(question.facts) or not (gone or fails(question.facts)):
        return []
    if re.search(OF_LATER, kernel.release):
        return []
    early = [gpu for gpu in intel_gpus(question) if _is_before(question, kernel, gpu)]
    forced = [gpu for gpu in early if any(_probes(kernel, name, gpu) for name in DRIVERS)]
    blind = not listed and not lists_gpu(question.facts)
    return newest_first(question, [gpu for gpu in early if gpu in forced or (blind and gpu.driver == SEEN_ELSEWHERE)])


def _is_before(question: Question, kernel: LinuxKernel, gpu: Gpu) -> bool:
    """Say whether a kernel is older than the first that drives a GPU by itself."""
    return before_kernel(question, gpu, kernel.release) is not None


def check_blacklist(question: Question) -> CheckAnswer | None:
    kernel, lost = kernel_of(question), unbound(question)
    if _dark(question):
        return CheckAnswer(
            "fail", "the kernel was started with nomodeset, and there is no node", {"module": "nomodeset"}
        )
    waits = bool(lost) or _without_node(question)
    if kernel is None or not (waits or _untold_and_fails(question)):
        return None
    those = lost or intel_gpus(question)
    barred = _barred(question, kernel, those)
    left = bool(barred) and "=!" in barred[0]
    if left or (barred and waits):
        seen = f"{barred[0]} keeps its driver from {named(question, those)}, and no other takes it"
        return CheckAnswer("fail", seen if left else f"{', '.join(barred)} may not load", {"module": barred[0]})
    if waits and "nomodeset" in kernel.cmdline.split():
        return CheckAnswer("fail", "the kernel was started with nomodeset", {"module": "nomodeset"})
    return None


def _barred(question: Question, kernel: LinuxKernel, those: list[Gpu]) -> list[str]:
    """Give the drivers that may not load and that would take one of these GPUs: many keep i915 from what xe drives.

    One that only leaves a GPU alone (i915.force_probe=!56a0) is given by what tells it to.
    """
    takers = [(name, gpu) for gpu in those for name in _takers(family(question, gpu), gpu, kernel)]
    left = [
        f"{name}.force_probe=!{gpu.device}"
        for name, gpu in takers
        if _probes(kernel, name, gpu) is False
        or messages(question, rf"(?i)\b{name} probe blocked for device id {gpu.device or '-'}\b")
    ]
    return [*(name for name in kernel.blacklisted if name in dict(takers)), *left]


def _probes(kernel: LinuxKernel, name: str, gpu: Gpu) -> bool | None:
    """Say whether a driver was told to take a GPU (force_probe=56a0), or to leave it (!56a0); None where neither."""
    found = re.findall(rf"\b{name}\.force_probe=['\"]?([^\s'\"]+)", kernel.cmdline)
    value = kernel.force_probe.get(name) or (found[-1] if found else "")
    named = [each for each in value.lower().split(",") if gpu.device and each.lstrip("!") in (gpu.device, "*")]
    return not named[-1].startswith("!") if named else None


def _takers(kind: Family | None, gpu: Gpu, kernel: LinuxKernel) -> tuple[str, ...]:
    """Give the driver that takes a GPU by itself, or where the command line forces another, that one."""
    if _probes(kernel, "xe", gpu) or (kind is not None and kind.id.startswith(ONLY_XE)):
        return ("xe",)
    return ("i915",) if kind is not None else DRIVERS


def _without_node(question: Question) -> bool:
    """Say whether there is a GPU of which the driver was not told, and that there is no node."""
    return question.facts.is_told("hardware.nodes") and not nodes(question) and _untold_and_fails(question)


def _untold_and_fails(question: Question) -> bool:
    """Say whether nothing works, and of no GPU the driver was told."""
    return all(gpu.driver == SEEN_ELSEWHERE for gpu in intel_gpus(question)) and fails(question.facts)


def _dark(question: Question) -> bool:
    """Say whether nomodeset and the lack of nodes were told, where nothing was told of the GPUs."""
    facts = question.facts
    untold = facts.is_told("hardware.nodes") and not facts.is_told("hardware.gpus") and facts.hardware is not None
    cmdline = facts.kernel.cmdline if facts.kernel else ""
    return untold and is_xpu(question) and not nodes(question) and "nomodeset" in cmdline.split()


def check_bound(question: Question) -> CheckAnswer | None:
    """Look which driver has each GPU; one that serves another purpose (vfio-pci) does not count."""
    found, lost = intel_gpus(question), unbound(question)
    if question.facts.in_wsl or not found:
        return None
    seen = ", ".join(f"{gpu.address}: {gpu.driver or 'no driver'}" for gpu in found)
    if forced := FORCED.findall(question.facts.kernel.cmdline if question.facts.kernel else ""):
        seen += f"; the kernel's command line decides it: {' '.join(forced)}"
    if not lost:
        return CheckAnswer("ok", seen)
    words = {"address": lost[0].address, **how_to_bind(question, lost[0])}
    cards = any(is_discrete(question, gpu) for gpu in found if gpu not in lost)
    left = all(gpu.driver == GIVEN or (cards and not is_discrete(question, gpu)) for gpu in lost)
    some: Level = "info" if left else "warn"  # given away on purpose, or an integrated one, which PyTorch leaves out
    return CheckAnswer("fail" if len(lost) == len(found) else some, seen, words)


def check_xe_on_alchemist(question: Question) -> CheckAnswer | None:
    """Look for an Alchemist card on xe: under an old kernel, or where nothing finds it."""
    kernel = kernel_of(question)
    cards = [gpu for gpu in of_family(question, "dg2") if gpu.driver == "xe"]
    lost = fails(question.facts) and not lists_all(question)
    if not cards or ((kernel is None or numbers(kernel.release) >= XE_ON_ALCHEMIST) and not lost):
        return None
    aged = check_driver_age(question)
    if aged is not None and aged.level == "fail":
        return None  # a driver that is too old for the kernel finds nothing on i915 either
    under = f" under Linux {kernel.release}" if kernel else ""
    seen = f"xe has {named(question, cards)}{under}"
    return CheckAnswer("fail" if lost else "warn", seen, _words(question, kernel, cards) if kernel else {})


def check_driver_age(question: Question) -> CheckAnswer | None:
    """Hold the age of the user-mode driver against that of the kernel, and of the GPU."""
    kernel, build = kernel_of(question), driver_build(question.facts)
    if build is None or question.facts.in_wsl or all_old(question):
        return None
    said = package(question, *DRIVER_PACKAGES) or f"build {build}"
    seen = f"{said} on Linux {kernel.release}" if kernel else said
    release = numbers(kernel.release) if kernel else (0, 0)
    late = [level for first, last, level in AGES if release >= first and build <= last]
    if late and REFUSES_MEMORY in question.facts.refused:
        return CheckAnswer("fail", f"{seen}, which refuses memory")
    if check_stock(question) is not None:
        return CheckAnswer("info", seen) if kernel else None
    if kernel is None or (newer_than(question, build) and not lists_all(question)):
        return None
    on_xe = [gpu for gpu in intel_gpus(question) if gpu.driver == "xe"]
    if on_xe and build <= FIRST_WITH_XE:
        return CheckAnswer("fail", f"{seen}, and xe has {named(question, on_xe)}, which a driver of 2023 does not know")
    return CheckAnswer(late[0] if late else "ok", seen)
