"""How one component is fetched and becomes an installed wheel."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from xpusetup.base.model import NONE, Request, Step
from xpusetup.base.values import PACKAGED
from xpusetup.config.profile import BuildArchive, Profile, SourceComponent, Vendored, WheelComponent
from xpusetup.plan.compile import (
    LIBRARIES,
    SWITCHES,
    collect,
    compile_environment,
    compile_folder,
    compiling,
    decided,
    definitions,
    fresh_folder,
    hold_options,
    is_of_torch,
    make_build,
    make_configure,
    make_target_step,
    pep517_settings,
    refresh,
    switched_off,
)
from xpusetup.plan.context import OWN, Context
from xpusetup.plan.environment import UNBOUND, conflicts_of, removal_options
from xpusetup.plan.member import (
    OF_TORCH,
    fits_step,
    interface_step,
    looks,
    loosening,
    make_fits,
    make_interface,
    make_proof,
)
from xpusetup.plan.requirements import ARCHIVES, RECORD, purpose_of

# Steps that need the network: a ready wheel, or a source tree with all that its configure would download.


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
    commands, repo = _make_repository(context, part)
    sparse = tuple(word for folder in part.sparse for word in ("--sparse", folder))
    commands.append(_system_helper(context, "fetch_source.py", *_source(part, repo), *sparse, "--into", tree))
    commands += _patch(context, part.name, tree, loosening(part.loosen))
    commands += [command for item in part.vendored for command in _bring(context, tree, item)]
    commands += _unpack(context, part)
    fetched = [item for item in part.vendored if not context.own(item.name)]
    places = [tree, *(f"{tree}/{item.path}" for item in fetched)]
    named = " ".join(word for word in (part.name, part.tag, (part.rev or "")[:9]) if word)
    count = sum(len(context.patch_files(name)) for name in (part.name, *(item.name for item in part.vendored)))
    return Step(
        id=f"{part.name}.fetch",
        title=f"{named}, {count} {'patch' if count == 1 else 'patches'}" if count else named,
        run=tuple(commands),
        needs=("network",),
        makes=(*(f"{place}/.git/HEAD" for place in places), *_unpacked(context, part)),
        component=part.name,
    )


def _make_repository(context: Context, part: SourceComponent) -> tuple[list[tuple[str, ...]], str]:
    """Give what makes a repository of sources that are in none, and the address of the one that is fetched from."""
    made = f"{context.beside(part)}.git"
    if part.repo.startswith(PACKAGED):
        name = part.repo.removeprefix(PACKAGED)
        made = f"{context.layout.src}/{name}.git"
        return [_system_helper(context, "make_repository.py", f"{context.layout.helpers}/{name}", made)], made
    if part.sha256 is None:
        return [], part.repo
    folder = f"{context.beside(part)}.archive"
    held = ("--store", ARCHIVES, "--record", RECORD, "--sha256", part.sha256)
    return [
        _system_helper(context, "fetch_archive.py", "--url", part.repo, *held, "--into", folder),
        _system_helper(context, "make_repository.py", folder, made, "--whole"),
    ], made


def _unpacked(context: Context, part: SourceComponent) -> tuple[str, ...]:
    return tuple(f"{folder}/.archive" for folder in context.archives(part))


def _unpack(context: Context, part: SourceComponent) -> list[tuple[str, ...]]:
    """Bring the archives that a build takes ready made, each beside the tree."""
    return [
        _system_helper(
            context,
            "fetch_archive.py",
            *("--url", each.url, "--store", ARCHIVES, "--record", RECORD),
            *(("--sha256", each.sha256) if each.sha256 else ()),
            *_held_to(context, part, each),
            *("--into", folder),
        )
        for folder, each in context.archives(part).items()
    ]


def _held_to(context: Context, part: SourceComponent, archive: BuildArchive) -> tuple[str, ...]:
    """Name the file of the tree that says which archive belongs to it, and how a user takes another."""
    if archive.pin_file is None:
        return ()
    return ("--pin-file", f"{context.tree(part)}/{archive.pin_file}", "--setting", f"{part.name}.{archive.variable}")


def _make_own(context: Context, part: SourceComponent) -> Step:
    """Give the step that looks at a tree of the user's own, and brings only what configure would fetch into it."""
    tree, result = context.tree(part), f"{context.layout.results}/{part.name}.source.json"
    bring = [command for item in part.vendored for command in _bring(context, tree, item, keep=True)]
    bring += _unpack(context, part)
    archive, date = part.name in context.request.archives, context.date_file(part)
    more = ("--archive", "--date", date, "--clone", _clone(part)) if archive else ()
    look = _system_helper(context, "own_source.py", "--tree", tree, *more, "--out", result)
    return Step(
        id=f"{part.name}.fetch",
        title=f"{part.name}, {'an unpacked archive' if archive else 'a source tree'} of your own",
        run=(*bring, look),
        needs=("network",) if bring else (),
        makes=(result, *((date,) if archive else ()), *_unpacked(context, part)),
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


def _patch(context: Context, name: str, tree: str, loosen: tuple[str, ...] = ()) -> tuple[tuple[str, ...], ...]:
    words = (*loosen, *context.patch_files(name))
    return (_system_helper(context, "apply_patches.py", "--tree", tree, *words),) if words else ()


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


# Steps for trees of the user's own that are not built as the profile says: a ready wheel's source, an editable one.


Words = tuple[str, ...]


def as_source(part: WheelComponent) -> SourceComponent:
    """Give a component that is taken as a ready wheel as one that is built from source, in a tree of its own."""
    from xpusetup.config.take import NAMED_BY  # noqa: PLC0415 - most builds take a part as its profile has it

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
    held = hold_options(dict(compile_environment(context, part))) if part.name == "torch" else ()
    step = Step(
        id=f"{part.name}.build",
        title=f"{part.distribution} from a source tree of your own",
        run=(
            ("rm", "-rf", out),
            context.helper("build_tree.py", "--tree", tree, "--outdir", out, *held),
            collect(context, part, out),
        ),
        after=("requirements", f"{part.name}.fetch"),
        makes=(context.wheel(part),),
        wrap_compilers=True,
        always=True,
    )
    step = compiling(context, part, step)
    return replace(step, cwd=tree, needs=("network", *step.needs))


def make_editable(context: Context, part: SourceComponent, before: Sequence[str], venv_last: str) -> Step:
    """Give the step that installs a tree as it lies: what is edited there is what runs, and no wheel is made."""
    settings = pep517_settings(context, part)
    tree = compile_folder(context, part)
    named: Words = ("--component", part.name, "--distribution", part.distribution, "--tree", tree)
    fresh: tuple[Words, ...] = ()
    if not part.cmake:  # CMake has a folder of its own in the tree
        objects = f"{context.beside(part)}.objects"
        named, fresh = (*named, "--objects", objects), fresh_folder(context, part, objects)
    step = Step(
        id=f"{part.name}.install",
        title=f"{part.distribution}, editable, from a source tree of your own",
        run=(
            *definitions(context, part),
            *refresh(context, part),
            *fresh,
            context.helper("install_editable.py", *named, "--", *settings),
        ),
        after=tuple(dict.fromkeys((*before, venv_last))),
        locks=("venv",),
        makes=(context.installed(part),),
        wrap_compilers=not part.cmake,
        always=True,
    )
    step = compiling(context, part, step)
    return replace(step, env=tuple(sorted((*step.env, *UNBOUND))))


def other_forms(profile: Profile, request: Request) -> Iterator[str]:
    """Name the steps of forms in which a component was built before and is not now: what they made is not of it."""
    own = [name for name, _folder in request.sources]
    for part in profile.components:
        if part.name in request.editable or (part.kind == "wheel" and part.name not in own):
            yield from (f"{part.name}.build", f"{part.name}.inspect")


# How one component becomes an installed wheel.


def make_component(
    context: Context, part: SourceComponent | WheelComponent, *, ready: tuple[str, ...], venv_last: str
) -> Iterator[Step]:
    """Give a component's steps; `ready` installs it builds on, `venv_last` last touched the environment."""
    if part.kind == "wheel" and context.own(part.name):
        part = as_source(part)
    if part.kind == "wheel":
        yield make_wheel_fetch(context, part)
        yield from _installed(context, part, ready, made_by=f"{part.name}.fetch", venv_last=venv_last)
        return
    stands: tuple[str, ...] = ready
    if part.member is not None and looks(part):
        yield make_interface(context, part, part.member, [name for name in ready if name in OF_TORCH])
        stands = (interface_step(part.name), *(name for name in ready if name not in OF_TORCH))
    before = tuple(dict.fromkeys((context.prepared, *stands, f"{part.name}.fetch")))
    yield make_fetch(context, part)
    if part.configure:
        yield make_configure(context, part, before)
        before = (f"{part.name}.configure",)
        if context.request.target:
            yield make_target_step(context, part)
    if part.name in context.request.editable:
        yield make_editable(context, part, before, venv_last)
        return
    yield make_wheel_build(context, part) if part.repo == OWN else make_build(context, part, before)
    yield _make_inspect(context, part)
    yield from _installed(context, part, ready, made_by=f"{part.name}.inspect", venv_last=venv_last)


def _installed(
    context: Context,
    part: SourceComponent | WheelComponent,
    ready: tuple[str, ...],
    *,
    made_by: str,
    venv_last: str,
) -> Iterator[Step]:
    """Give the step that installs a wheel; a member's is held against torch before that, and proved after it."""
    yield from make_fits(context, part, tuple(dict.fromkeys((made_by, *ready))))
    made_by = fits_step(part.name) if part.member is not None else made_by
    conflicts = conflicts_of(part.distribution, context.target.accelerator)
    room = (context.helper("remove_conflicts.py", *removal_options(conflicts)),) if conflicts else ()
    yield Step(
        id=f"{part.name}.install",
        title=f"install {part.distribution} {part.version}",
        run=(*room, context.helper("install_wheel.py", *context.choice(part))),
        env=UNBOUND,
        after=tuple(dict.fromkeys((made_by, venv_last))),
        locks=("venv",),
        makes=(context.installed(part),),
        component=part.name,
    )
    yield from make_proof(context, part, (f"{part.name}.install", *ready))


def left_out_options(
    profile: Profile, part: SourceComponent, environment: Mapping[str, str] | None = None, *, ours: bool = True
) -> Words:
    """Name what a wheel may hold nothing of; a stack's member may bring what serves several accelerators.

    `ours`: a build of this profile made it. One that others published is for the same device, and its libraries for
    collectives are their choice.
    """
    told = environment or {**switched_off(profile, part), **profile.environment, **part.environment}
    known = {*SWITCHES, *(LIBRARIES if ours else ())}
    off = sorted(name.removeprefix("USE_").lower() for name, on in decided(told).items() if name in known and not on)
    held = is_of_torch(part) and part.member is None
    return tuple(word for name in off for word in ("--without", name)) if held else ()


def inspect_options(part: SourceComponent, arch: Sequence[str]) -> tuple[str, ...]:
    """Give what a profile wants of a component's wheel, as options of the helper that looks into it."""
    xpu = ("--requires-xpu",) if part.inspect.xpu else ()
    alone = () if part.inspect.device_code else ("--host-alone",)
    abi = ("--abi", str(part.inspect.abi)) if part.inspect.abi is not None else ()
    if not part.inspect.xpu or not arch:
        return (*xpu, *alone, *abi)
    return (*xpu, *alone, *abi, *(("--arch", ",".join(arch)) if tuple(arch) != (NONE,) else ()))


def _make_inspect(context: Context, part: SourceComponent) -> Step:
    result = f"{context.layout.results}/{part.name}.inspect.json"
    wheel = context.choice(part)
    without = left_out_options(context.profile, part, dict(compile_environment(context, part)))
    wanted = (*inspect_options(part, context.target.arch), *without)
    places = (context.layout.src, context.layout.venv, *context.protected_trees(part))
    foreign = tuple(word for place in places for word in ("--build-folder", place))
    return Step(
        id=f"{part.name}.inspect",
        title=f"what is in the {part.distribution} wheel",
        run=(context.helper("inspect_wheel.py", *wheel, *wanted, *foreign, "--out", result),),
        after=(f"{part.name}.build",),
        makes=(result,),
        component=part.name,
    )
