"""From a workspace to a plan: first without looking at the machine, then with it."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from xpusetup.base.command import Advice, Command
from xpusetup.base.document import UnfitError, read_as, to_table
from xpusetup.base.errors import NotReadyError
from xpusetup.base.model import ROOT, XPU, Mode, Plan, Request, Target, Toolkit
from xpusetup.config.profile import Profile, SourceComponent, WheelComponent, find_needed
from xpusetup.config.request import render_request
from xpusetup.config.take import describe_chosen
from xpusetup.emit.script import render_script
from xpusetup.plan.addon import ADDON, TRIED, install_torch
from xpusetup.plan.component import other_forms
from xpusetup.plan.context import left_out, patch_texts
from xpusetup.plan.install import BUILD, Purpose
from xpusetup.plan.requirements import ABOUT, digest
from xpusetup.plan.steps import describe_set
from xpusetup.run.guard import look_for_damage, read_damage, read_guarded
from xpusetup.run.keys import Stamp, Status, installs, make_statuses
from xpusetup.run.manifest import read_document, read_manifest
from xpusetup.run.root import (
    Root,
    helper_files,
    lock_document,
    moved_from,
    read_identities,
    read_lock,
    read_stamps,
    read_state,
    refresh_stamps,
    write_plan,
)
from xpusetup.system import files
from xpusetup.system.environment import short_path, variable
from xpusetup.system.files import is_open_to_others
from xpusetup.system.kept import keep

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xpusetup.machine.facts import Facts
    from xpusetup.plan.target import ArchSelection
    from xpusetup.run.workspace import Workspace


# `--only`: what the named components are built on has to be there, and is not built along.
#
# It is there where this root has built it, or where the environment that `--into` names holds its release. What
# the profile takes as a ready wheel needs no build: it comes along.


def find_ready(workspace: Workspace, request: Request) -> Request:
    """Give the request with what is ready in the environment. Raises NotReadyError for what is nowhere."""
    if request.only == (XPU,):
        _find_torch(workspace, request)
        return request
    if request.until.endswith(".fetch"):
        return request  # a source is fetched whatever it is built on
    needed = find_needed(workspace.profile.components, request.only)
    parts = [part for part in workspace.profile.components if part.kind != "skip" and part.name in needed]
    lacking = [part for part in parts if not _built(workspace.root, part.name)]
    here = {part.name: _stands(workspace, part) for part in lacking}
    for part in lacking:
        found = here[part.name]
        if (not found and part.kind == "source") or (found and not _same_release(found, part.version)):
            raise _refuse(workspace, request, part, found)
    return replace(request, ready=tuple(name for name, version in here.items() if version))


def _find_torch(workspace: Workspace, request: Request) -> None:
    """Look for the torch that XPU is built for, before anything is fetched. Raises NotReadyError for another one."""
    part = next((part for part in workspace.profile.components if part.name == "torch" and part.kind != "skip"), None)
    if not workspace.layout.adopted or part is None:
        return  # the plan says so
    found, wanted = _stands(workspace, part), Version(part.version).base_version
    if not found:
        has = "no torch is in it"
    elif found.partition("+")[2].startswith(XPU):
        has = f"its torch {found} has XPU of its own"
    elif _same_release(found, wanted) or "torch" in dict(request.sources):
        return
    else:
        has = f"torch {found} is in it"
    venv = workspace.layout.venv
    why = f"--only {XPU} of {workspace.profile.name} builds for torch {wanted} in {short_path(venv)}, and {has}"
    raise NotReadyError(
        why, fix="name another --into ENV, or install that torch: ", command=install_torch(venv, wanted)
    )


def _built(root: Path, name: str) -> bool:
    return (root / f"stamps/{name}.install").exists()


def _stands(workspace: Workspace, part: SourceComponent | WheelComponent) -> str:
    """Give the version that the environment of others holds; empty where it holds none, or is ours."""
    if not workspace.layout.adopted:
        return ""
    from xpusetup.machine.probe_fit import site_packages  # noqa: PLC0415
    from xpusetup.run.guard import list_versions  # noqa: PLC0415 - an environment of ours needs no look

    name = canonicalize_name(part.distribution)
    found = (list_versions(place) for place in site_packages(Path(workspace.layout.venv)))
    return next((versions[name] for versions in found if name in versions), "")


def _same_release(found: str, wanted: str) -> bool:
    try:
        return Version(found).public == Version(wanted).public
    except InvalidVersion:
        return found == wanted


def _refuse(
    workspace: Workspace, request: Request, part: SourceComponent | WheelComponent, found: str
) -> NotReadyError:
    """Say what is missing, and the whole command that builds it first."""
    only, adopted = " and ".join(request.only), workspace.layout.adopted
    places = f"{workspace.layout.venv} has {found or 'none'}" if adopted else f"{workspace.root} has not built it"
    needed = find_needed(workspace.profile.components, request.only)
    more = replace(request, only=(*needed, *request.only))
    words = (*asking_words(workspace), *render_request(more))
    why = f"--only {only} needs {part.distribution} {part.version}, and {places}"
    line = workspace.command("build", *words)
    return NotReadyError(why, fix="build it first, with the same command: ", command=line)


# From a workspace to a plan: first without looking at the machine, then with it.
#
# A build in which no step will run probes nothing but keys and stamps: the target of the last build is taken
# from the root's lock, and only when something turns out to be stale is the machine probed, examined and aimed at anew.


@dataclass(frozen=True, kw_only=True)
class PreparedPlan:
    """A plan with its scripts, and what of it is done. `facts` is None when nothing had to be probed.

    `missing` names the checks that a build would fail here; it is empty for a plan that passed the gate. `notes` are
    worth a line before the first step.
    """

    root: Root
    plan: Plan
    scripts: Mapping[str, str]
    identities: Mapping[str, str]
    purpose: Purpose = BUILD
    facts: Facts | None = None
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def statuses(self) -> tuple[Status, ...]:
        seen = read_state(self.root, self.plan, self.scripts, self.identities)
        return make_statuses(self.plan.steps, replace(seen, damaged={**self.replaced(seen.stamps), **seen.damaged}))

    def replaced(self, stamps: Mapping[str, Stamp]) -> dict[str, str]:
        """Say which steps have to be repeated, because what they installed was replaced since."""
        return read_damage(read_guarded(self.root), stamps.values(), self.plan.steps)


def prepare(workspace: Workspace, request: Request, purpose: Purpose = BUILD) -> PreparedPlan:
    """Make a plan, writing nothing. Raises NotReadyError when the machine isn't ready for it."""
    if done := find_done(workspace, request, purpose):
        return done
    prepared = preview(workspace, request, purpose)
    if prepared.missing and prepared.facts is not None:
        from xpusetup.run.preflight import gate  # noqa: PLC0415 - a build that is done probes nothing

        gate(workspace, prepared.facts, purpose, request.verify)
    from xpusetup.run.tool_chains import describe_targets  # noqa: PLC0415 - a build that is done probes nothing

    if prepared.facts is not None and (words := describe_targets(prepared.facts, prepared.plan)):
        raise NotReadyError(words, fix=_other_targets(workspace, request, prepared.facts, prepared.plan.target))
    return prepared


