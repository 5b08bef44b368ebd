"""Where a build's report lies, and the few lines that most people want from it."""

from rich.console import Console
from rich.markup import escape

from xpusetup.base.text import render_duration, render_size
from xpusetup.commands.report import WrittenReport
from xpusetup.report.contents import Span, last_parts
from xpusetup.ui.console import name_file

SHOWN = 3


def show_report(console: Console, data: WrittenReport, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    console.print(f"\n {data.profile} · {escape(data.root)}\n")
    for step in sorted(data.steps, key=lambda one: -one.seconds)[:SHOWN]:
        console.print(f"   {step.step:<20} {render_duration(step.seconds):>8}{_load(step)}")
    if (more := len(data.steps) - SHOWN) > 0:
        console.print(f"   [dim]{more} shorter {'run' if more == 1 else 'runs'} of steps: in the page[/]")
    for edge in (each for each in data.longest[:SHOWN] if round(each.seconds)):
        name = escape(last_parts(edge.output))
        console.print(f"   [dim]{'  longest compile':<20}[/] {render_duration(edge.seconds):>8}    {name}")
    for each in data.passes:
        told = f"of processors, {each.count} calls · the largest took {render_size(each.memory)}"
        console.print(f"   [dim]{f'  SYCL {each.name}':<20}[/] {render_duration(each.processor):>8}    {told}")
    unseen = "  (there is no browser here: copy it to where there is one)" if data.opened is False else ""
    console.print(f"\n [green]✓[/] {escape(data.file)}{unseen}")


STATES = {"failed": "failed", "cut": "interrupted", "short": "ended for lack of memory"}


def _load(step: Span) -> str:
    jobs = f"{step.jobs} {'job' if step.jobs == 1 else 'jobs'}" if step.jobs else ""
    heaviest = f"the largest process took {render_size(step.heaviest)}" if step.heaviest else ""
    cached = f"{step.cached[0]} of {sum(step.cached)} compiles from the cache" if step.cached else ""
    words = [word for word in (STATES.get(step.state, ""), jobs, heaviest, cached) if word]
    return f"    {' · '.join(words)}" if words else ""


def brief_report(data: WrittenReport) -> str:
    return name_file(data.file)
