"""status: what is built and from what, and whether that is still so."""

import os
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xpusetup.base.command import Advice, Command
from xpusetup.base.document import fields_of
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.base.model import ROOT, Layout, MissingProof, RootWheel, Target
from xpusetup.base.text import describe_older, render_first
from xpusetup.base.verbs import about_build
from xpusetup.commands.build_result import ProofSummary, UnverifiedOrigin, describe_proof, describe_unverified
from xpusetup.commands.list import BuildList, list_of
from xpusetup.commands.members import InstalledMisfit, StackMember, list_members, list_misfits
from xpusetup.commands.result import Result, Say
from xpusetup.run.builds import find_builds, go_on
from xpusetup.run.guard import ReplacedPackage, list_replaced, look_for_damage
from xpusetup.run.lock import is_held
from xpusetup.run.manifest import (
    INSTALLING,
    Standing,
    describe_machine,
    find_missing_proof,
    list_wheels,
    read_failed,
    read_manifest,
    read_standing,
    read_verified,
)
from xpusetup.run.prepare import parse_target
from xpusetup.run.root import Root, find_roots, read_lock, read_stamps
from xpusetup.run.workspace import Where, Workspace, load_settings, open_built, options_of, roots_folder
from xpusetup.system.environment import short_path
from xpusetup.system.git import TreeState, read_tree
from xpusetup.system.logs import follow

# status --log: what a step says, as it says it, from another terminal.


@dataclass(frozen=True)
class StepLog:
    """The log of a step, which was said while it was read."""

    step: str
    log: str


def show_log(where: Where, step: str, *, more: bool, say: Say) -> Result[StepLog]:
    """Say the text of a step's log; with `more` go on for as long as a build is at work in the root."""
    root = Root(open_built(where, half=True).root)
    path = root.log(step)
    if not path.exists():
        names = sorted(log.name.removesuffix(".log") for log in path.parent.glob("*.log"))
        has = f"there are logs of: {', '.join(names)}" if names else "nothing ran there yet"
        raise UsageError(f"no step {step!r} has a log in {root.path}", fix=has)
    for piece in follow(path, lambda: more and is_held(root / "lock")):
        say(piece)
    return Result("status log", StepLog(step, str(path)))


@dataclass(frozen=True)
class BuiltRoot:
    """What lies in a root, and where: as its last build wrote it down, whatever options that was given."""

    root: Root
    target: Target
    layout: Layout

    def place(self, text: str) -> Path:
        return Path(text.replace(ROOT, str(self.root.path)))

    @property
    def venv(self) -> Path:
        return self.place(self.layout.venv)

    @property
    def python(self) -> Path:
        return self.venv / "bin/python"


def find_built(workspace: Workspace) -> BuiltRoot:
    """Give what is built in a root. Raises NotReadyError where nothing is, UsageError where it lies elsewhere."""
    root = Root(workspace.root)
    lock = read_lock(root) or {}
    target = parse_target(lock.get("target", {}))
    if target is not None:
        built = BuiltRoot(root, target, Layout(**lock["layout"]) if "layout" in lock else Layout())
        if workspace.layout.adopted and workspace.layout.venv != built.layout.venv:
            message = f"{root.path} was built into {built.venv}, not into {workspace.layout.venv}"
            raise UsageError(message, fix="leave --into out, or name the root of that environment: --root DIR")
        if _is_there(built):
            return built
        if (root / "stamps/venv").exists():
            raise NotReadyError(
                f"the environment of {root.path} is no longer at {built.venv}: it was moved or removed",
                fix="a moved one works where it is now: source ITS-PLACE/bin/activate\nanother one is made by: ",
                command=go_on(root),
            )
    raise _nothing(workspace, root)