def _other_targets(workspace: Workspace, request: Request, facts: Facts, target: Target) -> str:
    """Give the commands after which a build is compiled for targets that its ocloc knows."""
    from xpusetup.machine.toolkits import unknown_targets  # noqa: PLC0415 - a build that is done probes nothing

    there = facts.toolkits is not None and facts.toolkits.ocloc
    packages = "intel-ocloc" if there else "intel-ocloc libigc2"
    every = f"Ubuntu{'' if there else ', Debian sid'}: sudo apt-get install -y {packages}"
    newest = "bring a newer one" if there else "install it"
    newer = Advice(f"{newest} ({every}; elsewhere: ", Command("xpusetup setup --for build"), ")")
    arch = workspace.profile.arch
    known = [each for each in target.arch if there and each not in unknown_targets(facts, target.arch)]
    known = known or (["none"] if arch and arch.none else [])
    if not known:
        return newer
    words = (*asking_words(workspace), *render_request(replace(request, arch=tuple(known))))
    return Advice(newer, ", or compile for what it knows: ", workspace.command("build", *words))


def _say_private(workspace: Workspace, facts: Facts) -> str:
    """Warn of a Python that others may not run, for a build outside of what is closed to them, before it is taken."""
    if (workspace.root / "stamps/venv").exists():
        return ""
    python = Path(facts.python.executable).resolve() if facts.python else Path("/")
    closed = next((place for place in (*reversed(python.parents), python) if not is_open_to_others(place)), None)
    if closed is None or workspace.root.resolve().is_relative_to(closed):
        return ""
    shown, where = short_path(str(python)), "" if closed == python else f": {closed} is closed to them"
    return f"other users may not run {shown}{where}. Name a Python that all have: --python PATH"


