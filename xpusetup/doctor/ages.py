"""What follows from a version alone: parts older than the GPU, or than each other (data/first_releases.toml)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xpusetup.doctor.question import (
    CheckAnswer,
    Question,
    distribution,
    family,
    intel_gpus,
    is_discrete,
    is_xpu,
    lists_all,
    named,
    numbers,
    package,
)
from xpusetup.machine.gpus import age_of
from xpusetup.machine.versions import (
    COMPILERS,
    DRIVER_PACKAGES,
    WITHOUT_OLD,
    driver_build,
    first_package,
    is_stock,
    level_zero_build,
)
from xpusetup.machine.works import fails, lists_gpu, torch_works

if TYPE_CHECKING:
    from xpusetup.base.model import Level
    from xpusetup.machine.facts import Gpu
    from xpusetup.machine.first_releases import First, FirstTable, Part


IPEX = "intel-extension-for-pytorch"


SERVED_BEFORE = (
    "Drivers since 24.35 serve Gen12 and newer alone. What is older needs the legacy packages, which have another"
    " graphics compiler"
)
NEVER_SERVED = "The compute driver serves nothing before Gen8, and its legacy packages do not either"
LEGACY_PACKAGES = (
    " For OpenCL and Level Zero alone: intel-opencl-icd-legacy1 and intel-level-zero-gpu-legacy1, never beside libigc2."
)
BEIGNET = (
    " For OpenCL alone: Beignet (beignet-opencl-icd, in Ubuntu up to 20.04 and Debian up to 11) serves Ivy Bridge,"
    " Haswell and Bay Trail; pocl (pocl-opencl-icd) gives OpenCL on the processor."
)
OF_LEGACY = (
    *("intel-opencl-icd-legacy1", "intel-level-zero-gpu-legacy1", "intel-compute-runtime-legacy"),
    *("intel-opencl-icd-legacy", "libze-intel-gpu-legacy1-1"),
)
"""The driver for graphics before Gen12, as Intel, Arch and Debian name its packages."""


def check_legacy(question: Question) -> CheckAnswer | None:
    """Look for graphics that only the legacy packages of the driver serve."""
    old = [gpu for gpu in intel_gpus(question) if age(question, gpu)]
    if not old:
        return None
    oldest = all(age(question, gpu) == "oldest" for gpu in old)
    alone = len(old) == len(intel_gpus(question)) and not _is_served(question, oldest=oldest)
    words = {"served": NEVER_SERVED if oldest else SERVED_BEFORE, "instead": BEIGNET if oldest else LEGACY_PACKAGES}
    matters = question.facts.is_told("torch") or fails(question.facts)
    return CheckAnswer("fail" if alone and matters else "info", named(question, old), words)


def all_old(question: Question) -> bool:
    """Say whether all graphics are before Xe, which no newer driver serves."""
    found = intel_gpus(question)
    return bool(found) and all(age(question, gpu) for gpu in found)


def _is_served(question: Question, *, oldest: bool) -> bool:
    """Say whether a driver is here that serves graphics before Gen12, and nobody asks for PyTorch.

    `oldest`: they are of before Gen8, which no release of it has served; in Windows they have a driver of their own.
    """
    build = driver_build(question.facts)
    system = question.facts.system
    served = not oldest and (package(question, *OF_LEGACY) or (build is not None and build < WITHOUT_OLD))
    served = served or (system is not None and "windows" in system.families)
    return bool(served) and question.facts.torch is None


def age(question: Question, gpu: Gpu) -> str:
    """Say how old graphics are that no family of the table has, as gpus.age_of does; empty for others."""
    return age_of(gpu.device, gpu.name) if question.gpus and family(question, gpu) is None else ""


def _table(question: Question) -> FirstTable | None:
    return question.gpus.firsts if question.gpus else None


def first_of(question: Question, gpu: Gpu, part: Part) -> First | None:
    """Give the first release of a part that serves a GPU, by its id or its family; None where no source says it."""
    table, kind = _table(question), family(question, gpu)
    if table is None:
        return None
    return table.of_device(gpu.device, part) or (table.of_family(kind.id, part) if kind else None)


def _wanted(question: Question) -> list[Gpu]:
    """Give the GPUs that programs would take: the cards, where there are some."""
    found = intel_gpus(question)
    return [gpu for gpu in found if is_discrete(question, gpu)] or found


def _late(question: Question, part: Part, version: str) -> list[tuple[Gpu, First]]:
    """Give the GPUs that are newer than a version of a part, each with the first release that serves it."""
    pairs = ((gpu, first_of(question, gpu, part)) for gpu in _wanted(question))
    return [(gpu, first) for gpu, first in pairs if first and numbers(version, 3) < numbers(first.first, 3)]


def newer_than(question: Question, build: int) -> list[tuple[Gpu, First]]:
    """Give the GPUs that a build of the driver does not know, each with the first release that does."""
    pairs = ((gpu, first_of(question, gpu, "driver")) for gpu in _wanted(question))
    return [(gpu, first) for gpu, first in pairs if first and first.build and build < first.build]


def is_sure(late: list[tuple[Gpu, First]]) -> bool:
    """Say whether a source confirms one of them: else it is only worth a warning."""
    return any(first.confidence != "unconfirmed" for _, first in late)


def tell(question: Question, what: str, late: list[tuple[Gpu, First]]) -> str:
    """Say that a part is older than a GPU, and which release was the first that serves it."""
    gpu, first = late[0]
    return f"{what} is older than {named(question, [gpu])}: the first that serves it is {first.first}"


def before_kernel(question: Question, gpu: Gpu, release: str, *, sure: bool = True) -> First | None:
    """Give the first kernel that drives a GPU by itself, where the one that runs is older; `sure`: by a good source."""
    first, system = first_of(question, gpu, "kernel"), question.facts.system
    if first is None or (sure and first.confidence == "unconfirmed"):
        return None
    own = first.on(system.families if system else ())
    return first if (0, 0) < numbers(release) < numbers(own) else None


def say_kernel(question: Question, first: First) -> str:
    """Name the first kernel that drives a GPU, in the words of this system."""
    system = question.facts.system
    return f"Linux {first.say(system.families if system else ())}"


def newest_first(question: Question, found: list[Gpu]) -> list[Gpu]:
    """Give GPUs with that first which wants the newest kernel: a kernel that has it has the others too."""
    pairs = ((first_of(question, gpu, "kernel"), gpu) for gpu in found)
    return [gpu for _, gpu in sorted(pairs, key=lambda pair: numbers(pair[0].first) if pair[0] else (), reverse=True)]


def how_to_bind(question: Question, gpu: Gpu) -> dict[str, str]:
    """Say what brings a driver to a GPU; where one is loaded and passed it over, to load it again does not help."""
    kernel, wanted = question.facts.kernel, first_of(question, gpu, "kernel")
    asked = (wanted.module,) if wanted and wanted.module else ("xe", "i915")
    loaded = next((name for name in asked if kernel and name in kernel.modules), "")
    if kernel is None or gpu.driver is not None or not loaded:
        return {"mend": _mend_binding(gpu)}
    first = before_kernel(question, gpu, kernel.release, sure=False)
    means = f"{loaded} is loaded and has not taken {named(question, [gpu])}"
    if first is None:
        mend = "See why: its messages name what failed (firmware, memory, a GPU that it has no code for)."
        return {"means": means, "mend": mend, "commands": f"sudo dmesg | grep -iE '{gpu.address}|{loaded} '"}
    means += f": Linux {kernel.release} is older than this GPU, which wants {say_kernel(question, first)} or newer"
    mend = (
        "Take a newer kernel with its linux-firmware: a newer release of the system, or its newest kernel. force_probe"
        " and new_id do not help a driver that has no code for a GPU."
    )
    return {"means": means, "mend": mend, "commands": "uname -r"}


def _mend_binding(gpu: Gpu) -> str:
    """Give the command that brings a driver: loads one, or takes the GPU back from the one that has it."""
    if gpu.driver is None:
        return "sudo modprobe xe || sudo modprobe i915"
    place = f"/sys/bus/pci/devices/{gpu.address}"
    take = f"echo > {place}/driver_override; echo {gpu.address} > {place}/driver/unbind"
    return f"sudo sh -c '{take}; echo {gpu.address} > /sys/bus/pci/drivers_probe'"


def check_driver_for_gpu(question: Question) -> CheckAnswer | None:
    """Hold the driver against the GPU: it lists none that came after it."""
    build = level_zero_build(question.facts)
    if build is None or not is_xpu(question) or not intel_gpus(question):
        return None
    said = package(question, *DRIVER_PACKAGES) or f"build {build}"
    if is_stock(said) or (question.facts.userland and question.facts.userland.as_root):
        return None
    late = newer_than(question, build)
    if not late or lists_all(question) or (torch_works(question.facts) and not question.unlisted):
        return CheckAnswer("ok", f"build {build} knows it") if not late else None
    seen = tell(question, f"the driver {said} (build {build})", late)
    words = _for_legacy(late) if age_of(late[0][0].device) else {}
    return CheckAnswer("fail" if is_sure(late) else "warn", seen, words)


MUSL = ("alpine", "postmarketos", "chimera")
"""Systems whose C library is another one than that for which wheels and oneAPI are made."""
BEFORE_WHEELS = {"ubuntu": (18, 4), "debian": (9,), "rhel": (7,), "centos": (7,), "amzn": (2,)}
"""The last release of a system whose glibc is older than 2.28, which the wheels for XPU ask for."""
IN_A_CONTAINER = (
    "Work in a container of a system that they are made for (where this is one: take another image), with the GPU's"
    " nodes handed to it: there the rest of this counts, the driver too."
)
CONTAINER = "docker run -it --device /dev/dri --group-add $(stat -c %g /dev/dri/renderD128) ubuntu:24.04"


def check_libc(question: Question) -> CheckAnswer | None:
    """Look for a system whose C library runs none of what is published for Intel GPUs."""
    system = question.facts.system
    if system is None or not is_xpu(question) or not system.families or torch_works(question.facts):
        return None
    if not question.facts.is_told("torch"):  # a post that is not about PyTorch
        return None
    last, release = BEFORE_WHEELS.get(system.families[0]), numbers(system.version or "")
    words = {"mend": IN_A_CONTAINER, "commands": CONTAINER}
    if set(MUSL) & set(system.families):
        means = "PyTorch's wheels, oneAPI and Intel's driver are made for glibc, and the C library here is musl"
        return CheckAnswer("fail", f"{system.name} has musl", {**words, "means": means})
    if question.goal == "run" and last and release and release[: len(last)] <= last:
        means = "The wheels for Intel GPUs ask for glibc 2.28 or newer: pip finds none of them for this system"
        return CheckAnswer("fail", f"{system.name} has a glibc before 2.28", {**words, "means": means})
    return None


def newest_is_older(question: Question, gpu: Gpu, release: str) -> dict[str, str]:
    """Give what mends a kernel that is too old, where the distribution's release has none that is new enough."""
    system, table = question.facts.system, _table(question)
    found = table.of_system(system.families, system.version or "") if system and table else None
    first = before_kernel(question, gpu, found.newest) if found and found.newest else None
    if first is None or system is None or not found or "ubuntu" not in system.families[:1]:
        return {}
    mend = (
        f"A newer kernel does: {say_kernel(question, first)} or newer. {system.name} has none after {found.newest}:"
        " go to the next release with long support (Ubuntu 24.04 with linux-generic-hwe-24.04, or 26.04), or take a"
        " kernel from elsewhere."
    )
    commands = "sudo do-release-upgrade\nsudo apt-get install -y linux-generic-hwe-24.04\nsudo reboot"
    means = f"This kernel ({release}) does not drive {gpu.device} by itself, and neither does any other of this release"
    return {"means": means, "mend": mend, "commands": commands}


