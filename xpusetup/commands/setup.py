"""setup: what to install here, as this distribution's commands; shown, written as a script, or done."""

import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import get_args

from xpusetup.base.command import Command
from xpusetup.base.errors import NotReadyError, UsageError, WorkFailedError
from xpusetup.base.model import Finding, Goal
from xpusetup.commands.doctor import NO_BUILD, read_facts
from xpusetup.commands.recommend import machine_line
from xpusetup.commands.result import Result, Say
from xpusetup.config.profile import Profile
from xpusetup.config.settings import make_network
from xpusetup.config.shipped import load_profile, shipped
from xpusetup.config.take import choose_toolkit
from xpusetup.doctor.question import Question, check_texts, intel_gpus, is_xpu
from xpusetup.doctor.registry import about_machine, examine, root_causes
from xpusetup.emit.script import render_system
from xpusetup.machine.facts import Facts, Section
from xpusetup.machine.probe import Ask, probe
from xpusetup.machine.probe_tools import with_toolkit_of_shell
from xpusetup.machine.tables import gpu_table
from xpusetup.recommend.answer import Setup, Task
from xpusetup.recommend.machine import known
from xpusetup.recommend.setup import make_setup, mend_here, with_lists
from xpusetup.recommend.solve import MENDS, choose_release, is_release, make_way
from xpusetup.run.workspace import load_device, load_settings
from xpusetup.system import files
from xpusetup.system.environment import variables
from xpusetup.system.process import run_attached

SETUP_SECTIONS: tuple[Section, ...] = (
    *("system", "hardware", "kernel", "userland", "container"),
    *("toolkits", "tools", "python", "torch", "network"),
)
"""What tells what is there already."""


AFTER = {"restart": "restart this machine, then ask again", "login": "log out and in, then ask again"}
"""What a script for root says at its end where that has to follow."""


@dataclass(frozen=True, kw_only=True)
class SetupOptions:
    """What setup was asked. `root`: with root; otherwise only what a user can install for themselves."""

    profile: str = ""
    toolkit: str = ""
    goal: str = ""
    root: bool = True
    facts: str = ""


@dataclass(frozen=True, kw_only=True)
class SetupPlan:
    """What to install, and for what."""

    facts: Facts
    profile: Profile
    goal: Goal
    setup: Setup
    named: str
    options: str
    elsewhere: bool = False


def prepare_setup(options: SetupOptions) -> SetupPlan:
    if options.goal not in ("", *get_args(Goal)):
        raise UsageError(f"--for cannot be {options.goal!r}", fix="use one of: build, run")
    settings = load_settings()
    network = make_network(settings.network, variables())
    about = Ask(imports=False, toolkit=settings.toolkit.root, network=network)
    facts = read_facts(options.facts) if options.facts else probe(SETUP_SECTIONS, about)
    named = options.profile or settings.profile or choose_release(facts, shipped(), known())[0]
    profile = choose_toolkit(load_profile(named), options.toolkit) if options.toolkit else load_profile(named)
    facts = facts if options.facts else with_toolkit_of_shell(facts, settings, profile.toolkit)
    goal = _goal(options, facts, profile)
    setup = with_lists(make_setup(facts, profile, known(), goal=goal, root=options.root))
    words = [shlex.quote(options.profile)] if options.profile else []
    words += [f"--toolkit {shlex.quote(options.toolkit)}"] if options.toolkit else []
    words += [f"--for {options.goal}"] if options.goal else []
    words += [] if options.root else ["--no-root"]
    again = " ".join(["xpusetup setup", *words])
    return SetupPlan(
        facts=facts,
        profile=profile,
        goal=goal,
        setup=setup,
        named=named,
        options=again,
        elsewhere=bool(options.facts),
    )


