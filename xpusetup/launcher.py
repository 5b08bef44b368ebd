"""Compiler caches: which one stands before the compilers, the variables that say so, and what it says of itself."""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Literal, get_args

from xpusetup.errors import NotReadyError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Choice = Literal["auto", "ccache", "sccache", "none"]
KNOWN = ("ccache", "sccache")
LANGUAGES = ("C", "CXX", "SYCL")
"""CMake's own, and the device compiles of torch-xpu-ops, where a release of it heeds CMAKE_SYCL_COMPILER_LAUNCHER."""
HITS = ("direct_cache_hit", "preprocessed_cache_hit")
MISSES = ("cache_miss",)
REMOTE = "remote_storage_hit"


@dataclass(frozen=True)
class Launcher:
    """A compiler cache that was found: its name and path; `device`: what stands before device compiles instead."""

    name: str
    path: str
    device: str = ""


@dataclass(frozen=True)
class Counts:
    """How many compiles were found in the cache, and how many were not; `remote` of the hits came from another machine.

    sccache keeps its objects in one place and does not tell those apart. Of the misses `sent` were done on other
    machines, `kept` could not be sent, so that they were done here.
    """

    hits: int
    misses: int
    remote: int = 0
    sent: int = 0
    kept: int = 0

    def __add__(self, other: Counts) -> Counts:
        """Count together."""
        mine, others = astuple(self), astuple(other)
        return Counts(*(one + another for one, another in zip(mine, others, strict=True)))

    def __sub__(self, other: Counts) -> Counts:
        """Count what came since."""
        mine, others = astuple(self), astuple(other)
        return Counts(*(one - another for one, another in zip(mine, others, strict=True)))

    def __str__(self) -> str:
        """Say it in words."""
        remote = f", {self.remote} from remote storage" if self.remote else ""
        sent = f", {self.sent} were done elsewhere" if self.sent else ""
        kept = f", {self.kept} could not be sent" if self.kept else ""
        return f"{self.hits} of {self.hits + self.misses} compiles{remote}{sent}{kept}"


def choose_launcher(choice: str, find: Callable[[str], str | None]) -> Launcher | None:
    """Give the cache that is asked for, or the first that is here; `find` looks for a program on PATH.

    Raises UsageError for a word that means nothing, NotReadyError where what is asked for is not here.
    """
    if choice not in get_args(Choice):
        raise UsageError(f"--launcher {choice!r} means nothing", fix=f"one of {', '.join(get_args(Choice))}")
    names = KNOWN if choice == "auto" else () if choice == "none" else (choice,)
    found = next((Launcher(name, path) for name in names if (path := find(name))), None)
    if found is None and choice in KNOWN:
        raise NotReadyError(f"{choice} is not on PATH", fix=f"install {choice}, or: --launcher none")
    return found


def render_launcher(launcher: Launcher | None, root: str, told: Mapping[str, str]) -> dict[str, str]:
    """Give the variables that put a cache before the compilers. What the caller has set goes before.

    Paths below the root are seen as relative ones, so that another root finds what this one compiled.
    """
    if launcher is None:
        return {}
    names = ("COMPILER_LAUNCHER", *(f"CMAKE_{language}_COMPILER_LAUNCHER" for language in LANGUAGES))
    own = {"CCACHE_BASEDIR": root, "CCACHE_NOHASHDIR": "1", "CCACHE_DEPEND": "1"} if launcher.name == "ccache" else {}
    device = {"CMAKE_SYCL_COMPILER_LAUNCHER": launcher.device} if launcher.device else {}
    wanted = {**dict.fromkeys(names, launcher.path), **device, **own}
    return {name: value for name, value in wanted.items() if {name, _opposite(name)}.isdisjoint(told)}


def _opposite(name: str) -> str:
    """Give the variable by which ccache is told the contrary: of two it takes the last one, in no certain order."""
    negative = "CCACHE_NO"
    return f"CCACHE_{name.removeprefix(negative)}" if name.startswith(negative) else name.replace("CCACHE_", negative)


def parse_stats_log(text: str) -> Counts:
    """Count in what ccache writes for each compile: a comment with the file, then what came of it."""
    lines = text.splitlines()
    hits, misses = (sum(map(lines.count, names)) for names in (HITS, MISSES))
    return Counts(hits, misses, min(hits, lines.count(REMOTE)))


def parse_sccache_stats(text: str) -> Counts:
    """Count in what `sccache --show-stats --stats-format=json` prints. Raises ValueError for anything else."""
    try:
        stats = json.loads(text)["stats"]
        hits, misses = (sum(stats[name]["counts"].values()) for name in ("cache_hits", "cache_misses"))
        sent, kept = sum(stats.get("dist_compiles", {}).values()), stats.get("dist_errors", 0)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"these are no statistics of sccache: {error}") from error
    return Counts(hits, misses, sent=sent, kept=kept)