def _for_legacy(late: list[tuple[Gpu, First]]) -> dict[str, str]:
    """Give what mends a driver that is older than graphics before Gen12: the newest has dropped them again."""
    mend = (
        f"Take a release from {late[0][1].first} on that still has them: at most 24.31, or the legacy packages of 24.35"
        " (intel-opencl-icd-legacy1, intel-level-zero-gpu-legacy1; Debian: intel-opencl-icd-legacy; Arch:"
        " intel-compute-runtime-legacy), each with the graphics compiler that it names. In a container the one"
        " inside counts."
    )
    means = (
        "The driver in user space passes over GPUs that came after it; and from 24.35 on it has dropped this one again"
    )
    return {"means": means, "mend": mend, "commands": "dpkg -l | grep -E 'opencl-icd|level-zero|libze|igc'"}


def check_system_for_gpu(question: Question) -> CheckAnswer | None:
    """Hold the newest kernel of a distribution's release against the GPU, where the one that runs was not told."""
    system, table = question.facts.system, _table(question)
    told = question.facts.kernel is not None and numbers(question.facts.kernel.release) > (0, 0)
    if system is None or table is None or told or question.facts.in_wsl or lists_all(question):
        return None
    found = table.of_system(system.families, system.version or "")
    newest = found.newest or "" if found else ""
    late = [gpu for gpu in _wanted(question) if newest and before_kernel(question, gpu, newest)]
    if not found or not late or torch_works(question.facts):
        return None
    first = first_of(question, late[0], "kernel")
    wants = say_kernel(question, first) if first else "a newer one"
    seen = f"{system.name} has no kernel newer than {newest}, and {named(question, late)} needs {wants}"
    return CheckAnswer("fail" if fails(question.facts) else "warn", seen)


