"""What cannot be an image: a release on a system that it does not fit, with the reason and what would work."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from xpusetup.emit.image_system import Inside, drivers_of, know_own_drivers
from xpusetup.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.emit.image_system import Described, ImageOrder
    from xpusetup.images import ImageSystem
    from xpusetup.profile import Profile


def fitting_python(profile: Profile, system: ImageSystem) -> str:
    """Give the first Python of a system that a release takes, or the system's own where it takes none."""
    fits = SpecifierSet(profile.python)
    return next((each for each in system.pythons if fits.contains(each)), system.python)


def check_image(profile: Profile, order: ImageOrder, about: Described) -> None:
    """Raise UsageError where a profile cannot be had as this image."""
    system = about.images.find(order.system)
    if order.line is not None and profile.accelerator != "xpu":
        says = f"--driver chooses Intel's packages, and {profile.name} computes on {profile.accelerator}"
        raise UsageError(says, fix="leave --driver out")
    reasons = tuple(_refusals(profile, order, about, system))
    if reasons:
        raise UsageError(f"{profile.name} on {system.name}: {reasons[0]}", fix=_what_works(profile, order, about))
    named = {name for step in _every_package(system, profile) for name in step}
    if unknown := [name for name in order.pins if name not in named | set(about.images.versions(system.manager))]:
        there = ", ".join(sorted(named))
        raise UsageError(f"--pin {unknown[0]}: no such package is installed by name", fix=f"there is: {there}")


def _every_package(system: ImageSystem, profile: Profile) -> Iterator[list[str]]:
    yield from (system.build, system.run)
    yield from ([*each.packages, *each.build] for each in system.drivers.values())
    if profile.toolkit:
        packages = profile.toolkit.packages
        yield packages.apt if system.manager == "apt" else packages.rpm


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
    if not SpecifierSet(system.toolkits).contains(kit.preferred):
        yield f"oneAPI {kit.preferred} is older than it; known to serve it is {system.toolkits}"
    if not (kit.packages.apt if system.manager == "apt" else kit.packages.rpm):
        yield f"no {system.manager} packages are known of oneAPI {kit.preferred}"


def _no_driver(order: ImageOrder, about: Described, system: ImageSystem) -> Iterator[str]:
    known = know_own_drivers(about.known, system)
    lines, say = drivers_of(Inside(system=system, python=order.python, known=known, pins={}))
    if not lines:
        yield say or "Intel has no packages of the driver for it"
    elif order.line is not None and order.line not in lines:
        yield f"Intel has no packages of the {order.line} line for it, only of {' and '.join(lines)}"


def _what_works(profile: Profile, order: ImageOrder, about: Described) -> str:
    """Name what can be had, in the command's own words."""
    fitting = []
    for system in about.images.system:
        asked = replace(order, system=system.id, python=fitting_python(profile, system))
        if not any(_refusals(profile, asked, about, system)):
            fitting.append((system.id, asked.python))
    if python := dict(fitting).get(order.system):
        return f"--python {python}"
    if fitting:
        return f"one of: {', '.join(f'--os {name}' for name, _python in fitting)}"
    if profile.installer is not None:
        return f"docker pull {profile.installer.image}"
    return "from the other origin: --from source" if order.origin == "wheels" else "nothing that is known here"
