"""test: suites of PyTorch, Transformers, Accelerate and diffusers on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from xpusetup.cli import complete, options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


Suite = Annotated[
    str,
    typer.Argument(
        help="transformers, accelerate, diffusers or pytorch.", metavar="SUITE", autocompletion=complete.suites
    ),
]
WORKERS = "Processes of pytest-xdist; 0: none. Without it as many as processors on the CPU, one on a device."
Source = Annotated[str, typer.Option("--source", help="Where its tests are.", metavar="DIR|URL@REF")]
Select = Annotated[
    list[str] | None, typer.Option("--select", help="These folders, files or named parts.", metavar="PART")
]
Baseline = Annotated[str, typer.Option("--baseline", help="What to compare with.", metavar="FILE|ID")]


@options.command("test")
def run_tests(
    *,
    suite: Suite = "",
    where: options.BuiltWhere,
    device: options.Device = "",
    source: Source = "",
    select: Select = None,
    keyword: Annotated[str, typer.Option("--keyword", "-k", help="As pytest's -k.", metavar="EXPRESSION")] = "",
    full: Annotated[bool, typer.Option("--full", help="PyTorch's own files of tests, from its checkout.")] = False,
    baseline: Baseline = "",
    shards: Annotated[
        int, typer.Option("--shards", help="Parts into which each folder is cut.", metavar="N", min=1)
    ] = 1,
    workers: Annotated[int | None, typer.Option("--workers", help=WORKERS, metavar="N", min=0)] = None,
    bound: Annotated[float, typer.Option("--bound", help="Seconds that a test may take.", metavar="S", min=1)] = 600,
    install: Annotated[bool, typer.Option("--install", help="First install what the suite needs.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Run also what an earlier run ended.")] = False,
    out: Annotated[str, typer.Option("--out", "-o", help="Where results go.", metavar="DIR")] = "",
    told: options.LongOutput,
) -> AnyResult:
    """Run a suite of tests on the device, and hold its results against a baseline; without a name: which there are."""
    from xpusetup.commands.suites import list_suites, run_suite
    from xpusetup.suites.sources import SuiteOptions
    from xpusetup.ui.live import asking

    if not suite:
        return list_suites()
    what: dict[str, Any] = {"source": source, "select": tuple(select or ()), "keyword": keyword, "full": full}
    how: dict[str, Any] = {"shards": shards, "bound": bound, "again": again, "install": install}
    how["workers"] = -1 if workers is None else workers
    asked = SuiteOptions(suite=suite, device=device, baseline=baseline, out=out, **what, **how)
    with asking(quiet=told.silent) as say:
        return run_suite(where.find(), asked, say)
