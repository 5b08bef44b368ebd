"""Steps that need the network: a ready wheel, or a source tree with all that its configure would download."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.model import Step
from xpusetup.plan.context import OWN
from xpusetup.plan.requirements import purpose_of
from xpusetup.values import PACKAGED

if TYPE_CHECKING:
    from xpusetup.plan.context import Context
    from xpusetup.profile import SourceComponent, Vendored, WheelComponent


def make_wheel_fetch(context: Context, part: WheelComponent) -> Step:
    index = ("--index", part.index) if part.index else ()
    named = ("--distribution", part.distribution, "--version", part.version)
    options = (*named, *context.pinned(purpose_of(part)), *index)
    return Step(
        id=f"{part.name}.fetch",
        title=f"{part.distribution} {part.version}, a ready wheel",
        run=(context.helper("fetch_wheel.py", *options, "--into", context.layout.wheels),),
        needs=("network",),
        after=(context.prepared,),
        makes=(context.wheel(part),),
        component=part.name,
    )


def make_fetch(context: Context, part: SourceComponent) -> Step:
    if context.own(part.name):
        return _make_own(context, part)
    tree = context.tree(part)
    commands = []
    repo = part.repo
    if repo.startswith(PACKAGED):
        name = repo.removeprefix(PACKAGED)
        repo = f"{context.layout.src}/{name}.git"
        commands.append(_system_helper(context, "make_repository.py", f"{context.layout.helpers}/{name}", repo))
    sparse = tuple(word for folder in part.sparse for word in ("--sparse", folder))
    commands.append(_system_helper(context, "fetch_source.py", *_source(part, repo), *sparse, "--into", tree))
    commands += _patch(context, part.name, tree)
    commands += [command for item in part.vendored for command in _bring(context, tree, item)]
    fetched = [item for item in part.vendored if not context.own(item.name)]
    places = [tree, *(f"{tree}/{item.path}" for item in fetched)]
    return Step(
        id=f"{part.name}.fetch",
        title=_title(context, part),
        run=tuple(commands),
        needs=("network",),
        makes=tuple(f"{place}/.git/HEAD" for place in places),
        component=part.name,
    )


def _title(context: Context, part: SourceComponent) -> str:
    named = f"{part.name} {part.tag} {(part.rev or '')[:9]}".rstrip()
    count = sum(len(context.patch_files(name)) for name in (part.name, *(item.name for item in part.vendored)))
    return f"{named}, {count} {'patch' if count == 1 else 'patches'}" if count else named


def _make_own(context: Context, part: SourceComponent) -> Step:
    """Give the step that looks at a tree of the user's own, and brings only what configure would fetch into it."""
    tree, result = context.tree(part), f"{context.layout.results}/{part.name}.source.json"
    bring = [command for item in part.vendored for command in _bring(context, tree, item, keep=True)]
    archive, date = part.name in context.request.archives, context.date_file(part)
    more = ("--archive", "--date", date, "--clone", _clone(part)) if archive else ()
    look = _system_helper(context, "own_source.py", "--tree", tree, *more, "--out", result)
    return Step(
        id=f"{part.name}.fetch",
        title=f"{part.name}, {'an unpacked archive' if archive else 'a source tree'} of your own",
        run=(*bring, look),
        needs=("network",) if bring else (),
        makes=(result, *((date,) if archive else ())),
        component=part.name,
        always=True,
    )


def _clone(part: SourceComponent) -> str:
    """Give the command that gets a component's source with its submodules."""
    branch = f"--branch {part.tag} " if part.tag not in ("", OWN) else ""
    return f"git clone --recurse-submodules {branch}{'URL' if part.repo == OWN else part.repo}"


def _bring(context: Context, tree: str, item: Vendored, *, keep: bool = False) -> tuple[tuple[str, ...], ...]:
    """Put a vendored source in its place: the user's own by a link, any other fetched, and patched as asked.

    `keep`: one that is there already stays as it is.
    """
    place = f"{tree}/{item.path}"
    if own := context.own(item.name):
        return (_system_helper(context, "own_source.py", "--tree", own, "--link", place),)
    kept = ("--keep",) if keep else ()
    return ((*_vendored(context, tree, item), *kept), *_patch(context, item.name, place))


def _patch(context: Context, name: str, tree: str) -> tuple[tuple[str, ...], ...]:
    files = context.patch_files(name)
    return (_system_helper(context, "apply_patches.py", "--tree", tree, *files),) if files else ()


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
    clones = tuple(word for address in item.clones for word in ("--clones", address))
    place = ("--into", f"{tree}/{item.path}")
    named = ("--repo", item.repo, *rev, *tag, *pin, *clones, "--confidence", item.confidence)
    return _system_helper(context, "fetch_source.py", *named, *place)
