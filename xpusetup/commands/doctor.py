"""doctor: what is wrong here for a profile, its root causes, and what could be built and run instead."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, get_args

from xpusetup.base.command import Command
from xpusetup.base.document import UnfitError, fields_of, read_json_as, to_table
from xpusetup.base.errors import UsageError
from xpusetup.base.model import Fix, Goal
from xpusetup.base.text import Redactor, nearest
from xpusetup.commands.recommend import (
    Recommendation,
    about_intel,
    accelerator_names,
    describe_way,
    find_way,
    gpus_elsewhere,
)
from xpusetup.commands.result import Result
from xpusetup.config.shipped import every_profile
from xpusetup.doctor.differences import differing_facts, differing_findings
from xpusetup.doctor.question import Question, check_texts
from xpusetup.doctor.registry import BAD, CHECKS, about_machine, examine, root_causes
from xpusetup.machine.facts import Facts
from xpusetup.machine.gpus import check_targets
from xpusetup.machine.tables import gpu_table, known_bad, target_table
from xpusetup.recommend.machine import known, other_gpus
from xpusetup.recommend.setup import mend_here
from xpusetup.recommend.solve import has_own_pytorch, is_release, may_advise
from xpusetup.run.preflight import probe_all, probe_for
from xpusetup.run.workspace import load_device, open_workspace
from xpusetup.system import files
from xpusetup.system.environment import identity
from xpusetup.system.kept import keep
from xpusetup.system.logs import STDIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from xpusetup.base.model import Finding, Level
    from xpusetup.commands.paste import Paste, PasteSummary
    from xpusetup.config.profile import Profile
    from xpusetup.doctor.differences import MachineDifference
    from xpusetup.machine.known_bad import KnownBad
    from xpusetup.recommend.answer import Way
    from xpusetup.run.workspace import Where, Workspace


T = TypeVar("T")
REACH = "net.git_reach"
GPU = "hw.intel_gpu_present"
WRONG_TORCH = "torch.is_xpu_build"
INSTALL = "xpusetup install"
NO_BUILD = ("wheel", "image")
"""Routes on which nothing is compiled here."""
WORSE: dict[Level, int] = {"unknown": -1, "ok": 0, "info": 1, "warn": 2, "skip": 3, "fail": 4, "crash": 5}


@dataclass(frozen=True, kw_only=True)
class DoctorOptions:
    """What doctor was asked; an empty goal means both, building here and running here.

    `whole`: this machine is looked at whole, and not only for the checks.
    """

    goal: str = ""
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    save: str = ""
    facts: tuple[str, ...] = ()
    paste: tuple[str, ...] = ()
    collect_env: str = ""
    whole: bool = False


@dataclass(frozen=True)
class CheckTitle:
    """A check: its id, the area it belongs to, and what it looks at."""

    id: str
    area: str
    title: str


@dataclass(frozen=True)
class CheckList:
    """All checks."""

    checks: list[CheckTitle]


@dataclass(frozen=True)
class FindingFix:
    """What mends a finding, in words and as whole commands for the distribution at hand."""

    say: str
    commands: list[Command]


@dataclass(frozen=True, kw_only=True)
class DoctorFinding:
    """What one check says of this machine; `caused_by` names the finding of which it is a consequence."""

    id: str
    area: str
    level: Level
    title: str
    seen: str
    why: str
    fix: FindingFix
    source: str
    caused_by: str


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What the checks say of a machine, which of it is the cause, the way from here, and the profiles it would do for.

    `stops`: for each goal the findings that stop it; `only`: the checks that alone were asked for; `saved`: the file
    that the facts were written to.
    """

    profile: str
    chosen_by: str
    machine: str
    findings: list[DoctorFinding]
    root_causes: list[str]
    way: Recommendation
    can_build: list[str]
    can_run: list[str]
    stops: dict[str, list[str]]
    only: list[str]
    saved: str | None
    pasted: PasteSummary | None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """In what machines differ, and which of them have causes of failure."""

    profile: str
    machines: list[str]
    differs: list[MachineDifference]
    root_causes: list[str]
    causes: dict[str, list[str]]


@dataclass(frozen=True)
class UpstreamReport:
    """A report for an issue upstream, and the file that it was written to; empty for stdout."""

    report: str
    file: str


def list_checks() -> Result[CheckList]:
    texts = check_texts()
    rows = [CheckTitle(check.id, texts[check.id].area, texts[check.id].title) for check in CHECKS]
    return Result("doctor", CheckList(rows))


@dataclass(frozen=True)
class MachineLook:
    """What is judged: facts of this machine, of a file or of a post, for a profile; and what was asked."""

    workspace: Workspace
    facts: Facts
    asked: DoctorOptions
    paste: Paste | None


