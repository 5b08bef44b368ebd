"""bisect: which commit broke a command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import complete, options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


Nightlies = Annotated[str, typer.Option("--nightlies", help="Another index of nightly wheels.", metavar="INDEX")]
Skip = Annotated[list[str] | None, typer.Option("--skip", help="A commit that is not tried.", metavar="REF")]
Component = Annotated[
    str,
    typer.Option(
        "--component",
        help="The component whose commits are searched.",
        metavar="COMPONENT",
        autocompletion=complete.components,
    ),
]


@options.command("bisect")
def bisect(
    *,
    context: typer.Context,
    good: Annotated[str, typer.Option("--good", help="A commit, tag, branch or day where it works.", metavar="REF")],
    bad: Annotated[str, typer.Option("--bad", help="A later one where it does not.", metavar="REF")],
    component: Component = "torch",
    nightlies: Nightlies = "",
    skip: Skip = None,
    where: options.SourceWhere,
    request: options.ComponentRequest,
    jobs: options.Jobs = 0,
    launcher: options.Launcher = "auto",
    events: options.Events = "",
    told: options.LongOutput,
) -> AnyResult:
    """Build commits to find the first with which a command fails.

    The command ends with 0 where it works, 125 where it cannot tell, any other code below 126 where it fails.
    """
    from xpusetup.commands import bisect, build

    ends = {"component": component, "good": good, "bad": bad, "nightlies": nightlies}
    hunt = bisect.Hunt(**ends, command=tuple(context.args), skip=tuple(skip or ()))
    with told.view() as view:
        how = build.BuildOptions(jobs=jobs, launcher=launcher, events=events, observe=view.observe)
        return bisect.bisect(where.find(), request.read(verify="off"), how, hunt)
