"""What a build tells at its end: where the time went, how to use what was made, and how to go on after a failure."""

from __future__ import annotations

import re
import shlex
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.base.command import Command
from xpusetup.base.errors import NotReadyError
from xpusetup.base.model import ROOT, MissingProof, Plan, Request, RootWheel, Step
from xpusetup.base.verbs import about_build, sort_words
from xpusetup.commands.cache import measure
from xpusetup.commands.members import (
    InstalledMisfit,
    StackMember,
    list_members,
    list_misfits,
)
from xpusetup.config.profile import Start  # noqa: TC001 - in the schema of results
from xpusetup.config.request import render_request
from xpusetup.plan.addon import ADDON
from xpusetup.plan.context import patches_of
from xpusetup.plan.install import BUILD, PUBLISHED
from xpusetup.plan.steps import find_unverified
from xpusetup.run.builds import go_on
from xpusetup.run.manifest import (
    DISK,
    RootOrigin,
    find_missing_proof,
    list_edited,
    list_wheels,
    read_document,
    read_history,
    read_manifest,
    read_standing,
    read_verification,
    read_verified,
    write_manifest,
)
from xpusetup.run.prepare import PreparedPlan, asking_words
from xpusetup.run.root import Root, read_origins
from xpusetup.system import files
from xpusetup.system.environment import variable
from xpusetup.system.files import read_free_spaces

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xpusetup.bundle.offline import NetworkAttempt
    from xpusetup.commands.explain import FullDisk, StepFailure
    from xpusetup.config.profile import Profile
    from xpusetup.explain.explanation import Cause
    from xpusetup.run.runner import RunOutcome
    from xpusetup.run.workspace import Workspace
    from xpusetup.system.process import Language


# What of a build or an installation is of unverified origin, with the hashes that it is held to.


@dataclass(frozen=True)
class UnverifiedOrigin:
    """A distribution or program without a published hash, and the sha256 that it is held to since its first use."""

    name: str
    sha256: str | None


@dataclass(frozen=True)
class ProofSummary:
    """What was verified last: the device's name, how many checks, and those that failed of themselves."""

    device: str
    checks: int
    failing: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class OtherEnvironment:
    """The command that installs the wheels into another environment, and what has to be switched on there."""

    command: str
    needs: str


@dataclass(frozen=True)
class NinjaTarget:
    """What ninja built of one target."""

    target: str
    files: list[str]


@dataclass(frozen=True, kw_only=True)
class BuildResult:
    """How a build or an installation ended: steps, wheels, what was proven (null: no device), and what leads on.

    `seconds` are those of this run, `took` those of its steps. `cached` are a compiler cache's counts by step. `left`
    are steps to come, `only` the components that were asked for alone, `until` the last step that was. `misfits`: what
    beside torch was made for another one, null where nobody could look. `members` are those of a stack, `starts` what
    begins with it. `repeated`: the build before had the same wheels, and is used in the same way.
    """

    profile: str
    root: str
    ran: list[str]
    skipped: list[str]
    failed: str | None
    wheels: list[RootWheel]
    editable: dict[str, str]
    target: NinjaTarget | None
    left: list[str]
    only: list[str]
    until: str
    go_on: str
    verified: bool | None
    not_verified: MissingProof
    verify: str
    proof: ProofSummary | None
    use: str
    elsewhere: OtherEnvironment
    unverified: list[UnverifiedOrigin]
    seconds: float
    took: dict[str, float]
    report: str
    cached: dict[str, tuple[int, int]]
    failure: StepFailure | None = None
    reached_out: list[NetworkAttempt] = field(default_factory=list)
    misfits: list[InstalledMisfit] | None = None
    members: list[StackMember] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)
    repeated: bool = False


@dataclass(frozen=True)
class RemovedPackage:
    """A distribution that was taken out of an environment, and why."""

    name: str
    version: str
    why: str


@dataclass(frozen=True, kw_only=True)
class InstallResult(BuildResult):
    """How an installation ended: what was taken out too, what nothing requires any more, and the command for that."""

    removed: list[RemovedPackage]
    orphans: list[str]
    tidy: str