def look_at_machine(where: Where, asked: DoctorOptions) -> MachineLook:
    """Read or probe what is to be judged. Raises UsageError for options that do not fit together."""
    if asked.goal not in ("", *get_args(Goal)):
        raise UsageError(f"--for cannot be {asked.goal!r}", fix="use one of: build, run")
    _must_be_checks((*asked.only, *asked.skip))
    if asked.paste and asked.facts:
        raise UsageError("--paste and --facts are two ways to tell of a machine", fix="leave one of them out")
    paste = _read_paste(asked.paste)
    asked = replace(asked, goal=asked.goal or "run") if paste else asked
    read = paste.facts if paste else read_facts(asked.facts[0]) if asked.facts else None
    workspace = open_workspace(where, read)
    check_targets(workspace.profile, (), workspace.settings, target_table())
    return MachineLook(workspace, read or _probe(workspace, asked), asked, paste)


def examine_machine(where: Where, asked: DoctorOptions) -> Result[Diagnosis | Comparison | UpstreamReport]:
    """Judge this machine, or the facts of another."""
    look = look_at_machine(where, asked)
    if len(asked.facts) > 1:
        compared = compare_machines(look.workspace, look.asked)
        return Result("doctor", compared.data, compared.code)
    if asked.collect_env:
        return Result("doctor", _report(look.facts, asked.collect_env))
    if asked.save:
        _save(look.facts, Path(asked.save))
    told, code = judge_machine(look)
    return Result("doctor", told, code)


def judge_machine(look: MachineLook) -> tuple[Diagnosis, int]:
    """Say what the checks find, and the exit code that follows."""
    workspace, facts, asked, paste = look.workspace, look.facts, look.asked, look.paste
    if not _is_named(workspace) and has_own_pytorch(facts, known()):
        asked = replace(asked, goal=asked.goal or "run", skip=(*asked.skip, *about_intel()))
    by_goal = _findings(workspace, facts, asked, paste.concerning(known_bad()) if paste else known_bad())
    if not (paste or asked.facts):
        by_goal = _of_login_node(by_goal, workspace, asked)
    if paste:
        by_goal = {goal: paste.explain(each) for goal, each in by_goal.items()}
    told = replace(_diagnose(workspace, facts, by_goal), only=list(asked.only), saved=asked.save or None)
    told = _in_its_words(told, _merge(by_goal), paste) if paste else _with_one_answer(told)
    matters = wanted_goals(tuple(by_goal), told.way.route)
    return told, 1 if any(told.stops[goal] for goal in matters) else 0


def _of_login_node(
    by_goal: dict[Goal, tuple[Finding, ...]], workspace: Workspace, asked: DoctorOptions
) -> dict[Goal, tuple[Finding, ...]]:
    """Take no lack of a GPU for a fault where the site's are on another partition, and ask about builds if told to."""
    scheduler = workspace.settings.scheduler
    lacks = any(each.id == GPU and each.level in ("fail", "warn") for found in by_goal.values() for each in found)
    if not lacks or not gpus_elsewhere(scheduler):
        return by_goal
    again = workspace.command("doctor") if _is_named(workspace) else "xpusetup doctor"
    seen = f"none on this node; the site file says that GPUs are on partition {scheduler.gpu_partition}"
    fix = Fix(commands=(("any", (Command(scheduler.on_gpu(again)),)),))
    say = partial(replace, level="warn", seen=seen, why="", fix=fix)
    return {
        goal: tuple(say(each) if each.id == GPU else each for each in found)
        for goal, found in by_goal.items()
        if asked.goal or goal == "run"
    }


def _with_one_answer(told: Diagnosis) -> Diagnosis:
    """Mend a torch that was made for something else by the step of the way, wherever that is told."""
    step = next((each for each in told.way.steps if WRONG_TORCH in each.mends and each.commands), None)
    if step is None:
        return told
    rows = [
        replace(each, fix=replace(each.fix, commands=list(step.commands)))
        if each.id == WRONG_TORCH and each.fix.commands
        else each
        for each in told.findings
    ]
    return replace(told, findings=rows)


def _in_its_words(told: Diagnosis, findings: Sequence[Finding], paste: Paste) -> Diagnosis:
    """Add what was pasted, and give the way with the commands of the installer that is used there.

    A step that installs torch is left out where an error of the post says how, and in which environment.
    """
    pasted = paste.describe(findings, told.root_causes)
    by_error = any(command.startswith(INSTALL) for cause in pasted.causes for command in cause.commands)
    steps = [replace(each, commands=paste.habits.commands(each.commands)) for each in told.way.steps]
    steps = [each for each in steps if not (by_error and any(line.startswith(INSTALL) for line in each.commands))]
    way = replace(told.way, steps=steps, commands=list(paste.habits.commands(told.way.commands)))
    return replace(told, way=way, pasted=pasted)


