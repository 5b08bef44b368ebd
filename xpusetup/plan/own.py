"""Steps for trees of the user's own that are not built as the profile says: a ready wheel's source, an editable one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.model import Step
from xpusetup.plan.compile import (
    compile_environment,
    compile_folder,
    compile_needs,
    definitions,
    pep517_settings,
    refresh,
)
from xpusetup.plan.context import OWN
from xpusetup.plan.guard import UNBOUND
from xpusetup.profile import SourceComponent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xpusetup.model import Request
    from xpusetup.plan.context import Context
    from xpusetup.profile import Profile, WheelComponent

NAMED_BY = {"triton": "TRITON_WHEEL_NAME"}
"""The variable by which a build is told what its distribution is called, by component."""


def as_source(part: WheelComponent) -> SourceComponent:
    """Give a component that is taken as a ready wheel as one that is built from source, in a tree of its own."""
    environment = {NAMED_BY[part.name]: part.distribution} if part.name in NAMED_BY else {}
    return SourceComponent(
        kind="source",
        name=part.name,
        distribution=part.distribution,
        version=part.version,
        repo=OWN,
        tag=OWN,
        reason="a source tree of your own",
        frontend="build",
        after=part.after,
        environment=environment,
        source=part.source,
        confidence=part.confidence,
    )


def make_wheel_build(context: Context, part: SourceComponent) -> Step:
    """Give the step that builds what the profile takes as a ready wheel. It may download: Triton's fetches LLVM."""
    tree, out = context.tree(part), f"{context.beside(part)}.wheel"
    collected = context.helper(
        "collect_wheel.py", "--from", out, *context.choice(part)[2:], "--into", context.layout.wheels
    )
    return Step(
        id=f"{part.name}.build",
        title=f"{part.distribution} from a source tree of your own",
        run=(("rm", "-rf", out), context.helper("build_tree.py", "--tree", tree, "--outdir", out), collected),
        cwd=tree,
        env=compile_environment(context, part),
        needs=("network", *compile_needs(context, part)),
        after=("requirements", f"{part.name}.fetch"),
        makes=(context.wheel(part),),
        dated_by=context.dated_by(part),
        component=part.name,
        launched=True,
        always=True,
        held=context.held(part),
    )


def make_editable(context: Context, part: SourceComponent, before: Sequence[str], venv_last: str) -> Step:
    """Give the step that installs a tree as it lies: what is edited there is what runs, and no wheel is made."""
    settings = pep517_settings(context, part)
    named = ("--distribution", part.distribution, "--tree", compile_folder(context, part))
    return Step(
        id=f"{part.name}.install",
        title=f"{part.distribution}, editable, from a source tree of your own",
        run=(
            *definitions(context, part),
            *refresh(context, part),
            context.helper("install_editable.py", *named, "--", *settings),
        ),
        cwd=compile_folder(context, part),
        env=tuple(sorted((*compile_environment(context, part), *UNBOUND))),
        needs=compile_needs(context, part),
        after=tuple(dict.fromkeys((*before, venv_last))),
        locks=("venv",),
        makes=(context.installed(part),),
        dated_by=context.dated_by(part),
        component=part.name,
        launched=not part.cmake,
        always=True,
        held=context.held(part),
    )


def other_forms(profile: Profile, request: Request) -> Iterator[str]:
    """Name the steps of forms in which a component was built before and is not now: what they made is not of it."""
    own = [name for name, _folder in request.sources]
    for part in profile.components:
        if part.name in request.editable or (part.kind == "wheel" and part.name not in own):
            yield from (f"{part.name}.build", f"{part.name}.inspect")
