"""What the shell carries: setvars.sh and the traps that it sets for wheels, scripts and builds."""

from __future__ import annotations

import re

from xpusetup.checks.libraries import describe, driver_conflict
from xpusetup.checks.question import Answer, Question
from xpusetup.checks.seen import distribution, is_xpu, variable

ONEAPI = re.compile(r"/oneapi/|/intel/oneapi|/inteloneapi/")
COMPILER = re.compile(r"/compiler/(\d{4}\.\d+(?:\.\d+)?)/")
RUNTIMES = ("intel-sycl-rt", "intel-cmplr-lib-ur", "dpcpp-cpp-rt")
LISTS = ("LD_LIBRARY_PATH", "CPATH", "LIBRARY_PATH")


def check_with_wheel(question: Question) -> Answer | None:
    """Look for a toolkit on the library path before wheels that bring their own runtime."""
    torch = question.facts.torch
    if not is_xpu(question) or torch is None or question.facts.environment is None:
        return None
    brought = [f"{name} {version}" for name in RUNTIMES if (version := distribution(question, name))]
    first = [folder for folder in variable(question, "LD_LIBRARY_PATH").split(":") if ONEAPI.search(folder)]
    if not brought:
        return None
    if not first:
        return Answer("ok", f"{brought[0]}, and no toolkit on the library path")
    broken = torch.report is not None and (torch.report.error or torch.report.available is False)
    return Answer("fail" if broken else "warn", f"{first[0]} comes before {brought[0]} of {torch.prefix}")


def check_nounset(question: Question) -> Answer | None:
    """Look for a shell whose scripts run under set -u."""
    if question.profile.toolkit is None or "nounset" not in variable(question, "SHELLOPTS").split(":"):
        return None
    return Answer("info", "SHELLOPTS is exported and holds nounset")


def check_versions(question: Question) -> Answer | None:
    """Look for several versions of the compiler in one search path."""
    if question.profile.toolkit is None or question.facts.environment is None:
        return None
    for name in LISTS:
        found = sorted(set(COMPILER.findall(variable(question, name))))
        if len(found) > 1:
            return Answer("warn", f"{name} holds {' and '.join(found)}")
    return Answer("ok", "not more than one")


def check_foreign_libraries(question: Question) -> Answer | None:
    """Look for the libraries that all of setvars.sh brings and a build does not want."""
    if question.profile.toolkit is None or question.facts.environment is None:
        return None
    there = [name for name in ("DNNLROOT", "CCL_ROOT") if variable(question, name)]
    if not there:
        return None
    return Answer("info", ", ".join(f"{name}={variable(question, name)}" for name in there))


def check_libstdcxx(question: Question) -> Answer | None:
    """Hold the C++ library of a conda environment against what the driver asks for, else against the system's."""
    torch = question.facts.torch
    if torch is None or not is_xpu(question):
        return None
    proven = driver_conflict(torch)
    if proven is not None:
        return Answer("fail", describe([proven]), {"prefix": torch.prefix})
    if torch.glibcxx is None or torch.glibcxx_system is None:
        return None
    seen = f"GLIBCXX_3.4.{torch.glibcxx} in {torch.prefix}, 3.4.{torch.glibcxx_system} in the system"
    return Answer("fail" if torch.glibcxx < torch.glibcxx_system else "ok", seen, {"prefix": torch.prefix})
