"""Builds for which the memory is too small: compilers that die and builds that stand still go on with fewer jobs."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from e2e.support import SOURCE, Tiny, make_tiny, xpusetup

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("memory")]
MIB = 1 << 20
SETUP = """
import os, pathlib, subprocess, sys
from setuptools import Extension, setup
rules = "rule work\\n  command = " + os.environ["WORK"] + "\\n  description = work $in\\n"
edges = "".join(f"build {name}.o: work {name}.cpp\\n" for name in ("one", "two", "three", "four"))
pathlib.Path("build.ninja").write_text(rules + edges)
for name in ("one", "two", "three", "four"):
    path = pathlib.Path(f"{name}.cpp")
    path.exists() or path.write_text("#include <regex>\\n#include <map>\\nstd::map<int, std::regex> all;\\n")
done = subprocess.run([sys.executable, "-m", "ninja", "-j", os.environ["MAX_JOBS"]])
if done.returncode:
    raise SystemExit("ninja failed")
setup(name="tiny", version="1.0", ext_modules=[Extension("tiny", ["tiny.c"])])
"""
SHARE = "prlimit --as=$$(({0} / $$MAX_JOBS)) $$CXX -O2 -c $in -o $out"
"""Each compiler may have an equal share of so many bytes: what a machine of that size would come to, without chance."""
HOG = """
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
/* hog ANONYMOUS FILE ROUNDS: keeps memory, and reads a mapped file again and again, as a compiler does its own code. */
int main(int count, char **words) {
  size_t size = (size_t)atol(words[1]) << 20;
  volatile char *kept = malloc(size);
  for (size_t at = 0; at < size; at += 4096) kept[at] = 1;
  int file = open(words[2], O_RDONLY);
  size_t length = (size_t)lseek(file, 0, SEEK_END);
  volatile char *code = mmap(NULL, length, PROT_READ, MAP_SHARED, file, 0);
  for (int round = 0; round < atoi(words[3]); ++round)
    for (size_t at = 0; at < length; at += 4096) (void)code[at];
  return count != 4;
}
"""


@dataclass(frozen=True)
class Shop:
    """A project of four sources whose every compile is one command, built again and again in one root."""

    tiny: Tiny
    root: Path

    def build(self, work: str, jobs: int) -> tuple[int, dict[str, Any], list[tuple[str, int]]]:
        """Build with this command; gives exit code, result, and each attempt: its state and its jobs."""
        text = self.tiny.profile.read_text()
        self.tiny.profile.write_text(re.sub(r"(?m)^environment.WORK = .*$", f"environment.WORK = {work!r}", text))
        words = ("--verify", "off", "--json", "--jobs", str(jobs))
        before = len(self.journal())
        said = xpusetup("build", *self.tiny.options(self.root), *words, env=self.tiny.env)
        lines = [line for line in self.journal()[before:] if line["step"] == "tiny.build" and line["load"]]
        return said.code, said.document["result"], [(line["state"], line["load"][0]) for line in lines]

    def journal(self) -> list[dict[str, Any]]:
        path = self.root / "journal.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    folder = tmp_path_factory.mktemp("memory")
    tiny = make_tiny(folder, setup_py=SETUP, tiny_c=SOURCE)
    tiny.env["CCACHE_DIR"] = str(folder / "ccache")  # what an earlier run left in a shared one would need no memory
    text = tiny.profile.read_text().replace('pins = ["', 'pins = ["ninja==1.13.2", "')
    tiny.profile.write_text(f"{text}environment.WORK = ''\n")
    site = folder / "home/.config/xpusetup/site.toml"
    site.parent.mkdir(parents=True)
    site.write_text("stall_seconds = 15\n")
    return Shop(tiny, folder / "root")


def test_an_error_in_the_source_is_tried_once(shop: Shop) -> None:
    code, result, attempts = shop.build("$$CXX -include nosuch.h -c $in -o $out", jobs=4)
    assert (code, result["failure"]["tried"], attempts) == (1, [], [("failed", 4)])


def test_one_job_that_is_too_large_fails_and_says_what_was_tried(shop: Shop) -> None:
    code, result, attempts = shop.build(SHARE.format(120 * MIB), jobs=2)
    assert (code, attempts) == (1, [("short", 2), ("failed", 1)])
    failure = result["failure"]
    assert (failure["tried"], failure["causes"][0]["id"]) == ([2], "compile.oom_kill")
    assert failure["heaviest"] > 0


def test_compilers_that_die_go_on_with_fewer_jobs(shop: Shop) -> None:
    code, result, attempts = shop.build(SHARE.format(900 * MIB), jobs=8)
    assert code == 0, result
    assert attempts == [("short", 8), ("ran", 4)]
    assert "virtual memory exhausted" in (shop.root / "logs/tiny.build.log.8-jobs").read_text()
    jobs, _growth, heaviest = next(line["load"] for line in reversed(shop.journal()) if line["load"])
    assert jobs == 4
    assert 100 * MIB < heaviest < 2000 * MIB


def test_the_report_shows_what_was_tried(shop: Shop, tmp_path: Path) -> None:
    where = ("--profile", str(shop.tiny.profile), "--root", str(shop.root))
    seen = xpusetup("report", *where, "-o", str(tmp_path / "seen.html"), "--json", env=shop.tiny.env).result
    tries = [(step["state"], step["jobs"]) for step in seen["steps"] if step["step"] == "tiny.build"]
    assert tries[-2:] == [("short", 8), ("ran", 4)]
    assert sorted(edge["output"] for edge in seen["longest"]) == ["four.o", "one.o", "three.o", "two.o"]
    assert max(jobs for _, jobs in seen["jobs"]) > 0
    assert seen["memory_total"] > max(used for _, used in seen["memory"]) > 0
    assert "tiny.build" in (tmp_path / "seen.html").read_text()
    folder = xpusetup("report", *where, "-o", str(tmp_path), env=shop.tiny.env)
    assert (folder.code, "is a folder" in folder.err) == (2, True)


def test_what_a_step_said_is_shown(shop: Shop) -> None:
    where = ("--profile", str(shop.tiny.profile), "--root", str(shop.root))
    said = xpusetup("status", *where, "--log", "tiny.build", "-f", env=shop.tiny.env)
    assert (said.code, said.out) == (0, (shop.root / "logs/tiny.build.log").read_text())
    other = xpusetup("status", *where, "--log", "nosuch", env=shop.tiny.env)
    assert other.code == 2
    assert "there are logs of: " in other.err
    assert "tiny.build" in other.err


@pytest.fixture
def group() -> Iterator[Path]:
    """Make a control group of version 1 that holds 120 MiB."""
    path = Path("/sys/fs/cgroup/memory") / f"xpusetup-test-{os.getpid()}"
    try:
        path.mkdir()
        (path / "memory.limit_in_bytes").write_text("120M")
    except OSError as error:
        pytest.skip(f"no control group of version 1 can be made here: {error}")
    try:
        yield path
    finally:
        path.rmdir()


@pytest.mark.long
def test_a_build_that_stands_still_goes_on_with_fewer_jobs(shop: Shop, group: Path, tmp_path: Path) -> None:
    (tmp_path / "hog.c").write_text(HOG)
    subprocess.run(("gcc", "-O1", "-o", str(tmp_path / "hog"), str(tmp_path / "hog.c")), check=True)
    enter = f"echo $$$$ >{group}/tasks; [ -s {tmp_path}/blob ] || head -c 64M /dev/urandom >{tmp_path}/blob"
    hog = f"{tmp_path}/hog 50 {tmp_path}/blob $$((4000000 * ($$MAX_JOBS - 1) + 2)) && touch $out"
    code, result, attempts = shop.build(f"{enter}; {hog}", jobs=2)
    assert code == 0, result
    assert attempts == [("short", 2), ("ran", 1)]
