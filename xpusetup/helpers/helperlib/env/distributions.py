"""Distributions: those of the environment of the interpreter that runs this, those in wheels, and whose a file is."""

import hashlib
import json
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import NamedTuple

from helperlib.output import fail

# What stands in the environment of the interpreter that runs this: distributions, and who put them there.


WRITES_RECORD = {"", "pip", "uv"}
"""Installers whose last act is the list of files. What has no list, and no installer, stopped before it had either."""
PINNED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*) *\(?==(?!=)")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
"""The variable that says whether torch loads the extensions of devices by itself: only the exact text 1 does."""
GUARDED = re.compile(r"(torch|torchvision|torchaudio|triton|triton-xpu|pytorch-triton(-.+)?|torch-.+)")
"""torch and what belongs to it."""


@dataclass(frozen=True)
class Found:
    """One distribution. `source` is the folder of an editable one, `owned` says that it has a list of its files."""

    name: str
    version: str
    installer: str
    owned: bool
    source: str
    requires: tuple[str, ...]


def canonical(name: str) -> str:
    """Give a distribution's name as all spell it alike."""
    return re.sub(r"[-_.]+", "-", name).lower()


def packages() -> Path:
    """Give the folder into which pip installs here."""
    return Path(sysconfig.get_path("purelib"))


def installed() -> dict[str, Found]:
    """Give what this environment itself holds, by canonical name; what it merely sees of another one is left out."""
    places = {packages().resolve(), Path(sysconfig.get_path("platlib")).resolve()}
    found: dict[str, Found] = {}
    for one in metadata.distributions():
        place = Path(str(one.locate_file(""))).resolve()
        folder = Path(str(getattr(one, "_path", "")))
        # What an interrupted installer left behind counts as nothing, also under a name with a tilde.
        name = "" if folder.name.startswith("~") or cut_off(folder) else one.metadata["Name"] or ""
        link = packages() / f"{name}.egg-link"
        if name and canonical(name) not in found and (place in places or link.exists()):
            found[canonical(name)] = _look(one, name, str(place) if link.exists() else "")
    return found


def find_version(name: str) -> str | None:
    """Give the version of a distribution that this interpreter sees; None where there is none."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def cut_off(folder: Path) -> bool:
    """Tell that an installer was killed while it made this: files of the distribution may be missing."""
    if folder.suffix != ".dist-info" or (folder / "RECORD").exists():
        return False
    installer = folder / "INSTALLER"
    by = installer.read_text(encoding="utf-8").strip() if installer.exists() else ""
    return by in WRITES_RECORD and not of_conda(folder.name.partition("-")[0])


def of_conda(distribution: str) -> list[str]:
    """Give the conda packages that hold a distribution's metadata."""
    wanted = f"/{distribution.replace('-', '_').lower()}-"
    found = []
    for path in sorted((Path(sys.prefix) / "conda-meta").glob("*.json")):
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, json.JSONDecodeError):
            continue
        files = (str(file).lower() for file in told.get("files", []))
        if any(wanted in file and (".dist-info/" in file or ".egg-info" in file) for file in files):
            found.append(str(told.get("name", path.stem)))
    return found


def _look(one: metadata.Distribution, name: str, linked: str) -> Found:
    try:
        told = json.loads(one.read_text("direct_url.json") or "{}")
    except json.JSONDecodeError:
        told = {}
    editable = str(told.get("url", "")).removeprefix("file://") if told.get("dir_info", {}).get("editable") else ""
    return Found(
        name=name,
        version=one.version,
        installer=(one.read_text("INSTALLER") or "").strip(),
        owned=bool(one.read_text("RECORD") or linked),
        source=linked or editable,
        requires=tuple(one.requires or ()),
    )


def names_of(requirements: tuple[str, ...], *, pinned: bool = False) -> set[str]:
    """Give the canonical names that requirements name, or of those alone that are pinned to one version."""
    pattern = PINNED if pinned else NAME
    return {canonical(match[1] if pinned else match[0]) for text in requirements if (match := pattern.match(text))}


def look_at_torch() -> dict[str, str]:
    """Give torch and what belongs to it, each with its version and a hash of its list of files."""
    found: dict[str, str] = {}
    for one in metadata.distributions():
        name = canonical(one.metadata["Name"] or "")
        if GUARDED.fullmatch(name):  # of two, the first is the one that is imported
            listed = one.read_text("RECORD") or ""
            found.setdefault(name, f"{one.version} {hashlib.sha256(listed.encode()).hexdigest()[:12]}")
    return found


def distribution_of(wheel: Path) -> tuple[str, str]:
    """Give the normalised name and the version that a wheel's file name holds."""
    name, version, *_tags = wheel.name.split("-")
    return canonical(name), version


