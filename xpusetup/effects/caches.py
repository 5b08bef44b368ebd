"""What a compiler cache did for a step: from the log that ccache writes for it, or from sccache's own counters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xpusetup.effects import files
from xpusetup.effects.process import run_process
from xpusetup.launcher import Counts, parse_sccache_stats, parse_stats_log

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from xpusetup.launcher import Launcher

PATIENCE = 10.0
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
        """Give what was found and what was not, up to now."""
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
    """Ask sccache's servers, which this starts where there is none; nothing where one does not answer."""
    return sum(map(_ask, filter(None, (launcher.path, launcher.device))), NOTHING)


def _ask(program: str) -> Counts:
    done = run_process((program, "--show-stats", "--stats-format=json"), seconds=PATIENCE)
    try:
        return parse_sccache_stats(done.out) if done.code == 0 else NOTHING
    except ValueError:
        return NOTHING
