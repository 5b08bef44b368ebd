"""What of the system is in an image: base images, and setup's own commands as steps for root."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Annotated, Literal

from xpusetup.base.errors import UsageError
from xpusetup.base.model import Goal, Step
from xpusetup.base.text import hint_at_nearest
from xpusetup.base.values import Limits, Name, Operand, Sourced, Specifiers, Strict, Text, VersionText
from xpusetup.config.devices import Device
from xpusetup.config.load import parse_data
from xpusetup.config.profile import Profile
from xpusetup.config.toolkit import SYSTEM_ROOT
from xpusetup.machine.environments import Python
from xpusetup.machine.facts import Container, Facts, Gpu, Hardware, System, Toolkits, ToolkitSeen, Userland
from xpusetup.machine.platforms import DriverPackages, Line, LinuxDistribution, Manager
from xpusetup.recommend.machine import MachineTables, find_distribution
from xpusetup.recommend.setup import INSTALL, make_setup
from xpusetup.system.files import package_text

# What images are made of (data/images.toml): base images, and what a system has of its own.
#
# Words: a *system* is the distribution inside an image; its *base* is the image that it begins from.


Stage = Literal["runtime", "devel"]
Origin = Literal["source", "wheels"]
Dialect = Literal["buildkit", "portable"]
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
"""What names an image by its content."""
REFERENCE = re.compile(r"[a-z0-9][a-z0-9._:/-]*(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(@sha256:[0-9a-f]{64})?")
"""How the name of an image may look: host and path, tag, digest."""


@dataclass(frozen=True, kw_only=True)
class ImageSystem(Sourced):
    """A system that images can be made of. `python_inside`: the base image has its Pythons already."""

    id: Name
    name: Text
    families: Annotated[list[Name], Limits(min_length=1)]
    release: Text
    manager: Manager
    base: Operand
    digest: Annotated[str, Limits(pattern=r"^(sha256:[0-9a-f]{64})?$")] = ""
    python: VersionText
    other_pythons: list[VersionText] = field(default_factory=list)
    python_packages: list[Operand] = field(default_factory=list)
    python_inside: bool = False
    glibc: VersionText
    gcc: VersionText
    cc: Operand = "gcc"
    cxx: Operand = "g++"
    toolkits: Specifiers = ""
    build: list[Operand]
    run: list[Operand]
    drivers: dict[Line, DriverPackages] = field(default_factory=dict)

    @property
    def pythons(self) -> list[str]:
        return [self.python, *self.other_pythons]

    @property
    def reference(self) -> str:
        """The base image, by its digest where that is known."""
        return f"{self.base}@{self.digest}" if self.digest else self.base


@dataclass(frozen=True, kw_only=True)
class PackageVersion(Sourced):
    """The exact version of a package of the toolkit."""

    name: Operand
    manager: Manager
    version: Operand


@dataclass(frozen=True, kw_only=True)
class ImageTable(Strict):
    """data/images.toml, with the day on which it was collected."""

    collected: dt.date
    system: Annotated[list[ImageSystem], Limits(min_length=1)]
    package: list[PackageVersion] = field(default_factory=list)

    def find(self, name: str) -> ImageSystem:
        """Give a system by its id. Raises UsageError with the nearest one."""
        ids = [each.id for each in self.system]
        if name not in ids:
            message = f"nothing is known of images of {name!r}{hint_at_nearest(name, ids)}"
            raise UsageError(message, fix=f"--os takes: {', '.join(ids)}")
        return next(each for each in self.system if each.id == name)

    def versions(self, manager: Manager) -> dict[str, str]:
        """Give the exact versions that are known of a package manager's packages."""
        return {each.name: each.version for each in self.package if each.manager == manager}


def parse_images(text: str) -> ImageTable:
    """Read data/images.toml. Raises UsageError with all errors of the file."""
    return parse_data(text, ImageTable, "images.toml")


def check_reference(text: str) -> str:
    """Give the name of an image back. Raises UsageError for what no engine would take for one."""
    if not REFERENCE.fullmatch(text):
        fix = "name it as engines do: [HOST/]NAME:TAG or [HOST/]NAME@sha256:DIGEST"
        raise UsageError(f"--base {text!r} is no name of an image", fix=fix)
    if "@" not in text and ":" not in text.rsplit("/", 1)[-1]:
        fix = f"add a tag or a digest, as in {text}:24.04"
        raise UsageError(f"--base {text} names neither a tag nor a digest: it means another image every month", fix=fix)
    return text