def _is_there(built: BuiltRoot) -> bool:
    """Say whether an environment has its Python. Raises NotReadyError where that is closed to this user."""
    try:
        built.python.stat()  # from Python 3.14 on `exists` hides why not
    except (FileNotFoundError, NotADirectoryError):
        return False
    except PermissionError as error:
        line = f"{go_on(built.root)} --python PATH"
        raise NotReadyError(
            f"{built.python} leads to {os.path.realpath(built.python)}, which is closed to you",
            fix="whoever built it makes the environment anew with a Python that all may run: ",
            command=Command(line, gaps=("PATH",)),
        ) from error
    return True


def find_whole(workspace: Workspace) -> BuiltRoot:
    """Give what is built in a root, to compute with. Raises NotReadyError also while a build still changes it."""
    built = find_built(workspace)
    standing = read_standing(built.root)
    if standing.held and standing.coming:
        raise _at_work(workspace, built, standing)
    return built


def _at_work(workspace: Workspace, built: BuiltRoot, standing: Standing) -> NotReadyError:
    watch = watch_command(options_of(workspace, built.layout), standing)
    message = f"a build is at work in {short_path(str(built.root.path))}; to come: {render_first(standing.coming)}"
    fix = Advice("watch it: ", watch, "\nand when it has ended: the same command")
    return NotReadyError(message, fix=fix, follows=watch)


def must_be_installed(workspace: Workspace, built: BuiltRoot) -> None:
    """Stop where a build has not come to the installation of its first part. Raises NotReadyError."""
    if not built.layout.adopted and not any(name.endswith(".install") for name in read_stamps(built.root)):
        standing = read_standing(built.root)
        if standing.held:
            raise _at_work(workspace, built, standing)
        message = f"nothing is installed yet in {built.venv}; to come: {render_first(standing.left)}"
        raise NotReadyError(message, fix="go on: ", command=go_on(built.root))


def watch_command(options: str, standing: Standing) -> Command:
    """Give the command that follows the log of a build at work, or says how far it is between two steps."""
    log = "".join(f" --log {step} -f" for step in standing.at_work[:1])
    return Command(f"{about_build('status', options)}{log}")


WAY = "the shortest way to PyTorch: "


def _nothing(workspace: Workspace, root: Root) -> NotReadyError:
    if is_held(root / "lock"):
        message = f"a build is at work in {root.path}, and there is no environment yet"
        return NotReadyError(message, command=workspace.command("status", "--log", "venv", "-f"))
    if workspace.chosen_by.startswith("the newest"):  # nobody named a release
        place = root.path if workspace.root_named else root.path.parent
        return NotReadyError(f"nothing is built in {place}", fix=WAY, command=Command("xpusetup"))
    verb = "install" if workspace.profile.published else "build"  # minutes, where wheels are published
    return NotReadyError(f"nothing is built in {root.path}", command=workspace.command(verb))


@dataclass(frozen=True, kw_only=True)
class InstalledWheel(RootWheel):
    """A wheel of a root, whether it is as it was made, and whether it is in the environment."""

    intact: bool
    installed: bool


@dataclass(frozen=True, kw_only=True)
class SourceTree(TreeState):
    """Where a source tree stands; `own`: the user's; of an unpacked archive `archive` is the hash of its files."""

    own: bool
    editable: bool
    archive: str = ""


@dataclass(frozen=True, kw_only=True)
class BuildStatus:
    """What a root holds and whether it still is what was made and verified, with the commands that lead on.

    `damaged`: step -> why; `replaced`: what somebody changed in the environment; `at_work`: steps that run now, null
    where nothing is; `interrupted`: steps in which the last run was; `older`: distributions of a build before, which
    are still in the environment; `newer`: trees of the user's own that changed since they were built, with their
    folders; `void`: there was a verification, of something else. `verification` is verify's own
    document, and `proof` what it comes to, null where it does not stand. `misfits`: what beside torch was made for
    another one, null where nobody could look. `members` are those of a stack.
    """

    profile: str
    chosen_by: str
    root: str
    ran: list[str]
    skipped: list[str]
    left: list[str]
    steps: int
    at_work: list[str] | None
    failed: str | None
    interrupted: list[str]
    older: list[str]
    newer: dict[str, str]
    wheels: list[InstalledWheel]
    damaged: dict[str, str]
    checked: bool
    replaced: list[ReplacedPackage]
    made_by: str
    fix: str
    verified: bool | None
    not_verified: MissingProof
    proof: ProofSummary | None
    void: bool
    verify: str
    follow: str
    verification: dict[str, object] | None
    machine: str
    seconds: float
    sources: dict[str, SourceTree]
    patches: list[dict[str, str]]
    pins: list[dict[str, object]]
    unverified: list[UnverifiedOrigin]
    misfits: list[InstalledMisfit] | None
    members: list[StackMember]


