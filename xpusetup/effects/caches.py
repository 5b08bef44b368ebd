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
        now = read_sccache(self.launcher)
        return Counts(now.hits - self.before.hits, now.misses - self.before.misses)


def watch_cache(launcher: Launcher, log: Path) -> CacheWatch:
    """Begin to count."""
    if launcher.name == "ccache":
        files.remove(log)
        return CacheWatch(launcher, log)
    return CacheWatch(launcher, log, read_sccache(launcher))


def read_sccache(launcher: Launcher) -> Counts:
    """Ask sccache's server, which this starts where there is none; nothing where it does not answer."""
    done = run_process((launcher.path, "--show-stats", "--stats-format=json"), seconds=PATIENCE)
    try:
        return parse_sccache_stats(done.out) if done.code == 0 else NOTHING
    except ValueError:
        return NOTHING
