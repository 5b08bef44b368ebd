"""Steps that need the network: a ready wheel, or a source tree with all that its configure would download."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.model import Step
from xpusetup.plan.context import PACKAGED

if TYPE_CHECKING:
    from xpusetup.plan.context import Context
    from xpusetup.profile import SourceComponent, Vendored, WheelComponent


def make_wheel_fetch(context: Context, part: WheelComponent) -> Step:
    index = ("--index", part.index) if part.index else ()
    options = ("--distribution", part.distribution, "--version", part.version, *index)
    return Step(
        id=f"{part.name}.fetch",
        title=f"{part.distribution} {part.version}, a ready wheel",
        run=(context.helper("fetch_wheel.py", *options, "--into", context.layout.wheels),),
        needs=("network",),
        after=("requirements",),
        makes=(context.wheel(part),),
        component=part.name,
    )


def make_fetch(context: Context, part: SourceComponent) -> Step:
    tree = context.tree(part)
    commands = []
    repo = part.repo
    if repo.startswith(PACKAGED):
        name = repo.removeprefix(PACKAGED)
        repo = f"{context.layout.src}/{name}.git"
        commands.append(_system_helper(context, "make_repository.py", f"{context.layout.helpers}/{name}", repo))
    commands.append(_system_helper(context, "fetch_source.py", *_source(part, repo), "--into", tree))
    commands += [_vendored(context, tree, item) for item in part.vendored]
    places = [tree, *(f"{tree}/{item.path}" for item in part.vendored)]
    return Step(
        id=f"{part.name}.fetch",
        title=f"{part.name} {part.tag} {(part.rev or '')[:9]}".rstrip(),
        run=tuple(commands),
        needs=("network",),
        makes=tuple(f"{place}/.git/HEAD" for place in places),
        component=part.name,
    )


def _system_helper(context: Context, name: str, *arguments: str) -> tuple[str, ...]:
    return (context.target.python, f"{context.layout.helpers}/{name}", *arguments)


def _source(part: SourceComponent, repo: str) -> tuple[str, ...]:
    rev = ("--rev", part.rev) if part.rev else ()
    tag = ("--tag", part.tag) if part.tag else ()
    ref = ("--ref", part.ref) if part.ref else ()
    return ("--repo", repo, *rev, *tag, *ref, "--confidence", part.confidence)


def _vendored(context: Context, tree: str, item: Vendored) -> tuple[str, ...]:
    rev = ("--rev", item.rev) if item.rev else ()
    tag = ("--tag", item.tag) if item.tag else ()
    pin = ("--pin-file", f"{tree}/{item.pin_file}") if item.pin_file else ()
    place = ("--into", f"{tree}/{item.path}")
    return _system_helper(
        context, "fetch_source.py", "--repo", item.repo, *rev, *tag, *pin, "--confidence", item.confidence, *place
    )
