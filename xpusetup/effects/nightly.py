"""One environment in which one nightly after the other is installed by pip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xpusetup.effects import files
from xpusetup.effects.process import run_process
from xpusetup.errors import NotReadyError
from xpusetup.plan.context import file_name

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from xpusetup.effects.process import Output

PATIENCE = 3600.0
"""Seconds that the wheels of a nightly may take to come."""
UNWANTED = ("PYTHONHOME", "PYTHONPATH", "PIP_CONSTRAINT", "PIP_REQUIRE_VIRTUALENV")


@dataclass(frozen=True, kw_only=True)
class NightlyEnvironment:
    """A virtual environment, the distribution that changes in it, and the index that has its nightlies."""

    folder: Path
    distribution: str
    index: str
    env: Mapping[str, str]

    def make(self, python: str) -> None:
        """Make it, unless it is there. Raises NotReadyError."""
        if (self.folder / "bin/python").exists():
            return
        files.make_folder(self.folder.parent)
        helper = str(files.package_file("helpers/make_environment.py"))
        done = run_process((python, helper, "--into", str(self.folder)), seconds=PATIENCE, env=self.variables())
        if done.code:
            raise NotReadyError(
                f"no environment in {self.folder}: {_last(done)}", fix="name a Python: --python VERSION"
            )

    def variables(self) -> dict[str, str]:
        """Give what a command in it sees."""
        kept = {name: value for name, value in self.env.items() if name not in UNWANTED}
        return {**kept, "VIRTUAL_ENV": str(self.folder), "PATH": f"{self.folder}/bin:{kept.get('PATH', '')}"}

    def list_versions(self) -> str:
        """Give what pip says of the versions there are, also those before a release. Raises NotReadyError."""
        done = self._pip("index", "versions", self.distribution, "--pre")
        if done.code:
            fix = "look at the network, or name another index: --nightlies INDEX"
            raise NotReadyError(f"no {self.distribution} at {self.index}: {_last(done)}", fix=fix)
        return done.out

    def install(self, version: str) -> str:
        """Install a version with what it requires; give why it cannot be, empty where it is."""
        done = self._pip("install", f"{self.distribution}=={version}")
        return _last(done) if done.code else ""

    def read_version(self) -> str:
        """Give the text of version.py of what is installed; empty where there is none."""
        records = self.folder.glob(f"lib/python*/site-packages/{file_name(self.distribution)}-*.dist-info/RECORD")
        for record in records:
            names = [line.split(",")[0] for line in (files.read_text(record) or "").splitlines()]
            for name in (name for name in names if name.count("/") == 1 and name.endswith("/version.py")):
                return files.read_text(record.parent.parent / name) or ""
        return ""

    def _pip(self, *words: str) -> Output:
        pip = (str(self.folder / "bin/python"), "-m", "pip", "--disable-pip-version-check", *words)
        return run_process((*pip, "--extra-index-url", self.index), seconds=PATIENCE, env=self.variables())


def _last(done: Output) -> str:
    lines = [line for line in done.err.strip().splitlines() if not line.startswith("WARNING")]
    return lines[-1].removeprefix("ERROR: ") if lines else done.why or "it said nothing"
