"""explain: which line of a log matters."""

from typing import Annotated

import typer

from xpusetup.cli import options


@options.command("explain", "xpusetup explain build.log", "make 2>&1 | xpusetup explain", common="--prompt")
def explain(
    *,
    log: Annotated[
        str,
        typer.Argument(help="The log, or a build whose step failed; - is stdin.", metavar="LOG", show_default="stdin"),
    ] = "",
    prompt: options.AskOthers = False,
    told: options.LongOutput,
) -> options.Answer:
    """Find the line of a log that matters, say why it failed, and what to do."""
    if prompt:
        from xpusetup.commands.prompt import prompt_of_log

        return prompt_of_log(log)
    from xpusetup.commands.explain import explain as make

    return make(log)
