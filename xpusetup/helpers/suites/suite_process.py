"""One process of a shard: pytest in a session of its own, watched from outside until nothing of it is left."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PAUSE = 0.05
GRACE = 60.0
"""Seconds that a process has beyond the bound of a test to give a sign: it imports, or clears up after the last one."""
RESERVE = 64 << 20
"""Bytes that have to stay free for what is written down."""
MIB = 1 << 20


@dataclass(frozen=True)
class Attempt:
    """The files of one process of a shard, all of them named after its number."""

    folder: Path
    number: int

    def file(self, ending: str) -> Path:
        return self.folder / f"{self.number}.{ending}"


@dataclass(frozen=True)
class Terms:
    """How a process is run. `bound`: seconds for each test; `grace`: beyond that without a sign; `reserve` in bytes."""

    cwd: Path
    env: Mapping[str, str]
    bound: float
    options: tuple[str, ...]
    grace: float = GRACE
    reserve: int = RESERVE


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code, and why it was ended, where it was."""

    code: int
    why: str = ""


def make_command(attempt: Attempt, terms: Terms, paths: Sequence[str]) -> tuple[str, ...]:
    """Give the command line of pytest. `-p no:cacheprovider`: the tree of the suite stays as it is."""
    return (
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "suite_plugin",
        "-p",
        "no:cacheprovider",
        f"--suite-journal={attempt.file('jsonl')}",
        f"--suite-done={attempt.file('done')}",
        f"--suite-bound={terms.bound:g}",
        f"--junit-xml={attempt.file('xml')}",
        f"--basetemp={attempt.folder / 'tmp/pytest'}",
        "--continue-on-collection-errors",
        "--maxfail=0",
        "-o",
        "faulthandler_timeout=0",
        "-o",
        "log_cli=false",
        "-q",
        "-rN",
        *terms.options,
        *paths,
    )


def run_attempt(attempt: Attempt, terms: Terms, paths: Sequence[str], done: set[str]) -> Ended:
    """Run pytest on what is left of a shard. What it leaves in its temporary folder goes with it."""
    attempt.file("done").write_text("".join(f"{name}\n" for name in sorted(done)), encoding="utf-8")
    attempt.file("jsonl").touch()
    temporary = attempt.folder / "tmp"
    (temporary / "tmpdir").mkdir(parents=True, exist_ok=True)
    env = {**terms.env, "TMPDIR": str(temporary / "tmpdir")}
    try:
        with attempt.file("log").open("wb") as log:
            child = subprocess.Popen(
                make_command(attempt, terms, paths),
                cwd=terms.cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that what it leaves running can be ended with it
            )
            try:
                why = watch(child, attempt, terms)
            finally:
                code = end(child)
        return Ended(code, why)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def watch(child: subprocess.Popen[bytes], attempt: Attempt, terms: Terms) -> str:
    """Wait for the end of a process; say why it has to be ended, or nothing where it ended by itself."""
    size, heard = -1, time.monotonic()
    while child.poll() is None:
        time.sleep(PAUSE)
        now, seen = time.monotonic(), attempt.file("jsonl").stat().st_size
        if seen != size:
            size, heard = seen, now
        elif now - heard > terms.bound + terms.grace:
            return f"no sign of life for {now - heard:.0f} s"
        if (left := free(attempt.folder)) < terms.reserve:
            return f"the disk is full: {left // MIB} MiB left"
    return ""


def free(folder: Path) -> int:
    """Give the bytes that are free where a folder lies."""
    seen = os.statvfs(folder)
    return seen.f_bavail * seen.f_frsize


def end(child: subprocess.Popen[bytes]) -> int:
    """End whatever is left of a process and give its exit code, as a shell counts it."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    code = child.wait()
    return code if code >= 0 else 128 - code
