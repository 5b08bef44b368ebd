"""The caller's environment, read here alone and never changed, and the clock."""

from __future__ import annotations

import datetime as dt
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from xpusetup.base.errors import UsageError
from xpusetup.base.text import Redactor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def now() -> float:
    """Give the time in seconds since the epoch."""
    return time.time()


def today() -> str:
    """Give the day as 2026-11-21, in universal time."""
    return dt.datetime.now(dt.timezone.utc).date().isoformat()


def variable(name: str) -> str:
    """Give a variable of the caller; empty when it is not set."""
    return os.environ.get(name, "")


def variables() -> dict[str, str]:
    """Give all variables of the caller."""
    return dict(os.environ)


def which(name: str) -> str | None:
    """Give the path of a program that the caller's PATH finds."""
    import shutil  # noqa: PLC0415 - a build that is done looks for none

    return shutil.which(name)


def open_page(path: Path) -> bool:
    """Open a file in the browser of whoever is here; False where there is none, as on a machine without a screen."""
    import webbrowser  # noqa: PLC0415 - for reports alone

    return webbrowser.open(path.absolute().as_uri())


def cache_folder(name: str) -> Path:
    """Give a folder among what this program keeps and could fetch again."""
    return Path(variable("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "xpusetup" / name


def config_folder() -> Path:
    """Give the folder in which this user keeps what this program is to do."""
    return Path(variable("XDG_CONFIG_HOME") or Path.home() / ".config").absolute() / "xpusetup"


def identity() -> Redactor:
    """Give what hides this person and this machine in a text."""
    import getpass  # noqa: PLC0415 - for reports alone
    import platform  # noqa: PLC0415 - same

    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container's numeric user
        user = ""
    return Redactor(user=user, host=platform.node().partition(".")[0], home=variable("HOME").rstrip("/"))


def short_path(path: str) -> str:
    """Give a path as people write it, with ~ for their home."""
    home = variable("HOME").rstrip("/")
    return f"~{path.removeprefix(home)}" if home and path.startswith(f"{home}/") else path


def exec_command(command: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Replace this program by a command. Raises UsageError where there is no such command."""
    try:
        os.execvpe(command[0], list(command), dict(environment))  # noqa: S606 - the user's own command
    except FileNotFoundError as error:
        message = f"there is no command {command[0]!r} in the built environment"
        raise UsageError(message, fix="look at its spelling") from error
    except OSError as error:
        raise UsageError(f"{command[0]} cannot be started: {error.strerror}", fix="look at its mode") from error
