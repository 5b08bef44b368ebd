"""bundle: all that a build would fetch, in one file, and whether such a file is whole."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from xpusetup.base.command import Advice, Command
from xpusetup.base.document import fields_of
from xpusetup.base.errors import UsageError, WorkFailedError, XpuError
from xpusetup.base.model import ROOT, Event, Layout, Request
from xpusetup.base.text import render_size
from xpusetup.bundle.collect import GATHERED, collect, make_bundle_plan, make_wheel_bundle_plan
from xpusetup.bundle.contents import (
    PROGRAM,
    TOOLKIT,
    WHEELS,
    Bundle,
    BundleRepository,
    missing_wheels,
    render_bundle,
    resolve_address,
)
from xpusetup.bundle.io import (
    check_place,
    find_broken,
    make_repository,
    read_commit_file,
    read_head,
    submodules_of,
    unpack,
    write_bundle,
)
from xpusetup.commands.build import note, progress
from xpusetup.commands.build_result import UnverifiedOrigin, describe_unverified
from xpusetup.commands.explain import GoingOn, describe_failure
from xpusetup.commands.profiles import ensure_locked
from xpusetup.commands.result import Result
from xpusetup.config.cmake import find_tag
from xpusetup.config.request import COMMIT
from xpusetup.config.settings import make_network
from xpusetup.config.shipped import full_name, profile_names, stack_names
from xpusetup.emit.script import render_script
from xpusetup.plan.install import INSTALL, SOURCES, Purpose
from xpusetup.recommend.machine import known
from xpusetup.run.lock import hold_lock
from xpusetup.run.prepare import PreparedPlan, asking_words, forget_damaged, preview, write_prepared
from xpusetup.run.root import PACKING, open_root
from xpusetup.run.runner import PlanRun, run_plan
from xpusetup.run.workspace import Where, Workspace, open_workspace
from xpusetup.system import files
from xpusetup.system.environment import now, short_path, variables, whole_path
from xpusetup.system.program import describe_program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from xpusetup.config.profile import SourceComponent
    from xpusetup.machine.platforms import ToolkitInstaller


# bundle create: all that a build would fetch, in one file.


@dataclass(frozen=True, kw_only=True)
class CreateOptions:
    """What to write, for which of the two commands, and whether with the toolkit's offline installer."""

    file: str
    origin: str = "source"
    installer: bool = False
    observe: Callable[[Event], None] = field(default=lambda _event: None)

    @property
    def purpose(self) -> Purpose:
        """Whom the bundle is for. Raises UsageError for an origin that is none."""
        if self.origin not in SOURCES:
            raise UsageError(f"--from cannot be {self.origin!r}", fix=f"use one of: {', '.join(SOURCES)}")
        return SOURCES[self.origin]


@dataclass(frozen=True)
class BundledRepository:
    """A repository of a bundle: its address, and the commits that are in it."""

    address: str
    commits: list[str]


@dataclass(frozen=True, kw_only=True)
class BundleContents:
    """What is in a bundle for a profile, where it lies, its bytes and its hash; `purpose` is the command that takes it.

    `revs` are the refs, `takes` the ways of parts and `toolkit` the tool chain that were asked for, `parts` are the
    components that it serves, `wheels` and `program` names of files, `installer` that of the toolkit's installer.
    """

    profile: str
    purpose: Literal["build", "install"]
    revs: dict[str, str]
    takes: dict[str, str]
    toolkit: str | None
    parts: list[str]
    python: str
    machine: str
    created_by: str
    repositories: list[BundledRepository]
    wheels: list[str]
    program: list[str]
    installer: str | None
    file: str
    bytes: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class CreatedBundle(BundleContents):
    """A bundle that was written, what of it is of unverified origin, and the folder of packing, which is gone again."""

    root: str
    unverified: list[UnverifiedOrigin]


@dataclass(frozen=True, kw_only=True)
class VerifiedBundle(BundleContents):
    """A bundle that was checked: how many files it has, and what its lock asks for that is not in it."""

    files: int
    missing: list[str]


