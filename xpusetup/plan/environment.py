"""Steps that prepare the environment, keep it as it was made, and what cannot stand in it side by side."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from xpusetup.base.model import Layout, Step
from xpusetup.config.profile import Profile
from xpusetup.config.toolkit import MADE, ToolkitWanted
from xpusetup.plan.context import Context

# What cannot stand beside a distribution in one environment, and why.


TRITONS = ("triton", "triton-xpu", "pytorch-triton", "pytorch-triton-xpu", "pytorch-triton-rocm", "triton-rocm")
"""All that install the package folder `triton`."""

EXTENSIONS = (
    "intel-extension-for-pytorch",
    "intel-extension-for-deepspeed",
    "oneccl-bind-pt",
    "oneccl-bindings-for-pytorch",
)
"""What served XPU before PyTorch did: each release is compiled for one of torch, and registers the same device."""


@dataclass(frozen=True)
class DistributionConflict:
    """Distributions that have to go before `of` is installed, and the reason."""

    of: str
    why: str
    names: tuple[str, ...]


def conflicts_of(distribution: str, accelerator: str) -> tuple[DistributionConflict, ...]:
    """Give what cannot stand beside a distribution."""
    name = canonicalize_name(distribution)
    if name in TRITONS:
        others = tuple(other for other in TRITONS if other != name)
        return (DistributionConflict(name, f"it owns the package folder triton, as {name} does", others),)
    if name == "torch" and accelerator == "xpu":
        return (
            DistributionConflict(
                name, "it is compiled for another torch, and this one has XPU support of its own", EXTENSIONS
            ),
        )
    return ()


def conflicts_among(distributions: Iterable[str], accelerator: str) -> tuple[DistributionConflict, ...]:
    """Give what cannot stand beside any of several distributions."""
    return tuple(conflict for name in distributions for conflict in conflicts_of(name, accelerator))


def removal_options(conflicts: Iterable[DistributionConflict]) -> tuple[str, ...]:
    """Give the options that tell a helper what has to go, and why."""
    return tuple(word for each in conflicts for word in ("--remove", each.why, *each.names))


# The step that keeps an environment as it was made: constraints for pip, and a record for `status`.


RECORD = "guard.json"
UNBOUND = (("PIP_CONSTRAINT", "/dev/null"),)
"""For steps that install exactly what the plan names: the constraints that the guard left there must not refuse it."""


def constraints_file(layout: Layout) -> str:
    return f"{layout.venv}/xpusetup-constraints.txt"


def make_guard(context: Context, distributions: Sequence[str], last: str) -> Step:
    """Give the step that guards these distributions, and the run-time libraries that are there."""
    runtime = context.profile.runtime_requirements
    libraries = [Requirement(pin).name for pin in runtime.pins] if runtime else []
    conflicts = conflicts_among(distributions, context.target.accelerator)
    out = f"{context.layout.results}/{RECORD}"
    options = (
        *(word for name in distributions for word in ("--pin", name)),
        *(word for name in libraries for word in ("--keep", name)),
        *(word for each in conflicts for word in ("--conflict", each.of, each.why, *each.names)),
        *("--constraints", constraints_file(context.layout), "--out", out),
    )
    return Step(
        id="guard",
        title="pip keeps what was installed",
        run=(context.helper("guard_environment.py", *options),),
        after=(last,),
        locks=("venv",),
        makes=(constraints_file(context.layout), out),
    )


# Steps that prepare the environment: it, and what the builds in it need.


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
        title="a look at the environment that is named",
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


def make_toolkit(context: Context, wanted: ToolkitWanted) -> Step:
    """Give the step that fetches the wheels of a tool chain and lays them out as oneAPI's."""
    options = (*context.pinned("toolkit"), "--into", MADE)
    return Step(
        id="toolkit",
        title=f"{wanted.title} as a tool chain",
        run=(context.helper("make_sycl_toolkit.py", *options),),
        env=UNBOUND,
        needs=("network",),
        after=(context.prepared,),
        makes=(f"{MADE}/toolkit.json", f"{MADE}/bin/{wanted.product.compiler}"),
    )


def make_pinned(context: Context, name: str, purpose: str, *, title: str, after: str, component: str = "") -> Step:
    """Give the step, by this name, that installs what the profile pins for a purpose."""
    report = f"{context.reports}/{purpose}-requirements.json"
    return Step(
        id=name,
        title=title,
        run=(
            context.helper("forget_cut_off.py"),
            context.helper("pinned_wheels.py", "install", *context.pinned(purpose), "--report", report),
            context.helper("keep_report.py", report),
            *context.movable(),
        ),
        env=UNBOUND,
        needs=("network",),
        after=(after,),
        locks=("venv",),
        makes=(report,),
        component=component,
    )