def _goal(options: SetupOptions, facts: Facts, profile: Profile) -> Goal:
    """Take what was said, else what the shortest way to this profile needs."""
    if options.goal:
        return "build" if options.goal == "build" else "run"
    if options.toolkit or not is_release(profile):
        return "build" if profile.compiles else "run"
    # who has a card that is not seen wants no build, unless this place names what it builds
    unseen: Goal = "run" if _is_published(profile) and not load_settings().profile else "build"
    route = make_way(facts, shipped(), known(), asked=profile.name).route
    return unseen if route == "none" else "run" if route in NO_BUILD else "build"


def _is_published(profile: Profile) -> bool:
    return profile.published is not None or profile.installer is not None


@dataclass(frozen=True, kw_only=True)
class SetupCommand:
    """A command of a step. `then`: what has to happen after it: restart, login, or nothing."""

    id: str
    title: str
    needs: list[str]
    argv: list[str]
    then: str


@dataclass(frozen=True)
class SetupNote:
    """What has to be done by hand, as no command is known for it here."""

    title: str
    say: str
    source: str
    commands: list[Command]


@dataclass(frozen=True, kw_only=True)
class SetupGap:
    """A finding that stops the goal and that no command of setup mends."""

    id: str
    seen: str
    why: str
    say: str
    commands: list[Command]


@dataclass(frozen=True, kw_only=True)
class SetupResult:
    """What to install here, in order, or what became of it: the steps in `ran`, and why it `stopped`.

    `stopped`: restart, login, or nothing, where there was no command to run or to write. `elsewhere`: for a
    machine that was saved, not this one. `no_gpu`: why there is no Intel GPU as far as was seen, where one is wanted.
    `checks`, `other` (what it lacks for the other goal), `follows` and `apply` are commands; `collected` is
    the day of what is known of distributions.
    """

    machine: str
    profile: str
    goal: Goal
    commands: list[SetupCommand]
    notes: list[SetupNote]
    left: list[SetupGap]
    no_gpu: str
    elsewhere: bool
    checks: str
    other: str
    follows: str
    apply: str
    collected: str
    ran: list[str] = field(default_factory=list)
    stopped: str = ""
    file: str | None = None


def show_setup(prepared: SetupPlan, *, out: str = "", apply: bool = False) -> Result[SetupResult]:
    """Say what is to be installed, as a script in `out` too. Where nothing is, nothing is written, nor is it run."""
    told = _describe(prepared)
    if (out or apply) and not prepared.setup.tasks:
        return Result("setup", replace(told, stopped="nothing"), code=_code(told) if apply else 0)
    if out:
        system = prepared.facts.system.name if prepared.facts.system else "this system"
        head = f"{system}, for {prepared.profile.name}"
        tasks = prepared.setup.tasks
        after = next((AFTER[task.then] for task in tasks if task.then), "")
        text = render_system(tuple(task.step for task in tasks), head)
        text += f"\n{shlex.join(('echo', f'{after}: {prepared.options}'))}\n" if after else ""
        files.write_text(Path(out), text, executable=True)
    return Result("setup", replace(told, file=out or None))


def _describe(prepared: SetupPlan) -> SetupResult:
    way = make_way(prepared.facts, shipped(), known(), asked=prepared.named)
    kept = prepared.goal == "run" and way.kept and way.profile == prepared.profile.name
    verb = "install" if prepared.goal == "run" and _is_published(prepared.profile) else "build"
    other = "build" if prepared.goal == "run" else "run"
    there = prepared.profile.compiles if other == "build" else _is_published(prepared.profile)
    return SetupResult(
        machine=machine_line(prepared.facts),
        profile=prepared.profile.name,
        goal=prepared.goal,
        commands=[row for task in prepared.setup.tasks for row in _rows(task)],
        notes=[SetupNote(note.title, note.say, note.source, list(note.commands)) for note in prepared.setup.notes],
        left=[_gap(finding, prepared.facts) for finding in find_left(prepared)],
        elsewhere=prepared.elsewhere,
        no_gpu=way.why if way.route == "none" and _lacks_gpu(prepared) else "",
        checks=f"xpusetup doctor {shlex.quote(prepared.named)} --for {prepared.goal}",
        other=Command(f"xpusetup setup {shlex.quote(prepared.named)} --for {other}" if there else ""),
        follows=way.commands[-1] if kept else Command(f"xpusetup {verb} {shlex.quote(prepared.named)}"),
        apply=f"{prepared.options} --apply",
        collected=known().distributions.collected.isoformat(),
    )