def create(where: Where, request: Request, options: CreateOptions) -> Result[CreatedBundle]:
    """Fetch what a build of a profile would fetch, into a folder of its own, and write it into one file.

    A build in the same root stays as it is. The folder goes when the file is whole, so that the next try finds it.
    """

    def warn(text: str) -> None:
        options.observe(note(text))

    def say(text: str) -> None:
        options.observe(progress(text))

    if full_name(options.file) in (*profile_names(), *stack_names()):
        line = shlex.join(["xpusetup", "bundle", "create", f"{options.file}.tar", options.file])
        raise UsageError(f"{options.file} is a profile; name the bundle's file first", command=line)
    file = whole_path(options.file)
    workspace = open_workspace(where)
    _refuse_place(file, options.file, workspace.root)
    _refuse_profile(workspace, where, request, options)
    check_place(file)
    workspace = _apart(ensure_locked(workspace, warn, say))
    installer = _choose_installer(workspace, request) if options.installer else None
    root = open_root(workspace.root)
    with hold_lock(root / "lock", warn) as lock:
        prepared = _prepare_or_clear(workspace, request, options.purpose, installer)
        write_prepared(workspace, request, prepared)
        for text in forget_damaged(prepared.root):
            warn(f"{text}: it is fetched again")
        if installer is None:
            shutil.rmtree(root / "bundle" / TOOLKIT, ignore_errors=True)
        _fetch(workspace, prepared, lock, options)
        bundle, members = collect(workspace, prepared, say)
        say(f"writing {render_size(bundle.size)} in {len(members)} files to {short_path(str(file))}")
        write_bundle(file, render_bundle(bundle), members)
        unverified = describe_unverified(workspace.profile, root, prepared.plan)
        _clear(workspace)
    found = fields_of(describe(bundle, file))
    return Result("bundle create", CreatedBundle(**found, root=str(workspace.root), unverified=unverified))


def _apart(workspace: Workspace) -> Workspace:
    """Give the workspace with folders of its own below those of its build, so that nothing of that is touched."""
    src = workspace.layout.src
    layout = Layout() if src.startswith(ROOT) else Layout(src=f"{src}/{PACKING}")
    return replace(workspace, root=workspace.root / PACKING, layout=layout)


def _prepare_or_clear(
    workspace: Workspace, request: Request, purpose: Purpose, installer: ToolkitInstaller | None
) -> PreparedPlan:
    """Make the plan that gathers; where that fails before anything was fetched, nothing of it stays."""
    try:
        return _prepare(workspace, request, purpose, installer)
    except XpuError:
        if not any((workspace.root / "stamps").iterdir()):
            _clear(workspace)
        raise


def _places(workspace: Workspace) -> tuple[Path, ...]:
    """Give the folders in which a bundle is packed."""
    src = Path(workspace.layout.src.replace(ROOT, str(workspace.root)))
    return (workspace.root,) if src.is_relative_to(workspace.root) else (workspace.root, src)


def _clear(workspace: Workspace) -> None:
    for place in _places(workspace):
        shutil.rmtree(place, ignore_errors=True)
        with suppress(OSError):  # a build is there
            place.parent.rmdir()


def _refuse_profile(workspace: Workspace, where: Where, request: Request, options: CreateOptions) -> None:
    """Refuse a profile of which nothing can be carried, and what does nothing for published wheels."""
    name, installer = workspace.profile.name, workspace.profile.installer
    if installer is not None:
        fix = "take its maker's container image where there is no network"
        raise UsageError(f"{name} is installed by {installer.program}, which fetches itself", fix=fix)
    if options.purpose is not INSTALL:
        return
    if workspace.profile.published is None:
        raise UsageError(f"{name} names no published wheels", fix="leave --from wheels out")
    if options.installer:
        raise UsageError("published wheels bring their own runtime", fix="leave --installer out")
    if workspace.revs or workspace.takes or where.toolkit or request.only:
        fix = "leave --rev, --take, --toolkit and --only out"
        raise UsageError("published wheels are installed whole, as they are", fix=fix)


