"""The one place that starts short processes and waits for them (steps are the runner's)."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Output:
    """What a process said. `code` is None when it was not there or took too long; `why` says which."""

    code: int | None
    out: str
    err: str
    why: str = ""


def run_process(
    argv: Sequence[str], *, seconds: float, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Output:
    """Run a command for at most `seconds` and give what it said; never raises for what the command does."""
    try:
        done = subprocess.run(
            argv,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            env=env,
            cwd=cwd,
        )
    except FileNotFoundError:
        return Output(None, "", "", f"{argv[0]} is not there")
    except PermissionError:
        return Output(None, "", "", f"{argv[0]} may not be started")
    except subprocess.TimeoutExpired:
        return Output(None, "", "", f"{argv[0]} took longer than {seconds:g} s")
    return Output(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def run_attached(argv: Sequence[str], *, quiet: bool) -> int | None:
    """Run a command on the caller's terminal and give its exit code; None where it is not there.

    `quiet` keeps stdout for the caller's own document: what the command says there goes to stderr.
    """
    try:
        done = subprocess.run(argv, check=False, stdout=sys.stderr if quiet else None)
    except (FileNotFoundError, PermissionError):
        return None
    return done.returncode
