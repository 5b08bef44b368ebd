"""The rows steps: a build of many steps in which nothing has changed, with large trees beside small ones."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks.jobs import redirect
from benchmarks.lanes import GIT, HEAD, PART
from benchmarks.noop import AT_ONCE
from benchmarks.place import ENTRY
from benchmarks.rows import Row, make_row
from benchmarks.timing import Command, seconds_of, take_processor_turns

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ROUNDS = 11
PARTS = 5
"""Each has four steps, and there are three more."""
FILES = 10_000
FOLDERS = 100
SAME = 1.1
SETUP = """
import os
from setuptools import setup
setup(name=os.environ["STANDIN_NAME"], version="1.0", py_modules=[])
"""


def measure_steps(folder: Path, env: Mapping[str, str]) -> list[Row]:
    """Build both once, then take the processor time of the second build of each in turns: it bears a busy machine."""
    large, small = (make_build(folder / name, env, files) for name, files in (("large", FILES), ("small", 1)))
    for command in (large, small):
        seconds_of(command)
    ours, reference = take_processor_turns(ROUNDS, large, small)
    return [
        make_row("steps_trees", ours, reference, goal=SAME, unit="s"),
        make_row("steps_time", ours, [AT_ONCE] * ROUNDS, goal=1.0, unit="s"),
    ]


def make_build(folder: Path, env: Mapping[str, str], files: int) -> Command:
    """Make components whose trees have so many files each, and give the command that builds them."""
    rev = make_upstream(folder / "upstream", files)
    names = [f"part{number}" for number in range(PARTS)]
    profile = folder / "steps.toml"
    profile.write_text(HEAD + "".join(PART.format(name=name, rev=rev, seconds=0, after="") for name in names))
    words = ("build", "--profile", str(profile), "--root", str(folder / "root"), "--verify", "off")
    told = redirect({f"https://{name}.invalid/{name}": folder / "upstream" for name in names})
    return Command((sys.executable, "-c", ENTRY, *words), {**env, **told}, folder)


def make_upstream(repository: Path, files: int) -> str:
    """Make a repository, and give its commit."""
    repository.mkdir(parents=True)
    (repository / "setup.py").write_text(SETUP)
    for number in range(files):
        place = repository / f"data{number % FOLDERS}"
        place.mkdir(exist_ok=True)
        (place / f"{number}.txt").write_text(f"{number}\n")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "one")):
        subprocess.run((*GIT, *words), cwd=repository, check=True, capture_output=True)
    done = subprocess.run((*GIT, "rev-parse", "HEAD"), cwd=repository, check=True, capture_output=True, text=True)
    return done.stdout.strip()
