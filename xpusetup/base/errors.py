"""Every error the program foresees, each class with its exit code (docs/exit-codes.md).

Errors hold text and a fix and never print; only `cli/` turns them into an exit.
"""

from typing import ClassVar

from xpusetup.base.command import Advice, Command


class XpuError(Exception):
    """The root: what happened and why, and what mends it: words, the command that they lead to, or both.

    `follows`: the one command that leads on from here, where the fix is several or speaks to a person.
    """

    code: ClassVar[int] = 1

    def __init__(self, message: str, *, fix: str = "", command: str = "", follows: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.fix = Advice(fix, Command(command)) if command else fix
        self.follows = follows

    def __str__(self) -> str:
        return f"{self.message}\n  {self.fix}" if self.fix else self.message


class WorkFailedError(XpuError):
    """A step, an inspection or a verification failed (exit 1)."""

    code = 1


class UsageError(XpuError):
    """Bad usage, a bad profile or a bad input file (exit 2)."""

    code = 2


class CannotExecuteError(UsageError):
    """The command of `run` is there and cannot be executed (exit 126, as of a shell)."""

    code = 126


class NoCommandError(UsageError):
    """There is no such command to `run` (exit 127, as of a shell)."""

    code = 127


class NotReadyError(XpuError):
    """The machine is not ready to begin (exit 3)."""

    code = 3


class NoDeviceError(XpuError):
    """There is no device to verify on (exit 4)."""

    code = 4


class InterruptedRunError(XpuError):
    """Someone pressed Ctrl-C, sent SIGTERM, or closed the terminal (exit 130)."""

    code = 130
