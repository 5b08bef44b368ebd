"""bisect: which commit broke a command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import complete, options
from xpusetup.cli.finish import finish
from xpusetup.cli.finish import request as make_request
from xpusetup.cli.finish import where as make_where

if TYPE_CHECKING:
    from xpusetup.commands.result import Result


Nightlies = Annotated[str, typer.Option("--nightlies", help="Another index of nightly wheels.", metavar="INDEX")]
Component = Annotated[str, typer.Option("--component", help="Whose commits.", autocompletion=complete.components)]


def bisect(
    context: typer.Context,
    good: Annotated[str, typer.Option("--good", help="A commit, tag, branch or day where it works.", metavar="REF")],
    bad: Annotated[str, typer.Option("--bad", help="A later one where it does not.", metavar="REF")],
    component: Component = "torch",
    nightlies: Nightlies = "",
    profile: options.Profile = "",
    root: options.Root = "",
    name: options.Name = "",
    build_dir: options.BuildDir = "",
    python: options.Python = "",
    rev: options.Rev = None,
    only: options.Only = None,
    arch: options.Arch = "auto",
    variables: options.Set = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Compile jobs; 0: by memory.")] = 0,
    launcher: options.Launcher = "auto",
    events: options.Events = "",
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Build commits to find the one that broke a command, which ends with 0 (works), 125 (cannot tell) or up to 127."""

    def work() -> Result:
        from xpusetup.commands import bisecting, build, notebook
        from xpusetup.show.live import BuildView

        request = make_request(only=only, until="", arch=arch, variables=variables, verify="off")
        hunt = notebook.Hunt(component=component, good=good, bad=bad, command=tuple(context.args), nightlies=nightlies)
        with BuildView(json=json, quiet=quiet, verbose=verbose) as view:
            how = build.BuildOptions(jobs=jobs, launcher=launcher, events=events, observe=view.observe)
            where = make_where(profile=profile, root=root, name=name, build_dir=build_dir, python=python, rev=rev)
            return bisecting.bisect(where, request, how, hunt)

    finish("bisect", work, json=json, quiet=quiet, verbose=verbose)