def status(where: Where, *, check: bool = False) -> Result[BuildStatus | BuildList]:
    """Say what is built and from what, from what is on disk; of several, one row for each.

    `check`: every file that was made or installed is hashed, also one that looks as it was.
    """
    if where.root and find_roots(Path(where.root)):
        return list_of("status", Path(where.root), check=check)
    named = where.profile or where.root or where.name or where.rev or where.into
    settings = load_settings()
    if not named and not settings.profile and len(find_builds(roots_folder(settings))) > 1:
        return list_of("status", roots_folder(settings), check=check)
    return status_of_one(where, check=check)


def status_of_one(where: Where, *, check: bool = False) -> Result[BuildStatus]:
    """Say what is built and from what, and whether that is still so."""
    workspace = open_built(where, half=True)
    found = _look(workspace, find_built(workspace), check=check)
    bad = found.failed or found.damaged or found.replaced or found.verified is False
    return Result("status", found, code=1 if bad else 0)


def _look(workspace: Workspace, built: BuiltRoot, *, check: bool) -> BuildStatus:
    """Say how far a root is, what of it is as it was made, what that proves, and the commands that lead on."""
    root, manifest, standing = built.root, read_manifest(built.root), read_standing(built.root)
    check = check and not standing.held
    damaged, replaced = look_for_damage(root, check=check), [] if standing.held else list_replaced(root)
    stands = None if damaged or replaced or standing.left else read_verified(root, standing, manifest)
    return BuildStatus(
        **identify(workspace),
        root=str(root.path),
        ran=[],
        skipped=list(standing.done),
        left=list(standing.left),
        steps=len(standing.steps),
        at_work=list(standing.at_work) if standing.held else None,
        failed=None if standing.held else read_failed(root, manifest) or None,
        interrupted=[*standing.cut],
        older=list_older(workspace, built, standing),
        newer=list_newer(workspace, root, standing),
        wheels=_wheels(workspace, root, standing, damaged, {row.name for row in replaced}),
        damaged=damaged,
        checked=check,
        replaced=replaced,
        made_by=standing.command,
        fix=Advice(go_on(root)),
        verified=stands,
        not_verified=find_missing_proof(root, standing),
        proof=None if stands is None else describe_proof(root),
        void=standing.installed and manifest.get("verified") is not None and stands is None,
        verify=about_build("verify", options_of(workspace, built.layout)),
        follow=about_build("status", options_of(workspace, built.layout)),
        verification=manifest.get("verification"),
        machine=describe_machine(manifest.get("facts") or {}),
        seconds=0.0,
        sources=_sources(workspace, built, manifest.get("own", {}), manifest.get("edited", ())),
        patches=manifest.get("patches", []),
        pins=manifest.get("pins", []),
        unverified=describe_unverified(workspace.profile, root),
        misfits=None if standing.held else list_misfits(built.venv),
        members=list_members(workspace.profile, built.root),
    )


def say_differing(where: Where, workspace: Workspace, built: BuiltRoot) -> None:
    """Say before an environment is used what in it is not what its sources are now, and the command for that."""
    if where.say is None:
        return
    standing = read_standing(built.root)
    if older := list_older(workspace, built, standing):
        where.say(f"{built.root.path.name} is not finished: {describe_older(older)}; go on: {go_on(built.root)}")
    if newer := list_newer(workspace, built.root, standing):
        from xpusetup.run.trees import describe_newer  # noqa: PLC0415 - most builds are of no tree of the user's own

        where.say(f"{describe_newer(newer)}: {go_on(built.root)}")


