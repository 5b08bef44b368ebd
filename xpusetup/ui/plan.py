"""The steps of a build before it is made: their state, time and disk."""

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.markup import escape

from xpusetup.base.text import MOST_NAMED, name_some, render_size
from xpusetup.commands.plan import PlannedStep, PlanResult, Saving
from xpusetup.run.time_left import render_about
from xpusetup.ui.console import MARKS, chosen, prose, show_table, with_home
from xpusetup.ui.members import show_choices, show_starts, show_why
from xpusetup.ui.unverified import show_unverified


def show_plan(console: Console, data: PlanResult, *, verbose: bool) -> None:
    if data.explain:
        show_explain(console, data)
        return
    if data.why is not None:
        show_why(console, data.why)
        return
    rows = []
    for step in data.steps:
        state = f"{MARKS[step.state]} {'to do' if step.state == 'todo' else step.state}"
        why = f": {with_home(step.why)}" if step.why else ""
        # with a toolkit goes a compiler
        needs = (need for need in step.needs if need != "compiler" or "toolkit" not in step.needs)
        rows.append((step.id, " ".join(needs), state + why, with_home(step.title)))
    console.print(f"\n {data.profile}{chosen(data.chosen_by['profile'])} · {with_home(data.root)}\n")
    for note in data.notes:
        prose(console, "   ", note, first=" [yellow]![/] ")
    console.print("\n" if data.notes else "", end="")
    show_table(console, ("step", "needs", "state", "what"), rows, clear=("state", "what"))
    show_choices(console, data.members)
    show_starts(console, data.starts)
    console.print(f"\n {_estimate(data)}")
    if data.missing:
        console.print(f" [yellow]![/] not ready to build here: {', '.join(data.missing)}; why, and what mends it:")
        console.print(f"   {escape(data.fix)}")
    _show_savings(console, data.savings, verbose)
    if any(step.state != "done" for step in data.steps):
        console.print(f"\n [bold]build it[/]  {with_home(data.build)}")
    if verbose:
        _show_details(console, data)


def _show_details(console: Console, data: PlanResult) -> None:
    """Print what each step does, and where estimates, hashes and settings are from."""
    for step in data.steps:
        console.print(f"\n [bold]{step.id}[/]")
        for line in step.recipe:
            console.print(f"   {line}", markup=False)
    if data.estimate.expected:
        prose(console, "   ", f"the estimate is from: {data.estimate.expected.source}", style="dim")
    show_unverified(console, data.unverified)
    for name, origin in data.chosen_by.items():
        console.print(f" {name}: from {origin}", style="dim")


def _show_savings(console: Console, savings: Sequence[Saving], verbose: bool) -> None:
    """Say how less is built; with -v also what each way saves and gives up."""
    for saving in savings:
        mark = "[green]✓[/]" if saving.on else "[dim]·[/]"
        how = f": {saving.how}" if saving.how else ""
        console.print(f" {mark} {escape(saving.what + how)}")
        if verbose:
            prose(console, "     ", f"saves: {saving.saves} · gives up: {saving.gives_up}", first="     ")


HERE, ELSEWHERE, GUESS = "measured here", "measured elsewhere", "guess"


def _estimate(data: PlanResult) -> str:
    """Say what the build will cost, and whether that was measured or is a guess; what nobody knows is unknown."""
    told, cost = data.estimate, data.estimate.expected
    if all(step.state == "done" for step in data.steps):
        return f"nothing to do · {render_size(told.disk)} on disk"
    whence = ELSEWHERE if cost and cost.confidence == "confirmed" else GUESS
    jobs = f" for {told.jobs} {'job' if told.jobs == 1 else 'jobs'}" if told.jobs else ""
    memory = f"memory {render_size(told.memory)}{jobs}"
    if cost and not cost.whole and told.seconds is None:
        time = f"{_range(cost.seconds, _about)}, " if cost.seconds else ""
        whole = f"{time}{_range(cost.disk, render_size)} on disk ({whence})"
        return f"no estimate for this choice; the whole profile: {whole}\n {memory}"
    if told.seconds is not None:
        way = f", {name_some(told.as_wheel)} as a wheel" if told.as_wheel else ""
        time = f"{render_about(told.seconds)} ({HERE}{way})"
    elif cost and cost.seconds:
        time = f"{_range(cost.seconds, _about)} ({whence})"
    else:
        time = f"time unknown ({_never(data)})"
    disk = f"{render_size(told.disk)} on disk ({HERE})"
    if told.disk is None:
        disk = f"{_range(cost.disk, render_size)} on disk ({whence})" if cost else "unknown on disk"
    return f"{time}\n {disk} · {memory}"


def _never(data: PlanResult) -> str:
    names = data.estimate.unknown
    if len(names) == sum(step.state != "done" for step in data.steps) > MOST_NAMED:
        return "none of it was measured here yet"
    return f"never run here: {name_some(names)}"


def _about(seconds: float) -> str:
    return render_about(seconds).removeprefix("about ")


def _range(ends: tuple[float, float], render: Callable[[float], str]) -> str:
    return f"{render(ends[0])} to {render(ends[1])}"


def show_explain(console: Console, data: PlanResult) -> None:
    """Print each step that would run with every input that changed; then those that follow, and the rest."""
    console.print(f"\n {data.profile} · {with_home(data.root)}\n")
    for step in data.steps:
        if step.state == "stale" and not _follows(step):
            console.print(f" {MARKS['stale']} {step.id}")
            for change in step.changed or [step.why]:
                console.print(f"     {escape(change)}")
    groups = {"stale": "after one of these", "todo": "never done, or the stamp is gone", "done": "done"}
    for state, words in groups.items():
        names = [step.id for step in data.steps if step.state == state and (state != "stale" or _follows(step))]
        if names:
            console.print(f" {MARKS[state]} {words}")
            prose(console, "     ", ", ".join(names), style="dim")


def _follows(step: PlannedStep) -> bool:
    return not step.changed and bool(step.why.startswith("after "))
