"""Triton: one package of it, and what it compiles its drivers with."""

from __future__ import annotations

from xpusetup.checks.pytorch import installed
from xpusetup.checks.question import Answer, Question
from xpusetup.checks.seen import distribution, numbers

NAMES = ("triton", "triton-xpu", "pytorch-triton-xpu", "pytorch-triton")
RENAMED = (2, 10)
"""The release from which on the package is called triton-xpu."""


def _there(question: Question) -> dict[str, str]:
    return {name: version for name in NAMES if (version := distribution(question, name))}


def check_package(question: Question) -> Answer | None:
    """Look for several packages that bring the same folder, or for the wrong one."""
    torch, there = installed(question), _there(question)
    if torch is None or not there:
        return None
    seen = ", ".join(f"{name} {version}" for name, version in there.items())
    wanted = "triton-xpu" if numbers(torch.version or "") >= RENAMED else "pytorch-triton-xpu"
    words = {"python": torch.python, "wanted": wanted, "names": " ".join(there)}
    if len(there) > 1:
        return Answer("fail", seen, words)
    if torch.xpu and wanted not in there:
        return Answer("warn", f"{seen}, wanted: {wanted}", words)
    return Answer("ok", seen, words)


def _compiles(question: Question) -> bool:
    return installed(question) is not None and any("xpu" in name for name in _there(question))


def check_compiler(question: Question) -> Answer | None:
    """Look for a compiler with which Triton can build its driver at run time."""
    tools = question.facts.tools
    if tools is None or not _compiles(question):
        return None
    found = next((tool.path for name in ("g++", "clang++") if (tool := question.facts.tool(name))), "")
    kits = question.facts.toolkits
    found = found or (kits.found[0].compiler if kits and kits.found else "")
    return Answer("ok", found) if found else Answer("fail", "neither g++ nor clang++ nor icpx is here")


def check_headers(question: Question) -> Answer | None:
    """Look for Level Zero's header, which Triton's driver includes."""
    userland = question.facts.userland
    if userland is None or not _compiles(question):
        return None
    return Answer("ok", userland.headers[0]) if userland.headers else Answer("warn", "no level_zero/ze_api.h")
