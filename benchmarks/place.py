"""Where things are measured: a folder of its own, a caller without settings, and a build that is done."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.timing import Command, Usage, usage_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

JOBS = str(len(os.sched_getaffinity(0)))
ENTRY = "import sys; from xpusetup.cli import main; sys.exit(main())"


@dataclass(frozen=True)
class Place:
    """A root that holds a finished build of a profile with one component that is built from source."""

    profile: str
    component: str
    root: Path
    env: Mapping[str, str]

    @property
    def tree(self) -> Path:
        """The component's source, as the product fetched it."""
        return self.root / "src" / self.component

    def build(self, before: Callable[[], None] = lambda: None) -> Command:
        """Give the command under test."""
        argv = (sys.executable, "-c", ENTRY, "build", "--profile", self.profile, "--root", str(self.root))
        return Command(argv, self.env, self.root.parent, before)

    def forget_component(self) -> None:
        """Bring the component back to before its source was fetched; environment and torch stay."""
        shutil.rmtree(self.tree)
        for stamp in self.root.glob(f"stamps/{self.component}.*"):
            stamp.unlink()

    def recipe(self, *, clean: bool) -> Command:
        """Give the raw recipe in a copy of the source, with the profile's variables; not clean: after a clean one."""
        copy = self.root.parent / f"{self.component}-recipe"
        if not copy.exists():
            shutil.copytree(self.tree, copy, ignore=shutil.ignore_patterns("build", "*.egg-info"))
        line = f"{'rm -rf build && ' if clean else ''}exec python setup.py bdist_wheel"
        path = f"{self.root}/venv/bin:{self.env['PATH']}"
        return Command(("bash", "-c", line), {**self.env, **self._variables(), "PATH": path}, copy)

    def _variables(self) -> dict[str, str]:
        profile = json.loads((self.root / "profile.lock.json").read_text())["profile"]
        part = next(part for part in profile["components"] if part["name"] == self.component)
        common = {"MAX_JOBS": JOBS, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
        return {**common, **profile["environment"], **part["environment"]}


def caller(folder: Path) -> dict[str, str]:
    """Give this process's environment without settings of ours or of an activated toolkit."""
    ours = ("XPUSETUP_", "SIMXPU_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "XDG_CONFIG_HOME": str(folder / "config")}


def make_place(folder: Path, profile: str, component: str, env: Mapping[str, str]) -> tuple[Place, Usage]:
    """Build a profile from nothing, and say what that used."""
    place = Place(profile, component, folder / component, env)
    return place, usage_of(place.build())