def check_image(question: Question) -> CheckAnswer | None:
    """Hold the driver in a container's image against the GPU."""
    container, table = question.facts.container, _table(question)
    image = container.details.get("image", "") if container else ""
    held = table.of_image(image) if table and image else None
    if held is None or level_zero_build(question.facts) or lists_all(question) or torch_works(question.facts):
        return None
    late = newer_than(question, held.build)
    if not late:
        return None
    amiss = fails(question.facts) or bool(question.unlisted)
    level: Level = "fail" if amiss and is_sure(late) else "warn"
    return CheckAnswer(
        level, tell(question, f"the driver in {image} (of {held.before} or before)", late), {"image": image}
    )


def check_torch_for_gpu(question: Question) -> CheckAnswer | None:
    """Hold torch and its extension against the GPU: native code came with a release."""
    torch = question.facts.torch
    ipex = distribution(question, IPEX)
    if torch is None or not is_xpu(question) or torch.version is None:
        return None
    if torch_works(question.facts):
        return None
    part: Part = "ipex" if ipex else "torch"
    version = ipex or (torch.version if torch.xpu else "")
    late = _late(question, part, version) if version else []
    if not late or not numbers(version):
        return None
    name = "Intel's extension" if ipex else "torch"
    sure = is_sure(late) and (bool(ipex) or lists_gpu(question.facts)) and fails(question.facts)
    seen = tell(question, f"{name} {version}", late)
    return CheckAnswer("fail" if sure else "warn", seen, {"python": torch.python})


