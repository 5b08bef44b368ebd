"""Where a search for a commit builds and tries, and what it has tried: an interrupted one goes on from its notebook."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from xpusetup.commands.build import run_purpose
from xpusetup.commands.inspecting import find_built, run_environment
from xpusetup.commands.purpose import BUILD
from xpusetup.commands.workspace import open_workspace
from xpusetup.effects import files
from xpusetup.effects.clock import now
from xpusetup.effects.manifest import read_document
from xpusetup.effects.process import run_logged
from xpusetup.errors import WorkFailedError
from xpusetup.events import Event
from xpusetup.search import Trial, Verdict, judge, parse_trial

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from xpusetup.commands.build import BuildOptions
    from xpusetup.commands.places import Where
    from xpusetup.commands.workspace import Workspace
    from xpusetup.model import Request
    from xpusetup.profile import SourceComponent

SHOWN = 9
PAUSES = "the same command goes on where it was: what was tried is kept"


class Notebook:
    """The trials of one search, by the name of what was searched, in their order."""

    def __init__(self, path: Path, asked: Mapping[str, Any]) -> None:
        """Take the file, and what is asked: trials of another search count for nothing."""
        self.path, self._asked = path, dict(asked)
        known = read_document(path)
        lines = known.get("trials", {}) if known.get("asked") == self._asked else {}
        self._trials = {
            name: [trial for document in documents if (trial := parse_trial(document))]
            for name, documents in lines.items()
        }

    def trials(self, line: str) -> list[Trial]:
        """Give what was tried."""
        return list(self._trials.get(line, []))

    def verdicts(self, line: str) -> dict[str, Verdict]:
        """Give what came of each commit."""
        return {trial.rev: trial.verdict for trial in self.trials(line)}

    def find(self, line: str, rev: str) -> Trial | None:
        """Give the trial of a commit; None where it was not tried."""
        return next((trial for trial in self.trials(line) if trial.rev == rev), None)

    def add(self, line: str, trial: Trial) -> None:
        """Keep a trial, once."""
        if self.find(line, trial.rev) is None:
            self._trials.setdefault(line, []).append(trial)
            lines = {name: [one.document() for one in trials] for name, trials in self._trials.items()}
            files.write_text(self.path, json.dumps({"asked": self._asked, "trials": lines}, indent=2) + "\n")


@dataclass(frozen=True, kw_only=True)
class Hunt:
    """What is looked for: in which component, between which refs or nightlies of which index, by which command."""

    component: str
    good: str
    bad: str
    command: tuple[str, ...]
    nightlies: str = ""


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Where commits are built and tried: the same root for all of them."""

    where: Where
    request: Request
    options: BuildOptions
    hunt: Hunt
    part: SourceComponent
    notebook: Notebook
    env: Mapping[str, str]

    def say(self, text: str) -> None:
        """Say something to whoever watches."""
        self.options.observe(Event(kind="note", time=now(), text=text))

    def build_and_try(self, rev: str, sources: tuple[tuple[str, str], ...] = ()) -> Trial:
        """Build the component at a commit and run the command with it. Raises WorkFailedError for no verdict."""
        workspace = open_workspace(replace(self.where, rev=(f"{self.part.name}={rev}", *self.where.rev)))
        began = now()
        built = run_purpose(workspace, replace(self.request, sources=sources), self.options, BUILD)
        counts = built.data["cached"].values()
        trial = Trial(
            rev=rev,
            verdict="skip",
            why=f"{built.data['failed']} failed",
            seconds=round(now() - began, 1),
            cached=(sum(hits for hits, _ in counts), sum(misses for _, misses in counts)),
        )
        if built.code:
            return trial
        code = self._run(workspace, rev)
        verdict = judge(code)
        if verdict is None:
            raise WorkFailedError(f"{self.hunt.command[0]} ended with {code}: that is no verdict", fix=PAUSES)
        return replace(trial, verdict=verdict, why=f"exit code {code}")

    def _run(self, workspace: Workspace, rev: str) -> int:
        built = find_built(workspace)
        log = built.root / f"logs/bisect.{rev[:SHOWN]}.log"
        return run_logged(self.hunt.command, env=run_environment(built), log=log)
