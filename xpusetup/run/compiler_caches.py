"""Compiler caches: which one stands before the compilers, and what it did."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.system import files
from xpusetup.system.process import run_process

# Compiler caches: which one stands before the compilers, the variables that say so, and what it says of itself.


CACHE_TIMEOUT_S = 10.0
Choice = Literal["auto", "ccache", "sccache", "none"]
KNOWN = ("ccache", "sccache")
LANGUAGES = ("C", "CXX")
"""Not SYCL, though torch-xpu-ops heeds CMAKE_SYCL_COMPILER_LAUNCHER since autumn 2026: such a source is compiled once
for the host and once for devices, and `-E` and `-MD`, by which caches know a source, show the host's pass alone (clang
21 and 23). After a change of a header that only the other pass includes, ccache and sccache give the old object."""
HITS = ("direct_cache_hit", "preprocessed_cache_hit")
MISSES = ("cache_miss",)


@dataclass(frozen=True)
class Launcher:
    """A compiler cache that was found."""

    name: str
    path: str


@dataclass(frozen=True)
class Counts:
    """How many compiles were found in the cache, and how many were not."""

    hits: int
    misses: int

    def __sub__(self, other: Counts) -> Counts:
        """Count what came since."""
        return Counts(self.hits - other.hits, self.misses - other.misses)

    def __str__(self) -> str:
        return f"{self.hits} of {self.hits + self.misses} compiles"


def choose_launcher(choice: str, find: Callable[[str], str | None]) -> Launcher | None:
    """Give the cache that is asked for, or the first that is here; `find` looks for a program on PATH.

    Raises UsageError for a word that means nothing, NotReadyError where what is asked for is not here.
    """
    if choice not in get_args(Choice):
        raise UsageError(f"--launcher cannot be {choice!r}", fix=f"use one of: {', '.join(get_args(Choice))}")
    names = KNOWN if choice == "auto" else () if choice == "none" else (choice,)
    found = next((Launcher(name, path) for name in names if (path := find(name))), None)
    if found is None and choice in KNOWN:
        raise NotReadyError(f"{choice} is not on PATH", fix=f"install {choice}, or: --launcher none")
    return found


STEPS_SEE = {"HOME", "PATH", "LANG", "TMPDIR"}
"""What a compiling step keeps of the caller's variables, beside ccache's own."""


def find_closed(launcher: Launcher, told: Mapping[str, str]) -> str:
    """Give the folder of ccache that cannot be written, as in a home that is read-only; empty where all is well.

    Each compile would fail for it. sccache's server goes on without what it cannot keep.
    """
    env = {name: value for name, value in told.items() if name in STEPS_SEE or name.startswith("CCACHE_")}
    for key in ("cache_dir", "temporary_dir") if launcher.name == "ccache" else ():
        done = run_process((launcher.path, "-k", key), seconds=CACHE_TIMEOUT_S, env=env)
        place = Path(done.out.strip())
        if done.code == 0 and place.is_absolute() and not _may_write(place):
            return str(place)
    return ""


def _may_write(place: Path) -> bool:
    there = next(folder for folder in (place, *place.parents) if os.path.lexists(folder))
    return os.access(there, os.W_OK | os.X_OK)


def render_launcher(launcher: Launcher | None, root: str, told: Mapping[str, str]) -> dict[str, str]:
    """Give the variables that put a cache before the compilers. What the caller has set goes before.

    Paths below the root are seen as relative ones, so that another root finds what this one compiled.
    """
    if launcher is None:
        return {}
    names = ("COMPILER_LAUNCHER", *(f"CMAKE_{language}_COMPILER_LAUNCHER" for language in LANGUAGES))
    own = {"CCACHE_BASEDIR": root, "CCACHE_NOHASHDIR": "1", "CCACHE_DEPEND": "1"} if launcher.name == "ccache" else {}
    wanted = {**dict.fromkeys(names, launcher.path), **own}
    return {name: value for name, value in wanted.items() if {name, _opposite(name)}.isdisjoint(told)}


def _opposite(name: str) -> str:
    """Give the variable by which ccache is told the contrary: of two it takes the last one, in no certain order."""
    negative = "CCACHE_NO"
    return f"CCACHE_{name.removeprefix(negative)}" if name.startswith(negative) else name.replace("CCACHE_", negative)


def parse_stats_log(text: str) -> Counts:
    """Count in what ccache writes for each compile: a comment with the file, then what came of it."""
    lines = text.splitlines()
    hits, misses = (sum(map(lines.count, names)) for names in (HITS, MISSES))
    return Counts(hits, misses)


def parse_sccache_stats(text: str) -> Counts:
    """Count in what `sccache --show-stats --stats-format=json` prints. Raises ValueError for anything else."""
    try:
        stats = json.loads(text)["stats"]
        hits, misses = (sum(stats[name]["counts"].values()) for name in ("cache_hits", "cache_misses"))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"these are no statistics of sccache: {error}") from error
    return Counts(hits, misses)


# What a compiler cache did for a step: from the log that ccache writes for it, or from sccache's own counters.


NOTHING = Counts(0, 0)


@dataclass(frozen=True)
class CacheWatch:
    """The statistics of one step, which begin at nothing: those of the user's own cache stay as they are."""

    launcher: Launcher
    log: Path
    before: Counts = NOTHING

    @property
    def variables(self) -> Mapping[str, str]:
        """What the step has to be told so that its compiles are counted."""
        return {"CCACHE_STATSLOG": str(self.log)} if self.launcher.name == "ccache" else {}

    def counts(self) -> Counts:
        if self.launcher.name == "ccache":
            return parse_stats_log(files.read_text(self.log) or "")
        return read_sccache(self.launcher) - self.before


def watch_cache(launcher: Launcher, log: Path) -> CacheWatch:
    """Begin to count."""
    if launcher.name == "ccache":
        files.remove(log)
        return CacheWatch(launcher, log)
    return CacheWatch(launcher, log, read_sccache(launcher))


def read_sccache(launcher: Launcher) -> Counts:
    """Ask sccache's server, which this starts where there is none; nothing where it does not answer."""
    done = run_process((launcher.path, "--show-stats", "--stats-format=json"), seconds=CACHE_TIMEOUT_S)
    try:
        return parse_sccache_stats(done.out) if done.code == 0 else NOTHING
    except ValueError:
        return NOTHING
