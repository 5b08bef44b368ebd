"""Steps that prepare the environment: it, and what the builds in it need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from xpusetup.model import Step
from xpusetup.plan.guard import UNBOUND

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from xpusetup.plan.context import Context
    from xpusetup.profile import Profile


def make_venv(context: Context, pins: Iterable[str]) -> Step:
    """Give the step after which there is an environment: a new one, or a look at the one that was named.

    `pins` are what will be installed in place of other versions there.
    """
    target, layout = context.target, context.layout
    if layout.adopted:
        return _make_adoption(context, pins)
    return Step(
        id="venv",
        title=f"Python {target.python_version} environment",
        run=((target.python, f"{layout.helpers}/make_environment.py", "--into", layout.venv),),
        locks=("venv",),
        makes=(f"{layout.venv}/pyvenv.cfg",),
    )


def _make_adoption(context: Context, pins: Iterable[str]) -> Step:
    target, layout = context.target, context.layout
    result = f"{layout.results}/environment.json"
    options = ("--prefix", layout.venv, "--python", target.python_version, "--reports", context.reports)
    requires = (word for pin in pins_of_python(pins, target.python_version) for word in ("--requires", pin))
    return Step(
        id="venv",
        title=f"a look at the environment {layout.venv}",
        run=(context.helper("adopt_environment.py", *options, *requires, "--out", result),),
        locks=("venv",),
        makes=(result,),
    )


def pins_of_python(pins: Iterable[str], version: str) -> Iterator[str]:
    """Give the pins that hold for a version of Python, as name==version."""
    there = {"python_version": version, "python_full_version": f"{version}.0"}
    for pin in map(Requirement, pins):
        if pin.marker is None or pin.marker.evaluate(there):
            yield f"{canonicalize_name(pin.name)}{pin.specifier}"


def built_pins(profile: Profile) -> list[str]:
    """Give all that a build installs, pinned."""
    runtime = profile.runtime_requirements.pins if profile.runtime_requirements else []
    parts = [f"{part.distribution}=={part.version}" for part in profile.components if part.kind != "skip"]
    return [*profile.build_requirements.pins, *runtime, *parts]


def find_changes(pins: Iterable[str], installed: Mapping[str, str], version: str) -> list[str]:
    """Say which installed distributions would be replaced by another version, as "numpy 2.1 -> 2.4.6"."""
    wanted = dict(pin.split("==") for pin in pins_of_python(pins, version))
    return [
        f"{name} {installed[name]} -> {pinned}"
        for name, pinned in wanted.items()
        if name in installed and installed[name] != pinned
    ]


def make_requirements(context: Context) -> Step:
    """Give the step that installs the build requirements, all pinned exactly."""
    pins = context.profile.build_requirements.pins
    report = f"{context.reports}/build-requirements.json"
    commands = [context.helper("forget_cut_off.py")]
    commands.append(context.helper("pinned_wheels.py", "install", *context.pinned("build"), "--report", report))
    commands.append(context.helper("keep_report.py", report))
    commands += context.movable()
    return Step(
        id="requirements",
        title=f"{len(pins)} pinned build requirements",
        run=tuple(commands),
        env=UNBOUND,
        needs=("network",),
        after=("venv",),
        locks=("venv",),
        makes=(report,),
    )