def _read_paste(names: tuple[str, ...]) -> Paste | None:
    if not names:
        return None
    from xpusetup.commands.paste import read_paste  # noqa: PLC0415 - most are asked about this machine

    return read_paste(names)


def wanted_goals(goals: tuple[Goal, ...], route: str) -> tuple[Goal, ...]:
    """Give the goals that the way of a machine takes: where it needs no build, nothing that a build lacks is amiss."""
    return ("run",) if route in NO_BUILD and "run" in goals else goals


def _in_order(by_goal: Mapping[Goal, tuple[Finding, ...]], route: str) -> dict[Goal, tuple[Finding, ...]]:
    """Put the goals that the way takes first."""
    matters = wanted_goals(tuple(by_goal), route)
    return {goal: by_goal[goal] for goal in (*matters, *(goal for goal in by_goal if goal not in matters))}


def _probe(workspace: Workspace, asked: DoctorOptions) -> Facts:
    """Look at this machine: at all of it where that is saved, else at what the checks read."""
    if asked.collect_env or asked.whole:
        return probe_all(workspace)
    if not asked.save:
        return probe_for(workspace, _goals(asked), asked.only)
    from xpusetup.system.program import describe_version  # noqa: PLC0415 - what is saved alone says who saved it

    return replace(probe_all(workspace), program=describe_version())


def _goals(asked: DoctorOptions) -> tuple[Goal, ...]:
    return tuple(goal for goal in get_args(Goal) if asked.goal in ("", goal))


def _save(facts: Facts, path: Path) -> None:
    """Write facts without what names people, machines and secrets."""
    told = redactor_of(facts).document(to_table(facts))
    files.write_text(path, json.dumps(told, indent=2) + "\n")


def _report(facts: Facts, name: str) -> UpstreamReport:
    """Give the report for an issue upstream, or write it into a file; without what names people and machines."""
    from xpusetup.commands.collect_env import make_report  # noqa: PLC0415 - asked for by few

    text = redactor_of(facts).text(make_report(facts, gpu_table()))
    if name != STDIN:
        files.write_text(Path(name), text)
    return UpstreamReport(text, "" if name == STDIN else name)


def redactor_of(facts: Facts | None = None) -> Redactor:
    """Give what hides this person and machine, and the user of the facts."""
    own = identity()
    user = facts.system.user if facts and facts.system else own.user
    return Redactor(user=user, host=own.host, home=own.home)


def redact_result(result: Result[T]) -> Result[T]:
    """Give a result as it may leave this machine."""
    return Result(result.command, redactor_of().document(result.data), result.code)


def compare_machines(workspace: Workspace, asked: DoctorOptions) -> Result[Comparison]:
    """Say in what machines differ: facts whose values are not the same, then checks that say different things."""
    machines = {name: read_facts(file) for name, file in _stems(asked.facts).items()}
    said = {name: _merge(_findings(workspace, facts, asked, known_bad())) for name, facts in machines.items()}
    rows = [*differing_findings(said), *differing_facts(machines)]
    failing = {name: list(root_causes(findings)) for name, findings in said.items()}
    found = Comparison(
        profile=workspace.profile.name,
        machines=list(machines),
        differs=rows,
        root_causes=sorted({cause for causes in failing.values() for cause in causes}),
        causes={name: causes for name, causes in failing.items() if causes},
    )
    return Result("doctor", found, code=1 if found.root_causes else 0)


def _stems(names: tuple[str, ...]) -> dict[str, str]:
    """Name machines by their files' stems, and where two are the same, by the files."""
    stems = [Path(name).stem for name in names]
    return {stem if stems.count(stem) == 1 else name: name for stem, name in zip(stems, names, strict=True)}


def _is_named(workspace: Workspace) -> bool:
    return not workspace.chosen_by.startswith("the newest")


def way_for(workspace: Workspace, facts: Facts) -> Way:
    """Give the way of a machine: to the profile that was named, else to the release that fits."""
    named = workspace.profile.name if _is_named(workspace) else ""
    return find_way(facts, named)


def _must_be_checks(names: Iterable[str]) -> None:
    there = {check.id for check in CHECKS}
    if unknown := sorted(set(names) - there):
        of_area = [check.id for check in CHECKS if check_texts()[check.id].area == unknown[0]]
        close = nearest(unknown[0], sorted(there))
        near = f"that is an area, of {', '.join(of_area)}; all: " if of_area else f"did you mean {close}? All: "
        fix = near if of_area or close else ""
        raise UsageError(f"there is no check {unknown[0]!r}", fix=fix, command="xpusetup doctor --list")


