"""What a profile file may say: the schema of `profiles/*.toml`, strict and frozen; and the order of its components."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Literal
from urllib.parse import urlsplit

from xpusetup.base.errors import UsageError
from xpusetup.base.values import (
    PACKAGED,
    CMakeVariable,
    DeviceTarget,
    Environment,
    Exact,
    GitRef,
    HashedPin,
    Inside,
    Limits,
    Name,
    Ocloc,
    Operand,
    Repository,
    Rev,
    Sha256,
    Sourced,
    Specifiers,
    Strict,
    Summary,
    Text,
    ToldBy,
    Variable,
    VersionText,
)
from xpusetup.config.member import Loosened, Membership
from xpusetup.config.toolkit import ToolkitWanted, check_toolkits, spread_toolkits

COMMIT_IN_VERSION = re.compile(r"[^+]+\+git[0-9a-f]{7,40}")

# The order in which components are built: after what they name, else as the profile lists them.


def make_order(components: Sequence[Component]) -> tuple[SourceComponent | WheelComponent, ...]:
    """Sort components so that each follows what it comes after; skipped ones fall out."""
    present = {part.name: part for part in components if part.kind != "skip"}
    graph = {name: [other for other in part.after if other in present] for name, part in present.items()}
    if cycle := find_cycle(graph):
        message = f"these components wait for each other: {' -> '.join(cycle)}"
        raise UsageError(message, fix="take one of these names out of an `after` list")
    return tuple(present[name] for name in TopologicalSorter(graph).static_order())


def find_needed(components: Sequence[Component], names: Sequence[str]) -> tuple[str, ...]:
    """Give what components build on, however deep, in the order in which it is built; without themselves."""
    after = {part.name: part.after for part in components if part.kind != "skip"}
    found, waiting = set(names), list(names)
    while waiting:
        more = set(after.get(waiting.pop(), ())) & after.keys() - found
        found |= more
        waiting += sorted(more)
    return tuple(part.name for part in make_order(components) if part.name in found - set(names))


def find_cycle(graph: Mapping[str, Sequence[str]]) -> list[str]:
    """Give the names of one cycle, the first of them also at the end; empty where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def names_commit(version: str) -> bool:
    """Say whether a build makes this version of its own commit, as Triton's 3.8.0+git1e2d42a0."""
    return COMMIT_IN_VERSION.fullmatch(version) is not None


# What a profile file may say: the schema of `profiles/*.toml`, strict and frozen.
#
# Words: a *pin* is a value with its source and confidence; a *component* is one distribution that the profile
# provides (built from source, taken as a ready wheel, or skipped for a reason); *vendored* sources are those
# that a component's own build would otherwise download.


Tier = Literal["demo", "own", "new", "current", "kept", "reference", "moving", "other", "test"]
"""In the order in which they are listed; a new one is a release whose pins are not confirmed: never advised."""
Frontend = Literal["setup.py", "build"]
PyTorch = Literal["fork", "public", "any"]
"""Whose PyTorch: the device maker's fork, the public one, or whichever the maker's installer brings."""
Level = Literal["quick", "smoke", "full"]
"""How much is verified at the end of a build (docs/verify.md)."""
MOST_GIB = 1 << 20
"""Of memory and disk: nobody has more."""
MOST_HOURS = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Pins(Strict):
    """Exact requirements of one purpose. `built` says whether something was ever built with just these."""

    pins: list[Exact]
    resolved: Text = ""
    built: bool = False
    note: Text = ""


@dataclass(frozen=True, kw_only=True)
class RunTimePins(Pins, Sourced):
    """The libraries that the wheels need where they run.

    `component` is the one whose wheel requires them, `variable` what tells its build so.
    """

    component: Name
    variable: Variable


@dataclass(frozen=True, kw_only=True)
class Arch(Sourced):
    """Device targets of ahead-of-time compilation, in the toolkit's words, and the variable that carries them.

    `ocloc`: the toolkit's, by the release of the compute runtime: later words are refused. `none`: the list may be that
    word, for generic code alone. `spirv`: such code lies beside the targets', so that other GPUs compile what they use.
    """

    default: list[DeviceTarget]
    variable: Variable
    ocloc: Ocloc | None = None
    none: bool = False
    spirv: bool = False


