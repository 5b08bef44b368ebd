"""A source tree that someone else fetched: the one in which this was started."""

from __future__ import annotations

import re

from xpusetup.checks.question import Answer, Question
from xpusetup.checks.seen import numbers

LAST_WITH_NAMES, FIRST_WITHOUT_INSTALL = (2, 4), (2, 9)
NUMBER = re.compile(r"\d+\.\d+")
LEAST_GCC = (7, 4)
"""What oneDNN wants of a host compiler; its file cmake/host_compiler_id.cmake, mended in 3.4.4 and 3.5.2."""


def check_cmake_cache(question: Question) -> Answer | None:
    """Look for a build folder that was configured for another place."""
    tree = question.facts.tree
    if tree is None or tree.cache is None:
        return None
    home = tree.cache.get("CMAKE_HOME_DIRECTORY", tree.path)
    if home != tree.path:
        return Answer("warn", f"{tree.path}/build was configured for {home}", {"tree": tree.path})
    return Answer("ok", "of this folder")


def check_folder_name(question: Question) -> Answer | None:
    """Look for a folder's name at which the configuration of old releases fails."""
    tree = question.facts.tree
    if tree is None:
        return None
    old = tree.version is None or numbers(tree.version) <= LAST_WITH_NAMES
    return Answer("warn" if old and _taken_for_gcc(tree.path) else "ok", tree.path)


def check_path(question: Question) -> Answer | None:
    """Look for a number in the path of the sources that an old oneDNN takes for the version of GCC."""
    resources = question.facts.resources
    if not question.profile.plain_path or resources is None or question.goal == "run":
        return None
    places = [disk.path for disk in resources.disks if "sources" in disk.holds]
    bad = [(place, found) for place in places if (found := _taken_for_gcc(place))]
    words = {"profile": question.profile.name}
    if bad:
        return Answer("fail", f"{bad[0][0]} holds {bad[0][1]}", words)
    return Answer("ok", ", ".join(places), words) if places else None


def _taken_for_gcc(path: str) -> str:
    """Give the number that stands for a GCC that is too old; nothing where none does."""
    found = NUMBER.search(path)
    return found[0] if found and numbers(found[0]) < LEAST_GCC else ""


def check_shadow(question: Question) -> Answer | None:
    """Look whether the current folder's torch hides the one that is installed."""
    tree = question.facts.tree
    return Answer("warn", tree.path) if tree is not None and tree.in_use else None


def check_frontend(question: Question) -> Answer | None:
    """Say how trees of today are installed."""
    tree = question.facts.tree
    if tree is None or tree.version is None or numbers(tree.version) < FIRST_WITHOUT_INSTALL:
        return None
    return Answer("info", f"{tree.path} is {tree.version}")


def check_submodules(question: Question) -> Answer | None:
    """Look for submodules that were not fetched."""
    tree = question.facts.tree
    if tree is None or not tree.git:
        return None
    if tree.submodules:
        return Answer("warn", f"{len(tree.submodules)} are empty, the first: {tree.submodules[0]}", {"tree": tree.path})
    return Answer("ok", "complete")


def check_tarball(question: Question) -> Answer | None:
    """Look for a tree that has no history to fetch submodules from."""
    tree = question.facts.tree
    return Answer("warn", f"{tree.path} has no .git") if tree is not None and not tree.git else None