def _say_moved(workspace: Workspace) -> str:
    """Say of a build that was moved that all of it is done again: paths of its root are in what the steps made."""
    before = moved_from(Root(workspace.root.resolve()))
    keeps = "Its environment works here as it is, and if you move it back, nothing has to be built"
    return f"it was built in {short_path(before)}, so all of it is built again here. {keeps}" if before else ""


def find_done(workspace: Workspace, request: Request, purpose: Purpose) -> PreparedPlan | None:
    """Make the plan of the last build again, where nothing of it is left to do; the machine is not looked at."""
    _check(workspace, request)
    target = _target_of_lock(workspace, request, purpose)
    prepared = _prepare(workspace, request, target, purpose) if target is not None else None
    if prepared is None or any(status.state != "done" for status in prepared.statuses()):
        return None
    return prepared


def preview(workspace: Workspace, request: Request, purpose: Purpose = BUILD, *, here: bool = True) -> PreparedPlan:
    """Make a plan for this machine, also where it could not be carried out, writing nothing.

    `here`: it is carried out here, so that it may be aimed at the GPUs of this machine.
    """
    from xpusetup.machine.gpus import foreign_targets  # noqa: PLC0415 - a build that is done probes nothing
    from xpusetup.machine.tables import gpu_table, target_table  # noqa: PLC0415
    from xpusetup.plan.target import ArchSelection, make_target  # noqa: PLC0415 - same
    from xpusetup.run.preflight import failing, probe_to_begin  # noqa: PLC0415
    from xpusetup.run.tool_chains import describe_others, describe_refused, describe_targets, name_lacking  # noqa: PLC0415

    _check(workspace, request)
    facts = probe_to_begin(workspace, purpose)
    aimed = _aim(workspace, request, facts) if here else ArchSelection(request.arch)
    asked = replace(request, arch=aimed.targets)
    target = make_target(workspace.profile, facts, workspace.device, asked, workspace.settings)
    missing = tuple(finding.id for finding in failing(workspace, facts, purpose, request.verify))
    foreign = foreign_targets(workspace.profile, target.arch, target_table(), gpu_table())
    bad = describe_known_bad(facts, workspace.profile, purpose)
    together = describe_collectives(facts, workspace.profile, purpose)
    kits = (describe_refused(facts, workspace.profile, purpose), describe_others(facts, workspace.profile, purpose))
    notes = (
        *filter(None, (aimed.note, foreign, together, *kits, _say_private(workspace, facts), _say_moved(workspace))),
        *bad,
        *left_out(workspace.profile, request),
    )
    made = _prepare(workspace, request, target, purpose)
    if words := describe_targets(facts, made.plan):
        notes, missing = (*notes, words), tuple(dict.fromkeys((*missing, name_lacking(facts))))
    return replace(made, facts=facts, missing=missing, notes=(*made.notes, *notes))


def describe_collectives(facts: Facts, profile: Profile, purpose: Purpose) -> str:
    """Say of wheels that are installed whether the GPUs of this machine compute together with them."""
    if purpose.command != "install" or profile.accelerator != "xpu":
        return ""
    from xpusetup.recommend.machine import (  # noqa: PLC0415 - a build that is done asks nothing
        choose_cards,
        find_cards,
        known,
    )
    from xpusetup.recommend.solve import say_collectives  # noqa: PLC0415

    return say_collectives(profile, choose_cards(find_cards(facts, known())))


def describe_known_bad(facts: Facts, profile: Profile, purpose: Purpose) -> tuple[str, ...]:
    """Warn of what a profile would install and others found not to work on such a machine."""
    from xpusetup.machine.known_bad import Situation, find_known_bad  # noqa: PLC0415 - a build that is done asks nothing
    from xpusetup.machine.tables import gpu_table, known_bad  # noqa: PLC0415

    if profile.accelerator != "xpu":
        return ()
    pins = (pin.partition("==") for pin in purpose.pins(profile))
    installed = {name.lower(): version for name, _, version in pins if version}
    found = find_known_bad(known_bad(), Situation(facts, gpu_table(), installed))
    return tuple(f"known not to work: {each.what}: {each.happens}. {each.workaround}. {each.source}" for each in found)


