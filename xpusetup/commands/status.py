"""status, env and run: what the built environment is and does."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from xpusetup.base.document import fields_of
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.base.model import ROOT, Layout, Wheel
from xpusetup.commands.build_result import describe_unverified
from xpusetup.commands.result import Result
from xpusetup.config.profile import Profile
from xpusetup.config.settings import make_network
from xpusetup.machine.probe_tools import Change, capture, capture_scripts, holds_runtime
from xpusetup.plan.environment import constraints_file
from xpusetup.plan.verify import parse_variables
from xpusetup.run.guard import find_altered_steps, list_replaced
from xpusetup.run.lock import is_held
from xpusetup.run.manifest import (
    INSTALLING,
    Standing,
    list_wheels,
    read_document,
    read_manifest,
    read_standing,
    still_verified,
)
from xpusetup.run.prepare import parse_target
from xpusetup.run.root import Root, find_damage, find_roots, read_lock, read_stamps
from xpusetup.run.workspace import ONLY, Workspace, open_built, options_of
from xpusetup.system import files
from xpusetup.system.environment import exec_command, now, variable, variables
from xpusetup.system.git import Tree, read_tree
from xpusetup.system.logs import follow
from xpusetup.system.process import run_attached
from xpusetup.verify.outcomes import describe_machine

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from xpusetup.base.model import Target
    from xpusetup.commands.build_result import UnverifiedOrigin
    from xpusetup.run.guard import ReplacedPackage
    from xpusetup.run.workspace import Where

    Say: TypeAlias = Callable[[str], None]


# status --log: what a step says, as it says it, from another terminal.


@dataclass(frozen=True)
class StepLog:
    """The log of a step, which was said while it was read."""

    step: str
    log: str


def show_log(where: Where, step: str, *, more: bool, say: Callable[[str], None]) -> Result[StepLog]:
    """Say the text of a step's log; with `more` go on for as long as a build is at work in the root."""
    root = Root(open_built(where).root)
    path = root.log(step)
    if not path.exists():
        names = sorted(log.name.removesuffix(".log") for log in path.parent.glob("*.log"))
        has = f"there are logs of: {', '.join(names)}" if names else "nothing ran there yet"
        raise UsageError(f"no step {step!r} has a log in {root.path}", fix=has)
    for piece in follow(path, lambda: more and is_held(root / "lock")):
        say(piece)
    return Result("status log", StepLog(step, str(path)))


# status of a folder that holds several builds, as those of a cluster: one row for each.


COLLECTED = "results"
"""The folder beside roots in which a cluster's jobs put copies of what they made."""


@dataclass(frozen=True, kw_only=True)
class BuildSummary:
    """A build of several: how many steps there are and are done, what was made, what is damaged, what was proven."""

    name: str
    profile: str
    python: str
    arch: list[str]
    steps: int
    done: int
    failed: str | None
    damaged: dict[str, str]
    wheels: list[Wheel]
    verified: bool | None


@dataclass(frozen=True)
class BuildList:
    """The builds in a folder. `checked`: every file was hashed."""

    root: str
    builds: list[BuildSummary]
    checked: bool


def status_of_several(folder: str, roots: Sequence[Root], *, check: bool = False) -> Result[BuildList]:
    """Say of each root how far it is, what it made and whether that was verified."""
    rows = [row for root in roots if root.path.name != COLLECTED and (row := _row(root, check=check))]
    bad = any(row.failed or row.damaged or row.verified is False for row in rows)
    return Result("status", BuildList(str(Path(folder).absolute()), rows, check), code=1 if bad else 0)


def _row(root: Root, *, check: bool) -> BuildSummary | None:
    """Describe a root from its files alone: it may be at work on another machine."""
    lock = read_lock(root)
    if lock is None:
        return None
    manifest, stamps = read_manifest(root), read_stamps(root)
    steps = [path.stem for path in (root / "steps").glob("*.sh")]
    made_by = "install" if "wheels.install" in steps else "build"
    wheels = list_wheels(root, Profile.model_validate(lock["profile"]), made_by)
    damaged = {**(find_altered_steps(root) if check else {}), **find_damage(root, check=check)}
    return BuildSummary(
        name=root.path.name,
        profile=lock["profile"]["name"],
        python=lock["target"]["python_version"],
        arch=lock["target"]["arch"],
        steps=len(steps),
        done=len(stamps.keys() & set(steps)),
        failed=(files.read_text(root / "failed") or "").strip() or manifest.get("failed"),
        damaged=damaged,
        wheels=wheels,
        verified=None if damaged else _verified(root, "verify.smoke" in stamps),
    )


