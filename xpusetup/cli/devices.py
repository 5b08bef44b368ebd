"""devices: accelerators and extensions of an environment, listed or tried; results of many as one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


DeviceFiles = Annotated[
    list[str] | None, typer.Option("--device", help="One more accelerator, by its device file.", metavar="FILE")
]


@options.command("devices list")
def devices_list(*, where: options.ActiveWhere, device: DeviceFiles = None, told: options.LongOutput) -> AnyResult:
    """List accelerators and what `import torch` loads for them, without importing it."""
    from xpusetup.commands.devices import list_devices

    return list_devices(where.find(), tuple(device or ()))


@options.command("devices check")
def devices_check(
    *,
    where: options.ActiveWhere,
    device: DeviceFiles = None,
    patience: Annotated[
        float, typer.Option("--patience", help="Seconds for each import of torch.", metavar="S", min=1)
    ] = 60,
    told: options.LongOutput,
) -> AnyResult:
    """Load each extension in a process of its own: what works, and what breaks `import torch`."""
    from xpusetup.commands.devices import check_devices
    from xpusetup.ui.live import waiting

    with waiting("importing torch, alone and with each extension", quiet=told.silent):
        return check_devices(where.find(), tuple(device or ()), patience=patience)


@options.command("devices table")
def devices_table(
    *,
    results: Annotated[
        list[str], typer.Argument(help="Saved results of verify, roots, folders of roots.", metavar="RESULT")
    ],
    page: Annotated[
        str, typer.Option("--page", help="Write it into this Markdown file, between its markers.", metavar="FILE")
    ] = "",
    told: options.LongOutput,
) -> AnyResult:
    """One table of devices and checks: ok, wrong, unsupported, absent, not run."""
    from xpusetup.commands.devices import tabulate

    return tabulate(results, page)
