"""devices: accelerators and extensions of an environment, listed or tried; results of many as one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options
from xpusetup.cli.finish import finish
from xpusetup.cli.finish import where as make_where

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


File = Annotated[
    list[str] | None, typer.Option("--device", help="One more accelerator, by its device file.", metavar="FILE")
]
Into = Annotated[str, typer.Option("--into", help="The environment; default: the active one.", metavar="ENV")]


def devices_list(
    into: Into = "",
    profile: options.Profile = "",
    root: options.Root = "",
    name: options.Name = "",
    device: File = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """List accelerators and what `import torch` loads for them, without importing it."""

    def work() -> AnyResult:
        from xpusetup.commands.devices import list_devices

        return list_devices(make_where(into=into, profile=profile, root=root, name=name), tuple(device or ()))

    finish("devices list", work, json=json, quiet=quiet, verbose=verbose)


def devices_check(
    into: Into = "",
    profile: options.Profile = "",
    root: options.Root = "",
    name: options.Name = "",
    device: File = None,
    patience: Annotated[
        float, typer.Option("--patience", help="Seconds for each import of torch.", metavar="SECONDS", min=1)
    ] = 60,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Load each extension in a process of its own: what works, and what breaks `import torch`."""

    def work() -> AnyResult:
        from xpusetup.commands.devices import check_devices
        from xpusetup.ui.live import waiting

        where = make_where(into=into, profile=profile, root=root, name=name)
        with waiting("importing torch, alone and with each extension", quiet=json or quiet):
            return check_devices(where, tuple(device or ()), patience=patience)

    finish("devices check", work, json=json, quiet=quiet, verbose=verbose)


def devices_table(
    results: Annotated[
        list[str], typer.Argument(help="Saved results of verify, roots, folders of roots.", metavar="RESULT...")
    ],
    page: Annotated[
        str, typer.Option("--page", help="Write it into this Markdown file, between its markers.", metavar="FILE")
    ] = "",
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """One table of devices and checks: ok, wrong, unsupported, absent, not run."""

    def work() -> AnyResult:
        from xpusetup.commands.devices import tabulate

        return tabulate(results, page)

    finish("devices table", work, json=json, quiet=quiet, verbose=verbose)