def parse_package_pins(texts: Iterable[str]) -> dict[str, str]:
    """Read PACKAGE=VERSION. Raises UsageError for anything else."""
    found = {}
    for text in texts:
        name, sign, version = text.partition("=")
        if not (re.fullmatch(r"[a-z0-9][a-z0-9+._-]*", name) and sign and re.fullmatch(r"[0-9][\w.+:~-]*", version)):
            fix = "as the package manager writes it: --pin intel-pti-dev-0.9=0.9.0-33"
            raise UsageError(f"--pin {text!r} is not PACKAGE=VERSION", fix=fix)
        found[name] = version
    return found


# What of the system is in an image: setup's own commands for a machine that has nothing yet, as steps for root.


ONEAPI = "/opt/intel/oneapi"
BUNDLE = "/oneapi-vars.sh"
LEAN: dict[Manager, tuple[str, ...]] = {
    "apt": ("--no-install-recommends",),
    "dnf": ("--setopt=install_weak_deps=False", "--nodocs"),
    "zypper": ("--no-recommends",),
}
EQUALS: dict[Manager, str] = {"apt": "=", "dnf": "-", "zypper": "="}
DRIVER = ("setup.repository", "setup.driver")
TOOLKIT = ("setup.oneapi-repository", "setup.oneapi")


@dataclass(frozen=True, kw_only=True)
class ImageOrder:
    """What was asked of an image; empty means not given. `pins` are exact versions of packages by name."""

    system: str = "ubuntu-24.04"
    target: Stage = "runtime"
    origin: Origin = "source"
    dialect: Dialect = "buildkit"
    base: str = ""
    python: str = ""
    line: Line | None = None
    pins: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Described:
    """What is known where an image is decided: the data files, and the profile's accelerator."""

    known: MachineTables
    images: ImageTable
    device: Device


@dataclass(frozen=True, kw_only=True)
class Sides:
    """What root installs: for building, the device compiler, the toolkit; and on the side that is kept.

    `open_packages` are those of the toolkit whose version the repository chooses on the day of the build.
    """

    build: tuple[Step, ...]
    driver: tuple[Step, ...]
    toolkit: tuple[Step, ...]
    run: tuple[Step, ...]
    open_packages: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Inside:
    """A system with one of its Pythons, what is known of its packages, and what of them is pinned."""

    system: ImageSystem
    python: str
    known: MachineTables
    pins: Mapping[str, str]

    @property
    def manager(self) -> Manager:
        return self.system.manager


def bare_facts(system: ImageSystem, python: str) -> Facts:
    """Give the facts of a machine as an image begins: it will have a Python, no driver, nothing of what builds need."""
    seen = System(
        name=system.name,
        families=list(system.families),
        version=system.release,
        kernel="",
        machine="x86_64",
        user="root",
        uid=0,
    )
    inside = system.python_inside
    interpreter = Python(executable=f"python{python}", version=f"{python}.0", headers=inside, venv=inside)
    none = Userland(packages={}, libraries={})
    return Facts(taken="", system=seen, container=Container(kind="docker"), python=interpreter, userland=none)


def with_toolkit(facts: Facts, profile: Profile) -> Facts:
    """Add the toolkit where its packages put it: a bundle has one folder, others one for each component.

    The open one lies where the system's own programs do.
    """
    wanted = profile.toolkit
    if wanted is None or wanted.kind == "wheels":  # a step makes it
        return facts
    if wanted.kind == "dpclang":
        compiler = f"{SYSTEM_ROOT}/bin/{wanted.product.compiler}"
        own = ToolkitSeen(kind=wanted.kind, root=SYSTEM_ROOT, version=wanted.preferred, compiler=compiler)
        return replace(facts, toolkits=Toolkits(found=[own]))
    bundle = next((script.removesuffix(BUNDLE) for script in wanted.scripts if script.endswith(BUNDLE)), "")
    seen = ToolkitSeen(
        root=ONEAPI,
        version=wanted.preferred,
        compiler=f"{ONEAPI}/{bundle or 'compiler/latest'}/bin/icpx",
        scripts=[f"{ONEAPI}/{script}" for script in wanted.scripts],
    )
    return replace(facts, toolkits=Toolkits(found=[seen]))


