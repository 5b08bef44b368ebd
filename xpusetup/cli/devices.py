"""devices table: results of many machines as one table."""

from typing import Annotated

import typer

from xpusetup.cli import options


@options.command(
    "devices table",
    "xpusetup devices table a.json b.json",
    "xpusetup devices table a.json b.json > DEVICES.md",
)
def devices_table(
    *,
    results: Annotated[
        list[str], typer.Argument(help="Saved results of verify, builds, folders of builds.", metavar="RESULT")
    ],
    told: options.LongOutput,
) -> options.Answer:
    """Make one table of devices and checks from saved results, for documentation."""
    from xpusetup.commands.devices import tabulate

    return tabulate(results)
