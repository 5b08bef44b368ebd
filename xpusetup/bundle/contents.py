"""What a bundle says of itself, and what a source tree may download while it is built."""

from __future__ import annotations

import ast
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version
from pydantic import Field, ValidationError

from xpusetup.base.errors import UsageError
from xpusetup.base.values import Exact, Name, Operand, Rev, Sourced, Strict, VersionText
from xpusetup.config.cmake import fetching_words, scan_cmake
from xpusetup.config.load import describe, parse_data
from xpusetup.config.profile import Profile
from xpusetup.config.settings import number_git
from xpusetup.system.files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from packaging.tags import Tag

    from xpusetup.config.profile import ToolkitWanted


# Downloads that a Python file names: requests that its own code makes, and programs that it starts to fetch.


REQUESTS = {
    *("urllib.request.urlopen", "urllib.request.urlretrieve", "request.urlopen", "request.urlretrieve"),
    *("urlopen", "urlretrieve", "requests.get", "requests.request", "httpx.get", "httpx.stream", "wget.download"),
}
STARTS = {"run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput", "system", "popen"}
SHOWN = 80


def scan_python(text: str) -> Iterator[tuple[int, str, str]]:
    """Give line, how, and what for each call that may download; nothing for what is no Python of today."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    known = _constants(tree)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
        name = ast.unparse(call.func)
        if name in REQUESTS:
            yield call.lineno, name, _address(call, known)
        elif name.rpartition(".")[2] in STARTS and call.args and (what := fetching_words(_words(call.args[0], known))):
            yield call.lineno, name, what


def _constants(tree: ast.Module) -> dict[str, str]:
    """Give the names that the file sets to a text."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            found.update({name.id: node.value.value for name in node.targets if isinstance(name, ast.Name)})
    return found


def _address(call: ast.Call, known: dict[str, str]) -> str:
    """Give what is asked for: the text where it is one, else the expression."""
    given = [*call.args, *(word.value for word in call.keywords if word.arg == "url")]
    if not given:
        return ""
    texts = [
        node.value for node in ast.walk(given[0]) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    texts += [known[node.id] for node in ast.walk(given[0]) if isinstance(node, ast.Name) and node.id in known]
    return next((text for text in texts if "://" in text), ast.unparse(given[0])[:SHOWN])


def _words(node: ast.expr, known: dict[str, str]) -> list[str]:
    """Give the words of a command as far as they can be read: those of a list, or of a line for the shell."""
    if isinstance(node, ast.List | ast.Tuple):
        return [word for item in node.elts for word in _words(item, known)[:1] or [""]]
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "?" for part in node.values).split()
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.split()
    return known[node.id].split() if isinstance(node, ast.Name) and node.id in known else []


# What a source tree may download while it is configured or built: read from its files, running nothing of them.
#
# It may: whether a download happens depends on options and on what is installed. What cannot be seen in such a
# file, as a download that a program of the tree makes, is found where it happens: a build from a bundle has no
# network.


PYTHON_FILES = re.compile(r"(setup|build|install|configure|download|fetch)\w*\.py")
HELPERS = {"setup_helpers", "cmake"}
LLVM = {"llvm-hash.txt", "llvm-info.json"}
"""Where Triton's trees name the LLVM that their setup downloads."""
COMMIT = re.compile(r"\b[0-9a-f]{40}\b")


class Download(Strict):
    """A place in a tree from which something may be downloaded. `how` names the command or function."""

    file: str
    line: int
    how: str
    what: str


def is_scanned(name: str) -> bool:
    """Say whether a file of a tree is one that is read for downloads."""
    path = PurePosixPath(name)
    if path.name == "CMakeLists.txt" or path.suffix == ".cmake" or path.name in LLVM:
        return True
    named = PYTHON_FILES.fullmatch(path.name) is not None
    return named or (path.suffix == ".py" and not HELPERS.isdisjoint(path.parts))


def scan_file(name: str, text: str) -> list[Download]:
    """Give what one file may download, in the order of its lines; nothing for one that cannot be read as what it is."""
    path = PurePosixPath(name)
    if path.name in LLVM:
        found = COMMIT.search(text)
        return [Download(file=name, line=1, how="LLVM of Triton", what=found[0])] if found else []
    scan = scan_python if path.suffix == ".py" else scan_cmake
    return [Download(file=name, line=line, how=how, what=what) for line, how, what in scan(text)]


def order_downloads(found: Iterable[Download]) -> list[Download]:
    """Give each once, those of the tree itself before those of what lies deep in it."""
    once = {(item.file, item.line, item.how): item for item in found}
    return sorted(once.values(), key=lambda item: (item.file.count("/"), item.file, item.line))


