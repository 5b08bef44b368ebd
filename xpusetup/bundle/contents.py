"""What a bundle says of itself, and what belongs into one: submodules, wheels, installers."""

import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from packaging.requirements import Requirement
from packaging.tags import Tag
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from xpusetup.base.command import Advice, Command
from xpusetup.base.document import UnfitError, read_as, to_table
from xpusetup.base.errors import UsageError
from xpusetup.base.values import Exact, Limits, Name, Rev, Strict, VersionText
from xpusetup.config.load import describe
from xpusetup.config.profile import Profile
from xpusetup.config.settings import number_git


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


def missing_wheels(pins: Iterable[str], python: str, machine: str, names: Iterable[str]) -> list[str]:
    """Name the pins, as name==version, for which no file is a wheel that this Python on this machine takes."""
    there = {pair for name in names if (pair := _fitting(name, python, machine)) is not None}
    place = {"python_version": ".".join(python.split(".")[:2]), "python_full_version": python}
    held = (pin for pin in map(Requirement, pins) if pin.marker is None or pin.marker.evaluate(place))
    wanted = ((canonicalize_name(pin.name), str(Version(next(iter(pin.specifier)).version))) for pin in held)
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


# What a bundle says of itself: bundle.json, its first member.


HEAD = "bundle.json"
WHEELS = "wheels"
PROGRAM = "program"
"""Where this program lies in a bundle, with what it requires."""
TOOLKIT = "toolkit"
ARCHIVES = "archives"
SAFE = re.compile(r"(?!.*(?:^|/)\.\.?(?:/|$))[A-Za-z0-9._+/-]+")
"""Names of members: below the folder that they are unpacked into, and with nothing to read otherwise in them."""


@dataclass(frozen=True, kw_only=True)
class BundleMember(Strict):
    """A file in the bundle; its size in bytes."""

    name: Annotated[str, Limits(pattern=r"^[^/]")]
    size: Annotated[int, Limits(ge=0)]
    sha256: Annotated[str, Limits(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True, kw_only=True)
class BundleRepository(Strict):
    """What there is of a git repository: some commits, each with its whole tree and without its history.

    `addresses` are how git is asked for it; `refs` maps full names to those of the commits that they stand for.
    """

    folder: Annotated[str, Limits(pattern=r"^git/[A-Za-z0-9._-]+\.git$")]
    addresses: Annotated[list[str], Limits(min_length=1)]
    commits: Annotated[dict[Rev, str], Limits(min_length=1)]
    refs: dict[str, Rev] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Bundle(Strict):
    """bundle.json. `profile` has every revision pinned; `base` is the same as its file says it, lying in `file`.

    `purpose`: it holds what a build fetches, or what is installed as it was published.
    `revs` are the refs that were asked for, `takes` the parts that were asked for in another way, `toolkit` the tool
    chain in place of the usual one: both profiles have them so. `parts` are the components that the bundle serves.
    `python` is a whole version.
    """

    schema_: Literal[1]
    created_by: VersionText
    purpose: Literal["build", "install"] = "build"
    profile: Profile
    base: Profile
    file: str
    revs: dict[str, str] = field(default_factory=dict)
    takes: dict[Name, str] = field(default_factory=dict)
    parts: list[Name]
    pins: list[Exact]
    python: Annotated[str, Limits(pattern=r"^3\.[0-9]{1,3}\.[0-9]{1,3}[a-z0-9+]{0,20}$")]
    machine: Annotated[str, Limits(pattern=r"^[A-Za-z0-9_]{1,40}$")]
    toolkit: Name | Literal[""] = ""
    repositories: list[BundleRepository]
    members: list[BundleMember]

    def names(self, folder: str) -> list[str]:
        """Give the names of the files in one of its folders."""
        return [
            member.name.removeprefix(f"{folder}/") for member in self.members if member.name.startswith(f"{folder}/")
        ]

    @property
    def installer(self) -> str:
        """The file that installs a toolkit without a network; empty where it has none."""
        return next(iter(self.names(TOOLKIT)), "")

    @property
    def size(self) -> int:
        """The bytes of all members."""
        return sum(member.size for member in self.members)


def render_bundle(bundle: Bundle) -> str:
    """Give bundle.json: the same for the same contents."""
    return json.dumps(to_table(bundle), indent=1, sort_keys=True) + "\n"


AGAIN = Advice(
    "copy it again, or create another: ",
    Command("xpusetup bundle create FILE --profile PROFILE", gaps=("FILE", "PROFILE")),
)
"""What mends a bundle that does not say what it was made of."""


def asked_words(
    profile: str, revs: Mapping[str, str], takes: Mapping[str, str], toolkit: str | None
) -> tuple[str, ...]:
    """Give the options by which a plan or a bundle is asked for as one was."""
    pairs = {"--rev": revs, "--take": takes}
    more = [word for option, each in pairs.items() for pair in each.items() for word in (option, "=".join(pair))]
    return ("--profile", profile, *more, *(("--toolkit", toolkit) if toolkit else ()))


def create_again(file: str, purpose: str, words: Iterable[str]) -> Command:
    """Give the command that creates a bundle anew where it lies."""
    wheels = ("--from", "wheels") if purpose == "install" else ()
    return Command(shlex.join(("xpusetup", "bundle", "create", file, *words, *wheels)))


def parse_bundle(text: bytes, origin: str) -> Bundle:
    """Read bundle.json. Raises UsageError for what this program cannot use, and for names that lead elsewhere."""
    data: Any = None
    try:
        data = json.loads(text)
        bundle = read_as(Bundle, data)
    except UnfitError as error:
        if isinstance(data, dict) and isinstance(data.get("schema"), int) and data["schema"] > 1:
            fix = f"unpack its newer xpusetup: tar -xf {origin} {PROGRAM}"
            raise UsageError(f"{origin} was made by a newer xpusetup ({data.get('created_by')})", fix=fix) from error
        lines = [f"{origin}: {HEAD}: {line}" for line in describe(error, Bundle, data)]
        raise UsageError("\n".join(lines), fix=AGAIN) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{origin} is no bundle of xpusetup: its {HEAD} is no JSON", fix="check its name") from error
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