def describe_unverified(profile: Profile, root: Root, plan: Plan | None = None) -> list[UnverifiedOrigin]:
    """Give what came into a root without a published hash, and what a plan will fetch so: its sha256 is null."""
    known = {name: found for name, found in read_origins(root).items() if name not in profile.hashes}
    names = {*(find_unverified(profile, plan) if plan else ()), *known}
    return [UnverifiedOrigin(name, known.get(name)) for name in sorted(names)]


BAD = ("fail", "crash")
GIB = 1 << 30
DISK_FULL = "compile.disk_full"
"""The signature of a log that tells of a full disk."""


def describe_build(workspace: Workspace, prepared: PreparedPlan, outcome: RunOutcome, request: Request) -> BuildResult:
    """Give how a build ended, how far the whole profile is, what was proven of it, and the commands that lead on.

    Nothing is verified of what is installed by half.
    """
    root, command = prepared.root, prepared.purpose.command
    standing = read_standing(root)
    verified = read_verified(root, standing, read_manifest(root))
    venv = Path(prepared.plan.layout.venv.replace(ROOT, str(root.path)))
    return BuildResult(
        profile=workspace.profile.name,
        root=str(root.path),
        ran=outcome.ran,
        skipped=outcome.skipped,
        failed=outcome.failed or None,
        wheels=list_wheels(root, workspace.profile, command),
        editable={name: folder for name, folder in request.sources if name in request.editable},
        target=describe_target(prepared, request),
        left=list(standing.left),
        only=[] if request.until else list(request.only),
        until=request.until,
        go_on=go_on(root, whole=True),
        verified=verified,
        not_verified=find_missing_proof(root, standing),
        verify=workspace.command("verify"),
        proof=None if verified is None else describe_proof(root),
        use=workspace.command("run", "--", "python"),
        elsewhere=describe_elsewhere(prepared),
        unverified=describe_unverified(workspace.profile, root, prepared.plan),
        seconds=round(outcome.seconds, 3),
        took=outcome.took,
        report=workspace.command("report", "--open"),
        cached=outcome.cached,
        misfits=None if outcome.failed else list_misfits(venv),
        members=list_members(workspace.profile, root),
        starts=workspace.profile.starts if standing.installed else [],
    )


def evaluate(options: str, language: Language) -> str:
    """Give the command that sets the variables of an environment in a shell of this language."""
    words = about_build("env", options)
    own = {"fish": f"{words} --shell fish | source", "csh": f'eval "`{words} --shell csh`"'}
    return own.get(language, f'eval "$({words})"')


def describe_proof(root: Root) -> ProofSummary:
    """Give what was verified last: the device's name, that it is no GPU where it is called one, the count of checks."""
    seen = read_verification(root)
    names = [device.get("name", "") for device in seen.get("devices", [])]
    if names and seen.get("verified_on") == "processor" and seen.get("device") != "cpu":
        names[0] = f"the processor, no GPU ({names[0]})"
    checks = [check for check in seen.get("checks", []) if check.get("level") != "skip"]
    failing = [str(check.get("id", "")) for check in checks if check.get("level") in BAD and not check.get("caused_by")]
    return ProofSummary(names[0] if names else seen.get("device", ""), len(checks), failing)


def describe_target(prepared: PreparedPlan, request: Request) -> NinjaTarget | None:
    """Give what ninja built of one target; None where whole wheels were asked for."""
    made = (path for step in prepared.plan.steps if step.id.endswith(".target") for path in step.makes)
    path = next(made, "").replace(ROOT, str(prepared.root.path))
    told = read_document(Path(path)) if request.target else {}
    return NinjaTarget(str(told.get("target", request.target)), list(told.get("files", []))) if told else None


def describe_elsewhere(prepared: PreparedPlan) -> OtherEnvironment:
    """Give the command that installs the wheels into another environment, and what has to be switched on there."""
    kit = prepared.plan.target.toolkit
    needs = kit.title if kit is not None and kit.at_run_time else ""
    folder = prepared.plan.layout.wheels if prepared.purpose.command == "build" else PUBLISHED
    return OtherEnvironment(f"pip install {folder.replace(ROOT, str(prepared.root.path))}/*.whl", needs)