def make_sides(inside: Inside, profile: Profile, *, line: Line | None, compiles: bool) -> Sides:
    """Give what root installs. `line`: the GPU that the image is for; without it, no driver."""
    goal: Goal = "build" if compiles else "run"
    bare = bare_facts(inside.system, inside.python)
    kit = profile.toolkit
    of_packages = replace(profile, toolkit=None) if kit and kit.kind == "wheels" else profile  # a step makes that one
    build = _setup(bare, inside, of_packages, goal)
    shown = [_gpu(line, inside.known)] if line is not None else []
    run = _setup(replace(bare, hardware=Hardware(gpus=shown)), inside, profile, "run")
    of_toolchain = [step for step in build if step.id == "setup.toolchain"]
    toolkit = [step for step in build if step.id in TOOLKIT]
    names = [name for step in toolkit if step.id == TOOLKIT[1] for name in _named(step.run[0], inside.manager)]
    return Sides(
        build=_lean(
            inside, _system_step(inside, inside.system.build if compiles else inside.system.run), *of_toolchain
        ),
        driver=_lean(inside, *(step for step in build if step.id in DRIVER)),
        toolkit=_lean(inside, *toolkit),
        run=_lean(inside, _system_step(inside, inside.system.run), *(step for step in run if step.id in DRIVER)),
        open_packages=tuple(name for name in names if name not in inside.pins),
    )


def _setup(facts: Facts, inside: Inside, profile: Profile, goal: Goal) -> list[Step]:
    return [task.step for task in make_setup(facts, profile, inside.known, goal=goal).tasks]


def know_own_drivers(known: MachineTables, system: ImageSystem) -> MachineTables:
    """Let a system that is no distribution of setup's table bring the packages of its own."""
    if not system.drivers:
        return known
    own = LinuxDistribution(
        id=system.id,
        name=system.name,
        family=system.families[0],
        version=system.release,
        manager=system.manager,
        drivers=system.drivers,
        source=system.source,
        confidence=system.confidence,
    )
    table = known.distributions
    return replace(known, distributions=replace(table, distribution=[own, *table.distribution]))


def drivers_of(inside: Inside) -> tuple[tuple[Line, ...], str]:
    """Give the lines of driver packages that a system has, and what is known where it has none."""
    found = find_distribution(bare_facts(inside.system, inside.python), inside.known)
    return (tuple(found.drivers), found.drivers_say) if found else ((), "")


def _gpu(line: Line, known: MachineTables) -> Gpu:
    """Give a GPU that needs a line of packages and whose kernel driver, the host's, has it."""
    served = {family: each for each in known.platforms.platform if each.line == line for family in each.families}
    (vendor, device), product = next(
        (ids, product) for ids, product in known.gpus.products.items() if product.family.id in served
    )
    driver = served[product.family.id].drivers[0]
    return Gpu(address="0000:00:00.0", vendor=vendor, device=device, pci_class="030000", driver=driver)


def _system_step(inside: Inside, packages: Sequence[str]) -> Step:
    python, manager = inside.python, inside.manager
    names = [name.format(python, python.replace(".", "")) for name in inside.system.python_packages]
    install = ((*INSTALL[manager], *names, *packages),) if names or packages else ()
    return Step(id="image.system", title=f"{inside.system.name} with Python {python}", run=install)


def _named(argv: tuple[str, ...], manager: Manager) -> tuple[str, ...]:
    """Give the packages of a command that installs some, and nothing of any other."""
    begin = INSTALL[manager]
    return argv[len(begin) :] if argv[: len(begin)] == begin else ()


def _lean(inside: Inside, *steps: Step) -> tuple[Step, ...]:
    """Install what is named and what that needs, nothing that is merely recommended, at the version that is pinned."""
    return tuple(replace(step, run=tuple(_leaner(inside, step))) for step in steps if step.run)


def _leaner(inside: Inside, step: Step) -> Iterator[tuple[str, ...]]:
    manager = inside.manager
    for argv in step.run:
        names = _named(argv, manager)
        exact = [f"{name}{EQUALS[manager]}{inside.pins[name]}" if name in inside.pins else name for name in names]
        yield (*INSTALL[manager], *LEAN[manager], *exact) if names else argv


@cache
def image_table() -> ImageTable:
    return parse_images(package_text("data/images.toml"))