def _check(workspace: Workspace, request: Request) -> None:
    if request.sources:
        from xpusetup.run.trees import check_trees  # noqa: PLC0415 - most builds are of no tree of the user's own

        check_trees(workspace.profile, request)
    if request.arch or workspace.settings.arch:
        from xpusetup.machine.gpus import check_targets  # noqa: PLC0415 - most builds name no target
        from xpusetup.machine.tables import target_table  # noqa: PLC0415 - same

        check_targets(workspace.profile, request.arch, workspace.settings, target_table())


def _aim(workspace: Workspace, request: Request, facts: Facts) -> ArchSelection:
    """Choose the device targets where neither the command line nor a settings file does."""
    from xpusetup.machine.tables import gpu_table  # noqa: PLC0415
    from xpusetup.plan.target import ArchSelection, select_arch  # noqa: PLC0415 - a build that is done probes nothing

    if request.arch or workspace.settings.arch:
        return ArchSelection(request.arch)
    return select_arch(workspace.profile, facts, gpu_table(), built_arch(workspace))


def built_arch(workspace: Workspace) -> tuple[str, ...]:
    """Give the device targets that this root was built for, where they were left to the program."""
    lock = read_lock(Root(workspace.root)) or {}
    target = parse_target(lock.get("target", {}))
    same = lock.get("profile", {}).get("arch") == to_table(workspace.profile)["arch"]
    asked = lock.get("asked", {})
    chosen = asked.get("arch") or asked.get("settings", {}).get("arch")
    return target.arch if target is not None and same and asked and not chosen else ()


def _prepare(workspace: Workspace, request: Request, target: Target, purpose: Purpose) -> PreparedPlan:
    plan = purpose.make(workspace.profile, request, target, workspace.layout)
    root = Root(workspace.root.resolve())
    return PreparedPlan(
        root=root,
        plan=plan,
        scripts={step.id: render_script(step, plan) for step in plan.steps},
        identities=read_identities(target, root),
        purpose=purpose,
        notes=(*describe_set(workspace.profile, request), *describe_takes(workspace, purpose))
        if purpose.command == "build"
        else (),
    )


def describe_takes(workspace: Workspace, purpose: Purpose = BUILD) -> tuple[str, ...]:
    """Say of each part that is taken in another way than the profile has it, and of what an earlier build left."""
    python = shlex.quote(workspace.layout.python.replace(ROOT, str(workspace.root)))
    stands = (
        f"an earlier build put {part.distribution} into the environment, where it stays until: "
        f"{python} -m pip uninstall --yes {part.distribution}"
        for part in workspace.profile.components
        if part.kind == "skip" and part.distribution and _built(workspace.root, part.name)
    )
    kit, chosen = workspace.profile.toolkit, describe_chosen(workspace.profile)
    alone = (
        kit
        and purpose is ADDON
        and f"--only {XPU} is always compiled by {kit.title} (--toolkit {kit.called}), {kit.confidence}"
    )
    notes = (alone if alone and note == chosen else note for note in workspace.take_notes)
    return (*notes, *stands)


def write_prepared(
    workspace: Workspace, request: Request, prepared: PreparedPlan, *, tuned: Sequence[str] = ()
) -> None:
    """Write scripts, helpers and lock into the root, whose lock the caller holds.

    `tuned` are the options that no step depends on.
    """
    seen = str(read_document(prepared.root / ABOUT).get("facts", ""))  # what the last build saw of this machine
    if prepared.facts is not None:
        seen = digest(to_table(prepared.facts))
    helpers = {**helper_files(workspace.profile, seen), **patch_texts(request.patches)}
    write_plan(prepared.root, prepared.scripts, helpers)
    for name in ("failed", "unfinished"):  # what a driver of the scripts left there
        files.remove(prepared.root / name)
    for name in other_forms(workspace.profile, request):
        files.remove(prepared.root / f"stamps/{name}")
    plan = prepared.plan
    refresh_stamps(prepared.root)
    every = replace(whole_of(request), require_hashes=False)  # what was not asked for is not refused
    steps = prepared.purpose.make(workspace.profile, every, plan.target, plan.layout).steps
    words = [*asking_words(workspace), *render_request(whole_of(request)), *tuned]
    known = {**workspace.known, "words": words, "part": part_of(request), "steps": [step.id for step in steps]}
    known |= {"place": {"path": str(prepared.root), "name": workspace.called}} if workspace.called is not None else {}
    asked = _asked(workspace, request, prepared.purpose)
    document = lock_document(workspace.profile, plan.target, plan.layout, asked, **known)
    files.write_text(prepared.root / "profile.lock.json", document)


