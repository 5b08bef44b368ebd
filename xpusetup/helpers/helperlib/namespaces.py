"""Linux' namespaces, entered by the process itself, so that what it becomes has its locks, signals and exit code."""

import ctypes
import os
from pathlib import Path

NEW_USER, NEW_HOST, NEW_MOUNTS = 0x10000000, 0x04000000, 0x00020000
BIND, RECURSIVE, PRIVATE = 0x1000, 0x4000, 0x40000
DETACH = 2


def unshare(what: int) -> None:
    """Move into namespaces of our own, which takes the rights of root. Raises OSError."""
    _call("unshare", what)


def become(uid: int, gid: int, more: int = 0) -> None:
    """Move into a user namespace in which we are that user, who may enter `more` there; what is ours stays ours.

    Raises OSError.
    """
    user, group = os.geteuid(), os.getegid()
    _call("unshare", NEW_USER | more)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {group} 1")


def keep_mounts() -> None:
    """Let nobody else see what is mounted from now on. Raises OSError."""
    _call("mount", b"none", b"/", None, RECURSIVE | PRIVATE, None)


def bind(source: str, place: str) -> None:
    """Let a file or folder, with what is mounted in it, be seen at another place too. Raises OSError."""
    _call("mount", os.fsencode(source), os.fsencode(place), None, BIND | RECURSIVE, None)


def unmount(place: str) -> None:
    """Take the newest mount at a place away, as soon as nobody uses it. Raises OSError."""
    _call("umount2", os.fsencode(place), DETACH)


def _call(name: str, *words: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*words) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
