"""What a search for a commit has tried, kept in the root: an interrupted one goes on, another one begins anew."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from xpusetup.effects import files
from xpusetup.effects.manifest import read_document
from xpusetup.search import Trial, Verdict, parse_trial

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


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
