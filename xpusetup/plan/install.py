"""The plan that takes a release's published wheels instead of compiling: pure, as the plan of a build is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from xpusetup.base.command import Command
from xpusetup.base.errors import UsageError
from xpusetup.base.model import ROOT, Goal, Layout, Plan, Request, Step, Target
from xpusetup.config.profile import Profile, PublishedWheels, WheelComponent
from xpusetup.plan.context import Context, file_name
from xpusetup.plan.environment import (
    built_pins,
    conflicts_among,
    constraints_file,
    make_guard,
    make_venv,
    removal_options,
)
from xpusetup.plan.member import fits_step, make_fits, make_proof
from xpusetup.plan.requirements import published_purposes
from xpusetup.plan.steps import check_origins, make_plan
from xpusetup.plan.verify import make_verify

Wheels = Mapping[str, tuple[str, str]]
"""Distribution and version, by the name that its steps have."""


PUBLISHED = f"{ROOT}/published"
INSTALL_STEP = "wheels.install"
MEMBERS_STEP = "members.install"
"""The step that installs the members of a stack: each was held against the torch that is installed by then."""


def make_install_plan(profile: Profile, request: Request, target: Target, layout: Layout) -> Plan:
    """Give the steps that install what was published, or what the device's maker installs. Raises UsageError."""
    if profile.installer is not None:
        return make_plan(profile, request, target, layout)
    if profile.published is None:
        raise UsageError(
            f"{profile.name} names no published wheels",
            fix="compile it: ",
            command=Command("the same command with --from source", again=("--from", "source")),
        )
    target = replace(target, toolkit=None)  # published wheels bring their own runtime
    steps = tuple(_steps(Context(profile, request, target, layout), profile.published))
    plan = Plan(profile=profile.name, target=target, layout=layout, steps=steps)
    return check_origins(profile, request, plan)


def published_pins(profile: Profile) -> list[str]:
    return list(profile.published.wheels) if profile.published else []


def published_wheels(profile: Profile) -> dict[str, tuple[str, str]]:
    """Give distribution and version of what was published, by the name that its steps have."""
    names = {canonicalize_name(part.distribution): part.name for part in profile.components if part.kind != "skip"}
    pins = [Requirement(pin) for pin in published_pins(profile)]
    return {
        names.get(canonicalize_name(pin.name), canonicalize_name(pin.name)): (
            pin.name,
            next(iter(pin.specifier)).version,
        )
        for pin in pins
    }


def wheel_members(profile: Profile) -> list[WheelComponent]:
    """Give the members of a stack that are installed as they were published."""
    return [part for part in profile.components if part.member is not None and part.kind == "wheel"]


def members_without_wheels(profile: Profile) -> list[str]:
    """Name the members of a stack that are compiled, and so are not among what is installed as it was published."""
    there = {canonicalize_name(Requirement(pin).name) for pin in published_pins(profile)}
    parts = [part for part in profile.components if part.member is not None and part.kind == "source"]
    return [part.distribution for part in parts if canonicalize_name(part.distribution) not in there]


def say_left_out(names: Sequence[str]) -> str:
    """Say that members are not in a form that installs wheels alone, and what brings them."""
    return f"left out, for no wheel of them fits: {', '.join(names)}; --from source compiles them"


def _steps(context: Context, published: PublishedWheels) -> Iterator[Step]:
    wheels = published_wheels(context.profile)
    members = {part.name: wheels[part.name] for part in wheel_members(context.profile)}
    ground = {name: pin for name, pin in wheels.items() if name not in members}
    yield make_venv(context, published.wheels)
    result = f"{context.layout.results}/survey.json"
    yield Step(
        id="survey",
        title="what stands in the environment",
        run=(_helper(context, ground, "--look", "--out", result),),
        after=("venv",),
        makes=(result,),
    )
    for name, pin in wheels.items():
        yield _make_download(context, published, name, pin, f"{name}.wheel" if name in members else "published")
    yield _make_install(context, published, ground)
    if members:
        yield from _make_members(context, published, ground, members)
    distributions = _names(wheels)
    yield make_guard(context, distributions, MEMBERS_STEP if members else INSTALL_STEP)
    if context.request.verify != "off":
        yield from make_verify(context, "guard")


def _names(wheels: Wheels) -> list[str]:
    return [distribution for distribution, _version in wheels.values()]


def _helper(context: Context, wheels: Wheels, *options: str) -> tuple[str, ...]:
    conflicts = conflicts_among(_names(wheels), context.target.accelerator)
    return context.helper("install_published.py", *options, *_pins("--wheel", wheels), *removal_options(conflicts))