# The offline installers of toolkits that are known: data/installers.toml.


ORIGIN = "data/installers.toml"


class Installer(Sourced):
    """One installer: a file that holds all of a toolkit and needs no network."""

    version: VersionText
    address: Operand


class _InstallerFile(Strict):
    installer: list[Installer]


def parse_installers(text: str) -> list[Installer]:
    """Read data/installers.toml."""
    return parse_data(text, _InstallerFile, ORIGIN).installer


def choose_installer(known: list[Installer], wanted: ToolkitWanted, profile: str) -> Installer:
    """Give the newest installer of the version that a profile prefers. Raises UsageError where none is known."""
    series = SpecifierSet(f"=={wanted.preferred}.*")
    fitting = [each for each in known if series.contains(each.version)]
    if not fitting:
        message = f"no offline installer of oneAPI {wanted.preferred} is known for {profile}"
        fix = "leave --toolkit out, and carry Intel's packages over yourself"
        raise UsageError(message, fix=f"{fix}: {wanted.packages.page}" if wanted.packages.page else fix)
    return max(fitting, key=lambda each: Version(each.version))


# Submodules as a commit names them: `.gitmodules` as git lists it, held against the links in the tree.


KEY = re.compile(r"submodule\.(?P<name>.*)\.(?P<what>path|url|update)", re.DOTALL)


@dataclass(frozen=True)
class Submodule:
    """One submodule: its name, its folder, its address as written, and the commit that it is pinned to."""

    name: str
    path: str
    address: str
    rev: str


def parse_submodules(listed: str, links: Iterable[str]) -> list[Submodule]:
    """Read `git config --null --list` of .gitmodules and the `160000` lines of `git ls-tree -z`.

    Those that say `update = none` are left out, as git leaves them.
    """
    pinned = {path: words.split()[2] for words, _tab, path in (line.partition("\t") for line in links)}
    told: dict[str, dict[str, str]] = {}
    for entry in listed.split("\0"):
        key, _break, value = entry.partition("\n")
        if found := KEY.fullmatch(key):
            told.setdefault(found["name"], {})[found["what"]] = value
    return [
        Submodule(name, values["path"], values["url"], pinned[values["path"]])
        for name, values in sorted(told.items())
        if values.get("path") in pinned and "url" in values and values.get("update") != "none"
    ]


def has_files(path: str, sparse: Iterable[str]) -> bool:
    """Say whether a tree of which only some folders get files has some at a path or below; without folders all do."""
    folders = [f"{folder}/" for folder in sparse]
    return not folders or any(each.startswith(f"{path}/") or f"{path}/".startswith(each) for each in folders)


def resolve_address(base: str, address: str) -> str:
    """Give the address of a submodule, which may be written relative to that of the tree that names it."""
    if not address.startswith(("./", "../")):
        return address
    base = base.rstrip("/")
    while address.startswith(("./", "../")):
        step, _slash, address = address.partition("/")
        if step == "..":  # up to a slash, or to the colon of `host:path`, which stays
            cut = max(base.rfind("/"), base.rfind(":"))
            base = base[: cut + 1] if base[cut : cut + 1] == ":" else base[:cut]
    return f"{base}{'' if base.endswith(':') else '/'}{address}"


# Which wheels a set of pins takes on one Python and machine, and which of them a folder lacks.


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


# Source trees read for what they may download.


def scan_tree(tree: Path, name: str) -> list[Download]:
    """Give what a tree may download, its submodules and vendored sources included; files are named below `name`."""
    found = (item for path in _files(tree) for item in scan_file(f"{name}/{path}", read_text(tree / path) or ""))
    return order_downloads(found)