def wheels_of(folder: Path, distribution: str) -> list[Path]:
    """List a distribution's wheels in a folder, of all versions."""
    wanted = canonical(distribution)
    return [path for path in sorted(folder.glob("*.whl")) if distribution_of(path)[0] == wanted]


def find_wheel(folder: Path, distribution: str, version: str) -> Path:
    """Give the one wheel of this distribution and version; end with an error when there is none or another.

    No version: that of the tree that it was built from, whatever it is.
    """
    there, key = wheels_of(folder, distribution), f"{distribution} {version}".rstrip()
    matching = [path for path in there if version in ("", distribution_of(path)[1])]
    if len(matching) > 1:
        names = ", ".join(path.name for path in matching)
        fail(f"several wheels of {key} in {folder}: {names}", "remove those of older builds")
    if not matching:
        seen = ", ".join(path.name for path in there) or "none of it"
        what = f"no wheel of {key} in {folder} (there is {seen})"
        fail(what, "build it again, or correct its version")
    return matching[0]


# Whose a file is: the distribution that lists it in RECORD, the conda package, the package of dpkg or rpm.


LISTED = re.compile(r"^(?P<name>.+?)-(?P<version>[^-]+)\.dist-info$")
LIBRARY = re.compile(r"\.so(?:\.[\d.]+)?$")
ASIDE = ("test", "tests", "example", "examples", "doc", "docs", "benchmark", "benchmarks", "bin", "..")
"""Folders of the top that careless packages install; nobody imports them."""
ONEAPI = re.compile(r"/oneapi/(?P<name>[\w-]+)/(?P<version>\d{4}\.\d+(?:\.\d+)?)/")
DPKG = "/var/lib/dpkg/info"


class InstalledDistribution(NamedTuple):
    """An installed distribution and what its RECORD lists: paths as they stand there, and their hashes."""

    name: str
    version: str
    place: str
    files: tuple[tuple[str, str], ...]

    @property
    def title(self) -> str:
        return f"{self.name} {self.version}"


def read_distributions(places: Iterable[str]) -> list[InstalledDistribution]:
    found = []
    for place in places:
        for entry in sorted(os.listdir(place)) if os.path.isdir(place) else ():  # noqa: PTH112, PTH208 - names alone
            named = LISTED.match(entry)
            if named:
                files = tuple(_listed(Path(place, entry, "RECORD")))
                found.append(InstalledDistribution(canonical(named["name"]), named["version"], place, files))
    return found


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


def requires(one: InstalledDistribution, name: str) -> bool:
    """Say whether the metadata of an installed distribution asks for another one."""
    return any(canonical(re.split(r"[^\w.-]", text)[0]) == name for text in requirements_of(one))


def requirements_of(one: InstalledDistribution) -> tuple[str, ...]:
    """Give the lines of an installed distribution's metadata that name what it requires."""
    ending = f"-{one.version}.dist-info"
    for path in sorted(Path(one.place).glob(f"*{ending}/METADATA")):
        if canonical(path.parent.name.removesuffix(ending)) == one.name:
            lines = path.read_text(encoding="utf-8", errors="replace").partition("\n\n")[0].splitlines()
            return tuple(line.partition(":")[2].strip() for line in lines if line.startswith("Requires-Dist:"))
    return ()


def libraries_of(distributions: Iterable[InstalledDistribution]) -> dict[str, str]:
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


def find_overlaps(distributions: Sequence[InstalledDistribution]) -> list[Overlap]:
    """Give the distributions that own the same files; whoever was installed last has won, file by file."""
    first: dict[tuple[str, str], tuple[InstalledDistribution, str]] = {}
    found: dict[tuple[str, str], list[str]] = {}
    for each in distributions:
        for path, digest in each.files:
            owner, other = first.setdefault((each.place, path), (each, digest))
            if owner.name != each.name and digest != other and path.split("/")[0] not in ASIDE:
                found.setdefault((owner.title, each.title), []).append(path)
    shallow = {owners: sorted(paths, key=lambda path: (path.count("/"), path)) for owners, paths in found.items()}
    return [Overlap(owners, tuple(paths)) for owners, paths in shallow.items()]


NOT_NEEDED = {*ASIDE} - {".."}
"""Folders that slimmed images lack, and no import asks for."""
HELD = re.compile(r"torch|torch-npu|(?:pytorch-)?triton(?:-.+)?|intel-sycl-rt")
"""These, and what they require, are held against the disk: without one of their files torch or its device is gone."""


class Gone(NamedTuple):
    """A distribution, and those of its modules and libraries that are not on the disk."""

    owner: InstalledDistribution
    paths: tuple[str, ...]


