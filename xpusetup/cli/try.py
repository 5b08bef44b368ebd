"""try: a change of torch-xpu-ops on an installed torch."""

from typing import Annotated

import typer

from xpusetup.cli import options


@options.command(
    "try",
    "xpusetup try torch-xpu-ops=~/torch-xpu-ops --into ENV",
    "xpusetup try torch-xpu-ops=pr/1234",
    common="--into --jobs",
)
def try_change(
    *,
    change: Annotated[
        str,
        typer.Argument(
            help="torch-xpu-ops=DIR, a tree of your own, torch-xpu-ops=COMMIT or torch-xpu-ops=pr/N.", metavar="CHANGE"
        ),
    ],
    where: options.BuiltWhere,
    jobs: options.Jobs = None,
    told: options.LongOutput,
) -> options.Answer:
    """Compile what a change of torch-xpu-ops touches, and put it into an installed torch.

    It replaces libraries of the XPU that build --only xpu made there, and makes no wheel. A change that needs other
    sources than that build has is refused.
    """
    from xpusetup.commands import try_change
    from xpusetup.commands.build import BuildOptions

    with told.view() as view:
        how = BuildOptions(jobs=jobs or 0, observe=view.observe)
        return try_change.try_change(where.find(), change, how)