def _refuse_place(file: Path, name: str, root: Path) -> None:
    """Refuse to write where something would be lost. Raises UsageError."""
    if file.is_dir():
        raise UsageError(f"{name or file} is a folder", fix=f"name a file: {shlex.quote(str(file))}/NAME.tar")
    if file.is_relative_to(root / PACKING):
        raise UsageError(f"{name} lies where the bundle is packed, which is removed", fix="write it elsewhere")
    if file.exists():
        try:
            read_head(file)
        except UsageError as error:
            raise UsageError(f"{name} is there, and is no bundle", fix="name another file, or remove it") from error


def _choose_installer(workspace: Workspace, request: Request) -> ToolkitInstaller:
    wanted = workspace.profile.toolkit
    if request.require_hashes:
        raise UsageError("Intel publishes no hash of oneAPI's offline installer", fix="leave --installer out")
    if wanted is None:
        raise UsageError(f"{workspace.profile.name} is built without a toolkit", fix="leave --installer out")
    installer = known().platforms.installer_of(wanted.kind, wanted.preferred)
    if installer is None:
        message = f"no offline installer of {wanted.title} is known for {workspace.profile.name}"
        page = f": {wanted.packages.page}" if wanted.packages.page else ""
        raise UsageError(message, fix=f"leave --installer out, and carry its packages over yourself{page}")
    return installer


def _prepare(
    workspace: Workspace, request: Request, purpose: Purpose, installer: ToolkitInstaller | None
) -> PreparedPlan:
    """Make the plan that gathers. The machine need not be one that can build: it has no toolkit, perhaps."""
    seen = preview(workspace, request, purpose)
    program = describe_program(seen.root / "bundle")
    if purpose is INSTALL:
        plan = make_wheel_bundle_plan(workspace.profile, request, seen.plan, program)
    else:
        plan = make_bundle_plan(workspace.profile, request, seen.plan, program, installer.url if installer else "")
    prepared = replace(seen, plan=plan, scripts={step.id: render_script(step, plan) for step in plan.steps})
    gathered = Path(GATHERED.replace(ROOT, str(prepared.root.path)))
    if not all((gathered / name).is_dir() for name in (WHEELS, PROGRAM)):
        files.remove(prepared.root / "stamps/bundle.wheels")
    files.remove(prepared.root / "stamps/bundle.program")  # its key does not see that a checkout was edited
    return prepared


def _fetch(workspace: Workspace, prepared: PreparedPlan, lock: int, options: CreateOptions) -> None:
    """Run the steps. Raises WorkFailedError with the cause that a step's log tells."""
    text = f"a bundle of {workspace.profile.name} · {short_path(str(prepared.root.path))}"
    options.observe(Event(kind="plan", time=now(), text=text, total=len(prepared.plan.steps)))
    outcome = run_plan(
        PlanRun(
            root=prepared.root,
            plan=prepared.plan,
            scripts=prepared.scripts,
            identities=prepared.identities,
            lock=lock,
            tuning=make_network(workspace.settings.network, variables()),
            observe=options.observe,
        )
    )
    if outcome.failed:
        command = Command(workspace.command("bundle create", "FILE", *asking_words(workspace)), gaps=("FILE",))
        go_on = GoingOn(command, [], outcome.seconds)
        told = describe_failure(prepared.root, outcome.failed, go_on)
        causes = [cause.cause for cause in told.causes]
        why = next(text for text in (*causes, told.first_error, *told.last_lines[-1:], "see its log") if text)
        words = f"look at {short_path(told.log)}; the same command goes on. To give it up:"
        lines = (words, Command(shlex.join(("rm", "-rf", *map(str, _places(workspace))))))
        raise WorkFailedError(f"{outcome.failed} failed: {why}", fix=Advice.lines(lines))


def describe(bundle: Bundle, path: Path) -> BundleContents:
    return BundleContents(
        profile=bundle.base.name,
        purpose=bundle.purpose,
        revs=bundle.revs,
        takes=bundle.takes,
        toolkit=bundle.toolkit or None,
        parts=bundle.parts,
        python=bundle.python,
        machine=bundle.machine,
        created_by=bundle.created_by,
        repositories=[BundledRepository(each.addresses[0], list(each.commits)) for each in bundle.repositories],
        wheels=bundle.names(WHEELS),
        program=bundle.names(PROGRAM),
        installer=bundle.installer or None,
        file=str(whole_path(str(path))),
        bytes=path.stat().st_size,
        sha256=files.hash_file(path),
    )


