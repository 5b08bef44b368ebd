"""Runs a command under another host name, time zone, user, locale, home and umask, as far as this machine lets us.

Usage: python elsewhere.py JSON COMMAND...   (a script of its own: it is started, not imported)

JSON holds `host`, `zone` (a file that stands for /etc/localtime), `uid` and `gid`, `umask` (octal) and `env`; what is
left out stays as it is. Host name and time zone are those of namespaces that the command alone lives in: to make them
takes root, or a user namespace in which we are root; another user is a second one inside. The process stays the same
one, so that locks, signals and exit codes are those of the command. `--try` in place of a command tells in JSON, by
name, why something cannot be had; 125 where that shows only later.
"""

import json
import os
import socket
import sys
from typing import Any

from helperlib.namespaces import NEW_HOST, NEW_MOUNTS, become, bind, keep_mounts, unshare

IMPOSSIBLE = 125
LOCAL_TIME = "/etc/localtime"


def main() -> None:
    """Enter what was asked for, and become the command; or tell what cannot be entered."""
    asked: dict[str, Any] = json.loads(sys.argv[1])
    problems, command = enter(asked), sys.argv[2:]
    if command == ["--try"]:
        json.dump(problems, sys.stdout)
        return
    if problems:
        sys.stderr.write("".join(f"no other {name}: {why}\n" for name, why in problems.items()))
        sys.exit(IMPOSSIBLE)
    os.umask(int(asked.get("umask", "022"), 8))
    os.execvpe(command[0], command, {**os.environ, **asked.get("env", {})})  # noqa: S606 - a step's script


def enter(asked: dict[str, Any]) -> dict[str, str]:
    """Enter the namespaces one after the other; give why not, by the names of what was asked for."""
    problems: dict[str, str] = {}
    if "host" in asked or "zone" in asked:
        ways = {"host": lambda: socket.sethostname(asked["host"]), "zone": lambda: bind(asked["zone"], LOCAL_TIME)}
        wanted = {name: way for name, way in ways.items() if name in asked}
        try:
            leave()
        except OSError as error:
            return dict.fromkeys((*wanted, *(["uid"] if "uid" in asked else [])), str(error.strerror))
        for name, way in wanted.items():
            attempt(name, way, problems)
    if "uid" in asked:
        attempt("uid", lambda: become(asked["uid"], asked["gid"]), problems)
    return problems


def attempt(name: str, way: Any, problems: dict[str, str]) -> None:
    """Do one thing, and note why it cannot be done."""
    try:
        way()
    except OSError as error:
        problems[name] = str(error.strerror)


def leave() -> None:
    """Move into namespaces of our own, in which we are root."""
    try:
        become(0, 0, NEW_HOST | NEW_MOUNTS)
    except OSError:
        unshare(NEW_HOST | NEW_MOUNTS)  # as root where user namespaces are not allowed
    keep_mounts()


if __name__ == "__main__":
    main()