def _verified(root: Root, stamped: bool) -> bool | None:
    """Say what the last verification proved; one whose step did not end well has failed, if it said anything."""
    said = read_document(root / "results/verify.json").get("verified")
    return said if said is None or stamped else False


SIGNALS = 128
"""What a shell adds to the number of the signal that ended a command."""


@dataclass(frozen=True)
class Built:
    """What lies in a root, and where: as its last build wrote it down, whatever options that was given."""

    root: Root
    target: Target
    layout: Layout

    def place(self, text: str) -> Path:
        """Give a folder of the layout as a path."""
        return Path(text.replace(ROOT, str(self.root.path)))

    @property
    def venv(self) -> Path:
        """The built environment."""
        return self.place(self.layout.venv)

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.venv / "bin/python"


def find_built(workspace: Workspace) -> Built:
    """Give what is built in a root. Raises NotReadyError where nothing is, UsageError where it lies elsewhere."""
    root = Root(workspace.root)
    lock = read_lock(root) or {}
    target = parse_target(lock.get("target", {}))
    if target is not None:
        built = Built(root, target, Layout(**lock["layout"]) if "layout" in lock else Layout())
        _must_be_that(workspace, built)
        if built.python.exists():
            return built
        if (root / "stamps/venv").exists():
            raise _gone(workspace, built)
    raise _nothing(workspace, root)


def _nothing(workspace: Workspace, root: Root) -> NotReadyError:
    if is_held(root / "lock"):
        message = f"a build is at work in {root.path}, and there is no environment yet"
        return NotReadyError(message, fix=f"xpusetup status {workspace.options} --log venv -f")
    others = [each.path.name for each in find_roots(root.path.parent) if read_lock(each)]
    if workspace.chosen_by.startswith("the newest") and others:
        message = f"nothing is built in {root.path}; elsewhere there is {', '.join(others)}"
        return NotReadyError(message, fix=f"name one (--name NAME); all: xpusetup status --root {root.path.parent}")
    return NotReadyError(f"nothing is built in {root.path}", fix=f"xpusetup build {workspace.options}")


def _must_be_that(workspace: Workspace, built: Built) -> None:
    if workspace.layout.adopted and workspace.layout.venv != built.layout.venv:
        message = f"{built.root.path} was built into {built.venv}, not into {workspace.layout.venv}"
        raise UsageError(message, fix="leave --into out, or name the root of that environment: --root DIR")


def _gone(workspace: Workspace, built: Built) -> NotReadyError:
    return NotReadyError(
        f"the environment of {built.root.path} is no longer at {built.venv}: it was moved or removed",
        fix=f"a moved one works where it is now: source ITS-PLACE/bin/activate\n"
        f"another one is made by: xpusetup build {options_of(workspace, built.layout)}",
    )


@dataclass(frozen=True, kw_only=True)
class InstalledWheel(Wheel):
    """A wheel of a root, whether it is as it was made, and whether it is in the environment."""

    intact: bool
    installed: bool


@dataclass(frozen=True, kw_only=True)
class SourceTree(Tree):
    """Where a source tree stands; `own`: the user's; of an unpacked archive `archive` is the hash of its files."""

    own: bool
    editable: bool
    archive: str = ""


