"""Compilers, git and Python: what every build needs, whatever it builds for."""

from __future__ import annotations

import re

from packaging.specifiers import SpecifierSet

from xpusetup.checks.question import Answer, Question

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
