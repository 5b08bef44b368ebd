"""explain: which line of a log matters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


@options.command("explain")
def explain(
    *,
    log: Annotated[str, typer.Argument(help="The log; - or nothing: stdin.", metavar="LOG", show_default=False)] = "",
    good: Annotated[
        str,
        typer.Option(
            "--good",
            help="A log that went well: what both say counts for nothing.",
            metavar="OTHER",
            show_default=False,
        ),
    ] = "",
    prompt: options.AskOthers = False,
    told: options.LongOutput,
) -> AnyResult:
    """Say which line of a log matters, why, and what to do."""
    if prompt:
        from xpusetup.commands.prompt import prompt_of_log

        return prompt_of_log(log, good)
    from xpusetup.commands.explain import explain as make

    return make(log, good)
