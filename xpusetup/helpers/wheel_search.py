"""Where the libraries of a wheel look for others, and what they need of their own wheel but would not find there.

glibc takes a library that is loaded already for one that is needed where its SONAME is the name that is asked for. So a
need that no search path leads to is still met where Python opens that library first, by its path.
"""

from __future__ import annotations

import re
from posixpath import basename, dirname, join, normpath
from typing import TYPE_CHECKING, NamedTuple

from wheel_python import opens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wheel_contents import Opened, Wheel
    from wheel_elf import Library

ORIGIN = re.compile(r"^\$(?:ORIGIN|\{ORIGIN\})(?:/|$)")
OF_SYSTEM = re.compile(r"/(?:usr|lib|lib64)(?:/|$)|/opt/intel(?:/|$)|.*/oneapi(?:/|$)")
"""Absolute folders that are the same on other machines; any other is that of the machine where it was built."""
OF_ANYONE = re.compile(r"/(?:home|tmp|var/tmp|dev/shm|scratch)(?:/|$)")
"""Absolute folders below which a user may make one: whoever does puts a library into the processes of others."""


class Lost(NamedTuple):
    """A library of the wheel that another one needs and finds by no search path.

    `opened` says where Python likely opens it before. `alone`: the one that needs it is itself imported or opened by
    Python, or another one is linked to it, so that nobody else has the other one loaded by then.
    """

    path: str
    name: str
    opened: Opened | None
    alone: bool

    @property
    def text(self) -> str:
        """Say who needs what, and who likely opens it."""
        told = f", which {self.opened.path} likely opens before" if self.opened else ""
        return f"{self.path} needs {self.name}{told}"


def find_lost(wheel: Wheel) -> Iterator[Lost]:
    """Give what libraries need of their own wheel, but would not find from where it is installed."""
    places: dict[str, set[str]] = {}
    for member in wheel.members:
        places.setdefault(basename(member.path), set()).add(normpath(dirname(installed(member.path)) or "."))
    needed = {name for one in wheel.libraries for name in one.needed}
    for one in wheel.libraries:
        folders = search_folders(one, wheel)
        for name in sorted(set(one.needed)):
            if name in places and not places[name] & folders:
                yield Lost(one.path, name, _opener(name, wheel), _is_alone(one.path, needed, wheel))


def _is_alone(path: str, needed: set[str], wheel: Wheel) -> bool:
    file = basename(path)
    if ".so" not in file:  # a program, which nothing of the package need start
        return False
    return not file.startswith("lib") or file in needed or any(opens(one.name, file) for one in wheel.opened)


def _opener(name: str, wheel: Wheel) -> Opened | None:
    """Give where Python code of the wheel opens the library that answers to a name."""
    named = [basename(one.path) for one in wheel.libraries if one.soname == name]
    return next((one for one in wheel.opened if any(opens(one.name, file) for file in named)), None)


def relative(folder: str) -> bool:
    return bool(ORIGIN.match(folder))


def is_below(folder: str, prefix: str) -> bool:
    return f"{normpath(folder)}/".startswith(f"{normpath(prefix)}/")


def installed(path: str) -> str:
    """Give the place in site-packages of a file that the wheel may hold in its .data folder."""
    return re.sub(r"^[^/]+\.data/(purelib|platlib)/", "", path)


def search_folders(library: Library, wheel: Wheel) -> set[str]:
    """Give the folders of the wheel in which a library looks for others."""
    owners = [(library.path, library.runpath)]
    if library.runpath is None:  # then the RPATH of whatever loads it counts as well as its own
        owners = [(one.path, one.rpath) for one in wheel.libraries if one.runpath is None]
    found = ((path, folder) for path, folders in owners for folder in folders or () if relative(folder))
    return {normpath(join(dirname(installed(path)), ORIGIN.sub("", folder))) for path, folder in found}
