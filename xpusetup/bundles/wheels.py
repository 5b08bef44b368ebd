"""Which wheels a set of pins takes on one Python and machine, and which of them a folder lacks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from packaging.tags import Tag


def pins_here(pins: Iterable[str], python: str) -> Iterator[tuple[str, str]]:
    """Give name and version of the pins whose markers hold for a whole version of Python."""
    place = {"python_version": ".".join(python.split(".")[:2]), "python_full_version": python}
    for pin in map(Requirement, pins):
        if pin.marker is None or pin.marker.evaluate(place):
            yield canonicalize_name(pin.name), next(iter(pin.specifier)).version


def missing_wheels(pins: Iterable[str], python: str, machine: str, names: Iterable[str]) -> list[str]:
    """Name the pins, as name==version, for which no file is a wheel that this Python on this machine takes."""
    there = {pair for name in names if (pair := _fitting(name, python, machine)) is not None}
    wanted = ((name, str(Version(version))) for name, version in pins_here(pins, python))
    return [f"{name}=={version}" for name, version in wanted if (name, version) not in there]


def _fitting(name: str, python: str, machine: str) -> tuple[str, str] | None:
    try:
        distribution, version, _build, tags = parse_wheel_filename(name)
    except InvalidWheelFilename:
        return None
    minor = int(python.split(".")[1])
    fits = any(_fits(tag, minor, machine) for tag in tags)
    return (str(distribution), str(version)) if fits else None


def _fits(tag: Tag, minor: int, machine: str) -> bool:
    if tag.platform != "any" and not tag.platform.endswith(f"_{machine}"):
        return False
    if found := re.fullmatch(r"py3(\d*)", tag.interpreter):
        return tag.abi == "none" and int(found[1] or 0) <= minor
    if found := re.fullmatch(r"cp3(\d+)", tag.interpreter):
        older = int(found[1]) <= minor and tag.abi in {"abi3", "none"}
        return older or (int(found[1]) == minor and tag.abi == f"cp3{minor}")
    return False
