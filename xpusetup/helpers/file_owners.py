"""Whose a file is: the distribution that lists it in RECORD, the conda package, the package of dpkg or rpm."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LISTED = re.compile(r"^(?P<name>.+?)-(?P<version>[^-]+)\.dist-info$")
LIBRARY = re.compile(r"\.so(?:\.[\d.]+)?$")
ASIDE = ("test", "tests", "example", "examples", "doc", "docs", "benchmark", "benchmarks", "bin", "..")
"""Folders of the top that careless packages install; nobody imports them."""
ONEAPI = re.compile(r"/oneapi/(?P<name>[\w-]+)/(?P<version>\d{4}\.\d+(?:\.\d+)?)/")
DPKG = "/var/lib/dpkg/info"


class Distribution(NamedTuple):
    """An installed distribution and what its RECORD lists: paths as they stand there, and their hashes."""

    name: str
    version: str
    place: str
    files: tuple[tuple[str, str], ...]

    @property
    def title(self) -> str:
        return f"{self.name} {self.version}"


def read_distributions(places: Iterable[str]) -> list[Distribution]:
    """Read the RECORD of all distributions of these site-packages."""
    found = []
    for place in places:
        for entry in sorted(os.listdir(place)) if os.path.isdir(place) else ():  # noqa: PTH112, PTH208 - names alone
            named = LISTED.match(entry)
            if named:
                files = tuple(_listed(Path(place, entry, "RECORD")))
                found.append(Distribution(_plain(named["name"]), named["version"], place, files))
    return found


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _listed(record: Path) -> Iterator[tuple[str, str]]:
    """Give the libraries and modules of a RECORD; names in quotes hold commas, and no library has such a name."""
    try:
        text = record.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        path, _, rest = line.partition(",")
        if path.endswith(".py") or ".so" in path:
            yield path, rest.partition(",")[0]


def libraries_of(distributions: Iterable[Distribution]) -> dict[str, str]:
    """Give all libraries that distributions list, by path, and whose each is."""
    return {
        normpath(join(each.place, path)): each.title
        for each in distributions
        for path, _ in each.files
        if LIBRARY.search(path)
    }


class Overlap(NamedTuple):
    """Two distributions that both wrote the same files, each with another content."""

    owners: tuple[str, str]
    paths: tuple[str, ...]


def find_overlaps(distributions: Sequence[Distribution]) -> list[Overlap]:
    """Give the distributions that own the same files; whoever was installed last has won, file by file."""
    first: dict[tuple[str, str], tuple[Distribution, str]] = {}
    found: dict[tuple[str, str], list[str]] = {}
    for each in distributions:
        for path, digest in each.files:
            owner, other = first.setdefault((each.place, path), (each, digest))
            if owner.name != each.name and digest != other and path.split("/")[0] not in ASIDE:
                found.setdefault((owner.title, each.title), []).append(path)
    return [
        Overlap(owners, tuple(sorted(paths, key=lambda path: (path.count("/"), path))))
        for owners, paths in found.items()
    ]


class Owners:
    """Answers whose a file is; lists of the system are read when one of its files is asked for."""

    def __init__(self, listed: dict[str, str], prefix: str, sysroot: str = "") -> None:
        self.listed = listed
        self.prefix = prefix
        self.sysroot = sysroot
        self.neighbours: dict[str, dict[str, str]] = {}

    def of(self, path: str) -> str:
        """Give "name version", the name of a system's package, or nothing."""
        known = self.listed.get(path) or self._of_neighbour(os.path.abspath(path))  # noqa: PTH100 - links are kept
        return known or self._of_conda(path) or _of_oneapi(path) or self._of_dpkg(path)

    def _of_neighbour(self, path: str) -> str:
        """Ask the distributions of the other environment in whose lib folder a file lies."""
        folder = dirname(path)
        if folder not in self.neighbours:
            places = [str(place) for place in sorted(Path(folder).glob("python3*/site-packages"))]
            self.neighbours[folder] = libraries_of(read_distributions(places))
        return self.neighbours[folder].get(path, "")

    def _of_conda(self, path: str) -> str:
        metas = Path(self.prefix, "conda-meta")
        if not path.startswith(f"{self.prefix}/") or not metas.is_dir():
            return ""
        inside = json.dumps(os.path.relpath(path, self.prefix))
        real = json.dumps(os.path.relpath(os.path.realpath(path), os.path.realpath(self.prefix)))
        for meta in sorted(metas.glob("*.json")):
            text = meta.read_text(encoding="utf-8", errors="replace")
            if inside in text or real in text:
                told = json.loads(text)
                return f"{told.get('name', meta.stem)} {told.get('version', '')}".strip()
        return ""

    def _of_dpkg(self, path: str) -> str:
        plain = path.removeprefix(self.sysroot)
        names = {plain, os.path.realpath(path).removeprefix(self.sysroot)}
        wanted = {f"{each}\n" for name in names for each in (name, f"/usr{name}", name.removeprefix("/usr"))}
        folder = Path(f"{self.sysroot}{DPKG}")
        for listing in sorted(folder.glob("*.list")) if dirname(plain).startswith(("/usr", "/lib")) else ():
            text = listing.read_text(encoding="utf-8", errors="replace")
            if any(f"\n{line}" in text for line in wanted):
                return listing.stem.partition(":")[0]
        return ""


def _of_oneapi(path: str) -> str:
    found = ONEAPI.search(path)
    return f"oneAPI {found['name']} {found['version']}" if found else ""
