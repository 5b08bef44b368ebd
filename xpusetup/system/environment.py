"""The caller's environment, read here alone and never changed, and the clock."""

from __future__ import annotations

import datetime as dt
import errno
import os
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from xpusetup.base.errors import UsageError
from xpusetup.base.text import Redactor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


ELF = b"\x7fELF"
"""How programs that a compiler made begin."""


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
    """Replace this program by a command. Raises UsageError where it cannot be started."""
    try:
        os.execvpe(command[0], list(command), dict(environment))  # noqa: S606 - the user's own command
    except OSError as error:
        raise cannot_start(command, error) from error


def cannot_start(command: Sequence[str], error: OSError) -> UsageError:
    """Say why a command of the user's own cannot be started in a built environment, and what mends it."""
    name, again = command[0], f"xpusetup run -- bash {shlex.join(command)}"
    is_file, strange = Path(name).is_file(), f"{name} cannot be started: {error.strerror}"
    if error.errno == errno.ENOENT and is_file:
        return UsageError(f"the interpreter that the first line of {name} names is not here", fix="look at that line")
    if error.errno in {errno.ENOENT, errno.ENOTDIR}:
        return UsageError(f"there is no command {name!r} in the built environment", fix="look at its spelling")
    if error.errno == errno.ENOEXEC and not (is_file and Path(name).read_bytes()[:4] == ELF):
        return UsageError(f"{name} names no interpreter: its first line has no #!", fix=f"name it: {again}")
    if error.errno == errno.ENOEXEC:
        return UsageError(strange, fix="it is a program for another kind of machine: take one for this")
    return UsageError(strange, fix="name a file in it" if Path(name).is_dir() else f"chmod +x {shlex.quote(name)}")
