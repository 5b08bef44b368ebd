"""An image of a plan: for which system, from which base, with what of it inside; and what cannot be one."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from packaging.specifiers import SpecifierSet

from xpusetup.base.document import read_as, to_text
from xpusetup.base.errors import UsageError
from xpusetup.base.model import Layout, Plan, Request
from xpusetup.config.profile import Profile
from xpusetup.config.settings import Settings
from xpusetup.emit.image_system import (
    DIGEST,
    Described,
    ImageOrder,
    ImageSystem,
    Inside,
    Sides,
    bare_facts,
    check_reference,
    drivers_of,
    know_own_drivers,
    make_sides,
    with_toolkit,
)
from xpusetup.machine.platforms import Line
from xpusetup.plan.install import make_install_plan, members_without_wheels, published_wheels, say_left_out
from xpusetup.plan.steps import make_plan
from xpusetup.plan.target import make_target

# What cannot be an image: a release on a system that it does not fit, with the reason and what would work.


def fitting_python(profile: Profile, system: ImageSystem) -> str:
    """Give the first Python of a system that a release takes, or the system's own where it takes none."""
    fits = SpecifierSet(profile.python)
    return next((each for each in system.pythons if fits.contains(each)), system.python)


def check_image(profile: Profile, order: ImageOrder, about: Described, *, python: str = "") -> None:
    """Raise UsageError where a profile cannot be had as this image; `python` is the one that was asked for."""
    system = about.images.find(order.system)
    if order.line is not None and profile.accelerator != "xpu":
        says = f"--driver chooses Intel's packages, and {profile.name} computes on {profile.accelerator}"
        raise UsageError(says, fix="leave --driver out")
    reasons = tuple(_refusals(profile, order, about, system))
    if reasons:
        fix = _what_works(profile, order, about, python)
        raise UsageError(f"{profile.name} on {system.name}: {reasons[0]}", fix=fix)
    named = {name for step in _every_package(system, profile) for name in step}
    if unknown := [name for name in order.pins if name not in named | set(about.images.versions(system.manager))]:
        there = ", ".join(sorted(named))
        raise UsageError(f"--pin {unknown[0]}: no such package is installed by name", fix=f"there is: {there}")


def _every_package(system: ImageSystem, profile: Profile) -> Iterator[list[str]]:
    yield from (system.build, system.run)
    yield from ([*each.packages, *each.build] for each in system.drivers.values())
    if profile.toolkit:
        yield profile.toolkit.packages.names(system.manager, (system.id,))


def _refusals(profile: Profile, order: ImageOrder, about: Described, system: ImageSystem) -> Iterator[str]:
    """Say why a profile cannot be had on a system; nothing where it can."""
    if order.python not in system.pythons:
        yield f"its packages have Python {' and '.join(system.pythons)}, not {order.python}"
    if not SpecifierSet(profile.python).contains(order.python):
        yield f"it has Python {order.python}, and the release takes {profile.python}"
    if about.device.environment is not None and about.device.environment.scripts:
        yield f"nothing brings {about.device.environment.scripts[0]} into it, and torch does not load without"
    if profile.installer is not None:
        yield f"{profile.installer.program} is for machines, and its maker has an image of the same release"
    elif order.origin == "source":
        yield from _cannot_compile(profile, system)
        if profile.toolkit and profile.toolkit.kind == "wheels" and order.target == "devel":
            yield f"{profile.toolkit.title} is made in the root of a build, and an image to compile in has none"
    elif profile.published is None:
        yield "no wheels of it were published"
    if profile.accelerator == "xpu":
        yield from _no_driver(order, about, system)


def _cannot_compile(profile: Profile, system: ImageSystem) -> Iterator[str]:
    kit = profile.toolkit
    if not SpecifierSet(profile.gcc).contains(system.gcc):
        yield f"its gcc is {system.gcc}, and the release takes {profile.gcc}"
    for fault in profile.gcc_faults:
        if fault.stops and SpecifierSet(fault.versions).contains(system.gcc):
            yield f"its gcc is {system.gcc}: {fault.why}"
    if kit is None:
        return
    if kit.kind == "oneapi" and not SpecifierSet(system.toolkits).contains(kit.preferred):
        yield f"{kit.title} is older than it; known to serve it is {system.toolkits}"
    if kit.kind != "wheels" and not kit.packages.names(system.manager, (system.id,)):
        yield f"no {system.manager} packages are known of {kit.title}"


def _no_driver(order: ImageOrder, about: Described, system: ImageSystem) -> Iterator[str]:
    known = know_own_drivers(about.known, system)
    lines, say = drivers_of(Inside(system=system, python=order.python, known=known, pins={}))
    if not lines:
        yield say or "Intel has no packages of the driver for it"
    elif order.line is not None and order.line not in lines:
        yield f"Intel has no packages of the {order.line} line for it, only of {' and '.join(lines)}"


def _what_works(profile: Profile, order: ImageOrder, about: Described, python: str) -> str:
    """Name what can be had, in the command's own words."""
    fitting = _fitting(profile, order, about)
    if order.system in fitting:
        return f"--python {fitting[order.system]}"
    if fitting:
        return f"one of: {', '.join(_words(fitting, python, about))}"
    if profile.installer is not None:
        return f"docker pull {profile.installer.image}"
    compiled = replace(order, origin="source")
    if order.origin == "wheels" and (fitting := _fitting(profile, compiled, about)):
        return "--from source" if order.system in fitting else f"--from source {_words(fitting, python, about)[0]}"
    if order.target == "devel" and _fitting(profile, replace(order, target="runtime"), about):
        return "--target runtime"
    page = profile.toolkit.packages.page if profile.toolkit and profile.toolkit.kind != "oneapi" else ""
    return f"nothing that is known here{f'; {profile.toolkit.title}: {page}' if profile.toolkit and page else ''}"


