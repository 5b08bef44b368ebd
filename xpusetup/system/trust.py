"""Which files from outside of the program may run commands: the caller's own, and those whose content was trusted.

A profile runs its steps, and so do device files, settings files, locks and bundles. One that belongs to someone else,
or that others may write, is taken only as it was when the caller trusted it: by its path and its sha256.
"""

import hashlib
import json
import os
import shlex
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from xpusetup.base.errors import UsageError
from xpusetup.system import files
from xpusetup.system.environment import config_folder, today
from xpusetup.system.files import ReadFile

ROOT_USER = 0
ACCESS_LIST = "system.posix_acl_access"
"""Where Linux keeps who else may use a file; the bits of its group then say the most that any of them may."""


@dataclass(frozen=True)
class Foreign:
    """A file that is not the caller's alone, as it was when it was read, and why it is not."""

    path: str
    sha256: str
    why: str


class UntrustedError(UsageError):
    """Files that are not the caller's alone would run commands, and nobody trusted them (exit 2)."""

    def __init__(self, foreign: tuple[Foreign, ...]) -> None:
        """Say which, why, and the command that trusts them all."""
        lines = [f"{each.path} may run any command as you, and is not yours alone: {each.why}" for each in foreign]
        words = ("xpusetup", "profiles", "trust", *(each.path for each in foreign))
        super().__init__("\n".join(lines), fix=f"read it; if you trust what it says now: {shlex.join(words)}")
        self.foreign = foreign


def find_foreign(seen: Iterable[ReadFile]) -> tuple[Foreign, ...]:
    """Give those of the files that were read that are not the caller's alone."""
    found = ((each, why) for each in seen if (why := why_foreign(each.status, each.path)))
    return tuple(dict.fromkeys(Foreign(str(each.path.resolve()), each.sha256, why) for each, why in found))


def foreign_text(path: Path, text: str) -> tuple[Foreign, ...]:
    """Give a file whose text was read before, where it is not the caller's alone; one that is gone is nobody's."""
    try:
        why = why_foreign(path.stat(), path)
    except OSError:
        return ()
    return (Foreign(str(path.resolve()), hashlib.sha256(text.encode()).hexdigest(), why),) if why else ()


def foreign_file(path: Path) -> tuple[Foreign, ...]:
    """Give a file of any length, where it is not the caller's alone. Raises UsageError where it cannot be read."""
    try:
        why = why_foreign(path.stat(), path)
        return (Foreign(str(path.resolve()), files.hash_file(path), why),) if why else ()
    except OSError as error:
        raise files.cannot_read(path, error) from error


def why_foreign(status: os.stat_result, path: Path) -> str:
    """Say who else decides what stands in a file: it is not the caller's nor root's, or others may write it."""
    if status.st_uid not in {os.geteuid(), ROOT_USER}:
        return f"it belongs to {name_user(status.st_uid)}"
    if status.st_mode & stat.S_IWOTH:
        return "everyone may write it"
    if status.st_mode & stat.S_IWGRP and not _is_own_group(status, path):
        return f"the group {_group(status.st_gid)} may write it"
    return ""


def name_user(uid: int) -> str:
    """Name a user, also one that nobody on this machine knows."""
    import pwd  # noqa: PLC0415 - seldom asked

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"the user {uid}"


def _group(gid: int) -> str:
    import grp  # noqa: PLC0415 - seldom asked

    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


def _is_own_group(status: os.stat_result, path: Path) -> bool:
    """Say whether a file's group is the caller's own, without anyone else: umask is 002 where each user has one."""
    import grp  # noqa: PLC0415 - seldom asked
    import pwd  # noqa: PLC0415 - same

    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(status.st_gid)
        listed = ACCESS_LIST in os.listxattr(path)
    except (KeyError, OSError):
        return False
    own = user.pw_gid == group.gr_gid and user.pw_name == group.gr_name
    return own and not listed and set(group.gr_mem) <= {user.pw_name}


# What the caller trusted: a line of JSON each in his own settings folder.


def record_file() -> Path:
    return config_folder() / "trusted.jsonl"


def require_trust(foreign: Iterable[Foreign]) -> None:
    """Stop where a file that is not the caller's alone was not trusted as it is. Raises UntrustedError."""
    asked = tuple(dict.fromkeys(foreign))
    trusted = _read_trusted() if asked else set()
    if lacking := tuple(each for each in asked if (each.path, each.sha256) not in trusted):
        raise UntrustedError(lacking)


def trust(found: Iterable[Foreign]) -> Path:
    """Write down that files may run commands as they are, and give where. Raises NotReadyError where that fails."""
    path = record_file()
    files.make_folder(path.parent, private=True)
    trusted = _read_trusted()
    for each in found:
        if (each.path, each.sha256) not in trusted:
            line = {"path": each.path, "sha256": each.sha256, "when": today()}
            files.append_line(path, json.dumps(line))
            path.chmod(0o600)
    return path


def _read_trusted() -> set[tuple[str, str]]:
    """Read what was trusted; a record that others may write proves nothing. Raises UsageError for such a one."""
    path = record_file()
    with files.noting() as seen:
        text = files.read_input(path) or ""
    if other := find_foreign(seen):
        fix = f"look at it, then: chown $(id -u) {shlex.quote(str(path))} && chmod 600 {shlex.quote(str(path))}"
        raise UsageError(f"{path} says which profiles you trust, and {other[0].why}", fix=fix)
    return set(filter(None, map(_parse_line, text.splitlines())))


def _parse_line(line: str) -> tuple[str, str] | None:
    try:
        told = json.loads(line)
        return (str(told["path"]), str(told["sha256"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