def _pins(option: str, wheels: Wheels) -> Iterator[str]:
    for distribution, version in wheels.values():
        yield from (option, f"{distribution}=={version}")


def _make_download(context: Context, published: PublishedWheels, name: str, pin: tuple[str, str], purpose: str) -> Step:
    distribution, version = pin
    named = ("--distribution", distribution, "--version", version, *context.pinned(purpose))
    named = (*named, "--index", published.index)
    return Step(
        id=f"{name}.download",
        title=f"{distribution} {version}, as published",
        run=(context.helper("fetch_wheel.py", *named, "--into", PUBLISHED),),
        needs=("network",),
        after=("survey",),
        makes=(f"{PUBLISHED}/{file_name(distribution)}-{version}-*.whl",),
        component=name,
    )


def make_gathering(context: Context, published: PublishedWheels, into: str, name: str) -> Step:
    """Give the step, by this name, that gathers the wheels and all that they require in a folder, emptied before."""
    pins = published_wheels(context.profile).values()
    wheels = (word for distribution, version in pins for word in ("--wheel", f"{distribution}=={version}"))
    held = _held(context, *published_purposes(context.profile))
    options = ("--wheels", PUBLISHED, "--index", published.index, *held)
    return Step(
        id=name,
        title=f"{len(pins)} published wheels, with what they require",
        run=(("rm", "-rf", into), context.helper("gather_wheels.py", *wheels, *options, "--into", into)),
        needs=("network",),
        after=tuple(f"{name}.download" for name in published_wheels(context.profile)),
        locks=("venv",),
    )


def _make_install(context: Context, published: PublishedWheels, wheels: Wheels) -> Step:
    result = f"{context.layout.results}/installed.json"
    options = _places(context, published, "published")
    return Step(
        id=INSTALL_STEP,
        title="in place of what conflicts with them",
        run=(_helper(context, wheels, *options, "--out", result), *context.movable()),
        needs=("network",),
        after=tuple(f"{name}.download" for name in wheels),
        locks=("venv",),
        makes=(*(context.record(*pin) for pin in wheels.values()), result),
    )


def _places(context: Context, published: PublishedWheels, *purposes: str) -> tuple[str, ...]:
    places = ("--wheels", PUBLISHED, "--index", published.index, "--constraints", constraints_file(context.layout))
    return (*places, *_held(context, *purposes))


def _held(context: Context, *purposes: str) -> tuple[str, ...]:
    """Give the options that name the hashes to which files are held, and whether others are refused."""
    strict = ("--require-hashes",) if context.request.require_hashes else ()
    return (*context.pinned(*purposes), *strict)


# The members of a stack: each wheel is held against the torch that is there, all are installed, each is proved.


def _make_members(context: Context, published: PublishedWheels, ground: Wheels, members: Wheels) -> Iterator[Step]:
    parts = wheel_members(context.profile)
    for part in parts:
        yield from make_fits(context, part, (f"{part.name}.download", INSTALL_STEP), folder=PUBLISHED)
    result = f"{context.layout.results}/members.json"
    places = _places(context, published, *published_purposes(context.profile))
    options = (*_pins("--beside", ground), *places, "--out", result)
    yield Step(
        id=MEMBERS_STEP,
        title=f"{len(members)} members that fit this torch",
        run=(_helper(context, members, *options), *context.movable()),
        needs=("network",),
        after=tuple(fits_step(part.name) for part in parts),
        locks=("venv",),
        makes=(*(context.record(*pin) for pin in members.values()), result),
    )
    for part in parts:
        yield from make_proof(context, part, (MEMBERS_STEP,))


# What a plan is for: build compiles, install takes what was published; both run, resume and verify alike.


@dataclass(frozen=True, kw_only=True)
class Purpose:
    """A command that runs a plan: how that is made, what it installs, and for which goal the machine is judged.

    `without` are checks of the machine that stop others, and not this.
    """

    command: Literal["build", "install"]
    make: Callable[[Profile, Request, Target, Layout], Plan]
    pins: Callable[[Profile], list[str]]
    goal: Goal
    without: tuple[str, ...] = ()


BUILD = Purpose(command="build", make=make_plan, pins=built_pins, goal="build")
INSTALL = Purpose(command="install", make=make_install_plan, pins=published_pins, goal="run")


SOURCES = {"source": BUILD, "wheels": INSTALL}
"""What `--from` means."""


def purpose_of_build(profile: Profile) -> Purpose:
    """Give what `build` means: where nothing is compiled, the machine need not be able to."""
    return BUILD if profile.compiles else replace(BUILD, goal="run")