def _files(tree: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted({*folders} - {".git"})
        below = Path(folder).relative_to(tree)
        yield from (str(below / name) for name in sorted(names) if is_scanned(str(below / name)))


# What a bundle says of itself: bundle.json, its first member.


HEAD = "bundle.json"
WHEELS = "wheels"
PROGRAM = "program"
"""Where this program lies in a bundle, with what it requires."""
TOOLKIT = "toolkit"
ARCHIVES = "archives"
SAFE = re.compile(r"(?!.*(?:^|/)\.\.?(?:/|$))[A-Za-z0-9._+/-]+")
"""Names of members: below the folder that they are unpacked into, and with nothing to read otherwise in them."""


class Member(Strict):
    """A file in the bundle; its size in bytes."""

    name: str = Field(pattern=r"^[^/]")
    size: int = Field(ge=0)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class Repository(Strict):
    """What there is of a git repository: some commits, each with its whole tree and without its history.

    `addresses` are how git is asked for it; `refs` maps full names to those of the commits that they stand for.
    """

    folder: str = Field(pattern=r"^git/[A-Za-z0-9._-]+\.git$")
    addresses: list[str] = Field(min_length=1)
    commits: dict[Rev, str] = Field(min_length=1)
    refs: dict[str, Rev] = {}


class Bundle(Strict):
    """bundle.json. `profile` has every revision pinned; `base` is the same as its file says it, lying in `file`.

    `revs` are the refs that were asked for; `parts` the components that the bundle serves. `python` is a whole version.
    """

    schema_: Literal[1] = Field(alias="schema")
    created_by: VersionText
    profile: Profile
    base: Profile
    file: str
    revs: dict[str, str] = {}
    parts: list[Name]
    pins: list[Exact]
    python: str = Field(pattern=r"^3\.[0-9]{1,3}\.[0-9]{1,3}[a-z0-9+]{0,20}$")
    machine: str = Field(pattern=r"^[A-Za-z0-9_]{1,40}$")
    toolkit: str = ""
    repositories: list[Repository]
    members: list[Member]
    downloads: list[Download] = []

    def names(self, folder: str) -> list[str]:
        """Give the names of the files in one of its folders."""
        return [
            member.name.removeprefix(f"{folder}/") for member in self.members if member.name.startswith(f"{folder}/")
        ]

    @property
    def size(self) -> int:
        """The bytes of all members."""
        return sum(member.size for member in self.members)


def render_bundle(bundle: Bundle) -> str:
    """Give bundle.json: the same for the same contents."""
    return json.dumps(bundle.model_dump(by_alias=True, mode="json"), indent=1, sort_keys=True) + "\n"


def parse_bundle(text: bytes, origin: str) -> Bundle:
    """Read bundle.json. Raises UsageError for what this program cannot use, and for names that lead elsewhere."""
    data: Any = None
    try:
        data = json.loads(text)
        bundle = Bundle.model_validate(data)
    except ValidationError as error:
        if isinstance(data, dict) and isinstance(data.get("schema"), int) and data["schema"] > 1:
            fix = f"unpack its newer xpusetup: tar -xf {origin} {PROGRAM}"
            raise UsageError(f"{origin} was made by a newer xpusetup ({data.get('created_by')})", fix=fix) from error
        lines = [f"{origin}: {HEAD}: {line}" for line in describe(error, Bundle, data)]
        raise UsageError("\n".join(lines), fix="create it again: xpusetup bundle create FILE") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{origin} is no bundle of xpusetup: its {HEAD} is no JSON", fix="look at its name") from error
    for name in _odd_names(bundle):
        raise UsageError(f"{origin} names a file {name!r}, which could lie outside of it", fix="do not use this file")
    return bundle


def _odd_names(bundle: Bundle) -> list[str]:
    names = [member.name for member in bundle.members]
    packs = [pack for repository in bundle.repositories for pack in repository.commits.values()]
    absent = [name for name in (*packs, bundle.file) if name not in names]
    return [name for name in (*names, *absent) if not is_safe(name) or names.count(name) != 1]


def is_safe(name: str) -> bool:
    """Say whether a member's name stays below the folder that it is unpacked into."""
    return SAFE.fullmatch(name) is not None and not name.startswith(("/", "-")) and "//" not in name


def make_offline(bundle: Bundle, folder: str) -> dict[str, str]:
    """Give the variables by which git, pip and uv take everything from an unpacked bundle, and nothing from elsewhere.

    They stand for the whole of what the caller or a settings file says of the network: an address that the bundle does
    not have is refused by name, also where the network is there. git's own files are not read (2.32 and later): of a
    mirror there and ours that stand for the same address, git takes the one that it reads first.
    """
    wheels = f"{folder}/{WHEELS}"
    mirrors = [
        (f"url.file://{folder}/{repository.folder}.insteadOf", address)
        for repository in bundle.repositories
        for address in repository.addresses
    ]
    # Submodules from file:// are refused by default, since git 2.38.1.
    only = [("protocol.allow", "never"), ("protocol.file.allow", "always")]
    nothing = dict.fromkeys(("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX"), "")
    places = dict.fromkeys(("PIP_FIND_LINKS", "UV_FIND_LINKS"), wheels)
    alone = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    places |= {"XPUSETUP_ARCHIVES": f"{folder}/{ARCHIVES}"}
    return {**nothing, **places, "PIP_NO_INDEX": "1", "UV_NO_INDEX": "1", **alone, **number_git([*mirrors, *only])}


def find_lacking(asked: Sequence[str], bundle: Bundle) -> list[str]:
    """Name the components that are asked for and that the bundle has nothing of."""
    return [name for name in asked if name not in bundle.parts]
