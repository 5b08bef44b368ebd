"""Two lanes for real: a fetch that runs beside a build, and what happens when one of the two ends badly.

The two wait for each other by way of files, so that a program which runs one after the other never gets through.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from e2e.support import SOURCE, Said, by_name, caller, command, wait_until, xpusetup
from e2e.test_resume import alive

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("tiny")]
SETUP = """
import os, pathlib, time
from setuptools import Extension, setup
here = pathlib.Path(os.environ["PAIR_SIGNS"])
(here / "building").touch()
for _ in range(600):
    if (here / "fetching").exists():
        break
    time.sleep(0.1)
else:
    raise SystemExit("error: no fetch came beside this build")
time.sleep(float(os.environ.get("PAIR_SLEEP", "0")))
if "PAIR_FAIL" in os.environ:
    raise SystemExit("first.c:1:1: error: " + os.environ["PAIR_FAIL"])
setup(name=os.environ["PAIR_NAME"], version="1.0", ext_modules=[Extension(os.environ["PAIR_NAME"], ["tiny.c"])])
"""
HEAD = """
schema = 1
name = "pair"
summary = "two C extensions"
tier = "test"
tried = "in tests"
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
source = "this test"
confidence = "confirmed"
frontend = "setup.py"
environment.PAIR_NAME = "{name}"
environment.PAIR_SIGNS = "{signs}"
"""
SERVER = """#!/bin/bash
# what git talks to when it fetches `second`: it waits until `first` is being built
touch "$1/fetching"
for _ in $(seq 600); do [ -e "$1/building" ] && break; sleep 0.1; done
[ ! -e "$1/refuse" ] || exit 1
sleep "$(cat "$1/seconds")"
exec git-upload-pack "$2"
"""
GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@t.invalid", "-c", "init.defaultBranch=main")


@dataclass(frozen=True)
class Pair:
    """Two projects: `first` builds for as long as nobody fetches `second`, whose server waits for that build."""

    profile: Path
    signs: Path
    root: Path
    env: dict[str, str]

    def options(self, *more: str) -> tuple[str, ...]:
        """Give the words of a build."""
        return ("--profile", str(self.profile), "--root", str(self.root), "--verify", "off", *more)

    def build(self, *more: str) -> Said:
        """Build, and write down what happened."""
        return xpusetup("build", *self.options("--events", str(self.root.parent / "events"), *more), env=self.env)

    def events(self) -> list[dict[str, Any]]:
        """Give what happened, in order."""
        return [json.loads(line) for line in (self.root.parent / "events").read_text().splitlines()]

    def order(self, *steps: str) -> list[str]:
        """Give when the steps started and ended, in order."""
        told = (event for event in self.events() if event["kind"] in {"start", "end"} and event["step"] in steps)
        return [f"{event['kind']} {event['step']}" for event in told]


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    """Make two projects, their profile, and a server for the second."""
    signs = tmp_path / "signs"
    signs.mkdir()
    (signs / "seconds").write_text("0")
    server = tmp_path / "server"
    server.write_text(SERVER)
    server.chmod(0o755)
    repository = tmp_path / "upstream"
    rev = _commit(repository)
    text = HEAD + "".join(PART.format(name=name, rev=rev, signs=signs) for name in ("first", "second"))
    (tmp_path / "pair.toml").write_text(text)
    settings = {
        f"url.file://{repository}.insteadOf": "https://first.invalid/first",
        f"url.ext::{server} {signs} {repository}.insteadOf": "https://second.invalid/second",
        "protocol.ext.allow": "always",
        "uploadpack.allowAnySHA1InWant": "true",
    }
    values = {f"GIT_CONFIG_KEY_{number}": name for number, name in enumerate(settings)}
    values |= {f"GIT_CONFIG_VALUE_{number}": text for number, text in enumerate(settings.values())}
    env = caller(tmp_path / "home", GIT_CONFIG_COUNT=str(len(settings)), **values)
    return Pair(tmp_path / "pair.toml", signs, tmp_path / "root", env)


def _commit(repository: Path) -> str:
    repository.mkdir()
    (repository / "setup.py").write_text(SETUP)
    (repository / "tiny.c").write_text(SOURCE)
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "one")):
        subprocess.run((*GIT, *words), cwd=repository, check=True, capture_output=True)
    done = subprocess.run((*GIT, "rev-parse", "HEAD"), cwd=repository, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.mark.long
def test_a_fetch_runs_beside_a_build(pair: Pair) -> None:
    """Each of the two needs the other to be at work; the result lists the steps in the order of the plan."""
    said = pair.build("--json")
    order = pair.order("first.build", "second.fetch")
    assert said.result["ran"] == [
        *("venv", "requirements", "first.fetch", "first.build", "first.inspect", "first.install"),
        *("second.fetch", "second.build", "second.inspect", "second.install", "guard"),
    ]
    assert set(order[:2]) == {"start first.build", "start second.fetch"}
    assert set(order[2:]) == {"end first.build", "end second.fetch"}
    journal = [json.loads(line) for line in (pair.root / "journal.jsonl").read_text().splitlines()]
    assert sorted(line["step"] for line in journal if line["state"] == "ran") == sorted(said.result["ran"])
    assert {line["step"] for line in journal if line["state"] == "began"} == {"first.build", "second.build"}


@pytest.mark.long
def test_a_fetch_that_fails_leaves_the_build_to_end(pair: Pair) -> None:
    """The failure is told at once; what compiles goes on to its stamp; nothing more is started."""
    (pair.signs / "refuse").touch()
    said = pair.build("--json", "--set", "first.PAIR_SLEEP=2")
    assert said.code == 1
    assert said.document["result"]["failed"] == "second.fetch"
    assert pair.order("second.fetch", "first.build")[2:] == ["end second.fetch", "end first.build"]
    assert [event["text"] for event in pair.events() if event["kind"] == "note"] == [
        "first.build goes on to its end, so that nothing of it is lost"
    ]
    assert (pair.root / "stamps/first.build").exists()
    assert pair.order("first.inspect", "second.build") == []
    (pair.signs / "refuse").unlink()
    again = pair.build("--json", "--set", "first.PAIR_SLEEP=2").result
    assert "first.build" in again["skipped"]
    assert "second.fetch" in again["ran"]


@pytest.mark.long
def test_a_build_that_fails_ends_the_fetch(pair: Pair) -> None:
    """Nobody waits for a download when there is something to mend; it goes on next time."""
    (pair.signs / "seconds").write_text("600")
    said = pair.build("--json", "--set", "first.PAIR_FAIL=out of ideas")
    result = said.document["result"]
    assert said.code == 1
    assert (result["failed"], "second.fetch" in result["ran"]) == ("first.build", False)
    last = [event for event in pair.events() if event.get("step") == "second.fetch"][-1]
    assert (last["kind"], last["state"], last["text"]) == ("end", "interrupted", "first.build failed")
    assert alive(pair.root) == []
    (pair.signs / "seconds").write_text("0")
    assert pair.build("--json").result["failed"] is None


@pytest.mark.parametrize("number", [signal.SIGINT, by_name(signal.SIGTERM)])
def test_both_are_interrupted(pair: Pair, number: signal.Signals) -> None:
    (pair.signs / "seconds").write_text("600")
    words = command("build", *pair.options("--set", "first.PAIR_SLEEP=600", "--json"))
    process = subprocess.Popen(words, env=pair.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    wait_until(lambda: all((pair.signs / name).exists() for name in ("building", "fetching")))
    os.kill(process.pid, number)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 130
    assert json.loads(out)["error"]["message"] == "interrupted during first.build and second.fetch"
    assert alive(pair.root) == []


@pytest.mark.long
def test_a_build_that_outlives_its_xpusetup_beside_a_fetch_keeps_the_lock(pair: Pair) -> None:
    """Both steps hold the lock: a second run waits for the last of them, and finds what they finished."""
    (pair.signs / "seconds").write_text("4")
    words = command("build", *pair.options())
    process = subprocess.Popen(words, env=pair.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: all((pair.signs / name).exists() for name in ("building", "fetching")))
    process.kill()
    process.wait()
    said = pair.build("--json")
    assert "outlived" in said.err
    assert {"first.build", "second.fetch"} <= set(said.result["skipped"])
