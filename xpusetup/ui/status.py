"""What a build holds, and whether that is still so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.text import describe_older
from xpusetup.ui.console import chosen, home_quoted, prose, show_outcome, steps_coming, steps_left, with_home
from xpusetup.ui.members import show_misfits, show_proofs
from xpusetup.ui.unverified import show_unverified

if TYPE_CHECKING:
    from rich.console import Console

    from xpusetup.commands.status import BuildStatus
    from xpusetup.run.guard import ReplacedPackage


def show_replaced(console: Console, row: ReplacedPackage) -> None:
    """Print one change: what was there, what is, when and by what it came, and who is to blame."""
    console.print(f" [red]✗[/] {escape(_what(row))}")
    prose(console, "     ", row.why)


def _what(row: ReplacedPackage) -> str:
    name, was, now = row.name, row.was, row.now
    when = f" on {row.when[:16].replace('T', ' ')}" if row.when else ""
    by = f", by {row.by}" if row.by else ""
    if was is None:
        return f"{name} {now} came into the environment{when}{by}"
    if now is None:
        return f"{name} {was} is gone from the environment"
    return f"{name} {was} was replaced by {'another build of it' if now == was else now}{when}{by}"


# The screen of `status`: what a root holds, and whether that is still so.


VERIFYING = "verify."
VOID = "not verified any more: what is here is not what was verified"


def _show_sources(console: Console, data: BuildStatus) -> None:
    for name, tree in data.sources.items():
        own = ", a source tree of your own" if tree.own else ""
        own += ", installed editable" if tree.editable else ""
        if tree.archive:
            console.print(f"   {name} from an unpacked archive, sha256 {tree.archive[:12]} of the tree{own}")
            continue
        console.print(f"   {name} at {tree.rev[:12]}{own}{', with changes of your own' if tree.changed else ''}")
    for patch in data.patches:
        console.print(f"   {patch['source']} with {escape(Path(patch['file']).name)}, {patch['sha256']}")


def _show_newer(console: Console, data: BuildStatus) -> None:
    if data.newer:
        from xpusetup.run.trees import describe_newer  # noqa: PLC0415 - most builds are of no tree of the user's own

        prose(console, "   ", f"{describe_newer(data.newer)}:", first=" [yellow]![/] ")
        console.print(f"   {with_home(data.fix)}", soft_wrap=True)


def show_status(console: Console, data: BuildStatus, *, verbose: bool) -> None:
    console.print(f"\n {data.profile}{chosen(data.chosen_by)} · {with_home(data.root)}\n")
    for wheel in data.wheels:
        mark = "[red]✗[/]" if not wheel.intact else "[green]✓[/]" if wheel.installed else "[dim]·[/]"
        there = "" if wheel.installed else "  not installed"
        console.print(f" {mark} {wheel.name} {wheel.version}  [dim]{wheel.sha256[:12]}{there}[/]")
    _show_sources(console, data)
    _show_newer(console, data)
    show_unverified(console, data.unverified if verbose else ())
    show_misfits(console, data.misfits)
    show_proofs(console, data.members)
    for row in data.replaced:
        show_replaced(console, row)
    for step, why in data.damaged.items():
        if not (data.replaced and "/RECORD " in why):  # that follows from the lines above
            console.print(f" [red]✗[/] {step}: {escape(why)}")
    harmed = data.damaged or data.replaced
    for number, line in enumerate(data.fix.splitlines() if harmed else ()):
        console.print(f"   [bold]{'fix' if number == 0 else '   '}[/]  {escape(line)}")
    if data.at_work is not None:
        now = f": {', '.join(data.at_work)}" if data.at_work else ""
        coming = data.steps - len(data.skipped) - len(data.at_work)  # as the build itself counts
        console.print(f" … {data.made_by} is at work{now} · {steps_coming(coming)}")
        for step in data.at_work:
            console.print(f"   [bold]watch[/]  {escape(data.follow)} --log {step} -f")
    elif data.failed and not data.failed.startswith(VERIFYING):
        left = f"; {steps_left(data.left)}" if data.left else ""
        prose(console, "   ", f"{data.failed} failed{left}", first=" [red]✗[/] ")
        _show_older(console, data)
        log = home_quoted(f"{data.root}/logs/{data.failed}.log")
        console.print(f"   [bold]why[/]    xpusetup explain {escape(log)}")
        console.print(f"   [bold]go on[/]  {with_home(data.fix)}")
    elif data.left:
        state = f"interrupted in {', '.join(data.interrupted)}" if data.interrupted else "not finished"
        prose(console, "   ", f"{state}: {steps_left(data.left)}", first=" [yellow]![/] ")
        _show_older(console, data)
        console.print(f"   [bold]go on[/]  {with_home(data.fix)}")
    else:
        _show_held_proof(console, data, " (before that)" if harmed else "")


def _show_older(console: Console, data: BuildStatus) -> None:
    if data.older:
        prose(console, "   ", describe_older(data.older))


def _show_held_proof(console: Console, data: BuildStatus, before: str) -> None:
    if data.void:
        prose(console, "   ", VOID, first=" [yellow]![/] ")
        if not before:  # else it is mended first
            console.print(f"   {escape(data.verify)}")
        return
    done = "built" if data.made_by == "build" else "installed"
    show_outcome(console, data, done=done, before=before)