@dataclass(frozen=True, kw_only=True)
class BuildStatus:
    """What a root holds and whether it still is what was made and verified, with the commands that lead on.

    `damaged`: step -> why; `replaced`: what somebody changed in the environment; `at_work`: steps that run now, null
    where nothing is; `void`: there was a verification, of something else. `verification` is verify's own document.
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
    wheels: list[InstalledWheel]
    damaged: dict[str, str]
    checked: bool
    replaced: list[ReplacedPackage]
    made_by: str
    fix: str
    verified: bool | None
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


def status(where: Where, *, check: bool = False) -> Result[BuildStatus | BuildList]:
    """Say what is built and from what, from what is on disk; of a folder that holds roots, one row for each.

    `check`: every file that was made or installed is hashed, also one that looks as it was.
    """
    if where.root and (roots := find_roots(Path(where.root))):
        several = status_of_several(where.root, roots, check=check)
        return Result(several.command, several.data, several.code)
    one = status_of_one(where, check=check)
    return Result(one.command, one.data, one.code)


def status_of_one(where: Where, *, check: bool = False) -> Result[BuildStatus]:
    """Say what is built and from what, and whether that is still so."""
    workspace = open_built(where)
    found = _look(workspace, find_built(workspace), check=check)
    bad = found.failed or found.damaged or found.replaced or found.verified is False
    return Result("status", found, code=1 if bad else 0)


def _look(workspace: Workspace, built: Built, *, check: bool) -> BuildStatus:
    """Say how far a root is, what of it is as it was made, what that proves, and the commands that lead on."""
    root, manifest, standing = built.root, read_manifest(built.root), read_standing(built.root)
    altered = find_altered_steps(root) if check else {}
    damaged, replaced = {**altered, **find_damage(root, check=check)}, list_replaced(root)
    intact = standing.installed and not damaged and not replaced
    stands = still_verified(root, manifest) if intact else None
    options = options_of(workspace, built.layout)
    return BuildStatus(
        **_whose(workspace),
        root=str(root.path),
        ran=[],
        skipped=list(standing.done),
        left=list(standing.left),
        steps=len(standing.steps),
        at_work=list(standing.at_work) if standing.held else None,
        failed=None if standing.held else manifest.get("failed"),
        wheels=_wheels(workspace, root, standing, damaged),
        damaged=damaged,
        checked=check,
        replaced=replaced,
        made_by=standing.command,
        fix="\n".join([*_repeat(root, altered), _again(standing, options)]),
        verified=stands,
        void=standing.installed and manifest.get("verified") is not None and stands is None,
        verify=f"xpusetup verify {options}",
        follow=f"xpusetup status {options}",
        verification=manifest.get("verification"),
        machine=describe_machine(manifest.get("facts") or {}),
        seconds=0.0,
        sources=_sources(workspace, built, manifest.get("own", {}), manifest.get("edited", ())),
        patches=manifest.get("patches", []),
        pins=manifest.get("pins", []),
        unverified=describe_unverified(workspace.profile, root),
    )


def _wheels(workspace: Workspace, root: Root, standing: Standing, damaged: dict[str, str]) -> list[InstalledWheel]:
    """Give the wheels that are there, whether each is as it was made, and whether it is in the environment."""
    steps = {part.distribution: f"{part.name}.install" for part in workspace.profile.components if part.kind != "skip"}
    wheels = list_wheels(root, workspace.profile, standing.command)
    waits = {name: INSTALLING if standing.command == "install" else steps.get(name, "") for name in steps}
    there = {each.name: waits.get(each.name) not in standing.left for each in wheels}
    return [
        InstalledWheel(**fields_of(each), intact=not _is_damaged(each, damaged), installed=there[each.name])
        for each in wheels
    ]


def _again(standing: Standing, options: str) -> str:
    return f"xpusetup {standing.command} {options} {shlex.join(standing.words)}".rstrip()


def _repeat(root: Root, steps: Iterable[str]) -> Iterator[str]:
    """Give the commands that install again what was altered: a build looks at lists of files, not into each."""
    for step in steps:
        begun, script = (shlex.quote(str(root / name)) for name in (f"inputs/.begun.{step}", f"steps/{step}.sh"))
        yield f"touch {begun} && XPUSETUP_FORCE=1 bash {script}"


def _is_damaged(wheel: Wheel, damaged: dict[str, str]) -> bool:
    return any(why.startswith(wheel.path) for why in damaged.values())


def _sources(
    workspace: Workspace, built: Built, own: Mapping[str, Any], edited: Container[str]
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
    tree = Tree("", changed=False) if "archive" in own else read_tree(place)
    if tree is None:
        return None
    archive, editable = str(own.get("archive", "")), bool(own.get("editable"))
    return SourceTree(tree.rev, tree.changed, own=is_own, editable=editable, archive=archive)


def _whose(workspace: Workspace) -> dict[str, str]:
    return {"profile": workspace.profile.name, "chosen_by": workspace.chosen_by}


@dataclass(frozen=True)
class ShellEnvironment:
    """What a shell sets and unsets."""

    set_: dict[str, str]
    unset: list[str]


def env(where: Where, *, build: bool, say: Say | None = None) -> Result[ShellEnvironment]:
    """Give what to set for using the result, or what a build step sees, and say whose where none was named."""
    workspace = open_built(where)
    _say_whose(workspace, say)
    change = _change(find_built(workspace), build=build)
    network = make_network(workspace.settings.network, variables()) if build else {}
    return Result("env", ShellEnvironment({**change.sets, **network}, list(change.unsets)))


def _say_whose(workspace: Workspace, say: Say | None) -> None:
    if say is not None and workspace.chosen_by == ONLY:
        say(f"{workspace.profile.name}, {ONLY}")


def _change(built: Built, *, build: bool) -> Change:
    venv, kit = built.venv, built.target.toolkit
    change = capture(kit) if kit is not None and (build or kit.at_run_time) else _of_device(built.target, build=build)
    path = f"{venv}/bin:{change.sets.get('PATH', variable('PATH'))}"
    own = {"PYTHONHOME": "", "PYTHONPATH": "", "LD_LIBRARY_PATH": _library_path()}
    mark = "CONDA_PREFIX" if (venv / "conda-meta").is_dir() else "VIRTUAL_ENV"
    wanted = {**own, **change.sets, **({} if build else _guarded(built)), mark: str(venv), "PATH": path}
    sets = {name: value for name, value in wanted.items() if value and value != variable(name)}
    return Change(sets, (*change.unsets, *(name for name in own if not wanted[name] and variable(name))))


def _of_device(target: Target, *, build: bool) -> Change:
    """Give what the device's libraries need where they run, in its usual mode."""
    if build:
        return Change({}, ())
    change = capture_scripts(target.scripts)
    usual = (pair for mode in target.modes[:1] for pair in mode.variables)
    return Change({**change.sets, **dict(parse_variables((*target.variables, *usual)))}, change.unsets)