def asking_words(workspace: Workspace) -> tuple[str, ...]:
    """Give the options of a build that ask for the same again, beside those that name it and those of its request.

    An environment that is there has its own interpreter.
    """
    python = ("--python", workspace.python) if workspace.python and not workspace.layout.adopted else ()
    takes = (word for name, how in workspace.takes.items() for word in ("--take", f"{name}={how}"))
    kit = ("--toolkit", str(workspace.known["toolkit"])) if "toolkit" in workspace.known else ()
    return (*python, *takes, *kit)


def whole_of(request: Request) -> Request:
    """Give the request for all of a profile, where only a part of it was asked for, as its root keeps it."""
    only = request.only if request.only == (XPU,) else ()
    given = tuple(each for each in request.set if each[:2] != (XPU, TRIED))
    return replace(request, only=only, until="", target="", pinned=(), set=given)


def part_of(request: Request) -> tuple[str, ...]:
    """Give the options by which only a part of a profile was asked for."""
    only = () if whole_of(request).only else request.only
    return render_request(Request(only=only, until=request.until, target=request.target))


def forget_replaced(prepared: PreparedPlan) -> list[str]:
    """Take away the stamps of what is installed no longer, in the root whose lock the caller holds; say why for each.

    Those are steps whose distributions were replaced since, and the installing steps of the other purpose, where this
    one now installs into the same environment.
    """
    root, stamps = prepared.root, read_stamps(prepared.root)
    damaged = prepared.replaced(stamps)
    other = read_manifest(root).get("made_by", prepared.purpose.command) != prepared.purpose.command
    here = {step.id for step in prepared.plan.steps}
    foreign = [name for name in stamps if other and name not in here and installs(name)]
    guard = ("guard",) if damaged else ()  # what mends it may give the same result, after which nothing would run
    for name in (*damaged, *foreign, *guard):
        files.remove(root / f"stamps/{name}")
    return list(damaged.values())


def forget_damaged(root: Root, *, check: bool = True) -> list[str]:
    """Take away the stamps of what is not as it was made or installed; say why for each that is to be installed again.

    `check`: every file is hashed. What is installed again is verified again. The caller holds the root's lock.
    """
    damaged = look_for_damage(root, check=check)
    again = [why for name, why in damaged.items() if installs(name)]
    for name in (*damaged, *(("guard", "verify.smoke") if again else ())):
        files.remove(root / f"stamps/{name}")
    return again


def _target_of_lock(workspace: Workspace, request: Request, purpose: Purpose) -> Target | None:
    lock = read_lock(Root(workspace.root))
    if lock is None or lock.get("profile") != to_table(workspace.profile):
        return None
    if lock.get("asked") != json.loads(json.dumps(_asked(workspace, request, purpose))):
        return None
    return parse_target(lock.get("target", {}))


def _asked(workspace: Workspace, request: Request, purpose: Purpose) -> dict[str, object]:
    """Give what a target follows from beside the profile and the machine."""
    settings = to_table(workspace.settings)
    for name in ("network", "scheduler", "module"):
        del settings[name]  # may hold a password
    oneapi = variable("ONEAPI_ROOT") if workspace.profile.toolkit else ""
    seen = {
        "command": purpose.command,
        "arch": request.arch,
        "python": workspace.python,
        "settings": settings,
        "device": to_table(workspace.device),
        "oneapi": oneapi,
    }
    return {**seen, **(workspace.asked if workspace.revs else {})}


def parse_target(values: dict[str, object]) -> Target | None:
    """Read a Target as the lock holds it; None when it is of another version of this program."""
    try:
        kit = values.get("toolkit")
        toolkit = Toolkit(**_tuples(kit)) if isinstance(kit, dict) else None  # type: ignore[arg-type]
        found = values.get("modes")
        modes = tuple(Mode(**_tuples(each)) for each in found) if isinstance(found, list) else ()  # type: ignore[arg-type]
        target = Target(**{**_tuples(values), "toolkit": toolkit, "modes": modes})  # type: ignore[arg-type]
        told = asdict(target)
        return keep(Target, json.dumps(told), lambda: read_as(Target, told))
    except (TypeError, AttributeError, UnfitError):
        return None


def _tuples(values: dict[str, object]) -> dict[str, object]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
