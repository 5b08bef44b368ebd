"""What of the system is in an image: setup's own commands for a machine that has nothing yet, as steps for root."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from xpusetup.facts import Container, Facts, Gpu, Hardware, Python, System, Toolkits, ToolkitSeen
from xpusetup.model import Step
from xpusetup.platforms import Distribution
from xpusetup.way.machine import find_distribution
from xpusetup.way.packages import INSTALL
from xpusetup.way.setup import make_setup

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from xpusetup.devices import Device
    from xpusetup.images import Dialect, ImageSystem, ImageTable, Origin, Stage
    from xpusetup.model import Goal
    from xpusetup.platforms import Line, Manager
    from xpusetup.profile import Profile
    from xpusetup.way.machine import Known

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

    known: Known
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
    known: Known
    pins: Mapping[str, str]

    @property
    def manager(self) -> Manager:
        """Its package manager."""
        return self.system.manager


def bare_facts(system: ImageSystem, python: str) -> Facts:
    """Give the facts of a machine as an image begins: it will have a Python, without what a build needs of it."""
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
    return Facts(taken="", system=seen, container=Container(kind="docker"), python=interpreter)


def with_toolkit(facts: Facts, profile: Profile) -> Facts:
    """Add the toolkit where its packages put it: a bundle has one folder, others one for each component."""
    wanted = profile.toolkit
    if wanted is None:
        return facts
    bundle = next((script.removesuffix(BUNDLE) for script in wanted.scripts if script.endswith(BUNDLE)), "")
    seen = ToolkitSeen(
        root=ONEAPI,
        version=wanted.preferred,
        compiler=f"{ONEAPI}/{bundle or 'compiler/latest'}/bin/icpx",
        scripts=[f"{ONEAPI}/{script}" for script in wanted.scripts],
    )
    return facts.model_copy(update={"toolkits": Toolkits(found=[seen])})


def make_sides(inside: Inside, profile: Profile, *, line: Line | None, compiles: bool) -> Sides:
    """Give what root installs. `line`: the GPU that the image is for; without it, no driver."""
    goal: Goal = "build" if compiles else "run"
    bare = bare_facts(inside.system, inside.python)
    build = _setup(bare, inside, profile, goal)
    shown = [_gpu(line, inside.known)] if line is not None else []
    run = _setup(bare.model_copy(update={"hardware": Hardware(gpus=shown)}), inside, profile, "run")
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


def know_own_drivers(known: Known, system: ImageSystem) -> Known:
    """Let a system that is no distribution of setup's table bring the packages of its own."""
    if not system.drivers:
        return known
    own = Distribution(
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
    return replace(known, distributions=table.model_copy(update={"distribution": [own, *table.distribution]}))


def drivers_of(inside: Inside) -> tuple[tuple[Line, ...], str]:
    """Give the lines of driver packages that a system has, and what is known where it has none."""
    found = find_distribution(bare_facts(inside.system, inside.python), inside.known)
    return (tuple(found.drivers), found.drivers_say) if found else ((), "")


def _gpu(line: Line, known: Known) -> Gpu:
    """Give a GPU that needs a line of packages and whose kernel driver, the host's, has it."""
    served = {family: each for each in known.platforms.platform if each.line == line for family in each.families}
    (vendor, device), product = next(
        (ids, product) for ids, product in known.gpus.products.items() if product.family.id in served
    )
    driver = served[product.family.id].drivers[0]
    return Gpu(address="0000:00:00.0", vendor=vendor, device=device, pci_class="030000", driver=driver)


def _system_step(inside: Inside, packages: Sequence[str]) -> Step:
    """Give the step that installs what is the system's own."""
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