# bundle verify: every hash, every commit with its whole tree, every wheel that the lock asks for.


def verify_bundle(file: str) -> Result[VerifiedBundle]:
    """Check a bundle against what it says of itself, and that against its lock. Raises UsageError for a damaged one."""
    path = Path(file)
    bundle = read_head(path)
    with tempfile.TemporaryDirectory(prefix="xpusetup-bundle-") as scratch:
        folder = files.note_place(Path(scratch) / "bundle", "export TMPDIR=DIR")
        unpack(path, bundle, folder, lambda made: _make_all(bundle, made), only="git/")
        missing = [*_missing_sources(bundle, folder), *_missing_wheels(bundle)]
    told = VerifiedBundle(**fields_of(describe(bundle, path)), files=len(bundle.members), missing=missing)
    return Result("bundle verify", told, code=1 if missing else 0)


def _make_all(bundle: Bundle, folder: Path) -> None:
    for repository in bundle.repositories:
        make_repository(repository, folder)


def _missing_wheels(bundle: Bundle) -> Iterator[str]:
    ready = [
        f"{part.distribution}=={part.version}"
        for part in bundle.profile.components
        if part.kind == "wheel" and part.name in bundle.parts
    ]
    there = bundle.names(WHEELS)
    for pin in missing_wheels([*bundle.pins, *ready], bundle.python, bundle.machine, there):
        yield f"a wheel of {pin} for Python {bundle.python} on {bundle.machine}"
    own = missing_wheels([f"xpusetup=={bundle.created_by}"], bundle.python, bundle.machine, bundle.names(PROGRAM))
    yield from (f"a wheel of {pin}" for pin in own)


def _missing_sources(bundle: Bundle, folder: Path) -> Iterator[str]:
    """Follow the lock from its components to their submodules, in the packs themselves."""
    if bundle.purpose == "install":
        return
    known = {address: each for each in bundle.repositories for address in each.addresses}
    for part in bundle.profile.components:
        if part.kind != "source" or part.name not in bundle.parts or not part.from_git:
            continue
        rev = part.rev or _ref(known.get(part.repo), f"refs/tags/{part.tag}" if part.tag else part.ref)
        yield from _missing_tree(known, folder, part.repo, rev, part.sparse)
        top = known.get(part.repo)
        for address, pinned in _vendored(part, folder / top.folder if top else None, rev, known):
            yield from _missing_tree(known, folder, address, pinned)


def _ref(repository: BundleRepository | None, name: str) -> str:
    return repository.refs.get(name, "") if repository else ""


def _vendored(
    part: SourceComponent, top: Path | None, rev: str, known: dict[str, BundleRepository]
) -> Iterator[tuple[str, str]]:
    """Give address and commit of what lies in a tree besides; the tree's own file rules, as it does when fetching."""
    for item in part.vendored:
        text = read_commit_file(top, rev, item.pin_file) if top is not None and item.pin_file else ""
        words = [find_tag(text, item.clones)] if item.clones else text.split()
        named = next((word for word in words if COMMIT.fullmatch(word)), "")
        tag = words[0] if item.clones and words[0] and not named else item.tag
        tagged = _ref(known.get(item.repo), f"refs/tags/{tag}")
        yield item.repo, named or (tagged if tag != item.tag else "") or item.rev or tagged


def _missing_tree(
    known: dict[str, BundleRepository], folder: Path, address: str, rev: str, sparse: Sequence[str] = ()
) -> Iterator[str]:
    repository = known.get(address)
    if repository is None or rev not in repository.commits:
        yield f"{address} {rev}".rstrip()
        return
    place = folder / repository.folder
    if broken := find_broken(place, [rev]):
        yield f"{address} {rev} is not whole: {broken[rev]}"
        return
    for module in submodules_of(place, rev, sparse):
        asked = resolve_address(address, module.address)
        inside = next((each for each in (asked, module.address) if each in known), asked)
        yield from _missing_tree(known, folder, inside, module.rev)
