"""test: suites of PyTorch, Transformers, Accelerate and diffusers on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from xpusetup.cli import complete, options
from xpusetup.cli.finish import finish
from xpusetup.cli.finish import where as make_where

if TYPE_CHECKING:
    from xpusetup.commands.places import Where
    from xpusetup.commands.result import Result

Suite = Annotated[
    str,
    typer.Argument(help="transformers, accelerate, diffusers or pytorch.", autocompletion=complete.suites),
]
Source = Annotated[str, typer.Option("--source", help="Where its tests are.", metavar="DIR|URL@REF")]
Select = Annotated[list[str] | None, typer.Option("--select", help="These folders, files or named parts.")]
Baseline = Annotated[str, typer.Option("--baseline", help="What to compare with.", metavar="FILE|ID")]


def run_tests(
    suite: Suite = "",
    profile: options.Profile = "",
    root: options.Root = "",
    name: options.Name = "",
    rev: options.Rev = None,
    into: options.Into = "",
    device: options.Device = "",
    source: Source = "",
    select: Select = None,
    keyword: Annotated[str, typer.Option("--keyword", "-k", help="As pytest's -k.", metavar="EXPRESSION")] = "",
    full: Annotated[bool, typer.Option("--full", help="PyTorch's own files of tests, from its checkout.")] = False,
    baseline: Baseline = "",
    shards: Annotated[int, typer.Option("--shards", help="Parts of each folder.", min=1)] = 1,
    workers: Annotated[int, typer.Option("--workers", help="Processes of pytest-xdist; 0: none.", min=-1)] = -1,
    bound: Annotated[float, typer.Option("--bound", help="Seconds that a test may take.", min=1)] = 600,
    install: Annotated[bool, typer.Option("--install", help="First install what the suite needs.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Run also what an earlier run ended.")] = False,
    out: Annotated[str, typer.Option("--out", "-o", help="Where results go.", metavar="DIR")] = "",
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Run a suite of tests on the device, and hold its results against a baseline; without a name: which there are."""
    where = make_where(profile=profile, root=root, name=name, into=into, rev=rev)
    what: dict[str, Any] = {"source": source, "select": tuple(select or ()), "keyword": keyword, "full": full}
    how: dict[str, Any] = {"shards": shards, "workers": workers, "bound": bound, "again": again, "install": install}
    words = {"suite": suite, "device": device, "baseline": baseline, "out": out, **what, **how}
    finish("test", lambda: _work(where, words, quiet=json or quiet), json=json, quiet=quiet, verbose=verbose)


def _work(where: Where, words: dict[str, Any], *, quiet: bool) -> Result:
    from xpusetup.commands.suite_sources import Asked
    from xpusetup.commands.testing import list_suites, run_suite
    from xpusetup.show.live import asking

    if not words["suite"]:
        return list_suites()
    with asking(quiet=quiet) as say:
        return run_suite(where, Asked(**words), say)
