"""The row lanes: the time of a build beside the longest chain of steps in it that had to wait for each other."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.place import ENTRY
from benchmarks.rows import Row, make_row
from benchmarks.timing import Command, FailedError, seconds_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

ROUNDS = 5
GOAL = 1.1
BUILD, FETCH, LAST = 12, 9, 3
"""Seconds of sleep: of `first` while it is built, of the server of `second`, and of `second`, built after `first`."""
SETUP = """
import os, time
from setuptools import Extension, setup
time.sleep(float(os.environ["STANDIN_SECONDS"]))
name = os.environ["STANDIN_NAME"]
setup(name=name, version="1.0", ext_modules=[Extension(name, ["one.c"])])
"""
SOURCE = "int nothing(void) { return 0; }\n"
HEAD = """
schema = 1
name = "lanes"
summary = "two stand-ins, a slow build and a slow fetch"
tier = "test"
tried = "in benchmarks"
accelerator = "cpu"
python = ">=3.10"

[build_requirements]
pins = ["setuptools==80.10.2", "wheel==0.48.0", "packaging==26.3"]
"""
PART = """
[[components]]
kind = "source"
name = "{name}"
distribution = "{name}"
version = "1.0"
repo = "https://{name}.invalid/{name}"
rev = "{rev}"
source = "this benchmark"
confidence = "confirmed"
frontend = "setup.py"
after = [{after}]
environment.STANDIN_NAME = "{name}"
environment.STANDIN_SECONDS = "{seconds}"
"""
SERVER = '#!/bin/bash\nsleep "$1"\nexec git-upload-pack "$2"\n'
GIT = ("git", "-c", "user.name=b", "-c", "user.email=b@b.invalid", "-c", "init.defaultBranch=main")


@dataclass(frozen=True)
class Lanes:
    """A folder with two stand-ins; in it each build begins with the fetches, and finds its environment ready."""

    folder: Path
    env: Mapping[str, str]

    def build(self) -> Command:
        """Give the command under test."""
        places = ("--root", str(self.folder / "root"), "--events", str(self.folder / "events"))
        words = ("build", "--profile", str(self.folder / "lanes.toml"), "--verify", "off", *places)
        return Command((sys.executable, "-c", ENTRY, *words), self.env, self.folder, self.forget)

    def forget(self) -> None:
        """Bring both components back to before their sources were fetched."""
        (self.folder / "events").unlink(missing_ok=True)
        for name in ("first", "second"):
            subprocess.run(("rm", "-rf", str(self.folder / f"root/src/{name}")), check=True)
            for stamp in self.folder.glob(f"root/stamps/{name}.*"):
                stamp.unlink()

    def chain(self) -> float:
        """Give the seconds of the longest chain of steps in the last build."""
        events = [json.loads(line) for line in (self.folder / "events").read_text().splitlines()]
        return longest_chain(self._plan(), [event for event in events if event["kind"] == "end"])

    def _plan(self) -> list[dict[str, Any]]:
        options = ("--profile", str(self.folder / "lanes.toml"), "--root", str(self.folder / "root"))
        argv = (sys.executable, "-c", ENTRY, "plan", *options, "--verify", "off", "--json")
        done = subprocess.run(argv, env=self.env, check=False, capture_output=True, text=True)
        if done.returncode:
            raise FailedError(done.stdout + done.stderr)
        steps: list[dict[str, Any]] = json.loads(done.stdout)["result"]["steps"]
        return steps


def longest_chain(steps: Sequence[Mapping[str, Any]], ends: Iterable[Mapping[str, Any]]) -> float:
    """Give the longest path over what the steps come after, each as long as its end says.

    The steps that lock the environment come after each other in every plan, so that locks add nothing to the path.
    """
    seconds = {event["step"]: event.get("seconds", 0.0) for event in ends}
    reached: dict[str, float] = {}
    for step in steps:
        before = max((reached[name] for name in step["after"]), default=0.0)
        reached[step["id"]] = before + seconds[step["id"]]
    return max(reached.values())


def measure_lanes(folder: Path, env: Mapping[str, str]) -> list[Row]:
    """Build both stand-ins again and again; each time beside the longest chain of that very build."""
    lanes = make_lanes(folder / "lanes", env)
    seconds_of(lanes.build())  # once, so that there is an environment
    walls, chains = [], []
    for _ in range(ROUNDS):
        walls.append(seconds_of(lanes.build()))
        chains.append(lanes.chain())
    return [make_row("lanes", walls, chains, goal=GOAL, unit="s")]


def make_lanes(folder: Path, env: Mapping[str, str]) -> Lanes:
    """Make the stand-ins, their profile, and a caller whose git finds them: the second behind a server that is slow."""
    repository, server = folder / "upstream", folder / "server"
    repository.mkdir(parents=True)
    server.write_text(SERVER)
    server.chmod(0o755)
    rev = _commit(repository)
    parts = (("first", BUILD, ""), ("second", LAST, '"first"'))
    text = "".join(PART.format(name=name, rev=rev, seconds=seconds, after=after) for name, seconds, after in parts)
    (folder / "lanes.toml").write_text(HEAD + text)
    settings = {
        f"url.file://{repository}.insteadOf": "https://first.invalid/first",
        f"url.ext::{server} {FETCH} {repository}.insteadOf": "https://second.invalid/second",
        "protocol.ext.allow": "always",
        "uploadpack.allowAnySHA1InWant": "true",
    }
    keys = {f"GIT_CONFIG_KEY_{number}": name for number, name in enumerate(settings)}
    values = {f"GIT_CONFIG_VALUE_{number}": text for number, text in enumerate(settings.values())}
    return Lanes(folder, {**env, "GIT_CONFIG_COUNT": str(len(settings)), **keys, **values})


def _commit(repository: Path) -> str:
    (repository / "setup.py").write_text(SETUP)
    (repository / "one.c").write_text(SOURCE)
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "one")):
        subprocess.run((*GIT, *words), cwd=repository, check=True, capture_output=True)
    done = subprocess.run((*GIT, "rev-parse", "HEAD"), cwd=repository, check=True, capture_output=True, text=True)
    return done.stdout.strip()
