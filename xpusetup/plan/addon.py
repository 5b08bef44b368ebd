"""XPU for the torch of an environment that is there: built as a wheel of its own, and installed beside that torch."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.version import Version

from xpusetup.base.command import Advice, Command
from xpusetup.base.errors import UsageError
from xpusetup.base.model import ROOT, XPU, Plan, Step
from xpusetup.plan.compile import TOOLKIT, renew_toolkit, sycl_log
from xpusetup.plan.component import make_fetch
from xpusetup.plan.context import Context, file_name
from xpusetup.plan.environment import UNBOUND, make_guard, make_toolkit, make_venv
from xpusetup.plan.install import Purpose, purpose_of_build
from xpusetup.plan.steps import check_origins, select
from xpusetup.plan.verify import make_verify

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.base.model import Layout, Request, Target
    from xpusetup.config.profile import Profile, SourceComponent

DISTRIBUTION = "xpusetup-torch-xpu"
"""The name of the wheel (helpers/helperlib/addon/pack.py)."""
OPS = "torch-xpu-ops"
KERNELS, TRIED = "SOURCES", "TRIED"
"""Variables of `--set`: the kernels are those of some sources; `try` puts what it makes of a tree into ENV."""
TOOLS = f"{ROOT}/tools"


def make_addon_plan(profile: Profile, request: Request, target: Target, layout: Layout) -> Plan:
    """Give the steps. Raises UsageError where there is no environment, and for a profile that has no such parts."""
    target = replace(target, arch=())
    context = Context(profile, request, target, layout)
    if not layout.adopted and not layout.venv.startswith(ROOT):
        venv = shlex.quote(layout.venv)
        message = f"there is no environment {layout.venv} yet, and --only {XPU} builds for a torch in one"
        lines = (
            Command(f"python3 -m venv {venv}"),
            install_torch(layout.venv, Version(_torch(profile).version).base_version),
        )
        raise UsageError(message, fix=Advice("make it, and install that torch into it:\n", Advice.lines(lines)))
    if not layout.adopted:
        fix = "name an environment that is there, with that torch in it: --into ENV"
        message = f"--only {XPU} builds for a torch that is installed, and no environment with one is named"
        raise UsageError(message, fix=fix)
    steps = select(tuple(_steps(context, _torch(profile))), replace(request, only=()))
    plan = Plan(profile=profile.name, target=target, layout=layout, steps=steps)
    return check_origins(profile, request, plan)


def install_torch(venv: str, release: str) -> Command:
    """Give the command that installs a torch without XPU into an environment: the one that this was tried beside."""
    return Command(f"{shlex.quote(venv)}/bin/python -m pip install torch=={release}")


def _torch(profile: Profile) -> SourceComponent:
    """Give torch with nothing in it but the sources that are compiled."""
    parts = (part for part in profile.components if part.kind == "source" and part.name == "torch")
    part = next((part for part in parts if any(item.name == OPS for item in part.vendored)), None)
    if part is None or profile.toolkit is None or profile.toolkit.kind != "wheels":
        why = f"{profile.name} has no {OPS} in torch, or no tool chain of Intel's wheels"
        raise UsageError(why, fix="take the profile of a release that has both: ", command="xpusetup profiles list")
    return replace(part, vendored=[item for item in part.vendored if item.name == OPS], archives=[])


def _steps(context: Context, torch: SourceComponent) -> Iterator[Step]:
    kit = context.profile.toolkit
    yield make_venv(context, ())
    yield Step(
        id="tools",
        title="ninja and PyYAML, beside the environment",
        run=(context.helper("pinned_wheels.py", "install", *context.pinned("addon"), "--into", TOOLS),),
        env=UNBOUND,
        needs=("network",),
        after=("venv",),
        makes=(f"{TOOLS}/bin/ninja", f"{TOOLS}/yaml/__init__.py"),
    )
    if kit is not None:
        yield replace(make_toolkit(context, kit), after=("venv",))
    yield make_fetch(context, torch)
    yield _make_build(context, torch)
    if not _asked(context, TRIED):
        yield _make_install(context, torch)
        yield make_guard(context, ["torch", DISTRIBUTION], f"{XPU}.install")
    if context.request.verify != "off":
        yield from make_verify(context, f"{XPU}.build" if _asked(context, TRIED) else "guard")


def _asked(context: Context, variable: str) -> str:
    """Give what a variable of the add-on was set to, last."""
    values = [value for name, key, value in context.request.set if (name, key) == (XPU, variable)]
    return values[-1] if values else ""


def _make_build(context: Context, torch: SourceComponent) -> Step:
    tree = context.tree(torch)
    kernels, tried = _asked(context, KERNELS), _asked(context, TRIED)
    ops = tried or context.own(OPS) or f"{tree}/{next(item.path for item in torch.vendored)}"
    wheel = f"{context.layout.wheels}/{file_name(DISTRIBUTION)}-{_version(context, torch)}-*.whl"
    options = (
        *("--torch-source", tree, "--ops", ops, "--python", context.layout.python),
        *("--toolkit", f"{ROOT}/toolkit", "--tools", TOOLS, "--work", f"{context.layout.src}/{XPU}"),
        *("--outdir", context.layout.wheels, "--device", context.request.device),
        *(("--sources", kernels) if kernels else ()),
        *(("--try",) if tried else ()),
        *("--out", f"{context.layout.results}/{XPU}.json"),
    )
    return Step(
        id=f"{XPU}.build",
        title=f"XPU for the torch that is there, on {'GPUs' if context.request.device == 'gpu' else 'the processor'}",
        run=(renew_toolkit(context), context.helper("make_xpu_addon.py", *options)),
        env=sycl_log(context),
        needs=("compiler",),
        after=("tools", TOOLKIT, "torch.fetch"),
        makes=(
            *(() if tried else (wheel,)),
            f"{context.layout.results}/{XPU}.json",
        ),
        locks=("venv",) if tried else (),
        component=XPU,
        always=bool(tried or context.protected_trees(torch)),
        protected_trees=context.protected_trees(torch),
    )


def _make_install(context: Context, torch: SourceComponent) -> Step:
    version = _version(context, torch)
    chosen = ("--wheels", context.layout.wheels, "--distribution", DISTRIBUTION, "--version", version)
    return Step(
        id=f"{XPU}.install",
        title="install it, with Intel's run time",
        run=(
            context.helper("pinned_wheels.py", "install", *context.pinned("toolkit")),
            context.helper("install_wheel.py", *chosen),
        ),
        env=UNBOUND,
        needs=("network",),
        after=(f"{XPU}.build",),
        locks=("venv",),
        makes=(context.record(DISTRIBUTION, version),),
        component=XPU,
    )


def _version(context: Context, torch: SourceComponent) -> str:
    """Give the version of the wheel: the release of torch, and for which device it is."""
    return f"{Version(torch.version).base_version}+{context.request.device}"


ADDON = Purpose(
    command="build",
    make=make_addon_plan,
    pins=lambda profile: profile.toolkit.pins if profile.toolkit else [],
    goal="build",
    without=("cc.gcc_fault", "oneapi.ocloc", "oneapi.ocloc_knows_arch"),
)
"""GCC's fault is in one source: where that one is wanted, its compile ends with the words by which `explain` knows it.
SPIR-V alone is compiled, so that nobody asks ocloc."""


def purpose_of(profile: Profile, request: Request) -> Purpose:
    """Give what `build` means for what was asked."""
    return ADDON if request.only == (XPU,) else purpose_of_build(profile)
