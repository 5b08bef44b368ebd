"""Package databases and the dynamic linker's cache."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

GONE = ("not-installed", "config-files")
LIBRARY = re.compile(r"^\s*(\S+) \(([^)]*)\) => (\S+)$", re.MULTILINE)


def parse_dpkg(text: str, watched: Collection[str]) -> tuple[dict[str, str], list[str]]:
    """Read dpkg's status file: versions of the watched packages, and those that are neither installed nor gone."""
    installed, broken = {}, []
    for name, fields in _stanzas(text, watched):
        _, flag, state = [*fields.get("Status", "").split(), "", "", ""][:3]
        if state == "installed" and flag == "ok":
            installed[name] = fields.get("Version", "")
        elif state not in GONE:
            broken.append(name)
    return dict(sorted(installed.items())), sorted(broken)


def _stanzas(text: str, watched: Collection[str]) -> Iterator[tuple[str, dict[str, str]]]:
    for stanza in text.split("\n\n"):
        first, _, rest = stanza.lstrip("\n").partition("\n")
        name = first.removeprefix("Package: ").strip()
        if first.startswith("Package: ") and name in watched:
            lines = (line.partition(": ") for line in rest.splitlines() if not line.startswith(" "))
            yield name, {key: value.strip() for key, _, value in lines}


def parse_rpm(text: str, watched: Collection[str]) -> dict[str, str]:
    r"""Read `rpm -q --qf '%{NAME} %{VERSION}-%{RELEASE}\n'`; packages that are absent are sentences, and left out."""
    pairs = (line.split() for line in text.splitlines())
    return dict(sorted((pair[0], pair[1]) for pair in pairs if len(pair) == 2 and pair[0] in watched))  # noqa: PLR2004


def parse_ldconfig(text: str, watched: Collection[str]) -> dict[str, str]:
    """Read `ldconfig -p`: where the dynamic linker takes the watched libraries from; the first entry counts."""
    found: dict[str, str] = {}
    for soname, kind, path in LIBRARY.findall(text):
        if soname in watched and "libc6" in kind and "x32" not in kind:
            found.setdefault(soname, path)
    return found


def system_packages(closure: Mapping[str, Any]) -> list[str]:
    """Give the system's packages whose libraries an environment loads, from what helpers/environment_libraries.py says.

    An image that runs the environment has to have them, and no others; a library of no package is left out.
    """
    return sorted({row["owner"] for row in closure["libraries"] if row["owner"] and not row["own"]})
