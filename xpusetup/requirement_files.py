"""What a tree asks of the environment it is built in, held against the pins of a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from xpusetup.tomltext import TomlError, parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

FILES = ("pyproject.toml", "requirements-build.txt", "requirements.txt")
"""Where PyTorch keeps its build requirements: the second from 2.9 on, before that in the third with all else."""
LINUX = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}


def find_unmet(pins: Sequence[str], files: Mapping[str, str | None]) -> Iterator[str]:
    """Name each requirement of the tree that the pins contradict, and each of its build that they lack."""
    pinned: dict[str, list[Requirement]] = {}
    for pin in map(Requirement, pins):
        pinned.setdefault(canonicalize_name(pin.name), []).append(pin)
    said = set()
    for path, wanted in _requirements(files):
        name = canonicalize_name(wanted.name)
        there = pinned.get(name, [])
        fitting = [pin for pin in there if wanted.specifier.contains(next(iter(pin.specifier)).version)]
        if name in said or (there and fitting) or (not there and path == "requirements.txt"):
            continue
        said.add(name)
        pins_it = " and ".join(map(str, there)) or "nothing of that name"
        yield f"{path} asks for {wanted}, and the profile pins {pins_it}"


def _requirements(files: Mapping[str, str | None]) -> Iterator[tuple[str, Requirement]]:
    for path in FILES:
        text = files.get(path) or ""
        lines = _build_system(text) if path.endswith(".toml") else text.splitlines()
        for line in lines:
            wanted = _parse(line)
            if wanted is not None and (wanted.marker is None or wanted.marker.evaluate(LINUX)):
                yield path, wanted


def _build_system(text: str) -> list[str]:
    try:
        table = parse_toml(text).get("build-system")
    except TomlError:
        return []
    requires = table.get("requires") if isinstance(table, dict) else None
    return [line for line in requires if isinstance(line, str)] if isinstance(requires, list) else []


def _parse(line: str) -> Requirement | None:
    """Read one line; None for comments, options and addresses."""
    try:
        return Requirement(line.partition(" #")[0].strip())
    except InvalidRequirement:
        return None
