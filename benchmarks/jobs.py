"""The rows jobs: builds with as many jobs as the memory allows, beside the fastest number that a search finds.

Both build in a control group that holds a given number of compilers at a time, and all of them are killed by the kernel
where that is not enough; a number of jobs with which one was killed is none.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.lanes import GIT, HEAD, PART
from benchmarks.place import ENTRY
from benchmarks.rows import Row, make_row
from benchmarks.timing import Command, FailedError, seconds_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROUNDS = 3
GOAL = 1.1
MOST = 4
"""The search tries one job up to so many."""
GROUPS = (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max"))
ROOM = 120 << 20
"""Bytes for what is not a compiler: the program, pip, setuptools and ninja."""
UNIT = '#include <regex>\n#include <map>\nstd::map<int, std::regex> all_{};\nstd::regex one_{}("a*b");\n'
UNITS = 8
SETUP = f"""
import os, pathlib, subprocess, sys
from setuptools import setup
units = range({UNITS})
rule = "rule work\\n  command = g++ -O2 -c $in -o $out\\n"
pathlib.Path("build.ninja").write_text(rule + "".join(f"build unit{{n}}.o: work unit{{n}}.cpp\\n" for n in units))
done = subprocess.run([sys.executable, "-m", "ninja", "-j", os.environ["MAX_JOBS"]])
if done.returncode:
    raise SystemExit("ninja failed")
setup(name="jobs", version="1.0", py_modules=["jobs"])
"""


@dataclass(frozen=True)
class Shop:
    """A stand-in of some equal compiles, whose root has its environment, and a control group to build it in."""

    folder: Path
    env: Mapping[str, str]
    group: Path

    def build(self, jobs: int = 0) -> Command:
        """Give the command under test; 0 jobs: as many as it finds right by itself."""
        places = ("--profile", str(self.folder / "jobs.toml"), "--root", str(self.folder / "root"))
        words = ("build", *places, "--verify", "off", "--launcher", "none", *(("--jobs", str(jobs)) if jobs else ()))
        enter = f'echo $$ >{self.group}/cgroup.procs && exec "$@"'
        argv = ("bash", "-c", enter, "bash", sys.executable, "-c", ENTRY, *words)
        return Command(argv, self.env, self.folder, self.forget)

    def forget(self) -> None:
        """Bring the stand-in back to before it was compiled."""
        for path in (*self.folder.glob("root/src/jobs/*.o"), *self.folder.glob("root/stamps/jobs.build")):
            path.unlink()

    def fell_short(self) -> bool:
        """Say whether a compiler was killed in the last build."""
        lines = (self.folder / "root/journal.jsonl").read_text().splitlines()
        builds = [record for record in map(json.loads, lines) if record["step"] == "jobs.build"]
        return len(builds) > 1 and builds[-2]["state"] == "short"


def measure_jobs(folder: Path, env: Mapping[str, str]) -> list[Row]:
    """Measure where memory is for one compiler, and where it is for as many as there are processors."""
    make_stand_in(folder)
    each = largest_compile(folder)
    told = {**env, **redirect({"https://jobs.invalid/jobs": folder / "upstream"})}
    rows = []
    for name, compilers in (("jobs_tight", 1.5), ("jobs_ample", MOST + 0.5)):
        with limited(ROOM + int(each * compilers)) as group:
            rows.append(measure_group(Shop(folder, told, group), name))
    return rows


def measure_group(shop: Shop, name: str) -> Row:
    """Let it learn by one build, then search the best fixed number, and build both in turns."""
    seconds_of(shop.build())
    found = {}
    for jobs in range(1, MOST + 1):
        taken = seconds_of(shop.build(jobs))
        if not shop.fell_short():
            found[jobs] = taken
    best = min(found, key=found.__getitem__)
    ours, fixed = [], []
    for _ in range(ROUNDS):
        ours.append(seconds_of(shop.build()))
        fixed.append(seconds_of(shop.build(best)))
    sys.stderr.write(f"{name}: the best of 1 to {MOST} is {best} ({median(fixed):.1f} s)\n")
    return make_row(name, ours, fixed, goal=GOAL, unit="s")


@contextmanager
def limited(size: int) -> Iterator[Path]:
    """Make a control group that holds so many bytes. Raises FailedError where none can be made."""
    for base, limit in GROUPS:
        group = Path(base) / f"xpusetup-bench-{os.getpid()}"
        try:
            group.mkdir()
            (group / limit).write_text(str(size))
        except OSError:
            if group.is_dir():
                group.rmdir()
            continue
        try:
            yield group
        finally:
            group.rmdir()
        return
    raise FailedError("the rows jobs need a control group with a memory limit, and none can be made here")


def largest_compile(folder: Path) -> int:
    """Give the bytes that one compile takes at most."""
    words = ("g++", "-O2", "-c", str(folder / "upstream/unit0.cpp"), "-o", os.devnull)
    process = subprocess.Popen(words)
    _pid, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise FailedError("g++ cannot compile the stand-in")
    return usage.ru_maxrss << 10


def make_stand_in(folder: Path) -> None:
    """Make the stand-in's repository and its profile."""
    repository = folder / "upstream"
    repository.mkdir(parents=True)
    texts = {"setup.py": SETUP, "jobs.py": "", **{f"unit{n}.cpp": UNIT.format(n, n) for n in range(UNITS)}}
    for name, text in texts.items():
        (repository / name).write_text(text)
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "one")):
        subprocess.run((*GIT, *words), cwd=repository, check=True, capture_output=True)
    done = subprocess.run((*GIT, "rev-parse", "HEAD"), cwd=repository, check=True, capture_output=True, text=True)
    part = PART.format(name="jobs", rev=done.stdout.strip(), seconds=0, after="")
    pins = HEAD.replace('"packaging', '"ninja==1.13.2", "packaging').replace('"lanes"', '"jobs"')
    (folder / "jobs.toml").write_text(pins + part)


def redirect(addresses: Mapping[str, Path]) -> dict[str, str]:
    """Give the settings by which git finds repositories behind addresses that are none."""
    settings = [("uploadpack.allowAnySHA1InWant", "true")]
    settings += [(f"url.file://{place}.insteadOf", address) for address, place in addresses.items()]
    keys = {f"GIT_CONFIG_KEY_{number}": name for number, (name, _) in enumerate(settings)}
    values = {f"GIT_CONFIG_VALUE_{number}": text for number, (_, text) in enumerate(settings)}
    return {"GIT_CONFIG_COUNT": str(len(settings)), **keys, **values}
