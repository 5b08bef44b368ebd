"""Operators that run on the CPU, and kernels that were compiled for GPUs that need not be here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.text import render_size
from xpusetup.ui.console import prose
from xpusetup.verify.codegen import GeneratedKernel, list_left_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from xpusetup.commands.codegen import GeneratedCode
    from xpusetup.commands.verify import FallbackTables
    from xpusetup.verify.fallbacks import Operator


def show_fallbacks(console: Console, data: FallbackTables, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Print each table, what its words mean, and what it cannot tell."""
    if data.markdown or not console.is_terminal:
        _show_markdown(console, data)
        return
    for table in data.tables:
        console.print(f"\n [bold]{escape(table.title)}[/]")
        _show_rows(console, table.operators)
        for note in table.notes:
            prose(console, "     ", note, style="dim", first="   · ")
        for error in table.errors:
            console.print(f"   [red]✗[/] {escape(error)}")
    console.print()
    for how, meaning in data.words.items():
        prose(console, " " * 10, meaning, style="dim", first=f" {how:<9}")


def _show_rows(console: Console, operators: Sequence[Operator]) -> None:
    if not operators:
        console.print("   [green]✓[/] no operator ran on the CPU")
        return
    wide = max(len(one.name) for one in operators)
    for one in operators:
        calls = "" if one.calls is None else f"{one.calls:>6}x"
        console.print(f"   {one.name:<{wide}}  {one.how:<8}{calls}  [dim]{_span(one)}[/]".rstrip())


def _span(operator: Operator) -> str:
    """Say with which releases it runs on the CPU."""
    releases = operator.releases
    if not releases:
        return ""
    first, last = releases[0], releases[-1]
    span = first if first == last else f"{first} to {last}"
    since = f", not from {operator.native_since} on" if operator.native_since else ""
    return f"with {span}{since}"


def _show_markdown(console: Console, data: FallbackTables) -> None:
    for number, table in enumerate(data.tables):
        out = [*([""] if number else []), f"## {table.title}", "", table.markdown.rstrip("\n")]
        remarks = [*table.notes, *(f"ended early: {error}" for error in table.errors)]
        remarks += [f"source: {table.source}"] if table.source else []
        console.out("\n".join((*out, "", *(f"- {remark}" for remark in remarks))).rstrip("\n"), highlight=False)
    if data.words:
        console.out("")
    for how, meaning in data.words.items():
        console.out(f"- {how}: {meaning}", highlight=False)


# Kernels that were compiled for GPUs that need not be here.


GENERATED = {"generated": "[green]✓[/]", "refused": "[yellow]![/]", "failed": "[red]✗[/]"}


def show_codegen(console: Console, data: GeneratedCode, *, verbose: bool) -> None:
    """Print what came of each target, and that nothing was run."""
    console.print(f"\n Triton {escape(data.triton)} · ocloc {escape(data.ocloc)} · {escape(data.profile)}\n")
    wide = max((len(target.name) for target in data.targets), default=0)
    for target in data.targets:
        name = f" {GENERATED[target.status]} {escape(target.name):<{wide}}  "
        prose(console, " " * (wide + 5), target.why or _describe_code(target.kernels), first=name)
        if verbose:
            for one in target.kernels:
                sizes = f"SPIR-V {render_size(one.spirv_bytes)}, image {render_size(one.image_bytes)}"
                console.print(f"{' ' * (wide + 5)}[dim]{one.name}: {sizes}, {one.seconds:.1f} s[/]")
    made = sum(target.status == "generated" for target in data.targets)
    mark = "[red]✗[/]" if data.failed else "[green]✓[/]"
    console.print(f"\n {mark} generated, not run: {made} of {len(data.targets)} targets")
    for text in list_left_out(data.targets):
        prose(console, "   ", text)
    prose(console, "   ", "no device computed anything: whether the numbers are right is not said", style="dim")


def _describe_code(kernels: Sequence[GeneratedKernel]) -> str:
    """Say which kernels there are, which of them use the matrix engines, and the versions that the images name."""
    written = [one for one in kernels if one.origin == "written"]
    names = [f"{f'{one.name} {one.half}'.strip()}{' (matrix engines)' if one.matrix else ''}" for one in written]
    more = len(kernels) - len(written)
    names += [f"{more} of torch.compile"] if more else []
    versions = sorted({version for one in kernels for version in one.versions})
    took = sum(one.seconds for one in kernels)
    return f"{', '.join(versions)} · {', '.join(names)} · {took:.1f} s"
