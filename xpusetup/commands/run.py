"""run: a command in a built environment."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from xpusetup.base.errors import UsageError
from xpusetup.commands.env import run_environment
from xpusetup.commands.result import Result
from xpusetup.commands.status import find_built, identify, must_be_installed, say_differing
from xpusetup.run.guard import GUARDED
from xpusetup.run.workspace import Where, Workspace, open_built
from xpusetup.system.environment import exec_command, not_started, now
from xpusetup.system.process import run_attached

SIGNALS = 128
"""What a shell adds to the number of the signal that ended a command."""


def run(where: Where, command: Sequence[str]) -> NoReturn:
    _, environment = _ready(where, command)
    exec_command(command, environment)


@dataclass(frozen=True, kw_only=True)
class CommandRun:
    """How a command in the built environment ended: its exit code (of a signal negative), and seconds."""

    profile: str
    chosen_by: str
    root: str
    argv: list[str]
    code: int
    seconds: float


def run_and_tell(where: Where, command: Sequence[str]) -> Result[CommandRun]:
    """Run a command in the built environment, and tell how it ended: with its own exit code."""
    workspace, environment = _ready(where, command)
    began = now()
    try:
        code = run_attached(command, quiet=True, env=environment)
    except OSError as error:
        raise not_started(command, error) from error
    took = round(now() - began, 3)
    done = CommandRun(**identify(workspace), root=str(workspace.root), argv=list(command), code=code, seconds=took)
    return Result("run", done, code=code if code >= 0 else SIGNALS - code)


def _ready(where: Where, command: Sequence[str]) -> tuple[Workspace, dict[str, str]]:
    if not command or not command[0]:
        raise UsageError("run needs a command", command="xpusetup run -- python -c 'import torch'")
    workspace = open_built(where)
    built = find_built(workspace)
    must_be_installed(workspace, built)
    say_differing(where, workspace, built)
    if (built.root / GUARDED).exists():
        from xpusetup.run.run_time import hold_run_time  # noqa: PLC0415 - what was never guarded needs none of it

        hold_run_time(built.root, built.venv)
    return workspace, run_environment(built)
