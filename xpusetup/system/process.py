"""The one place that starts short processes and waits for them (steps are the runner's)."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path


NOT_THERE = 127
SIGNALLED = 128
ELSEWHERE = {
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_IMPLICIT_WORK_TREE"),
    *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH", "GIT_SHALLOW_FILE"),
    *("GIT_GRAFT_FILE", "GIT_NAMESPACE"),
}
"""By which git takes another repository for the one that is meant: set in its hooks, by `git rebase --exec`, and by
those who keep their home in git."""
KILL_GRACE_S = 1.0
"""Seconds in which the output of a killed process has to end; a child of its own may still hold it open."""


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
    """Run a command for at most `seconds` and give what it said; never raises for what the command does.

    A git is about the repository that its words and its folder name, whatever the caller's variables say.
    """
    if argv[0].rpartition("/")[2] == "git":
        env = {name: value for name, value in (os.environ if env is None else env).items() if name not in ELSEWHERE}
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            cwd=cwd,
            start_new_session=True,  # so that what it started ends with it
        )
    except FileNotFoundError:
        return Output(None, "", "", f"{argv[0]} is not there")
    except PermissionError:
        return Output(None, "", "", f"{argv[0]} may not be started")
    except OSError as error:
        return Output(None, "", "", f"{argv[0]} cannot be started: {error.strerror}")
    with process:
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            _kill(process)
            return Output(None, "", "", f"{argv[0]} took longer than {seconds:g} s")
        except BaseException:
            _kill(process)
            raise
    return Output(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=KILL_GRACE_S)


def follow_process(argv: Sequence[str], *, env: Mapping[str, str], say: Callable[[str], None]) -> Output:
    """Run a command that bounds itself, and say each line of its stdout as it comes; that is not kept."""
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, env=env, start_new_session=True
            )
        except OSError as error:
            return Output(None, "", "", f"{argv[0]} cannot be started: {error.strerror}")
        with process:
            try:
                for line in process.stdout or ():
                    say(line.decode(errors="replace").rstrip())
                process.wait()
            except BaseException:
                # what it started in sessions of their own it ends itself; what is left then is killed
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(KILL_GRACE_S)
                _kill(process)
                raise
        errors.seek(0)
        return Output(process.returncode, "", errors.read().decode(errors="replace"))


def run_logged(argv: Sequence[str], *, env: Mapping[str, str], log: Path) -> int:
    """Run a command with all it says in a file, and give its exit code as a shell would: 127 where it is not there."""
    with log.open("wb") as stream:
        try:
            done = subprocess.run(
                argv, check=False, env=dict(env), stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT
            )
        except OSError as error:  # not there, a folder, a script without an interpreter
            stream.write(f"{argv[0]}: {error.strerror}\n".encode())
            return NOT_THERE
    return done.returncode if done.returncode >= 0 else SIGNALLED - done.returncode


def run_attached(argv: Sequence[str], *, quiet: bool, env: Mapping[str, str] | None = None) -> int:
    """Run a command on the caller's terminal and give its exit code. Raises OSError where it cannot be started.

    `quiet` keeps stdout for the caller's own document: what the command says there goes to stderr.
    """
    return subprocess.run(argv, check=False, stdout=sys.stderr if quiet else None, env=env).returncode


# Why something was not seen: what probes write down beside the facts.


TIMEOUT_S = 3.0
"""Seconds that any outside program may take; one that takes longer is a note, and its fact stays None."""
Notes = dict[str, str]


def ask(
    notes: Notes,
    name: str,
    argv: Sequence[str],
    *,
    seconds: float = TIMEOUT_S,
    env: Mapping[str, str] | None = None,
) -> str | None:
    """Give what a program prints when it ends well; else None, and a note under `name` that says why."""
    output = run_process(argv, seconds=seconds, env=env)
    if output.code == 0:
        return output.out
    last = next(reversed((output.err or output.out).strip().splitlines()), "nothing")
    notes[name] = output.why or f"{argv[0]} ended with {output.code} and said: {last}"
    return None