def read_facts(name: str) -> Facts:
    """Read facts that were saved. Raises UsageError for a file that is none."""
    unread = partial(UsageError, fix="write one: ", command=Command("xpusetup doctor --save FILE", gaps=("FILE",)))
    text = files.read_input(Path(name))
    if text is None:
        raise unread(f"there is no file {name} that can be read")
    try:
        return keep(Facts, text, lambda: read_json_as(Facts, text))
    except UnfitError as error:
        first = error.faults[0]
        where = ".".join(map(str, first["loc"])) or "(file)"
        raise unread(f"{name}: {where}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:
        raise unread(f"{name} holds what no facts hold: {error}") from error


def _findings(
    workspace: Workspace, facts: Facts, asked: DoctorOptions, bad: tuple[KnownBad, ...]
) -> dict[Goal, tuple[Finding, ...]]:
    texts, table = check_texts(), gpu_table()
    profile, device = workspace.profile, workspace.device
    questions = {goal: Question(facts, profile, device, goal, table, bad) for goal in _goals(asked)}
    found = {goal: examine(each, texts, only=asked.only, skip=asked.skip) for goal, each in questions.items()}
    return {goal: mend_here(each, facts, profile, known()) for goal, each in found.items()}


def _merge(by_goal: Mapping[Goal, tuple[Finding, ...]]) -> tuple[Finding, ...]:
    """Take of each check its worse answer; one that is folded into its cause says more than a warning."""
    found: dict[str, Finding] = {}
    for finding in (each for findings in by_goal.values() for each in findings):
        if finding.id not in found or WORSE[finding.level] > WORSE[found[finding.id].level]:
            found[finding.id] = finding
    order = {check.id: place for place, check in enumerate(CHECKS)}
    return tuple(sorted(found.values(), key=lambda finding: order[finding.id]))


def _diagnose(workspace: Workspace, facts: Facts, by_goal: Mapping[Goal, tuple[Finding, ...]]) -> Diagnosis:
    families, findings = facts.system.places if facts.system else (), _merge(by_goal)
    way = way_for(workspace, facts)
    refused = {each.profile for each in way.refusals if each.firm}
    profiles = [each for each in every_profile() if each.name not in refused and may_advise(each, workspace.base.name)]
    can_build, can_run = (_fitting(facts, profiles, goal) for goal in get_args(Goal))
    told = describe_way(way, facts) if is_release(workspace.base) else _way(workspace, findings, can_build)
    return Diagnosis(
        profile=workspace.profile.name,
        chosen_by=workspace.chosen_by,
        machine=_machine(facts),
        findings=[_describe(finding, families) for finding in findings],
        root_causes=list(root_causes(findings)),
        way=told,
        can_build=can_build,
        can_run=can_run,
        stops={goal: list(root_causes(found)) for goal, found in _in_order(by_goal, told.route).items()},
        only=[],
        saved=None,
        pasted=None,
    )


def _describe(finding: Finding, families: tuple[str, ...]) -> DoctorFinding:
    fix = FindingFix(finding.fix.say, list(finding.fix.commands_for(families)))
    return DoctorFinding(**{**fields_of(finding), "fix": fix})


def _machine(facts: Facts) -> str:
    system, resources = facts.system, facts.resources
    words = accelerator_names(facts) or list(other_gpus(facts))
    words += [system.name, *([f"Linux {system.kernel}"] if system.kernel != "0" else [])] if system else []
    if resources:
        words += [f"{resources.cpus} cores", f"{resources.memory / (1 << 30):.0f} GiB"]
    if facts.python:
        words.append(f"Python {facts.python.version}")
    return " · ".join(words) or "nothing was told of the machine"


def _fitting(facts: Facts, profiles: Iterable[Profile], goal: Goal) -> list[str]:
    """Give the profiles for which the machine would do; where nothing is compiled, nothing is built."""
    profiles = [each for each in profiles if goal == "run" or each.compiles]
    texts, table = check_texts(), gpu_table()
    questions = {
        each.name: Question(facts, each, load_device(each.accelerator, each.device), goal, table) for each in profiles
    }
    found = {name: examine(question, texts, only=about_machine()) for name, question in questions.items()}
    return [name for name, findings in found.items() if not any(each.level in BAD for each in findings)]


def _way(workspace: Workspace, findings: tuple[Finding, ...], can_build: list[str]) -> Recommendation:
    name = workspace.profile.name
    if not workspace.profile.compiles:
        why = "nothing is compiled: what its maker publishes is installed"
        command = workspace.command("install")
        return Recommendation(route="wheel", profile=name, commands=[command], why=why)
    if name in can_build:
        cut_off = any(each.id == REACH and each.level == "warn" for each in findings)
        why = "build it, if the mirrors here have all that it fetches" if cut_off else "build it: nothing is missing"
        commands = [workspace.command("build")]
        return Recommendation(route="build", profile=name, commands=commands, why=why)
    causes = [finding.id for finding in findings if finding.level in BAD and not finding.caused_by]
    return Recommendation(route="none", profile=name, commands=[], why=f"missing: {', '.join(causes)}")