@dataclass(frozen=True, kw_only=True)
class GccFault(Sourced):
    """Versions of GCC that these sources fail with: surely where it `stops`, else perhaps, and then `flags` help."""

    versions: Specifiers
    why: Text
    stops: bool = False
    flags: Text = ""


GibOnDisk = Annotated[float, Limits(gt=0, le=MOST_GIB)]
CoreHours = Annotated[float, Limits(gt=0, le=MOST_HOURS)]


@dataclass(frozen=True, kw_only=True)
class BuildCost(Sourced):
    """What a whole build takes at least and at most, where nothing was measured here: of disk, and hours of one core.

    One that is `confirmed` was measured elsewhere, any other is a guess.
    """

    disk_gib: Annotated[list[GibOnDisk], Limits(min_length=2, max_length=2)]
    core_hours: Annotated[list[CoreHours], Limits(min_length=2, max_length=2)]


@dataclass(frozen=True, kw_only=True)
class Inspect(Strict):
    """What the finished wheel has to show.

    Without `device_code` it is built to hold host code alone, on purpose.
    """

    xpu: bool = False
    device_code: bool = True
    abi: Literal[0, 1] | None = None

    UNSAID = ("device_code",)


@dataclass(frozen=True, kw_only=True)
class PatchFile(Sourced):
    """A patch for a fetched source: a file, named from the folder of the profile, or its text in the profile itself."""

    file: Annotated[Operand, Limits(min_length=1)]
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Patched(Sourced):
    """A source with its patches."""

    patches: list[PatchFile] = field(default_factory=list)

    UNSAID = ("patches", "clones", "archives", "sha256", "loosen", "member")


@dataclass(frozen=True, kw_only=True)
class Vendored(Patched):
    """A source that the component's configure or build would fetch.

    `pin_file` is where the tree itself names the commit, `define` the CMake variable that says where the source lies.
    Where no variable can say it, because the build clones with git by itself, `clones` are the addresses that it
    clones: git is led from them to what was fetched, and the pin file is the CMake file that names the clone, or the
    one that holds its commit.
    """

    name: Name
    path: Inside
    repo: Repository
    rev: Rev | None = None
    tag: GitRef = ""
    pin_file: Inside | None = None
    define: CMakeVariable = ""
    clones: list[Repository] = field(default_factory=list)
    reason: Text = ""

    def __post_init__(self) -> None:
        if self.clones and (self.patches or self.define or self.pin_file is None):
            raise ValueError("what the build clones needs a pin_file that names it; no patch and no define reaches it")
        if self.rev is None and self.pin_file is None and not self.tag:
            raise ValueError("needs a rev, a tag, or a pin_file in the tree that holds the commit")
        if self.rev is None and not self.reason:
            raise ValueError("a rev that is absent needs a reason")


@dataclass(frozen=True, kw_only=True)
class BuildArchive(Sourced):
    """A tar archive that the build takes ready made, as Triton its LLVM; `variable` tells the build its folder.

    Without `sha256`, because nobody published it, the one of first use is held to, and a `reason` says so. Where a user
    sets the variable to a folder of their own, nothing is fetched. `pin_file` is where the tree itself names the commit
    that the archive was made of: the address has its first eight digits, and a tree that names another is refused.
    """

    name: Name
    url: Repository
    variable: Variable
    pin_file: Inside | None = None
    sha256: Sha256 | None = None
    reason: Text = ""

    def __post_init__(self) -> None:
        if self.sha256 is None and not self.reason:
            raise ValueError("a sha256 that is absent needs a reason")


@dataclass(frozen=True, kw_only=True)
class Collectives(Sourced):
    """Whether the published torch was built with the back end by which several devices compute together (XCCL)."""

    built: bool


@dataclass(frozen=True, kw_only=True)
class PublishedWheels(Sourced):
    """The wheels that the project itself published of this release: what `install` takes instead of compiling.

    `collectives` is left out where nobody could see it.
    """

    index: Annotated[Operand, Limits(min_length=1)]
    wheels: Annotated[list[Exact], Limits(min_length=1)]
    note: Text = ""
    collectives: Collectives | None = None

    UNSAID = ("collectives",)


