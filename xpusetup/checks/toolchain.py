"""Compilers, git and Python: what every build needs, whatever it builds for."""

from __future__ import annotations

import re

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from xpusetup.checks.question import Answer, Question

NOT_GCC = re.compile(r"(?:^|[/\s])(icpx|icx|dpcpp|clang)")
VERSION = re.compile(r"(\d+\.\d+(?:\.\d+)?)\s*(?:\d{8})?.*$")


def gcc_version(line: str) -> str | None:
    """Read GCC's version from the first line of `g++ --version`, which a distribution may have put words into."""
    found = re.findall(r"(?<![\d.~-])(\d+\.\d+\.\d+)(?![\d.])", line.rsplit(")", 1)[-1]) or VERSION.findall(line)
    return found[0] if found else None


def check_gcc(question: Question) -> Answer | None:
    """Find g++, and that it is GCC."""
    if question.facts.tools is None or question.goal == "run":
        return None
    tool = question.facts.tool("g++")
    if tool is None:
        return Answer("fail", "no g++ on PATH")
    if "/" not in tool.path:
        return Answer("fail", f"the settings name {tool.path} as cxx, and it is not on PATH")
    if "clang" in (tool.version or "").lower() or "intel" in (tool.version or "").lower():
        return Answer("fail", f"{tool.path} is not GCC: {tool.version}")
    return Answer("ok", f"{tool.path}: {tool.version}")


def check_gcc_version(question: Question) -> Answer | None:
    """Hold g++ against what the profile's sources need."""
    tool, wanted = question.facts.tool("g++"), question.profile.gcc
    if question.facts.tools is None or question.goal == "run" or not wanted:
        return None
    version = gcc_version(tool.version or "") if tool else None
    if version is None:
        return Answer("warn", "its version cannot be read", {"gcc": wanted})
    fits = SpecifierSet(wanted).contains(version)
    return Answer("ok" if fits else "fail", f"{version} (needed: {wanted})", {"gcc": wanted})


def check_gcc_faults(question: Question) -> Answer | None:
    """Look for a version of GCC that fails on these sources, or that they treat too strictly."""
    return _check_faults(question, with_flags=False)


def check_gcc_warnings(question: Question) -> Answer | None:
    """Look for a version of GCC whose warnings these sources take for errors, where flags help."""
    return _check_faults(question, with_flags=True)


def _check_faults(question: Question, *, with_flags: bool) -> Answer | None:
    tool = question.facts.tool("g++")
    version = gcc_version(tool.version or "") if tool else None
    faults = [each for each in question.profile.gcc_faults if bool(each.flags) == with_flags]
    if question.goal == "run" or version is None or not faults:
        return None
    found = [each for each in faults if SpecifierSet(each.versions).contains(version)]
    if not found:
        return None
    worst = next((each for each in found if each.stops), found[0])
    words = {"why": worst.why, "flags": worst.flags, "profile": question.profile.name}
    return Answer("fail" if worst.stops else "warn", version, words)


def check_git(question: Question) -> Answer | None:
    """Find git."""
    if question.facts.tools is None or question.goal == "run":
        return None
    tool = question.facts.tool("git")
    return Answer("fail", "no git on PATH") if tool is None else Answer("ok", tool.version or tool.path)


def check_python(question: Question) -> Answer | None:
    """Hold the interpreter against the versions that the release supports."""
    python, wanted = question.facts.python, question.profile.python
    if python is None:
        return None
    fits = SpecifierSet(wanted).contains(python.version) and not python.free_threaded
    what = f"{python.version}, free-threaded," if python.free_threaded else python.version
    seen = f"{what} at {python.executable} (needed: {wanted})"
    return Answer("ok" if fits else "fail", seen, {"python": wanted})


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def check_headers(question: Question) -> Answer | None:
    """Find Python.h."""
    python = question.facts.python
    if python is None or question.goal == "run":
        return None
    words = {"minor": _minor(python.version)}
    return Answer("ok", "Python.h", words) if python.headers else Answer("fail", "no Python.h", words)