def _guarded(built: Built) -> dict[str, str]:
    """Give uv the constraints of the environment: it reads no pip.conf."""
    ours = built.place(constraints_file(built.layout))
    told = [name for name in variable("UV_CONSTRAINT").split() if name != str(ours)]
    return {"UV_CONSTRAINT": " ".join((*told, str(ours)))} if ours.exists() else {}


def _library_path() -> str:
    """Take other SYCL runtimes and torches off the caller's library path: two of them must not meet in a process."""
    folders = variable("LD_LIBRARY_PATH").split(":")
    return ":".join(folder for folder in folders if folder and not holds_runtime(folder))


def run_environment(built: Built) -> dict[str, str]:
    """Give the variables that a command in the built environment sees."""
    change = _change(built, build=False)
    kept = {name: value for name, value in variables().items() if name not in change.unsets}
    return {**kept, **change.sets}


def run(where: Where, command: Sequence[str], say: Say | None = None) -> NoReturn:
    """Become a command in the built environment, and say whose where none was named."""
    workspace, environment = _ready(where, command)
    _say_whose(workspace, say)
    exec_command(command, environment)


@dataclass(frozen=True, kw_only=True)
class CommandRun:
    """How a command in the built environment ended: its exit code (of a signal negative), and seconds."""

    profile: str
    chosen_by: str
    root: str
    argv: list[str]
    code: int
    seconds: float


def run_and_tell(where: Where, command: Sequence[str]) -> Result[CommandRun]:
    """Run a command in the built environment, and tell how it ended: with its own exit code."""
    workspace, environment = _ready(where, command)
    began = now()
    code = run_attached(command, quiet=True, env=environment)
    if code is None:
        raise UsageError(f"there is no command {command[0]!r} in the built environment", fix="look at its spelling")
    done = CommandRun(
        **_whose(workspace),
        root=str(workspace.root),
        argv=list(command),
        code=code,
        seconds=round(now() - began, 3),
    )
    return Result("run", done, code=code if code >= 0 else SIGNALS - code)


def _ready(where: Where, command: Sequence[str]) -> tuple[Workspace, dict[str, str]]:
    if not command:
        raise UsageError("run needs a command", fix="xpusetup run -- python -c 'import torch'")
    workspace = open_built(where)
    return workspace, run_environment(find_built(workspace))