def describe_failed(
    workspace: Workspace, prepared: PreparedPlan, outcome: RunOutcome, request: Request | None, again: str
) -> StepFailure:
    """Give why a build failed, what was tried, which disks are full, and the command that goes on (`again`).

    `request`: what was asked for, where a bundle could stand for the network.
    """
    from xpusetup.commands.explain import GoingOn, describe_failure  # noqa: PLC0415 - failures only

    going = GoingOn(
        command=again,
        reached=find_reached(prepared.plan.steps, outcome),
        seconds=outcome.took.get(outcome.failed, outcome.seconds),
    )
    told = describe_failure(prepared.root, outcome.failed, going)
    asked = None if prepared.purpose is ADDON else request  # of XPU beside a torch there is no bundle
    if asked and told.causes and told.causes[0].id in NO_NETWORK:
        step = next(each for each in prepared.plan.steps if each.id == outcome.failed)
        first = _offline(told.causes[0], workspace, asked, prepared.purpose.command, again)
        first = _name_server(first, find_servers(step, files.read_text(Path(told.log)) or ""))
        told = replace(told, causes=[first, *told.causes[1:]])
    full = describe_full(workspace, prepared, told.causes)
    return replace(told, tried=outcome.tried.get(outcome.failed, []), heaviest=outcome.heaviest, full=full)


NO_NETWORK = ("pip.network", "clone.url_error", "net.refused", "net.timeout")
"""Causes that a machine without a network has."""


def _offline(cause: Cause, workspace: Workspace, request: Request, verb: str, again: str) -> Cause:
    """Add the way without a network to what mends a download, with the options that this run was given."""
    file = shlex.quote(f"{workspace.profile.name}.tar")
    told = sort_words([*shlex.split(workspace.options), *asking_words(workspace), *render_request(request)])
    words = [word for option in BUNDLED for value in told.get(option, ()) for word in (option, value)]
    words += ["--require-hashes"] if request.require_hashes else []
    words += ["--from", "wheels"] if verb == "install" else []
    create = Command(f"xpusetup bundle create {file} {shlex.join(words)}")
    fix = f"{cause.fix} Where there is no network: make a bundle elsewhere, copy it, and {verb} from it."
    return replace(cause, fix=fix, commands=[*cause.commands, create, Command(f"{again} --bundle {file}")])


def find_servers(step: Step, log: str) -> list[str]:
    """Name the servers that a step asks: those of its commands, else those at which its log says that it looks."""
    words = [word for argv in step.run for word in argv]
    lines = [line for line in log.splitlines() if ASKED.match(line)]
    return list(dict.fromkeys(SERVER.findall(" ".join(words)) or SERVER.findall(" ".join(lines))))


SERVER = re.compile(r"\bhttps?://(?:[^/\s@]*@)?([\w.-]+)")
ASKED = re.compile(r"Looking in indexes: |fatal: unable to access |Cloning into ")


def _name_server(cause: Cause, servers: Sequence[str]) -> Cause:
    if not servers:
        return cause
    proxy = Command("export https_proxy=http://PROXY:PORT", gaps=("PROXY:PORT",))
    fix = f"It asks {' and '.join(servers)}, which a proxy has to let through. {cause.fix}"
    return replace(cause, fix=fix, commands=[*cause.commands[:2], proxy, *cause.commands[2:]])


BUNDLED = ("--profile", "--stack", "--rev", "--take", "--toolkit", "--only")
"""Options that `bundle create` takes as well as the command that failed."""


def find_reached(steps: Sequence[Step], outcome: RunOutcome) -> list[int]:
    """Give where a compile goes on: a fetch that counts begins anew, and what came to its last number failed later."""
    count, total = outcome.reached
    compiles = any("compiler" in step.needs for step in steps if step.id == outcome.failed)
    return [count, total] if compiles and count < total else [0, 0]


