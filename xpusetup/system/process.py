"""The one place that starts short processes and waits for them (steps are the runner's)."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

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
class ProcessOutput:
    """What a process said. `code` is None when it was not there or took too long; `why` says which."""

    code: int | None
    out: str
    err: str
    why: str = ""


def run_process(
    argv: Sequence[str], *, seconds: float, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> ProcessOutput:
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
        return ProcessOutput(None, "", "", f"{argv[0]} is not there")
    except PermissionError:
        return ProcessOutput(None, "", "", f"{argv[0]} may not be started")
    except OSError as error:
        return ProcessOutput(None, "", "", f"{argv[0]} cannot be started: {error.strerror}")
    with process:
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            _kill(process)
            return ProcessOutput(None, "", "", f"{argv[0]} took longer than {seconds:g} s")
        except BaseException:
            _kill(process)
            raise
    return ProcessOutput(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=KILL_GRACE_S)


def follow_process(argv: Sequence[str], *, env: Mapping[str, str], say: Callable[[str], None]) -> ProcessOutput:
    """Run a command that bounds itself, and say each line of its stdout as it comes; that is not kept."""
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, env=env, start_new_session=True
            )
        except OSError as error:
            return ProcessOutput(None, "", "", f"{argv[0]} cannot be started: {error.strerror}")
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
        return ProcessOutput(process.returncode, "", errors.read().decode(errors="replace"))


TRIAL = "XPUSETUP_TRIAL"
"""Names the root and the session of a command that a search tries, in what belongs to it: helpers of a build do not."""
MARKED = f'{TRIAL}="$0 $$" exec "$@"'


def run_logged(argv: Sequence[str], *, env: Mapping[str, str], log: Path, root: Path) -> int:
    """Run a command of a search with all it says in a file, and give its exit code as a shell would.

    What it leaves running ends with it, and with us; a daemon, which makes a session of its own, does not.
    """
    command = ("bash", "-c", MARKED, str(root), *argv)
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        code = process.wait()
    finally:
        _kill(process)
    return code if code >= 0 else SIGNALLED - code


def run_attached(argv: Sequence[str], *, quiet: bool, env: Mapping[str, str] | None = None) -> int:
    """Run a command on the caller's terminal and give its exit code. Raises OSError where it cannot be started.

    `quiet` keeps stdout for the caller's own document: what the command says there goes to stderr.
    """
    return subprocess.run(argv, check=False, stdout=sys.stderr if quiet else None, env=env).returncode


# The shell that this was called from.


Language: TypeAlias = Literal["sh", "fish", "csh"]
SHELLS: dict[str, Language] = {
    **dict.fromkeys(("sh", "bash", "zsh", "dash", "ksh"), "sh"),
    "fish": "fish",
    **dict.fromkeys(("csh", "tcsh"), "csh"),
}
"""The language of each shell, by the name of its program."""


def calling_language() -> Language:
    """Give the language of the nearest shell above this process; that of sh where none is seen."""
    number = os.getppid()
    while number > 1:
        try:
            text = Path(f"/proc/{number}/stat").read_text(errors="replace")
        except OSError:
            break
        name, _, rest = text.partition("(")[2].rpartition(") ")
        if (found := SHELLS.get(name.lstrip("-"))) is not None:
            return found
        number = int(rest.split()[1])
    return "sh"


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
