"""The PyTorch of an environment: the right build, with the libraries it asks for, and what importing it said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xpusetup.checks.question import Answer, Question
from xpusetup.checks.seen import distribution, is_xpu, numbers, variable

if TYPE_CHECKING:
    from xpusetup.facts import ImportReport, Torch

RUNTIME = re.compile(r"intel-|onemkl-|dpcpp-|mkl$|tcmlib|umf|tbb|impi|oneccl|onecl")
FALLBACK = ("PYTORCH_ENABLE_XPU_FALLBACK", "PYTORCH_DEBUG_XPU_FALLBACK")
ZERO_DEVICES = r"XPU device count is zero|Failed to initialize XPU devices"


def installed(question: Question) -> Torch | None:
    """Give the environment's torch, where this is about Intel GPUs and there is one."""
    torch = question.facts.torch
    return torch if torch is not None and torch.version is not None and is_xpu(question) else None


def report(question: Question) -> ImportReport | None:
    """Give what importing it said."""
    torch = installed(question)
    return torch.report if torch else None


def check_numpy(question: Question) -> Answer | None:
    """Look for a NumPy that is newer than torch was built for."""
    torch, numpy = question.facts.torch, distribution(question, "numpy")
    if torch is None or torch.version is None or not numpy:
        return None
    late = numbers(numpy) >= (2,) and numbers(torch.version) < (2, 3)
    return Answer("warn" if late else "ok", f"numpy {numpy}, torch {torch.version}", {"python": torch.python})


def check_build(question: Question) -> Answer | None:
    """Look whether the installed torch was built for XPU."""
    torch = question.facts.torch
    if torch is None or not is_xpu(question):
        return None
    if torch.version is None:
        return Answer("info", f"no torch in {torch.prefix}")
    if torch.xpu or (torch.report is not None and torch.report.compiled):
        return Answer("ok", f"{torch.version} in {torch.prefix}, XPU {torch.xpu or 'compiled in'}")
    other = f"a CUDA {torch.cuda} build" if torch.cuda else "a CPU build"
    words = {"python": torch.python, "version": torch.version.partition("+")[0]}
    return Answer("fail", f"{torch.version} in {torch.prefix} is {other}", words)


def check_pins(question: Question) -> Answer | None:
    """Hold the runtime libraries in the environment against what torch asks for."""
    torch = installed(question)
    if torch is None or not torch.requires:
        return None
    pins = (pin.partition("==") for pin in torch.requires)
    named = {re.sub(r"[-_.]+", "-", name).lower(): version for name, _, version in pins}
    wanted = {name: version for name, version in named.items() if RUNTIME.match(name)}
    wrong = [
        f"{name} {distribution(question, name) or 'missing'} instead of {version}"
        for name, version in wanted.items()
        if distribution(question, name) != version
    ]
    words = {"python": torch.python, "version": torch.version or ""}
    return Answer("fail", ", ".join(wrong[:3]), words) if wrong else Answer("ok", f"{len(wanted)} as pinned")


def check_libsycl(question: Question) -> Answer | None:
    """Look for the one libsycl that torch asks for: in the environment, else on the library path."""
    torch, userland = installed(question), question.facts.userland
    if torch is None or not torch.sycl:
        return None
    if len(torch.sycl) > 1:
        return Answer("fail", f"torch asks for {' and '.join(torch.sycl)}")
    name = torch.sycl[0]
    place = torch.libraries.get(name) or (userland.libraries or {}).get(name) if userland else torch.libraries.get(name)
    return (
        Answer("ok", place) if place else Answer("fail", f"{name} is neither in {torch.prefix} nor on the library path")
    )


def check_ipex(question: Question) -> Answer | None:
    """Look for the extension whose kernels register themselves again."""
    torch, version = installed(question), distribution(question, "intel-extension-for-pytorch")
    if torch is None or not version:
        return None
    fits = numbers(version) == numbers(torch.version or "")
    return Answer("info" if fits else "warn", f"{version} beside torch {torch.version}", {"python": torch.python})


def check_abi(question: Question) -> Answer | None:
    """Look for a torch with the C++ ABI that XPU does not have."""
    seen, asked = report(question), variable(question, "_GLIBCXX_USE_CXX11_ABI")
    if asked == "0" and is_xpu(question):
        return Answer("warn", "_GLIBCXX_USE_CXX11_ABI=0 is set in this shell")
    if seen is None or seen.cxx11_abi is None:
        return None
    return Answer("ok" if seen.cxx11_abi else "warn", "C++11 ABI" if seen.cxx11_abi else "the old C++ ABI")


def check_fallback(question: Question) -> Answer | None:
    """Look for values that torch cannot read as a number: it ends while it loads."""
    values = {name: value for name in FALLBACK if (value := variable(question, name))}
    if not is_xpu(question) or not values:
        return None
    wrong = [f"{name}={value}" for name, value in values.items() if not re.match(r"\s*[+-]?\d", value)]
    if wrong:
        return Answer("fail", ", ".join(wrong))
    return Answer("info", ", ".join(f"{name}={value}" for name, value in values.items()))


def check_import(question: Question) -> Answer | None:
    """Say how importing torch ended."""
    torch = question.facts.torch
    seen = torch.report if torch else None
    if seen is None:
        return None
    return Answer("fail", seen.error) if seen.error else Answer("ok", f"torch {seen.version} imports")


def check_available(question: Question) -> Answer | None:
    """Say whether torch sees a device, and if not, what it warned of."""
    seen = report(question)
    if seen is None or seen.available is None or not seen.compiled:
        return None
    if seen.available and seen.count:
        return Answer("ok", ", ".join(seen.devices) or f"{seen.count} device(s)")
    said = [line for line in seen.messages if re.search(ZERO_DEVICES, line)]
    return Answer("fail", f"no device: {said[0]}" if said else "torch.xpu.is_available() is False")