def find_gone(distributions: Sequence[InstalledDistribution]) -> list[Gone]:
    """Hold the lists of torch, Triton, the run time and what they require against the disk.

    Whoever removes one of two packages that share a folder takes the other's files with it. Tests and byte code that
    an image was slimmed of are left out.
    """
    found = []
    for each in _required(distributions):
        paths = (path for path, _ in each.files if not {*path.split("/")} & NOT_NEEDED)
        gone = tuple(path for path in paths if not _is_there(join(each.place, path)))
        found += [Gone(each, gone)] if gone else []
    return found


def _is_there(path: str) -> bool:
    """Say whether a file is there, or the byte code that stands for it where an image has no sources."""
    return os.path.exists(path) or (path.endswith(".py") and os.path.exists(f"{path}c"))  # noqa: PTH110 - thousands


def _required(distributions: Sequence[InstalledDistribution]) -> list[InstalledDistribution]:
    """Give those that HELD names, and what they require of what is installed, without extras."""
    there = {each.name: each for each in reversed(distributions)}
    found: dict[str, InstalledDistribution] = {}
    waiting = [name for name in there if HELD.fullmatch(name)]
    while waiting:
        name = waiting.pop()
        if name in there and name not in found:
            found[name] = there[name]
            lines = (line for line in requirements_of(there[name]) if "extra ==" not in line)
            waiting += [canonical(re.split(r"[^\w.-]", line)[0]) for line in lines]
    return [each for each in distributions if found.get(each.name) is each]


class Owners:
    """Answers whose a file is; lists of conda and the system are read once, when one of their files is asked for."""

    def __init__(self, listed: dict[str, str], prefix: str, sysroot: str = "") -> None:
        self.listed = listed
        self.prefix = prefix
        self.sysroot = sysroot
        self.neighbours: dict[str, dict[str, str]] = {}
        self.conda: dict[str, str] | None = None
        self.dpkg: dict[str, str] | None = None

    def of(self, path: str) -> str:
        """Give "name version", the name of a system's package, or nothing."""
        known = self.listed.get(path) or self._of_neighbour(os.path.abspath(path))  # noqa: PTH100 - links are kept
        oneapi = ONEAPI.search(path)
        toolkit = f"oneAPI {oneapi['name']} {oneapi['version']}" if oneapi else ""
        return known or self._of_conda(path) or toolkit or self._of_dpkg(path)

    def _of_neighbour(self, path: str) -> str:
        """Ask the distributions of the other environment in whose lib folder a file lies."""
        folder = dirname(path)
        if folder not in self.neighbours:
            places = [str(place) for place in sorted(Path(folder).glob("python3*/site-packages"))]
            self.neighbours[folder] = libraries_of(read_distributions(places))
        return self.neighbours[folder].get(path, "")

    def _of_conda(self, path: str) -> str:
        if not path.startswith(f"{self.prefix}/"):
            return ""
        if self.conda is None:
            self.conda = dict(_listed_by_conda(Path(self.prefix, "conda-meta")))
        real = os.path.relpath(os.path.realpath(path), os.path.realpath(self.prefix))
        return self.conda.get(os.path.relpath(path, self.prefix)) or self.conda.get(real, "")

    def _of_dpkg(self, path: str) -> str:
        plain = path.removeprefix(self.sysroot)
        if not dirname(plain).startswith(("/usr", "/lib")):
            return ""
        if self.dpkg is None:
            self.dpkg = dict(_listed_by_dpkg(Path(f"{self.sysroot}{DPKG}")))
        names = (plain, os.path.realpath(path).removeprefix(self.sysroot))
        wanted = (each for name in names for each in (name, f"/usr{name}", name.removeprefix("/usr")))
        return next((self.dpkg[each] for each in wanted if each in self.dpkg), "")


def _listed_by_conda(folder: Path) -> Iterator[tuple[str, str]]:
    """Give the files of all conda packages of an environment, and whose each is."""
    for meta in sorted(folder.glob("*.json"), reverse=True):
        try:
            told = json.loads(meta.read_text(encoding="utf-8", errors="replace"))
        except (OSError, ValueError):
            continue
        title = f"{told.get('name', meta.stem)} {told.get('version', '')}".strip()
        yield from ((str(path), title) for path in told.get("files", ()))


LOADED = re.compile(r"^/.*(?:\.so|/python)[^/\n]*$", re.MULTILINE)
"""What of a package's files a process holds: libraries, and the program itself."""


def _listed_by_dpkg(folder: Path) -> Iterator[tuple[str, str]]:
    """Give the libraries of all packages of dpkg, and whose each is."""
    for listing in sorted(folder.glob("*.list"), reverse=True):
        package = listing.stem.partition(":")[0]
        text = listing.read_text(encoding="utf-8", errors="replace")
        yield from ((found[0], package) for found in LOADED.finditer(text))
