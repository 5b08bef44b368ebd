"""bisect: which commit broke a command."""

from typing import Annotated

import typer

from xpusetup.cli import complete, options

Nightlies = Annotated[str, options.value("--nightlies", "INDEX", "Take nightly wheels from this index.")]
Skip = Annotated[list[str] | None, options.value("--skip", "REF", "Do not try this commit.")]
Component = Annotated[
    str,
    options.value("--component", "COMPONENT", "The component whose commits are searched.", offer=complete.components),
]


@options.command(
    "bisect",
    "xpusetup bisect v2.13.0 main --profile main -- python t.py",
    "xpusetup bisect 2026-05-01 2026-06-10 --profile main -- python t.py",
    common="--profile --component --jobs",
    follows=True,
)
def bisect(
    *,
    context: typer.Context,
    from_good: Annotated[
        str, typer.Argument(help="A commit, tag, branch or day where it works.", metavar="GOOD", show_default=False)
    ] = "",
    to_bad: Annotated[str, typer.Argument(help="A later one where it fails.", metavar="BAD", show_default=False)] = "",
    good: Annotated[str, options.value("--good", "REF", "The same as GOOD.")] = "",
    bad: Annotated[str, options.value("--bad", "REF", "The same as BAD.")] = "",
    component: Component = "torch",
    nightlies: Nightlies = "",
    skip: Skip = None,
    where: options.SourceWhere,
    request: options.ComponentRequest,
    jobs: options.Jobs = None,
    launcher: options.Launcher = "auto",
    events: options.Events = "",
    told: options.LongOutput,
) -> options.Answer:
    """Find the commit that broke a command, by building commits.

    The command's exit code says which: 0 it works, 125 it cannot tell, any other below 126 it fails.
    """
    from xpusetup.base.errors import UsageError
    from xpusetup.commands import bisect, build

    words = tuple(context.args)
    if good and bad:  # the words before the command are the command's own then
        words = (*(each for each in (from_good, to_bad) if each), *words)
    good, bad = good or from_good, bad or to_bad
    if not good or not bad:
        line = "xpusetup bisect v2.13.0 main --profile main -- python t.py"
        raise UsageError("bisect needs a commit that works and one that fails", fix="as in: ", command=line)
    ends = {"component": component, "good": good, "bad": bad, "nightlies": nightlies}
    hunt = bisect.Hunt(**ends, command=words, skip=tuple(skip or ()))
    with told.view() as view:
        how = build.BuildOptions(jobs=jobs or 0, launcher=launcher, events=events, observe=view.observe)
        return bisect.bisect(where.find(), request.read(verify="off"), how, hunt)
