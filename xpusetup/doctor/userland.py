"""The user-mode driver: its packages and libraries, how far Level Zero gets, and what hides devices from it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xpusetup.doctor.ages import newer_than, older_compiler, other_compiler, tell
from xpusetup.doctor.question import (
    INTEL,
    CheckAnswer,
    Question,
    distribution,
    intel_gpus,
    is_discrete,
    is_xpu,
    listed_names,
    name,
    named,
    nodes,
    numbers,
    of_family,
    package,
    variable,
)
from xpusetup.doctor.variables import lets_through, selector_fault
from xpusetup.machine.facts import NOT_THERE
from xpusetup.machine.gpus import find_device
from xpusetup.machine.versions import COMPILERS, DRIVER_PACKAGES, LEVEL_ZERO, LOADERS, is_stock
from xpusetup.machine.works import fails, is_gpu_line, lists_gpu, torch_works

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.base.model import Level
    from xpusetup.machine.facts import LevelZero, Userland


LOADER, DRIVER = "libze_loader.so.1", "libze_intel_gpu.so.1"
UNLOADED = re.compile(rf"{re.escape(LOADER)}\S*: cannot open shared object")
CODES = {
    0x70000001: "DEVICE_LOST",
    0x70000002: "OUT_OF_HOST_MEMORY",
    0x70000003: "OUT_OF_DEVICE_MEMORY",
    0x70010000: "INSUFFICIENT_PERMISSIONS",
    0x70010001: "NOT_AVAILABLE",
    0x70020000: "DEPENDENCY_UNAVAILABLE",
    0x78000001: "UNINITIALIZED",
    0x78000002: "UNSUPPORTED_VERSION",
    0x78000003: "UNSUPPORTED_FEATURE",
    0x7FFFFFFE: "UNKNOWN",
}
DEPENDENCY = 0x70020000
COMPILER_LOST = re.compile(r"/(?:built_ins|compiler_interface)\.cpp\b")
"""The places in compute-runtime that give up where libigdfcl or libigc cannot be loaded (compute-runtime#161)."""
FAMILIES = (
    ("intel-level-zero-gpu", "libze-intel-gpu1"),
    ("libigc1", "libigc2"),
    ("intel-igc-core", "libigc2"),
    ("level-zero", "libze1"),
)
"""Packages that bring the same files under two names."""
OUTGROWN = 39
"""A driver so many weeks older than the SYCL runtime is passed over by it in reports."""
STOCK_BUILD = 27642
"""The driver of Ubuntu 24.04's own archive, 23.43."""


def _userland(question: Question) -> Userland | None:
    return question.facts.userland if is_xpu(question) else None


def _ladder(question: Question) -> LevelZero | None:
    userland = _userland(question)
    return userland.level_zero if userland else None


def check_loader(question: Question) -> CheckAnswer | None:
    userland, ladder = _userland(question), _ladder(question)
    if userland is not None and ladder is not None and UNLOADED.search(ladder.error):
        return CheckAnswer("fail", ladder.error)
    if userland is not None and (lacks := _lacks(question, LOADERS)):
        return CheckAnswer("fail", lacks)
    if userland is None or userland.libraries is None:
        return None
    path = userland.libraries.get(LOADER)
    if path and path.startswith(("/usr/local/", "/opt/")) and fails(question.facts):
        return CheckAnswer("fail", f"{path} comes first, which is not the distribution's")
    if not path and not question.facts.is_told("userland.libraries"):
        return None
    return CheckAnswer("ok", path) if path else CheckAnswer("fail", f"no {LOADER} on the library path")


def _none_of(names: Sequence[str]) -> str:
    """Say that none of some packages is there."""
    return f"neither {' nor '.join(names)}" if len(names) > 1 else f"no {''.join(names)}"


def _lacks(question: Question, part: tuple[str, ...]) -> str:
    """Say that a list shows the driver and none of the packages of a part that it needs, where nothing works."""
    userland = question.facts.userland
    lacking = [name for name in (userland.lacking if userland else []) if name in part]
    there = package(question, *DRIVER_PACKAGES)
    if not lacking or not there or not fails(question.facts) or lists_gpu(question.facts):
        return ""
    return f"the driver is installed ({there}), and {_none_of(lacking)} among the packages"


def check_driver(question: Question) -> CheckAnswer | None:
    userland = _userland(question)
    if userland is None:
        return None
    if {*userland.broken} & {*LEVEL_ZERO["apt"]}:
        return None  # half of it is there: umd.mixed_driver_packages
    lacking = [name for name in userland.lacking if name not in (*LOADERS, *COMPILERS)]
    if lacking and not lists_gpu(question.facts):
        level: Level = "fail" if userland.level_zero is not None or fails(question.facts) else "warn"
        return CheckAnswer(level, f"{_none_of(lacking)} among the packages")
    if userland.libraries is None:
        return None
    path = userland.libraries.get(DRIVER)
    if not path and not question.facts.is_told("userland.libraries"):
        return None
    return CheckAnswer("ok", path) if path else CheckAnswer("fail", f"no {DRIVER} on the library path")


def check_stock(question: Question) -> CheckAnswer | None:
    """Look for the driver of Ubuntu 24.04's own archive."""
    version = package(question, "libze-intel-gpu1", "intel-opencl-icd")
    if not is_xpu(question) or not is_stock(version):
        return None
    if late := newer_than(question, STOCK_BUILD):
        return CheckAnswer("fail", tell(question, version, late))
    return CheckAnswer("warn", f"{version}, of 2023")


def check_mixed(question: Question) -> CheckAnswer | None:
    """Look for two packages that bring the same files, and for halves of packages."""
    userland = _userland(question)
    if userland is None or userland.packages is None:
        return None
    pairs = [(old, new) for old, new in FAMILIES if {old, new} <= set(userland.packages)]
    both = [f"{old} with {new}" for old, new in pairs]
    halves = [f"{name} half installed" for name in userland.broken]
    gone = " ".join(dict.fromkeys([*(old for old, _ in pairs), *userland.broken]))
    words = {"packages": gone, "kept": " ".join(dict.fromkeys(new for _, new in pairs)) or gone}
    if not both and not halves:
        return CheckAnswer("ok", "none")
    ladder = userland.level_zero
    broken = ladder is not None and (ladder.init == DEPENDENCY or not lists_gpu(question.facts))
    broken |= bool(halves) and (fails(question.facts) or bool(question.facts.refused))  # listed, and nothing runs
    return CheckAnswer("fail" if broken else "warn", ", ".join([*both, *halves]), words)


def check_graphics_compiler(question: Question) -> CheckAnswer | None:
    return other_compiler(question) or _check_compiler(question)


def _check_compiler(question: Question) -> CheckAnswer | None:
    userland, ladder = _userland(question), _ladder(question)
    ended = [line for line in _aborts(question) if COMPILER_LOST.search(line)]
    if ended and not lists_gpu(question.facts):
        return CheckAnswer("fail", f"the driver could not load its compiler: {ended[0]}")
    amiss = fails(question.facts) or bool(question.facts.refused)
    wrong = _lacks(question, COMPILERS) or older_compiler(question)
    if wrong and (amiss or not torch_works(question.facts)):
        return CheckAnswer("fail" if amiss else "warn", wrong)
    if userland is None or userland.libraries is None or DRIVER not in userland.libraries:
        return None
    found = [name for name in ("libigc.so.2", "libigc.so.1") if name in userland.libraries]
    if ladder is not None and ladder.init == DEPENDENCY:
        return CheckAnswer("fail", f"zeInit: {describe(DEPENDENCY)}, with {' and '.join(found) or 'no libigc'}")
    if not found and not question.facts.is_told("userland.libraries"):
        return None
    return CheckAnswer("ok", ", ".join(found)) if found else CheckAnswer("fail", "no libigc.so on the library path")


def describe(code: int) -> str:
    """Give a code of Level Zero with its name."""
    return f"{code:#x} {CODES.get(code, '')}".rstrip()


WELL = "Device, permissions, packages and variables were looked at and are well: the driver itself says what it lacks."
LOOKED = {
    "the GPU": ("hardware.gpus",),
    "its node and who may open it": ("hardware.nodes", "hardware.access"),
    "the driver's packages or libraries": ("userland.packages", "userland.libraries"),
    "variables": ("environment",),
    "the kernel's messages": ("kernel.messages",),
}
"""From what the cause of a Level Zero that fails would be known, and the parts of facts that hold it."""


UNREAD = " The kernel's messages could not be read, and may say it: sudo dmesg | grep -iE 'i915|xe|guc'"


def _is_unread(question: Question) -> bool:
    """Say whether the kernel keeps its messages for root, where they are about this machine's driver."""
    kernel = question.facts.kernel
    return kernel is not None and kernel.messages is None and not question.facts.in_wsl


def _looked(question: Question) -> dict[str, str]:
    """Say what was looked at and is well, and what nobody told of."""
    facts = question.facts
    told = [name for name, parts in LOOKED.items() if any(facts.is_told(part) for part in parts)]
    left = [name for name in LOOKED if name not in told]
    if not left:
        return {"looked": f"{WELL}{UNREAD if _is_unread(question) else ''}"}
    seen = f"Told, and well as far as it was told: {', '.join(told)}. " if told else ""
    return {"looked": f"{seen}Not told: {', '.join(left)}. The cause may be in any of these."}


def check_ladder(question: Question) -> CheckAnswer | None:
    """Climb Level Zero: loader, zeInit, drivers, devices."""
    ladder, ended = _ladder(question), _aborts(question)
    if ended and not lists_gpu(question.facts):
        return CheckAnswer("fail", f"a program that uses the driver ends: {ended[0]}", _looked(question))
    if ladder is None:
        return None
    if ladder.error:
        return CheckAnswer("fail", ladder.error, _looked(question))
    if ladder.init is None or ladder.init != 0:
        return CheckAnswer(
            "fail",
            "zeInit did not return" if ladder.init is None else f"zeInit: {describe(ladder.init)}",
            _looked(question),
        )
    found = [device for device in ladder.devices if device.kind in ("gpu", "")]
    if not found:
        return CheckAnswer("fail", f"zeInit succeeds, {ladder.drivers or 0} driver(s), no GPU", _looked(question))
    return CheckAnswer("ok", ", ".join(device.name or "a GPU" for device in found))


def check_every_gpu(question: Question) -> CheckAnswer | None:
    """Look for a card that Level Zero, or OpenCL where only that was asked, passes over while it lists another GPU."""
    lost = question.unlisted
    if not lost:
        return None
    there = ", ".join(name or "a GPU" for name in listed_names(question))
    driver = package(question, *DRIVER_PACKAGES)
    by = f"; the driver here is {driver}" if driver else ""
    which = "Level Zero" if lists_gpu(question.facts) else "OpenCL"
    seen = f"{which} lists {there} and passes over {named(question, lost)}{by}"
    return CheckAnswer("fail", seen, {"address": lost[0].address})


def _aborts(question: Question) -> list[str]:
    """Give what sycl-ls died of: the abort of a program is evidence too."""
    userland = _userland(question)
    lines = (userland.sycl or []) if userland else []
    return [line for line in lines if line.startswith(("Abort was called", "terminate called"))]


def check_opencl(question: Question) -> CheckAnswer | None:
    userland = _userland(question)
    if userland is None:
        return None
    place = variable(question, "OCL_ICD_VENDORS")
    listed = any(is_gpu_line(line) for line in userland.clinfo or [])
    if place and not place.startswith("/etc/") and not listed:
        return _elsewhere(place, blind=userland.clinfo == [] and not lists_gpu(question.facts))
    if userland.clinfo == [] and not userland.opencl and not lists_gpu(question.facts):
        return CheckAnswer("warn", "OpenCL lists no platform: no driver is registered, or none of them sees a GPU")
    gone = question.facts.notes.get("userland.opencl", "")
    if gone.endswith(NOT_THERE) and not listed:
        return CheckAnswer("warn", gone, REGISTERED_AND_GONE)
    ours = [file for file, library in userland.opencl.items() if "igdrcl" in library]
    others = ", ".join(userland.opencl) or "none"
    return CheckAnswer("ok", ours[0]) if ours else CheckAnswer("info", f"registered: {others}")


REGISTERED_AND_GONE = {
    "means": "OpenCL's loader skips a driver whose file names a library that is not there, and says nothing. Those that"
    " Intel's wheels bring name a folder of whoever made them",
    "mend": "Let the file name the library where it lies, or set OCL_ICD_FILENAMES to its whole path.",
    "commands": "grep -r . /etc/OpenCL/vendors $OCL_ICD_VENDORS",
}


def _elsewhere(place: str, *, blind: bool) -> CheckAnswer:
    """Give what a loader's own folder of drivers means; `blind`: OpenCL lists nothing, and the system's may be well."""
    words = {
        "means": (
            "OpenCL's loader looks for drivers in that folder alone, which conda's package sets:"
            " what is registered in /etc/OpenCL/vendors is passed over"
        ),
        "mend": (
            "Unset it in this shell (and look in ~/.bashrc and the environment's etc/conda/activate.d),"
            " or let it name /etc/OpenCL/vendors."
        ),
        "commands": "unset OCL_ICD_VENDORS OCL_ICD_VENDORS_RESET OCL_ICD_FILENAMES OCL_ICD_FILENAMES_RESET\nclinfo -l",
    }
    seen = f"OCL_ICD_VENDORS={place}: the drivers of /etc/OpenCL/vendors are not looked at"
    return CheckAnswer("fail" if blind else "warn", seen, words)


def check_only_opencl(question: Question) -> CheckAnswer | None:
    """Look for a GPU that SYCL sees through OpenCL alone."""
    userland = _userland(question)
    if userland is None or not userland.sycl:
        return None
    kinds = {line.partition("]")[0].lstrip("[") for line in userland.sycl}
    kinds = {re.sub(r"^ext_oneapi_", "", kind) for kind in kinds}
    if "opencl:gpu" in kinds and "level_zero:gpu" not in kinds:
        there = package(question, *DRIVER_PACKAGES) if _ladder(question) is None else ""
        if there and (runtime := _later_runtime(userland.sycl, there)):
            seen = f"sycl-ls lists opencl:gpu and no level_zero:gpu: the driver {there} is older than the SYCL runtime"
            return CheckAnswer("fail", f"{seen} ({runtime})")
        told = f", though its driver {there} is installed: what was told does not say why" if there else ""
        return CheckAnswer("warn" if there else "fail", f"sycl-ls lists opencl:gpu and no level_zero:gpu{told}")
    return CheckAnswer("ok", ", ".join(sorted(kinds)))


def _later_runtime(listed: Sequence[str], driver: str) -> str:
    """Give the release of the SYCL runtime, told by its OpenCL for CPUs, where the driver is long before it."""
    made = re.match(r"(\d\d)\.(\d\d)\.", driver)
    found = next(filter(None, (re.search(r"\[(20\d\d)\.(\d{1,2})\.\d", line) for line in listed)), None)
    if made is None or found is None:
        return ""
    weeks = (int(found[1]) - 2000 - int(made[1])) * 52 + int(found[2]) - int(made[2])
    return f"{found[1]}.{found[2]}" if weeks > OUTGROWN else ""


def check_loader_version(question: Question) -> CheckAnswer | None:
    version = package(question, "libze1", "level-zero", "oneapi-level-zero")
    return CheckAnswer("info", version) if version and is_xpu(question) else None


def _saw_none(question: Question) -> bool:
    """Say whether a run of torch found no device, though another one did."""
    seen = question.facts.torch.report if question.facts.torch else None
    return seen is not None and any("count is zero" in line for line in seen.messages)


def check_filters(question: Question) -> CheckAnswer | None:
    """Look for variables that hide devices from SYCL or Level Zero."""
    if not is_xpu(question) or question.facts.environment is None:
        return None
    selector, mask = variable(question, "ONEAPI_DEVICE_SELECTOR"), variable(question, "ZE_AFFINITY_MASK")
    old, ladder = variable(question, "SYCL_DEVICE_FILTER"), _ladder(question)
    beyond = (fails(question.facts) or _saw_none(question)) and _is_beyond(question, selector, mask)
    hides = [
        *([f"{beyond}, and there are fewer GPUs"] if beyond else []),
        *([f"ONEAPI_DEVICE_SELECTOR={selector}{_faulty(question, selector)}"] if selector and _shuts(selector) else []),
        *([f"SYCL_DEVICE_FILTER={old}"] if old and "level_zero" not in old else []),
        *([f"ZE_AFFINITY_MASK={mask}"] if mask and _masks_all(mask, ladder) else []),
    ]
    if hides:
        obeyed = [text for text in hides if not text.startswith("SYCL_DEVICE_FILTER")]  # newer runtimes ignore that one
        words = {"names": " ".join(text.partition("=")[0] for text in hides)}
        return CheckAnswer("fail" if obeyed else "warn", ", ".join(hides), words)
    if variable(question, "ZE_FLAT_DEVICE_HIERARCHY") == "COMPOSITE" and of_family(question, "pvc"):
        seen = "ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE: a card of two stacks is listed as one device"
        return CheckAnswer("warn", seen, {"names": "ZE_FLAT_DEVICE_HIERARCHY"})
    there = [text for text in (selector, old, mask) if text]
    return CheckAnswer("info", ", ".join(there)) if there else CheckAnswer("ok", "none set")


TILES = 2
"""The stacks that a card may have, each of them a device."""
NUMBERS = r"\d+(?:\.(?:\d+|\*)){0,2}"
"""A device by its number, with that of a part of it."""


def _is_beyond(question: Question, selector: str, mask: str) -> str:
    """Give the variable that names by number only GPUs that are not there; empty where that cannot be said.

    A mask is held against the bus, the nodes and a list of cards: what else programs list, they list under the mask.
    """
    count, ladder = _count_cards(question), _ladder(question)
    listed = max(count, len(ladder.devices) if ladder else 0)
    for variable_name, text, most in (("ONEAPI_DEVICE_SELECTOR", selector, listed), ("ZE_AFFINITY_MASK", mask, count)):
        backend = r"(?:level_zero|\*):" if text is selector else ""
        wanted = re.fullmatch(rf"(?i){backend}({NUMBERS}(?:, ?{NUMBERS})*)", text.strip())
        if wanted and most and min(int(part.split(".")[0]) for part in wanted[1].split(",")) >= most:
            return f"{variable_name}={text}"
    return ""


def _count_cards(question: Question) -> int:
    """Give how many devices there can be: by the bus, the nodes, or what is listed by place; 0 where nothing tells."""
    facts, cards = question.facts, intel_gpus(question)
    placed = len([gpu for gpu in cards if ":" in gpu.address]) if facts.is_told("hardware.gpus") else 0
    there = len(nodes(question)) if facts.is_told("hardware.nodes") else 0
    told = facts.torch.report.count or 0 if facts.torch and facts.torch.report else 0
    seen = max(placed, there, told if told > 1 else 0)
    single = all("1100" in name(question, gpu) for gpu in of_family(question, "pvc"))
    return seen if single else seen * TILES


OPENCL_ALONE = re.compile(r"(?i)opencl:[^;]*(?:;opencl:[^;]*)*")


def _shuts(selector: str) -> bool:
    return bool(selector_fault(selector)) or not lets_through(selector)


def _faulty(question: Question, selector: str) -> str:
    """Say what else is amiss with a selector: libOpenCL.so.1 of the wheels of 2026.2 does not load on its own."""
    fault = selector_fault(selector)
    if not fault and distribution(question, "intel-sycl-rt").startswith("2026.2") and OPENCL_ALONE.fullmatch(selector):
        fault = "intel-sycl-rt 2026.2 finds not even a processor that way: *:cpu does"
    return f" ({fault})" if fault else ""


def _masks_all(mask: str, ladder: LevelZero | None) -> bool:
    indexes = [int(part.split(".")[0]) for part in mask.split(",") if part.split(".")[0].isdecimal()]
    return not indexes or (ladder is not None and ladder.init == 0 and not ladder.devices)


def check_both_kinds(question: Question) -> CheckAnswer | None:
    found = intel_gpus(question)
    cards = [gpu for gpu in found if is_discrete(question, gpu)]
    if not cards or len(cards) == len(found):
        return None
    place = _place_of_card(question)
    if place == 0 or not _lists_all_kinds(question, len(found)):
        return CheckAnswer("info", named(question, found))
    words = {
        "means": "This PyTorch lists both kinds, and a program takes the first unless it names another",
        "mend": f"With that PyTorch sees the card alone. Or name the card in the program: xpu:{place}.",
        "commands": f"export ONEAPI_DEVICE_SELECTOR=level_zero:{place}",
    }
    return CheckAnswer("warn", f"xpu:0 is the integrated GPU, and the card xpu:{place}", words)


CARDS_ALONE = (2, 6)
"""The first release that leaves integrated GPUs out where there are cards."""


def _place_of_card(question: Question) -> int:
    """Give the place of the first card in Level Zero's list; 0 also where it is not known."""
    names = listed_names(question) if question.gpus else []
    found = [question.gpus.find(INTEL, find_device(each, question.gpus)) for each in names] if question.gpus else []
    return next((place for place, each in enumerate(found) if each and each.family.discrete), 0)


def _lists_all_kinds(question: Question, count: int) -> bool:
    """Say whether the PyTorch here lists integrated GPUs beside cards, as those before 2.6 do."""
    torch = question.facts.torch
    if torch is None or torch.report is None or not torch_works(question.facts):
        return False
    return torch.report.count == count or (0,) < numbers(torch.version or "") < CARDS_ALONE