LISTING_FAILS = r"(?i)level_zero backend failed|\b(?:UR|PI)_(?:RESULT_)?ERROR_(?:UNKNOWN|UNINIT)|Native API failed"
"""How a SYCL run time says that the driver failed a call."""


def check_driver_for_sycl(question: Question) -> CheckAnswer | None:
    """Hold the driver against torch's SYCL run time where that failed to list devices: most such pairs work."""
    torch, table, build = question.facts.torch, _table(question), level_zero_build(question.facts)
    if torch is None or not torch.xpu or table is None or build is None or torch_works(question.facts):
        return None
    said = f"{question.facts.refused} {(torch.report.error if torch.report else '') or ''}"
    blind = question.facts.userland and question.facts.userland.level_zero and not lists_gpu(question.facts)
    if blind or not re.search(LISTING_FAILS, said):
        return None
    sycl = distribution(question, "intel-sycl-rt")
    beside = table.driver_beside(sycl, torch.version or "")
    if beside is None or build >= beside.build:
        return None
    name = f"SYCL's run time {sycl}" if sycl else f"that of SYCL in torch {torch.version}"
    newest = f"the newest of its day was {beside.driver} ({beside.build})"
    seen = f"the driver of build {build} is older than {name}: {newest}{_one_card(question)}"
    return CheckAnswer("fail" if lists_gpu(question.facts) else "warn", seen, {"driver": beside.driver})


def _one_card(question: Question) -> str:
    """Say that there are several cards of one kind, which is where such a pair was seen to fail."""
    cards = [gpu.device for gpu in intel_gpus(question) if is_discrete(question, gpu)]
    most = max(map(cards.count, cards), default=0)
    return f", and there are {most} cards of one kind" if most > 1 else ""


LAST_WITH_THE_OLD = 31740
"""Drivers before this build load the graphics compiler of release 1 (libigc.so.1), and those since then that of 2."""
OF_OLD = ("0", "1")
OLD_PARTS = (
    "Install the compiler that belongs to it beside the new one: the packages of its release bring it (intel-igc-core"
    " and intel-igc-opencl 1.0.17537 for 24.35.30872, which is the last for graphics before Gen12). A distribution that"
    " has it no more leaves building it (github.com/intel/intel-graphics-compiler, tag igc-1.0.17537.24, into"
    " /usr/local/lib, then sudo ldconfig), or a container of Ubuntu 22.04 or 24.04 with intel-opencl-icd-legacy1."
    " A newer driver is no way out for such graphics."
)


def other_compiler(question: Question) -> CheckAnswer | None:
    """Look for a driver that loads the compiler of release 1, where only that of release 2 is installed."""
    build, userland = level_zero_build(question.facts), question.facts.userland
    packages = (userland.packages or {}) if userland else {}
    there = {name: packages[name] for name in COMPILERS if name in packages}
    if build is None or build >= LAST_WITH_THE_OLD or not there or lists_gpu(question.facts):
        return None
    if any(version.startswith(OF_OLD) for version in there.values()):
        return None
    name, version = next(iter(there.items()))
    means = (
        f"The driver of build {build} loads libigc.so.1, the graphics compiler of release 1; installed is release"
        f" {version} ({name}), which has libigc.so.2 alone: the driver gives up without it"
    )
    words = {"means": means, "mend": OLD_PARTS, "commands": "ldconfig -p | grep -E 'libigc|libigdfcl'"}
    return CheckAnswer("fail" if fails(question.facts) else "warn", f"build {build} beside {name} {version}", words)


def older_compiler(question: Question) -> str:
    """Say that the graphics compiler is older than the driver wants; empty where it is not, or not known."""
    table, build = _table(question), level_zero_build(question.facts)
    there = first_package(question.facts, COMPILERS)
    pair = table.compiler_for(build) if table and build else None
    if pair is None or not numbers(there) or numbers(there, 3) >= numbers(pair.compiler, 3):
        return ""
    return f"the graphics compiler {there} is older than the driver (build {build}): it wants {pair.compiler} or newer"
