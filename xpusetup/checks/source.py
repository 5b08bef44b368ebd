"""A source tree that someone else fetched: the one in which this was started."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from xpusetup.checks.question import Answer, Question
from xpusetup.checks.seen import numbers

NAMED_LIKE_RELEASE = re.compile(r"pytorch-v?\d[\d.]*$")
LAST_WITH_NAMES, FIRST_WITHOUT_INSTALL = (2, 5), (2, 9)


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
    name = PurePosixPath(tree.path).name
    old = tree.version is None or numbers(tree.version) <= LAST_WITH_NAMES
    return Answer("warn", tree.path) if old and NAMED_LIKE_RELEASE.match(name) else Answer("ok", name)


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
