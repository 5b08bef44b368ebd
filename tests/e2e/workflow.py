"""Runs the commands of an emitted workflow as GitHub's runner does: a shell for each step, in its folder."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

if TYPE_CHECKING:
    from pathlib import Path

EXPRESSION = re.compile(r"\$\{\{ (.+?) \}\}")


@dataclass
class Job:
    """One job of the workflow, for one row of its matrix, in a checkout."""

    checkout: Path
    env: dict[str, str]
    row: dict[str, Any]
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    used: list[str] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)

    def run(self, job: dict[str, Any]) -> None:
        """Run every step that has commands; note the actions that would be used."""
        for step in job["steps"]:
            if "uses" in step:
                self.used.append(self.fill(step["uses"]))
            elif "schedule" not in step.get("if", ""):
                self._shell(step, job["defaults"]["run"])

    def _shell(self, step: dict[str, Any], defaults: dict[str, Any]) -> None:
        told = self.checkout.parent / "github-output"
        told.write_text("")
        folder = self.checkout / self.fill(step.get("working-directory", defaults["working-directory"]))
        argv = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", self.fill(step["run"]))
        env = {**self.env, "GITHUB_OUTPUT": str(told), "GITHUB_WORKSPACE": str(self.checkout)}
        done = subprocess.run(argv, cwd=folder, env=env, check=False, capture_output=True, text=True)
        assert done.returncode == 0, (step["name"], done.stdout, done.stderr)
        lines = (line.partition("=") for line in told.read_text().splitlines())
        self.outputs[step.get("id", step["name"])] = {name: value for name, _, value in lines}
        self.ran.append(step["name"])

    def fill(self, text: str) -> str:
        """Put values in the place of expressions; one that nobody knows is an error."""
        return EXPRESSION.sub(lambda found: self._value(found[1]), text)

    def _value(self, expression: str) -> str:
        kind, *path = expression.split(".")
        if kind == "matrix":
            return str(self.row[path[0]])
        assert kind == "steps", expression
        return self.outputs[path[0]][path[2]]


def read_workflow(checkout: Path) -> dict[str, Any]:
    """Read the emitted workflow."""
    found: dict[str, Any] = YAML(typ="safe").load(checkout / ".github/workflows/xpusetup.yml")
    return found