def render_command(workspace: Workspace, request: Request, *, command: str = "build") -> Command:
    """Give the whole command that asks for the same again."""
    return workspace.command(command, *asking_words(workspace), *render_request(request))


def describe_full(workspace: Workspace, prepared: PreparedPlan, causes: Sequence[Cause]) -> list[FullDisk]:
    """Give the file systems that are full after a failure; what the log tells of may be free again by now.

    `lacks` are the bytes that the build needs beyond what there was before it, null where that is not known.
    """
    from xpusetup.commands.explain import FullDisk  # noqa: PLC0415 - failures only

    layout, root = prepared.plan.layout, str(prepared.root.path)
    cache = variable("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    side = (variable("TMPDIR") or "/tmp", variable("PIP_CACHE_DIR") or cache)  # noqa: S108 - where compilers write
    places = [Path(place.replace(ROOT, root)) for place in (root, layout.src, layout.venv, *side)]
    rooms = read_free_spaces(places)
    full = [room for room in rooms if room.full]
    if not full and any(cause.id == DISK_FULL for cause in causes):
        full = sorted(rooms, key=lambda room: room.free)[:1]
    lacks = _lacks(workspace, prepared)
    own = read_free_spaces(places[:1])
    return [FullDisk(**asdict(room), says=str(room), lacks=lacks if room in own else None) for room in full]


def _lacks(workspace: Workspace, prepared: PreparedPlan) -> int | None:
    """Give by how much the disk was too small before the build began, from what an earlier one took or the profile."""
    cost = workspace.profile.cost
    guess = int(cost.disk_gib[0] * GIB) if cost else None
    needed = read_history(prepared.root.path, workspace.profile.name).disk or guess
    resources = prepared.facts.resources if prepared.facts else None
    disk = next((each for each in (resources.disks if resources else ()) or () if "sources" in each.holds), None)
    if needed is None or disk is None or disk.used is None or needed <= disk.used + disk.free:
        return None
    return needed - disk.used - disk.free


def record_end(workspace: Workspace, prepared: PreparedPlan, outcome: RunOutcome, request: Request) -> Iterator[str]:
    """Write the manifest, and what a whole build took. Gives what could not be written, where a failure is told."""
    profile, purpose = workspace.profile, prepared.purpose
    sources = [part for part in profile.components if part.kind == "source"]
    # what was changed is known of patches, of trees of the user's own and of what a profile loosens
    known = {*(patch.source for patch in patches_of(profile, request)), *dict(request.sources)}
    fetched = [part.name for part in sources if part.name not in known and not part.loosen]
    src = Path(prepared.plan.layout.src.replace(ROOT, str(prepared.root.path)))
    edited = list_edited(prepared.root, src, fetched, outcome.ran)
    origin = RootOrigin(
        target=prepared.plan.target, facts=prepared.facts, made_by=purpose.command, request=request, edited=edited
    )
    for name in edited:
        if f"{name}.build" in outcome.ran:
            yield f"{name} was built with changes of your own in its source: its wheel is not that of its pin"
    try:
        write_manifest(prepared.root, profile, outcome, origin)
        if purpose is BUILD and not (request.only or request.until or request.target) and not outcome.failed:
            record_disk(prepared, outcome.ran)
    except NotReadyError as error:
        if not outcome.failed:
            raise
        yield error.message


def record_disk(prepared: PreparedPlan, ran: Sequence[str]) -> None:
    """Write down what a finished root takes on the disk, so that the next plan of its profile can say it.

    Nothing is measured when all that ran is a verification: on a file system of a cluster that takes a while.
    """
    if all("device" in step.needs for step in prepared.plan.steps if step.id in ran):
        return
    root, layout = prepared.root, prepared.plan.layout
    own = (layout.src,) if layout.adopted else (layout.src, layout.venv)
    folders = [Path(folder.replace(ROOT, str(root.path))) for folder in own]
    outside = [folder for folder in folders if folder.is_dir() and not folder.is_relative_to(root.path)]
    if taken := measure(root.path, *outside):
        files.write_text(root / DISK, f'{{"bytes": {taken}}}\n')