@dataclass(frozen=True, kw_only=True)
class MakersInstaller(Sourced):
    """The device maker's own program that brings torch and its extension into an environment: nothing is compiled.

    `release` is that of the maker's software, which driver, packages and extension share; the program tells its own
    after `ask`. It is taken from PATH, else from `url`, and finds the environment in `prefix_variable`. `brings` are
    distributions with the beginning of their versions, the extension among them. `before` are commands of the
    administrator, which are shown and never run, `image` is the maker's container image of the same release.
    """

    name: Name
    program: Operand
    url: Annotated[Operand, Limits(min_length=1)]
    release: VersionText
    ask: list[Text] = field(default_factory=list)
    arguments: Annotated[list[Text], Limits(min_length=1)]
    prefix_variable: Variable
    brings: Annotated[dict[Name, Operand], Limits(min_length=1)]
    before: list[Text] = field(default_factory=list)
    image: Operand = ""
    note: Text = ""


@dataclass(frozen=True, kw_only=True)
class SourceComponent(Patched):
    """A distribution that is built from source at a pinned commit.

    `ref` is a branch that a lock resolves. `pin_file` is where the torch tree names this component's commit,
    `version_file` where its own tree names its version. The build is told the version through `version_variable`,
    and torch's through `torch_variable`. Where `sparse` names folders, no other one gets files and submodules.
    `defines` are variables that CMake is told. With a `sha256` the repository is the address of a source archive, as
    package indexes have them, and the commit is the one that the program makes of what is in it. `loosen` are pins of
    its own files that go; `member` is what it is in a stack.
    """

    kind: Literal["source"]
    name: Name
    distribution: Name
    version: VersionText
    repo: Repository
    tag: GitRef = ""
    ref: GitRef = ""
    rev: Rev | None = None
    reason: Text = ""
    pin_file: Inside | None = None
    version_file: Inside = "version.txt"
    version_variable: Variable | None = None
    torch_variable: Variable | None = None
    frontend: Frontend
    cmake: bool = False
    defines: Environment = field(default_factory=dict)
    directory: Inside = "."
    sparse: list[Inside] = field(default_factory=list)
    configure: bool = False
    after: list[Name] = field(default_factory=list)
    environment: Environment = field(default_factory=dict)
    inspect: Inspect = Inspect()
    vendored: list[Vendored] = field(default_factory=list)
    archives: list[BuildArchive] = field(default_factory=list)
    sha256: Sha256 | None = None
    loosen: list[Loosened] = field(default_factory=list)
    member: Membership | None = None

    @property
    def from_git(self) -> bool:
        return self.sha256 is None and not self.repo.startswith(PACKAGED)

    @property
    def archive_urls(self) -> list[str]:
        return [*([self.repo] if self.sha256 else []), *(each.url for each in self.archives)]

    def __post_init__(self) -> None:
        if self.sha256 and (self.rev is None or self.tag or self.ref):
            raise ValueError("a source archive has the rev of what is in it, and neither tag nor ref")
        if self.rev is None and not self.reason:
            raise ValueError("a rev that is absent needs a reason")
        if self.rev is None and not self.tag and not self.ref:
            raise ValueError("without a rev a tag is needed, which is resolved when the source is fetched, or a ref")
        needed = [self.directory, *(item.pin_file for item in self.vendored if item.pin_file)]
        lacking = [path for path in needed if not any(f"{path}/".startswith(f"{folder}/") for folder in self.sparse)]
        if self.sparse and lacking:
            raise ValueError(f"{lacking[0]} lies in none of the folders of sparse")


