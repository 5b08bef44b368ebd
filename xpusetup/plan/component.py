"""How one component becomes an installed wheel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.model import Step
from xpusetup.plan.compile import make_build, make_configure, make_target_step
from xpusetup.plan.conflicts import conflicts_of, removal_options
from xpusetup.plan.fetch import make_fetch, make_wheel_fetch
from xpusetup.plan.guard import UNBOUND
from xpusetup.plan.own import as_source, make_editable, make_wheel_build
from xpusetup.targets import NONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xpusetup.plan.context import Context
    from xpusetup.profile import SourceComponent, WheelComponent


def make_component(
    context: Context, part: SourceComponent | WheelComponent, *, ready: tuple[str, ...], venv_last: str
) -> Iterator[Step]:
    """Give a component's steps; `ready` installs it builds on, `venv_last` last touched the environment."""
    if part.kind == "wheel" and context.own(part.name):
        part = as_source(part)
    if part.kind == "wheel":
        yield make_wheel_fetch(context, part)
        yield _make_install(context, part, made_by=f"{part.name}.fetch", venv_last=venv_last)
        return
    before = tuple(dict.fromkeys((context.prepared, *ready, f"{part.name}.fetch")))
    yield make_fetch(context, part)
    if part.configure:
        yield make_configure(context, part, before)
        before = (f"{part.name}.configure",)
        if context.request.target:
            yield make_target_step(context, part)
    if part.name in context.request.editable:
        yield make_editable(context, part, before, venv_last)
        return
    ours = context.version(part)
    yield make_build(context, part, before) if ours else make_wheel_build(context, part)
    yield _make_inspect(context, part)
    yield _make_install(context, part, made_by=f"{part.name}.inspect", venv_last=venv_last)


def inspect_options(part: SourceComponent, arch: Sequence[str]) -> tuple[str, ...]:
    """Give what a profile wants of a component's wheel, as options of the helper that looks into it."""
    xpu = ("--requires-xpu",) if part.inspect.xpu else ()
    alone = () if part.inspect.device_code else ("--host-alone",)
    abi = ("--abi", str(part.inspect.abi)) if part.inspect.abi is not None else ()
    gpus = ("--arch", ",".join(arch)) if part.inspect.xpu and arch and tuple(arch) != (NONE,) else ()
    return (*xpu, *alone, *abi, *gpus)


def _make_inspect(context: Context, part: SourceComponent) -> Step:
    result = f"{context.layout.results}/{part.name}.inspect.json"
    wheel = context.choice(part)
    wanted = inspect_options(part, context.target.arch)
    places = (context.layout.src, context.layout.venv, *context.held(part))
    foreign = tuple(word for place in places for word in ("--build-folder", place))
    return Step(
        id=f"{part.name}.inspect",
        title=f"what is in the {part.distribution} wheel",
        run=(context.helper("inspect_wheel.py", *wheel, *wanted, *foreign, "--out", result),),
        after=(f"{part.name}.build",),
        makes=(result,),
        component=part.name,
    )


def _make_room(context: Context, part: SourceComponent | WheelComponent) -> Iterator[tuple[str, ...]]:
    conflicts = conflicts_of(part.distribution, context.target.accelerator)
    if conflicts:
        yield context.helper("remove_conflicts.py", *removal_options(conflicts))


def _make_install(context: Context, part: SourceComponent | WheelComponent, *, made_by: str, venv_last: str) -> Step:
    return Step(
        id=f"{part.name}.install",
        title=f"install {part.distribution} {part.version}",
        run=(*_make_room(context, part), context.helper("install_wheel.py", *context.choice(part))),
        env=UNBOUND,
        after=tuple(dict.fromkeys((made_by, venv_last))),
        locks=("venv",),
        makes=(context.installed(part),),
        component=part.name,
    )
