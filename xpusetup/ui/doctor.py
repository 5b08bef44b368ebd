"""The doctor's screen: the verdict, one list of what to do, and a line for each area; -v shows every check."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.command import Command
from xpusetup.base.text import shorten
from xpusetup.doctor.registry import CHECKS
from xpusetup.recommend.answer import WayStep
from xpusetup.recommend.solve import KEPT, LOCALLY, MENDS
from xpusetup.system.logs import STDIN
from xpusetup.ui.console import MARKS, print_commands, prose, wrap
from xpusetup.ui.recommend import show_step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from xpusetup.base.model import Level
    from xpusetup.commands.doctor import (
        CheckList,
        Comparison,
        Diagnosis,
        DoctorFinding,
        FindingFix,
        UpstreamReport,
    )
    from xpusetup.commands.paste import PasteSummary


GPU = "hw.intel_gpu_present"
FEW = 8
"""As many machines are named; of more the number is told, and -v names all."""
FEWEST = 3
"""As many checks are shown whole without -v: somebody asked for them by name."""
ASKED = 4
"""As many things to paste are named; -v names all."""
SHORT = 64
"""As many letters have room in the line of an area at 80 columns."""
AMISS = ("fail", "crash")
OF_THE_WAY = "release"
"""The area of what would be installed, of which the way tells: it has a line of its own where something is amiss."""
UNSURE = "It fails, and the post does not say why"
FOR_A_BUILD = "needed only for source builds"
BY_SETUP = {*MENDS["setup.toolchain"], *MENDS["setup.oneapi"]}
"""Checks of what setup installs for a build, wherever they know commands themselves."""
LABELS = {"pytorch": "PyTorch", "shell": "This shell", "driver": "GPU driver", "plugins": "Device"}


def show_doctor(console: Console, data: Diagnosis, *, verbose: bool) -> None:
    """Print the verdict, what to do, and the state of each area; of checks that alone were asked for, what they say."""
    level, verdict = _verdict_of_these(data) if data.only else _verdict(data)
    console.print(f"\n {MARKS[level]} [bold]{escape(verdict)}[/]")
    if data.only:
        console.print()
        _show_checks(console, data)
    else:
        _show_diagnosis(console, data, level, verbose=verbose)
    if data.pasted:
        _show_pasted(console, data.pasted, verbose=verbose)
    if data.saved:
        console.print(f" [green]✓[/] what was seen is in {escape(data.saved)}, without names, addresses and tokens")


def _show_diagnosis(console: Console, data: Diagnosis, level: Level, *, verbose: bool) -> None:
    if data.way.route == "none" and ((level == "fail" and _is_untold(data)) or (level != "ok" and data.way.source)):
        prose(console, "   ", data.way.why)  # else the causes say it
    if data.pasted and data.pasted.ask:
        _show_wanted(console, data.pasted, fails=level == "fail")
    if data.pasted and data.pasted.surer:
        _show_errors(console, data, data.pasted)
    numbers = _show_road(console, data)
    if data.way.route != "none" and data.way.steps and _steps(data):
        _show_why(console, data, verbose=verbose)
    elif _works(data):
        prose(console, " ", "The GPU computes there, so nothing has to be installed for it.", first="\n ")
    if data.pasted and not data.pasted.surer:
        _show_errors(console, data, data.pasted)
    console.print()
    why = "" if data.chosen_by.startswith("the newest") and not verbose else f" ({data.chosen_by})"
    whose = "What was posted: " if data.pasted and not data.machine.startswith("nothing ") else ""
    prose(console, " ", f"{whose}{data.machine} · judged for {data.profile}{why}", style="dim")
    if verbose or len(data.findings) <= FEWEST:
        _show_checks(console, data)
    else:
        _show_areas(console, data, numbers)
    _show_more(console, data, verbose=verbose)


def _show_why(console: Console, data: Diagnosis, *, verbose: bool) -> None:
    """Print why this way; to whom asks for a build alone, how to do without."""
    last = data.way.steps[-1]
    if not _is_followed(data):
        prose(console, " ", f"without a build: {data.way.commands[-1]}", style="dim")
    elif verbose or not last.title.startswith(KEPT):
        prose(console, " ", f"why: {data.way.why}", style="dim")


def _is_followed(data: Diagnosis) -> bool:
    """Say whether the way leads to what was asked for: a build alone may have been."""
    return "run" in data.stops or data.way.route == "build"


def _verdict_of_these(data: Diagnosis) -> tuple[Level, str]:
    """Say in one line what the checks say that alone were asked for: of the machine they tell nothing else."""
    bad = sum(each.level in AMISS for each in data.findings)
    unsure = sum(each.level in ("warn", "skip", "unknown") for each in data.findings)
    level: Level = "fail" if bad else "warn" if unsure else "ok" if data.findings else "info"
    if len(data.only) > 1 and level in ("fail", "warn"):
        return level, f"{bad or unsure} of {len(data.only)} checks: {'a fault' if bad else 'a warning'}"
    said = {"fail": "This check fails", "warn": "This check warns", "info": "Nothing to check here"}
    return level, said.get(level) or ("This check holds" if len(data.only) == 1 else "These checks hold")


def _verdict(data: Diagnosis) -> tuple[Level, str]:
    """Say in one line whether the way is free, and how sure that is where the machine was told of."""
    if causes := _causes(data):
        return "fail", _stopped(data, len(causes))
    if data.pasted and (told := _verdict_of(data.pasted, data)):
        return told
    if _is_elsewhere(data) and "run" in data.stops:
        return "warn", "No GPU is on this node; doctor has to run where one is"
    warnings = sum(each.level == "warn" and _matters(each, data) for each in data.findings)
    words = [_count(warnings, "warning")] if warnings else []
    refused = [each.profile for each in data.way.refusals if not data.chosen_by.startswith("the newest")]
    words += [f"{data.profile} is not advised here"] if data.way.profile in refused else []
    level: Level = "warn" if words else "ok"
    if data.stops.get("build") and not words:
        return level, "Ready for PyTorch"
    return level, "; ".join(["Nothing stops the way", *words] if words else ["Nothing is wrong"])


def _stopped(data: Diagnosis, causes: int) -> str:
    """Say what does not go, and of how many causes."""
    stopped = [goal for goal in _goals(data) if data.stops[goal]]
    if data.way.route == "none" and stopped == ["run"] and not _is_untold(data):
        return "No accelerator is here that this program serves"
    if data.pasted and data.pasted.ask:
        return UNSURE
    what = f"{data.profile} {'cannot be built' if stopped == ['build'] else 'can be neither built nor used'}"
    what = "PyTorch cannot use the accelerator" if stopped == ["run"] else what
    count = "1 cause" if causes == 1 else f"{causes} causes; mend 1 first"
    return f"{what} {'there' if data.pasted else 'here'} yet: {count}"


def _is_elsewhere(data: Diagnosis) -> bool:
    """Say whether no GPU is where one was looked for, and one may be elsewhere."""
    return any(each.id == GPU and each.level == "warn" for each in data.findings)


def _is_untold(data: Diagnosis) -> bool:
    """Say whether nobody told which GPUs there are."""
    return any(each.id == "hw.intel_gpu_present" and each.level == "unknown" for each in data.findings)


def brief_doctor(data: Diagnosis) -> str:
    level, verdict = _verdict_of_these(data) if data.only else _verdict(data)
    return f"{MARKS['ok']} {verdict}" if level == "ok" else ""


def _verdict_of(pasted: PasteSummary, data: Diagnosis) -> tuple[Level, str] | None:
    """Say what is to be said of a machine that was told of, where no check found a cause."""
    if data.way.source == LOCALLY:
        return "warn", "The post shows no Intel GPU"
    if pasted.symptoms and not pasted.causes:
        return "warn", UNSURE
    if any(cause.level == "error" for cause in pasted.causes):
        sure = "may be" if pasted.ask else "is"
        return "warn", f"Nothing that was told of the machine is wrong; its errors say what {sure}"
    if pasted.kernel:
        return "warn", "No cause is known, and the kernel tells of errors"
    level: Level = "warn" if pasted.symptoms or pasted.causes else "info"
    return (level, "Nothing that was told is wrong; what is not known stands below") if pasted.unknown else None


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _goals(data: Diagnosis) -> list[str]:
    """Give the goals that the way takes; where there is no way, the one that is stopped."""
    if data.way.route == "none":
        return [goal for goal in ("run", "build") if data.stops.get(goal)][:1] or list(data.stops)
    return ["run"] if data.way.route in ("wheel", "image") and "run" in data.stops else list(data.stops)


def _matters(finding: DoctorFinding, data: Diagnosis) -> bool:
    """Say whether a finding counts for a goal of the way."""
    goals = next((check.goals for check in CHECKS if check.id == finding.id), ())
    return any(goal in goals for goal in _goals(data))


def _causes(data: Diagnosis) -> list[DoctorFinding]:
    """Give the causes that stand in the way, first things first."""
    found = {finding.id: finding for finding in data.findings}
    stops = {name for goal in _goals(data) for name in data.stops[goal]}
    return [found[name] for name in data.root_causes if name in stops]


def _show_road(console: Console, data: Diagnosis) -> dict[str, int]:
    """Print one list: causes with what mends them, then the steps to PyTorch. Give the number of each cause."""
    causes = {cause.id: cause for cause in _causes(data)}
    steps = _steps(data)
    mended = {name for step in steps for name in step.mends}
    rows: list[tuple[WayStep, list[DoctorFinding]]] = [
        (_step_of(cause, data), [cause]) for name, cause in causes.items() if name not in mended
    ]
    rows += [(step, [causes[name] for name in step.mends if name in causes]) for step in steps]
    if rows:
        console.print()
    if rows and data.pasted and data.pasted.ask:
        prose(console, " ", "What may help before that is known:")
    for number, (step, found) in enumerate(rows, start=1):
        if any(step.title.startswith(f"{cause.title}: ") for cause in found):
            _show_cause(console, number, found[0], _step_of(found[0], data).commands)
        else:
            show_step(console, number, step, [f"{cause.title}: {_first(cause)}" for cause in found])
    return {cause.id: number for number, (_, found) in enumerate(rows, start=1) for cause in found}


def _steps(data: Diagnosis) -> list[WayStep]:
    """Give the steps to what was asked for: along the way, or to a build where that alone was asked about."""
    way = data.way
    if _works(data):
        return []
    if way.steps and not _is_followed(data):
        return [WayStep(title=f"{data.profile} from source", commands=(Command(f"xpusetup build {data.profile}"),))]
    if way.route == "none":
        return []
    return way.steps or [WayStep(title=way.why, commands=(command,)) for command in way.commands]


def _works(data: Diagnosis) -> bool:
    """Say whether a post tells of a GPU that computes, with nothing in its way."""
    return data.pasted is not None and data.pasted.works and not _causes(data)


def _step_of(cause: DoctorFinding, data: Diagnosis) -> WayStep:
    """Give a cause as a step; what setup installs for a build is one command."""
    commands = tuple(cause.fix.commands)
    if commands and cause.id in BY_SETUP and not data.pasted:
        commands = (Command(f"xpusetup setup {data.profile} --for build --apply"),)
    return WayStep(title=f"{cause.title}: ", commands=commands)


def _first(finding: DoctorFinding) -> str:
    return finding.seen.partition("\n")[0]


def _show_cause(console: Console, number: int, finding: DoctorFinding, commands: Sequence[str]) -> None:
    """Print a cause with what mends it; what stands behind the first one is asked again when that is mended."""
    first, *more = finding.seen.splitlines() or [""]
    prose(console, "      ", f"{finding.title}: {first} ({finding.id})", first=f"   {number}  ")
    for line in more:
        console.print(f"      {escape(line)}")
    prose(console, "      ", finding.why if number == 1 else "")
    print_commands(console, commands, 8)
    prose(console, "      ", finding.fix.say if number == 1 or not commands else "")


def _show_areas(console: Console, data: Diagnosis, numbers: dict[str, int]) -> None:
    """Print a line for each area: what is amiss in it, else the first thing that is well."""
    areas: dict[str, list[DoctorFinding]] = {}
    for finding in data.findings:
        areas.setdefault(finding.area, []).append(finding)
    untold: list[str] = []
    for area, group in areas.items():
        label = _label(area, data)
        if {each.level for each in group} == {"unknown"}:
            untold += [label] if data.pasted and area != OF_THE_WAY else []
        for level, text, fix in _lines_of(group, data, numbers):
            prose(console, " " * 15, text, first=f" {MARKS[level]} {label:<11} ")
            print_commands(console, fix.commands if fix else (), 17)
            prose(console, " " * 17, fix.say if fix and not fix.commands else "")
            label = ""
    prose(console, " " * 15, ", ".join(untold), first=f" {MARKS['unknown']} Not told    ")


def _label(area: str, data: Diagnosis) -> str:
    """Name an area; the shell of a post is not this one."""
    return "Shell" if area == "shell" and data.pasted else LABELS.get(area, area.capitalize())


def _lines_of(
    group: list[DoctorFinding], data: Diagnosis, numbers: dict[str, int]
) -> Iterator[tuple[Level, str, FindingFix | None]]:
    """Give what is amiss in an area, else one line: what waits, or the first short thing that is well."""
    amiss = [each for each in group if each.level in (*AMISS, "warn") and not each.caused_by]
    for each in amiss:
        if each.id in numbers:
            yield "fail", f"{each.title}: see {numbers[each.id]} above", None
        elif _matters(each, data):
            yield each.level, f"{each.title}: {_first(each)} ({each.id})", each.fix
        else:
            yield "info", f"{each.title}: {FOR_A_BUILD} ({each.id})", None
    good = [each for each in group if each.level in ("ok", "info")]
    good.sort(key=lambda each: (not _matters(each, data), each.level != "ok"))
    waiting = sum(each.level == "skip" for each in group)
    if waiting and not amiss:
        above = {each.caused_by for each in group if each.level == "skip"}
        where = ", ".join(str(number) for name, number in numbers.items() if name in above)
        yield "skip", f"waits for {where} above" if where else f"not known yet: {waiting} of {len(group)} checks", None
    elif not (amiss or data.pasted) and (untried := [each for each in group if each.level == "unknown"]):
        yield "unknown", f"{untried[0].title}: {_first(untried[0])}", None
    elif good and not amiss and group[0].area != OF_THE_WAY:
        yield _best(good)


def _best(good: Sequence[DoctorFinding]) -> tuple[Level, str, FindingFix | None]:
    """Give one line for all that is well: the first short one of those that say so, else of those that only tell."""
    same = [each for each in good if each.level == good[0].level]
    lines = [f"{each.title}: {_first(each)}" for each in same]
    return good[0].level, next((line for line in lines if len(line) <= SHORT), min(lines, key=len)), None


def _show_checks(console: Console, data: Diagnosis) -> None:
    """Print every check with its reason, its source, and where something is amiss with what mends it."""
    for area, group in groupby(data.findings, key=lambda finding: finding.area):
        label = _label(area, data)
        for finding in group:
            later = finding.level in AMISS and not data.only and not _matters(finding, data)
            text = f"{finding.title}: {_first(finding)}{f' ({FOR_A_BUILD})' if later else ''}"
            mark = MARKS["info" if later else finding.level]
            prose(console, " " * 15, text, first=f" {label:<11} {mark} ")
            label = ""
            prose(console, " " * 15, finding.why)
            if finding.level in (*AMISS, "warn"):
                print_commands(console, finding.fix.commands, 17)
                prose(console, " " * 15, finding.fix.say)
            if finding.why:
                console.print(f"{' ' * 15}[dim]{finding.id} · {finding.source}[/]")


def _show_more(console: Console, data: Diagnosis, *, verbose: bool) -> None:
    others = [each for each in data.can_build if each != data.profile]
    if verbose and data.root_causes and others and not data.pasted:
        console.print(f"\n what can be built here: {', '.join(others)}")
    words = [f"-v shows all {len(data.findings)} checks", "--only ID one of them"]
    words = [_count(len(data.findings), "check")] if verbose or len(data.findings) <= FEWEST else words
    if data.stops.get("build") and "build" not in _goals(data):
        words.append("builds need more: --for build")
    console.print(f"\n {' · '.join(words)}", style="dim")  # 80 columns at the most


def show_checks(console: Console, data: CheckList, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    width = max((len(check.id) for check in data.checks), default=0)
    for check in data.checks:
        console.print(f" {check.id:<{width}}  {check.area:<12} {escape(check.title)}")


def show_report(console: Console, data: UpstreamReport, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    told = f" [green]✓[/] the report is in {escape(data.file)}, without names, addresses and tokens"
    console.print(told if data.file else escape(data.report.rstrip("\n")))


def _show_errors(console: Console, data: Diagnosis, pasted: PasteSummary) -> None:
    """Say what the error lines mean, but for fixes that stand above; then the lines that do not say why."""
    said = set() if pasted.surer else {cause.fix.say for cause in _causes(data)}
    shown: list[str] = []
    for cause in (each for each in pasted.causes if each.fix not in said):
        line = shorten(cause.text.strip())
        if any(line in each or each in line for each in shown):  # two readings of one line
            prose(console, "     ", f"or: {cause.cause} ({cause.id})")
            continue
        shown.append(line)
        console.print(f"\n Its errors  [bold]{cause.id}[/]")
        prose(console, "     ", line, style="dim")
        prose(console, "     ", cause.cause)
        print_commands(console, cause.commands, 7)
        prose(console, "     ", cause.fix)
    _show_symptoms(console, pasted)


def _show_wanted(console: Console, pasted: PasteSummary, *, fails: bool) -> None:
    """Print whole what tells the causes apart, where no cause is sure."""
    commands = [row.paste for row in pasted.unknown if row.decides]
    words = "What these print tells the causes apart; paste it too:"
    if not (pasted.causes or pasted.symptoms or fails):
        words = "To know more, paste also what these print:"
    if commands:
        prose(console, "   ", words, first="\n   ")
        print_commands(console, commands, 5)


def _show_symptoms(console: Console, pasted: PasteSummary) -> None:
    """Show the lines that say that it fails and not why, and what else the kernel calls an error."""
    for line in pasted.kernel:
        _show_line(console, "The kernel", line)
    if pasted.symptoms and pasted.causes:
        prose(console, "     ", f"with it came: {'; '.join(pasted.symptoms)}", style="dim")
        return
    for line in pasted.symptoms:
        _show_line(console, "A message", line)
    if pasted.symptoms:
        words = "This says that it fails, and not why: it has many causes, and the post does not say which."
        prose(console, "     ", words)
        prose(console, "     ", "If it is the output of a program, explain reads it: xpusetup explain FILE")


def _show_line(console: Console, name: str, line: str) -> None:
    """Show a line of the post with what it is."""
    for number, part in enumerate(wrap(line, console.width - 13)):
        console.print(f"{' ' * 13}{escape(part)}" if number else f"\n {name:<11} {escape(part)}")


def _show_pasted(console: Console, pasted: PasteSummary, *, verbose: bool) -> None:
    """Say from what was judged, and what to paste to know more."""
    kinds = ", ".join(f"{name} ({count})" for name, count in pasted.kinds.items())
    read = f"{pasted.unread} of {_count(pasted.lines, 'line')} not recognized"
    read = f"{kinds}; {read if pasted.unread else 'every line was recognized'}" if kinds else "its error lines alone"
    prose(console, "             ", read, first="\n Judged from ")
    if pasted.cut:
        console.print("             only the first 4 MiB were read")
    for line in pasted.unread_lines if verbose else ():
        console.print(f"             [dim]{escape(line)}[/]")
    rows = [row for row in pasted.unknown if verbose or not (pasted.ask and row.decides)]
    if rows:
        console.print("\n Not known   to know it, paste also")
    shown = rows if verbose else rows[:ASKED]
    for row in shown:
        checks = f"   [{', '.join(row.checks)}]" if verbose else ""
        prose(console, "               ", f"{row.paste}{checks}", first="             ")
    if more := len(rows) - len(shown):
        console.print(f"             [dim]and {more} more: -v[/]")
    if pasted.ask:
        piped = "... | " if f"--paste {STDIN} " in pasted.ask else ""
        console.print("\n Ask         no cause is sure; a text to ask others with:")
        console.print(f"             {piped}{escape(pasted.ask)}")


def show_comparison(console: Console, data: Comparison, *, verbose: bool) -> None:
    """Show what machines differ in; of a value that most of them have, who has it is not worth a line."""
    count = len(data.machines)
    console.print(f"\n Machines    {count}, judged for {data.profile}\n")
    for row in data.differs:
        console.print(f" {escape(row.id)}")
        for number, group in enumerate(row.groups):
            whole = verbose or (number > 0 and len(group.machines) <= FEW)
            who = ", ".join(group.machines) if whole else f"{len(group.machines)} of {count}"
            console.print(f"     {escape(group.value)}  [dim]{escape(who)}[/]")
    for name, causes in data.causes.items():
        console.print(f" {MARKS['fail']} {escape(name)}: {', '.join(causes)}")
    verdict = _count(len(data.differs), "difference") if data.differs else "no difference"
    console.print(f"\n {verdict}, {len(data.causes)} of {count} machines with a cause")