def _fitting(profile: Profile, order: ImageOrder, about: Described) -> dict[str, str]:
    """Give the systems on which a profile can be had, each with a Python that it takes."""
    found = {}
    for system in about.images.system:
        asked = replace(order, system=system.id, python=fitting_python(profile, system))
        if not any(_refusals(profile, asked, about, system)):
            found[system.id] = asked.python
    return found


def _words(fitting: Mapping[str, str], python: str, about: Described) -> list[str]:
    """Give the options that ask for each system, with a Python of it where it lacks the one that was asked for."""
    lacks = {name for name in fitting if python and python not in about.images.find(name).pythons}
    return [f"--os {name}{f' --python {own}' if name in lacks else ''}" for name, own in fitting.items()]


# Words: the *build side* of an image compiles, its *run side* is what is kept in the end.


PREFIX = "/opt/xpusetup"
"""Where the root lies in an image."""
SERVERS_ALONE = {"pvc"}
"""Device targets for which nothing but a Data Center GPU Max can be meant."""


@dataclass(frozen=True, kw_only=True)
class DecidedImage:
    """A decided image: the plan inside it, and what root installs on both of its sides.

    `said` is a word on each part and tool chain that was asked for otherwise than the profile has it.
    """

    plan: Plan
    profile: Profile
    system: ImageSystem
    order: ImageOrder
    base: str
    sides: Sides
    said: tuple[str, ...] = ()

    @property
    def toolkit_stays(self) -> bool:
        """Whether the toolkit is on the run side too: for who compiles, or because the wheels bring no runtime."""
        kit = self.plan.target.toolkit
        return kit is not None and (self.order.target == "devel" or kit.at_run_time)

    @property
    def distributions(self) -> tuple[str, ...]:
        """What is kept, with all that it requires: what the image is for, numpy for torch to talk to, and pip."""
        if self.order.origin == "wheels":
            parts = [name for name, _version in published_wheels(self.profile).values()]
        else:
            parts = [part.distribution for part in self.profile.components if part.kind != "skip"]
        return (*parts, "numpy", "pip")

    @property
    def pins(self) -> dict[str, str]:
        """What exactly is in it, by component: the commit of what is compiled, the version of what is ready."""
        if self.order.origin == "wheels":
            return dict(published_wheels(self.profile).values())
        parts = [part for part in self.profile.components if part.kind != "skip"]
        return {part.name: (part.rev or part.tag) if part.kind == "source" else part.version for part in parts}

    @property
    def digest(self) -> str:
        """The hash of the resolved profile."""
        return hashlib.sha256(to_text(self.profile).encode()).hexdigest()


def make_image(profile: Profile, request: Request, order: ImageOrder, about: Described) -> DecidedImage:
    """Decide an image. Raises UsageError with the reason and what would work, where it cannot be."""
    system = about.images.find(order.system)
    asked, python = order.python, order.python or fitting_python(profile, system)
    order = replace(order, python=python, pins={**about.images.versions(system.manager), **order.pins})
    known = know_own_drivers(about.known, system)
    check_image(profile, order, about, python=asked)
    inside = Inside(system=system, python=python, known=known, pins=order.pins)
    facts = with_toolkit(bare_facts(system, python), profile)
    settings = read_as(Settings, {"compilers": {"cc": system.cc, "cxx": system.cxx}})
    target = make_target(profile, facts, about.device, request, settings)
    compiles = order.origin == "source"
    line = _choose_line(order, inside, target.arch) if profile.accelerator == "xpu" else None
    return DecidedImage(
        plan=(make_plan if compiles else make_install_plan)(profile, request, target, Layout()),
        profile=profile,
        system=system,
        order=order,
        base=check_reference(order.base) if order.base else system.reference,
        sides=make_sides(inside, profile, line=line, compiles=compiles),
    )


def _choose_line(order: ImageOrder, inside: Inside, arch: tuple[str, ...]) -> Line:
    """Take the packages for servers where nothing else can be meant, and otherwise those for desktops and laptops."""
    lines, _say = drivers_of(inside)
    wanted: Line = "data-center" if arch and set(arch) <= SERVERS_ALONE else "client"
    return order.line or (wanted if wanted in lines else lines[0])


def notes_of(image: DecidedImage) -> tuple[str, ...]:
    """Give what is worth knowing before an image is built."""
    notes: list[str] = []
    if image.order.origin == "source":
        notes += image.said
        notes.append(f"wheels that are built in it need glibc {image.system.glibc} or newer")
    if not DIGEST.search(image.base):
        notes.append(f"the base {image.base} is named by its tag, which moves: --base IMAGE@sha256:... holds it")
    if image.sides.open_packages:
        names = ", ".join(image.sides.open_packages)
        notes.append(f"the repository chooses the version of {names}: --pin PACKAGE=VERSION holds it")
    if image.order.origin == "wheels" and (left := members_without_wheels(image.profile)):
        notes.append(say_left_out(left))
    return tuple(notes)
