"""The caller's environment, read here alone and changed in nothing but a home that lacks, and the clock."""

import datetime as dt
import errno
import os
import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from xpusetup.base.command import Advice, Command
from xpusetup.base.errors import CannotExecuteError, NoCommandError, UsageError
from xpusetup.base.text import Redactor


def now() -> float:
    """Give the time in seconds since the epoch."""
    return time.time()


def today() -> str:
    return dt.datetime.now(dt.timezone.utc).date().isoformat()


def variable(name: str) -> str:
    """Give a variable of the caller; empty when it is not set."""
    return os.environ.get(name, "")


def give_home() -> None:
    """Let / be the home of a caller who has none, as containers do."""
    os.environ["HOME"] = "/"


def variables() -> dict[str, str]:
    return dict(os.environ)


@contextmanager
def without(names: Iterable[str]) -> Iterator[None]:
    """Take variables away from this process for a while, for a library that reads them."""
    kept = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)


def which(name: str) -> str | None:
    import shutil  # noqa: PLC0415 - a build that is done looks for none

    return shutil.which(name)


def own_environment() -> Path | None:
    """Give the environment that holds this program; None where that is the system's own Python."""
    return Path(sys.prefix) if sys.prefix != sys.base_prefix else None


def which_python(name: str) -> str | None:
    """Give the path of an interpreter that the caller's PATH finds, this program's own environment left out.

    Its interpreter holds this program alone, also where someone put its folder first on PATH.
    """
    import shutil  # noqa: PLC0415 - a build that is done looks for none

    found = shutil.which(name)
    if found is None or not is_own_environment(Path(found).parent.parent):
        return found
    folders = [each for each in variable("PATH").split(os.pathsep) if not is_own_environment(Path(each).parent)]
    return shutil.which(name, path=os.pathsep.join(folders))


def is_own_environment(prefix: Path) -> bool:
    """Say whether an environment is the one that holds this program, by whatever links."""
    own = own_environment()
    return own is not None and os.path.realpath(prefix) == os.path.realpath(own)


def open_page(path: Path) -> bool:
    """Open a file in the browser of whoever is here; False where there is none, as on a machine without a screen."""
    import webbrowser  # noqa: PLC0415 - for reports alone

    return webbrowser.open(path.absolute().as_uri())


def from_home(text: str) -> Path:
    """Give a path as a shell would, from the home where it begins with ~; of a user whom nobody knows as it is."""
    return Path(os.path.expanduser(text))  # noqa: PTH111 - Path's own ends where it knows no home


def whole_path(text: str) -> Path:
    """Give the path of a file from the root, without the `..` of its folder; the file itself may be a link."""
    path = Path(text)
    return path.parent.resolve() / path.name


def cache_folder(name: str) -> Path:
    """Give a folder among what this program keeps and could fetch again."""
    return Path(variable("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "xpusetup" / name


def config_folder() -> Path:
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


def is_adrift() -> bool:
    """Say whether the folder in which the program was called is not there any more."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def short_path(path: str) -> str:
    """Give a path as people write it, with ~ for their home."""
    home = variable("HOME").rstrip("/")
    return f"~{path.removeprefix(home)}" if home and path.startswith(f"{home}/") else path


def exec_command(command: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Replace this program by a command. Raises UsageError where it cannot be started."""
    try:
        os.execvpe(command[0], list(command), dict(environment))  # noqa: S606 - the user's own command
    except OSError as error:
        raise not_started(command, error) from error


def not_started(command: Sequence[str], error: OSError) -> UsageError:
    """Say why a command cannot be started, and what mends it: what the system answers is the same for much."""
    word, path = command[0], Path(command[0])
    named = "/" in word and path.is_file()
    line = Command(f"xpusetup run -- PROGRAM {shlex.join(command)}", gaps=("PROGRAM",))
    again = Advice("name its interpreter before it: ", line)
    if "/" in word and path.is_dir():
        return CannotExecuteError(f"{word} is a folder, and no command", fix="name a program in it")
    if error.errno == errno.E2BIG:
        return CannotExecuteError(
            f"{word}: {error.strerror}", fix="give fewer arguments, or unset the largest variables"
        )
    if error.errno == errno.ENOEXEC:
        return CannotExecuteError(
            f"{word} is no program of this machine, and its first line names no interpreter", fix=again
        )
    if error.errno == errno.EACCES:
        fix = Advice(f"chmod +x {shlex.quote(word)}, or ", again) if named else "check its permissions: ls -l"
        return CannotExecuteError(f"{word} may not be executed", fix=fix)
    if named and error.errno == errno.ENOENT:
        return CannotExecuteError(f"the interpreter that the first line of {word} names is not there", fix=again)
    return _no_command(word)


def _no_command(word: str) -> NoCommandError:
    said = f"there is no command {word!r} in the built environment"
    if "/" not in word and Path(word).is_file():
        return NoCommandError(said, fix=f"./{word} names the file that is here")
    return NoCommandError(said, fix="check the spelling")