def find_left(prepared: SetupPlan) -> tuple[Finding, ...]:
    """Find what stops the goal and no command here mends, as a GPU that is not there.

    What a build lacks is looked at where there is nothing to install: which step mends what is known of runs alone.
    """
    setup, question = prepared.setup, _question(prepared)
    if prepared.goal == "build" and (setup.tasks or setup.notes):
        return ()
    found = mend_here(examine(question, check_texts(), only=about_machine()), prepared.facts, prepared.profile, known())
    done = [task.step.id for task in setup.tasks] + [note.id for note in setup.notes]
    mended = {check for name in done for check in MENDS.get(name, ())}
    return tuple(each for each in found if each.id in root_causes(found) and each.id not in mended)


def _question(prepared: SetupPlan) -> Question:
    device = load_device(prepared.profile.accelerator, prepared.profile.device)
    return Question(prepared.facts, prepared.profile, device, prepared.goal, gpu_table())


def _lacks_gpu(prepared: SetupPlan) -> bool:
    """Say whether the Intel GPU that the release is for is not there, as far as was told."""
    question = _question(prepared)
    return is_xpu(question) and not intel_gpus(question)


def _gap(finding: Finding, facts: Facts) -> SetupGap:
    commands = list(finding.fix.commands_for(facts.system.places if facts.system else ()))
    return SetupGap(id=finding.id, seen=finding.seen, why=finding.why, say=finding.fix.say, commands=commands)


def _rows(task: Task) -> list[SetupCommand]:
    step, last = task.step, len(task.step.run) - 1
    return [
        SetupCommand(
            id=step.id,
            title=step.title,
            needs=list(step.needs),
            argv=list(argv),
            then=task.then if number == last else "",
        )
        for number, argv in enumerate(step.run)
    ]


def apply_setup(prepared: SetupPlan, say: Say, *, quiet: bool) -> Result[SetupResult]:
    """Run the commands in order and stop where the machine has to start again first.

    Raises WorkFailedError for a command that fails, NotReadyError where root is needed and there is no sudo.
    """
    told, ran = _describe(prepared), []
    uid = prepared.facts.system.uid if prepared.facts.system else 0
    for task in prepared.setup.tasks:
        for argv in task.step.run:
            sudo = ("sudo",) if "root" in task.step.needs and uid != 0 else ()
            _run((*sudo, *argv), task, say, quiet=quiet)
        ran.append(task.step.id)
        if task.then == "restart":
            return Result("setup", replace(told, ran=ran, stopped="restart"), code=NotReadyError.code)
    stopped = next((task.then for task in prepared.setup.tasks if task.then), "")
    return Result("setup", replace(told, ran=ran, stopped=stopped), code=_code(told))


def _code(told: SetupResult) -> int:
    """Give the code with which --apply ends: what no command mended still stands in the way."""
    return NotReadyError.code if told.left else 0


def _run(argv: tuple[str, ...], task: Task, say: Say, *, quiet: bool) -> None:
    say(task.step.title)
    try:
        code = run_attached(argv, quiet=quiet)
    except OSError as error:
        gone = isinstance(error, FileNotFoundError)
        says = "is not there" if gone else f"cannot be started ({error.strerror})"
        what = f"{argv[0]} {says}, and {task.step.title} needs it"
        commands = " && ".join(shlex.join(each) for each in task.step.run)
        fix = f"ask whoever is root here to run: {commands}" if argv[0] == "sudo" else f"install {argv[0]}"
        raise NotReadyError(what, fix=fix) from error
    if code != 0:
        fix = "read what it said above; the same command does again only what is still missing"
        raise WorkFailedError(f"{task.step.title}: {argv[0]} ended with {code}: {' '.join(argv)}", fix=fix)