def check_venv(question: Question) -> Answer | None:
    """Find the modules that make an environment with pip in it."""
    python = question.facts.python
    if python is None or python.adopted is not None:
        return None
    words = {"minor": _minor(python.version)}
    return Answer("ok", "venv, ensurepip", words) if python.venv else Answer("fail", "no venv or ensurepip", words)


def check_environment(question: Question) -> Answer | None:
    """Say what the build installs into, and refuse an environment that is not there to be installed into."""
    python = question.facts.python
    if python is None or question.goal == "run":
        return None
    there = python.adopted
    if there is None:
        return Answer("ok", "a new one")
    if there.refused:
        return Answer("fail", f"{there.prefix}: {there.refused}", {"mend": there.fix})
    what = {"venv": "a venv", "conda": "a conda environment", "interpreter": "an interpreter"}[there.kind]
    if there.notes:
        return Answer("warn", f"{there.prefix}, {what}", {"mend": there.notes[0]})
    return Answer("ok", f"{there.prefix}, {what} of Python {python.version}, {len(there.installed)} distributions")


def check_compiler_variables(question: Question) -> Answer | None:
    """Look for a device compiler that the shell names for host code."""
    environment = question.facts.environment
    if environment is None or question.profile.toolkit is None:
        return None
    named = {name: environment[name] for name in ("CC", "CXX") if name in environment}
    other = [f"{name}={value}" for name, value in named.items() if NOT_GCC.search(value)]
    if other:
        return Answer("info", f"{', '.join(other)}: not passed on to a build")
    return Answer("ok", ", ".join(f"{name}={value}" for name, value in named.items()) or "not set")


def check_cmake(question: Question) -> Answer | None:
    """Say which CMake builds: the one of its own requirements, whatever is on PATH."""
    tool, wanted = question.facts.tool("cmake"), question.profile.cmake
    if question.facts.tools is None or not wanted:
        return None
    pins = (Requirement(pin) for pin in question.profile.build_requirements.pins)
    brought = next((str(pin.specifier).removeprefix("==") for pin in pins if pin.name == "cmake"), "")
    found = re.search(r"\d+\.\d+(\.\d+)?", tool.version or "") if tool else None
    here = found[0] if found else ""
    words = {"cmake": wanted}
    if brought:
        beside = f", and not the {here} on PATH" if here else ""
        return Answer("ok", f"the build brings {brought}{beside}", words)
    fits = bool(here) and SpecifierSet(wanted).contains(here)
    return Answer("ok" if fits else "fail", f"{here or 'none'} on PATH (needed: {wanted})", words)


def check_conda_cmake(question: Question) -> Answer | None:
    """Look for a conda environment that a CMake from elsewhere does not search."""
    environment, python = question.facts.environment, question.facts.python
    if environment is None or python is None or python.adopted is None or python.adopted.kind != "conda":
        return None
    prefix = python.adopted.prefix
    told = prefix in environment.get("CMAKE_PREFIX_PATH", "").split(":")
    return Answer("ok" if told else "info", f"CMAKE_PREFIX_PATH {'holds' if told else 'does not hold'} {prefix}")


def check_build_requirements(question: Question) -> Answer | None:
    """Say what a build would add to an environment that is there."""
    python = question.facts.python
    if python is None or python.adopted is None or python.adopted.refused:
        return None
    pins = [Requirement(pin) for pin in question.profile.build_requirements.pins]
    there = python.adopted.installed
    wanted = [pin for pin in pins if pin.marker is None or pin.marker.evaluate({"python_full_version": python.version})]
    new = [str(pin) for pin in wanted if not pin.specifier.contains(there.get(pin.name.lower(), "0"), prereleases=True)]
    return Answer("info", f"the build installs {len(new)}, such as {new[0]}") if new else Answer("ok", "all are there")
