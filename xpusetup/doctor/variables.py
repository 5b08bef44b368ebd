"""Variables that end a program with SYCL, or write files, by being set at all or to a value that reads well."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from xpusetup.base.model import Level
from xpusetup.doctor.question import CheckAnswer, Question, is_xpu


class EndingVariable(NamedTuple):
    """A variable, the values that do it, how bad that is and what happens.

    All were run with intel-sycl-rt 2026.2.0, SYCL_PI_TRACE and the empty selector with 2025.3.3 and 2026.1.2 too, those
    of Level Zero with its loader 1.32.0.
    """

    name: str
    values: str
    level: Level
    happens: str


ENDINGS = (
    EndingVariable(
        "SYCL_PI_TRACE", r".*", "fail", "each program ends with 1 when it asks for devices, whatever the value"
    ),
    EndingVariable("ONEAPI_DEVICE_SELECTOR", r"", "fail", "it is set and empty, which SYCL takes for an error"),
    EndingVariable("SYCL_CACHE_PERSISTENT", r"true", "fail", "0 and 1 alone are read"),
    EndingVariable(
        "SYCL_DUMP_IMAGES", r".*", "warn", "device images are written into the current folder, whatever the value"
    ),
    EndingVariable("SYCL_PRINT_EXECUTION_GRAPH", r".+", "warn", "graphs are written into the current folder"),
    EndingVariable(
        "SYCL_DEVICE_ALLOWLIST",
        r"(?!(?:BackendName|Device(?:Name|Type|VendorId)|DriverVersion|Platform(?:Name|Version)):).+",
        "fail",
        "SYCL does not understand it, and each program ends",
    ),
    EndingVariable("SYCL_USE_KERNEL_SPV", r".+", "warn", "every kernel is taken from that file, or the program ends"),
    EndingVariable("UR_ADAPTERS_FORCE_LOAD", r".+", "warn", "no other adapter is loaded: without Level Zero's no GPU"),
    EndingVariable("ZE_ENABLE_NULL_DRIVER", r"1", "warn", "Level Zero's test driver is loaded, with which SYCL ends"),
    EndingVariable("ZE_ENABLE_ALT_DRIVERS", r".+", "warn", "Level Zero loads the drivers that it names, and no other"),
    EndingVariable("OCL_ICD_FILENAMES", r"(?:.*:)?[^/:]+(?::.*)?", "warn", "a name without its folder is not found"),
)
BACKENDS = ("level_zero", "opencl", "cuda", "hip", "native_cpu", "offload", "*")
DEVICES = re.compile(r"|\*|gpu|cpu|(?:\d+|\*)(?:\.(?:\d+|\*)){0,2}")
"""What a selector names after the colon; run with intel-sycl-rt 2026.2.0, which takes no blank and no `fpga`."""


def lets_through(selector: str) -> bool:
    """Say whether a selector leaves a device of Level Zero."""
    taken = [part.lower() for part in selector.split(";") if part and not part.startswith("!")]
    return any(part.split(":")[0] in ("level_zero", "*") for part in taken or ["*"])


def selector_fault(selector: str) -> str:
    """Say why SYCL does not understand a selector, and so ends every program; empty for one that it does."""
    parts = [part for part in selector.split(";") if part]
    for part in parts:
        backend, _, devices = part.removeprefix("!").partition(":")
        if not devices:
            return f"{part} names no devices; SYCL wants BACKEND:DEVICES"
        if backend.lower() not in BACKENDS:
            return f"{backend or 'nothing'!r} is no backend of SYCL"
        wrong = next((each for each in devices.split(",") if not DEVICES.fullmatch(each)), None)
        if wrong is not None:
            return f"{wrong!r} names no device"
    out = [part.startswith("!") for part in parts]
    return "" if out == sorted(out) else "what is left out (!) has to come last"


def ending_names(there: Mapping[str, str]) -> tuple[str, ...]:
    """Return the variables by which every program with SYCL ends, and which choose nothing: nobody can want them."""
    return tuple(one.name for one in _found(there) if one.level == "fail")


def _found(there: Mapping[str, str]) -> list[EndingVariable]:
    return [one for one in ENDINGS if one.name in there and re.fullmatch(one.values, there[one.name], re.DOTALL)]


def check_endings(question: Question) -> CheckAnswer | None:
    """Look for variables by which a program with SYCL ends, or litters its folder."""
    there = question.facts.environment
    if not is_xpu(question) or there is None:
        return None
    found = _found(there)
    if not found:
        return CheckAnswer("ok", "none set")
    worst = min(found, key=lambda one: one.level != "fail")
    seen = "\n".join(f"{one.name}={there[one.name]}: {one.happens}" for one in found)
    return CheckAnswer(worst.level, seen, {"names": " ".join(one.name for one in found)})
