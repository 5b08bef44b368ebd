"""An image of a plan: for which system, from which base, with what of it inside. Decided before a line is written.

Words: the *build side* of an image compiles, its *run side* is what is kept in the end.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xpusetup.aim import make_target
from xpusetup.emit.image_refusals import check_image, fitting_python
from xpusetup.emit.image_system import Inside, bare_facts, drivers_of, know_own_drivers, make_sides, with_toolkit
from xpusetup.images import check_reference, has_digest
from xpusetup.model import Layout
from xpusetup.plan import make_plan
from xpusetup.plan.install import make_install_plan, published_wheels
from xpusetup.settings import Settings

if TYPE_CHECKING:
    from xpusetup.emit.image_system import Described, ImageOrder, Sides
    from xpusetup.images import ImageSystem
    from xpusetup.model import Plan, Request
    from xpusetup.platforms import Line
    from xpusetup.profile import Profile

PREFIX = "/opt/xpusetup"
"""Where the root lies in an image."""
SERVERS_ALONE = {"pvc"}
"""Device targets for which nothing but a Data Center GPU Max can be meant."""


@dataclass(frozen=True, kw_only=True)
class Image:
    """A decided image: the plan inside it, and what root installs on both of its sides."""

    plan: Plan
    profile: Profile
    system: ImageSystem
    order: ImageOrder
    base: str
    sides: Sides

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
        return hashlib.sha256(self.profile.model_dump_json(by_alias=True).encode()).hexdigest()


def make_image(profile: Profile, request: Request, order: ImageOrder, about: Described) -> Image:
    """Decide an image. Raises UsageError with the reason and what would work, where it cannot be."""
    system = about.images.find(order.system)
    python = order.python or fitting_python(profile, system)
    order = replace(order, python=python, pins={**about.images.versions(system.manager), **order.pins})
    known = know_own_drivers(about.known, system)
    check_image(profile, order, about)
    inside = Inside(system=system, python=python, known=known, pins=order.pins)
    facts = with_toolkit(bare_facts(system, python), profile)
    settings = Settings.model_validate({"compilers": {"cc": system.cc, "cxx": system.cxx}})
    target = make_target(profile, facts, about.device, request, settings)
    compiles = order.origin == "source"
    line = _choose_line(order, inside, target.arch) if profile.accelerator == "xpu" else None
    return Image(
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


def notes_of(image: Image) -> tuple[str, ...]:
    """Give what is worth knowing before an image is built."""
    notes = []
    if image.order.origin == "source":
        notes.append(f"wheels that are built in it need glibc {image.system.glibc} or newer")
    if not has_digest(image.base):
        notes.append(f"the base {image.base} is named by its tag, which moves: --base IMAGE@sha256:... holds it")
    if image.sides.open_packages:
        names = ", ".join(image.sides.open_packages)
        notes.append(f"the repository chooses the version of {names}: --pin PACKAGE=VERSION holds it")
    return tuple(notes)