def _wheels(
    workspace: Workspace, root: Root, standing: Standing, damaged: dict[str, str], gone: Container[str]
) -> list[InstalledWheel]:
    """Give the wheels that are there, whether each is as it was made, and whether it is in the environment."""
    steps = {part.distribution: f"{part.name}.install" for part in workspace.profile.components if part.kind != "skip"}
    wheels = list_wheels(root, workspace.profile, standing.command)
    waits = {name: INSTALLING if standing.command == "install" else steps.get(name, "") for name in steps}
    stamps = read_stamps(root)
    there = {
        each.name: each.name not in gone and ((step := waits.get(each.name)) in stamps or step not in standing.steps)
        for each in wheels
    }
    bad = {each.path for each in wheels if any(why.startswith(each.path) for why in damaged.values())}
    return [
        InstalledWheel(**fields_of(each), intact=each.path not in bad, installed=there[each.name]) for each in wheels
    ]


def list_older(workspace: Workspace, built: BuiltRoot, standing: Standing) -> list[str]:
    """Give the distributions that an earlier build put into the environment and this one has yet to replace.

    An installation that was interrupted has no stamp: the one before it is known from the journal.
    """
    names = {f"{part.name}.install": part.distribution for part in workspace.profile.components}
    left = {step: name for step, name in names.items() if name and step in standing.left}
    stamps = read_stamps(built.root)
    if left.keys() <= stamps.keys():
        return [*left.values()]
    from packaging.utils import canonicalize_name  # noqa: PLC0415 - most builds are not cut off there

    from xpusetup.machine.probe_fit import site_packages  # noqa: PLC0415 - same
    from xpusetup.run.guard import list_versions  # noqa: PLC0415 - same
    from xpusetup.run.journal import read_records  # noqa: PLC0415 - same

    ran = {record.step for record in read_records(built.root) if record.state == "ran"}
    held = {name for place in site_packages(built.venv) for name in list_versions(place)}
    return [name for step, name in left.items() if step in stamps or (step in ran and canonicalize_name(name) in held)]


def list_newer(workspace: Workspace, root: Root, standing: Standing) -> dict[str, str]:
    """Give the trees of the user's own that changed since they were built, with their folders.

    Nothing is said of a build that is not done: the next one looks at them anyway.
    """
    own = read_manifest(root).get("own")
    if not own or standing.held or standing.left:
        return {}
    from xpusetup.run.trees import find_newer  # noqa: PLC0415 - most builds are of no tree of the user's own

    return find_newer(root, workspace.profile, own)


def _sources(
    workspace: Workspace, built: BuiltRoot, own: Mapping[str, Any], edited: Container[str]
) -> dict[str, SourceTree]:
    """Give where the trees stand; one that was compiled with changes counts as changed, also where they are gone."""
    src = built.place(built.layout.src)
    names = [part.name for part in workspace.profile.components if part.kind == "source"]
    places = {**{name: src / name for name in names}, **{name: Path(one["folder"]) for name, one in own.items()}}
    found = {name: _tree(place, name in own, own.get(name, {})) for name, place in places.items()}
    return {
        name: replace(tree, changed=tree.changed or name in edited) for name, tree in found.items() if tree is not None
    }


def _tree(place: Path, is_own: bool, own: Mapping[str, Any]) -> SourceTree | None:
    """Give where a tree stands now; of an unpacked archive the hash of its files when it was last built."""
    tree = TreeState("", changed=False) if "archive" in own else read_tree(place)
    if tree is None:
        return None
    archive, editable = str(own.get("archive", "")), bool(own.get("editable"))
    return SourceTree(tree.rev, tree.changed, own=is_own, editable=editable, archive=archive)


def identify(workspace: Workspace) -> dict[str, str]:
    """Say whose build it is, and who chose it, as fields of a result."""
    return {"profile": workspace.profile.name, "chosen_by": workspace.chosen_by}