@dataclass(frozen=True, kw_only=True)
class WheelComponent(Sourced):
    """A distribution that is taken as a ready wheel of exactly one version.

    `pin_file` and `version_file` are where the torch tree names the commit and the version of the one that belongs to
    it, `preview` the index of release candidates, `nightly` the one of commits between releases. With a `reason` the
    version is a guess, and a lock takes the one that the tree names, in the release of the profile too. `from_source`
    is how it is built where that is asked for, in place of what the program knows of it (take.py).
    """

    kind: Literal["wheel"]
    name: Name
    distribution: Name
    version: VersionText
    index: Operand = ""
    preview: Operand = ""
    nightly: Operand = ""
    pin_file: Inside | None = None
    version_file: Inside | None = None
    reason: Text = ""
    after: list[Name] = field(default_factory=list)
    from_source: SourceComponent | None = None
    member: Membership | None = None

    def __post_init__(self) -> None:
        if self.from_source and self.from_source.name != self.name:
            raise ValueError(f"from_source is of {self.from_source.name!r}, and this is {self.name!r}")
        if self.reason and not (self.pin_file and self.version_file):
            raise ValueError("a version that is a guess needs a pin_file and a version_file that name it")

    UNSAID = ("reason", "from_source", "member")


@dataclass(frozen=True, kw_only=True)
class SkippedComponent(Strict):
    """A distribution that belongs to the release and is left out; `checks` of verify cannot pass without it."""

    kind: Literal["skip"]
    name: Name
    reason: Text
    distribution: Name | None = None
    checks: list[Name] = field(default_factory=list)
    member: Membership | None = None

    UNSAID = ("member",)


Component = Annotated[SourceComponent | WheelComponent | SkippedComponent, ToldBy("kind")]


@dataclass(frozen=True, kw_only=True)
class Start(Sourced):
    """A command that begins with what is built or installed: shown, never run. `instead`: in place of installing."""

    title: Text
    argv: Annotated[list[Text], Limits(min_length=1)]
    instead: bool = False
    why: Text


@dataclass(frozen=True, kw_only=True)
class Profile(Strict):
    """What to build. One file, no inheritance. `device` is the file of an accelerator that does not ship with us.

    `plain_path`: its build fails below a folder with a number such as 2.4 in its name.
    `hashes` are the sha256 of all files of a pin, for every Python and platform: no other file is installed. Where it
    says none, those that ship with the program hold (hashes.py).
    `[[toolkit]]` may be several, of which `toolkit` is the preferred one.
    `pytorch` and `modes` are for devices whose file has modes: whose PyTorch this is, and the modes that are verified,
    the first of which is that of the environment.
    """

    schema_: Literal[1]
    name: Name
    summary: Summary
    tier: Tier
    tried: Text
    accelerator: Name
    device: Text = ""
    pytorch: PyTorch = "public"
    modes: list[Name] = field(default_factory=list)
    python: Specifiers
    gcc: Specifiers = ""
    gcc_faults: list[GccFault] = field(default_factory=list)
    plain_path: bool = False
    cmake: Specifiers = ""
    memory_per_job_gib: Annotated[float, Limits(gt=0, le=MOST_GIB)] = 2.0
    cost: BuildCost | None = None
    verify_level: Level = "smoke"
    environment: Environment = field(default_factory=dict)
    toolkit: ToolkitWanted | None = None
    other_toolkits: list[ToolkitWanted] = field(default_factory=list)
    arch: Arch | None = None
    build_requirements: Pins
    runtime_requirements: RunTimePins | None = None
    published: PublishedWheels | None = None
    installer: MakersInstaller | None = None
    hashes: dict[HashedPin, Annotated[list[Sha256], Limits(min_length=1)]] = field(default_factory=dict)
    starts: list[Start] = field(default_factory=list)
    components: list[Component] = field(default_factory=list)

    PREPARE = staticmethod(spread_toolkits)
    UNSAID = ("other_toolkits",)

    def __post_init__(self) -> None:
        check_toolkits(self.toolkit, self.other_toolkits)

    @property
    def compiles(self) -> bool:
        return any(part.kind == "source" for part in self.components)

    @property
    def git_hosts(self) -> tuple[str, ...]:
        hosts = (urlsplit(part.repo).hostname for part in self.components if part.kind == "source")
        return tuple(dict.fromkeys(filter(None, hosts)))

    @property
    def pythons(self) -> tuple[str, ...]:
        """The versions of Python that it takes, oldest first."""
        from packaging.specifiers import SpecifierSet  # noqa: PLC0415 - what is built has its Python

        takes = SpecifierSet(self.python)
        return tuple(version for version in (f"3.{minor}" for minor in range(9, 20)) if takes.contains(version))
