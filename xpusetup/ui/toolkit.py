"""A SYCL compiler that was made from wheels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.text import render_size
from xpusetup.system.environment import short_path
from xpusetup.ui.console import DONE

if TYPE_CHECKING:
    from rich.console import Console

    from xpusetup.commands.toolkit import MadeToolkit


def show_toolkit(console: Console, data: MadeToolkit, *, verbose: bool) -> None:
    sizes = f"{len(data.wheels)} wheels, {render_size(data.bytes)}"
    said = {"made": f"made of {sizes}", "updated": "its driver is a newer one now", "unchanged": "as it was"}
    folder = escape(short_path(data.folder))
    console.print(f"\n [green]✓[/] {folder} · SYCL {data.version} of {escape(data.profile)}, {said[data.state]}")
    for name, version in data.wheels.items() if verbose else ():
        console.print(f"   {escape(name)} {escape(version)}", style="dim")
    console.print(f"   switch it on: [cyan]. {escape(short_path(data.activate))}[/]", soft_wrap=True)
    console.print("   name each kernel: q.parallel_for<class NAME>(...); g++ compiles the host code")
    if data.state == "made":
        terms = escape(short_path(data.terms))
        console.print(f"   the libraries are Intel's, under its terms: {terms}", soft_wrap=True)


def brief_toolkit(data: MadeToolkit) -> str:
    return f"{DONE}{escape(short_path(data.folder))}: {data.state}, {data.version}"
