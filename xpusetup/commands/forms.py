"""emit slurm, module and github: what drives the builds of a matrix elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xpusetup.commands.cells import Axes, make_cells
from xpusetup.commands.workspace import load_settings
from xpusetup.request import parse_arch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xpusetup.commands.cells import Cells
    from xpusetup.commands.emitting import Order


def slurm(order: Order) -> tuple[Mapping[str, str], str]:
    """Give the folder for a cluster, and the script that begins."""
    from xpusetup.emit.slurm import render_slurm  # noqa: PLC0415 - one form is asked for

    made = _cells(order, "source", portable=False)
    return {**made.files, **render_slurm(made.cells, load_settings().scheduler)}, "fetch.sh"


def module(order: Order) -> tuple[Mapping[str, str], str]:
    """Give modulefiles and the builds that they load, and the script of the first of these."""
    from xpusetup.emit.module import FOLDER, render_modules  # noqa: PLC0415 - one form is asked for

    made = _cells(order, "source", folder=FOLDER)
    files = {**made.files, **render_modules(made.cells, load_settings().module)}
    return files, f"{FOLDER}{made.cells[0].name}/build.sh"


def _cells(order: Order, source: str, *, folder: str = "", portable: bool = True) -> Cells:
    options = order.options
    axes = Axes(
        profiles=tuple(options.get("profiles", ())),
        pythons=tuple(options.get("pythons", ())),
        archs=tuple(parse_arch(text) for text in options.get("archs", ()) if text != "auto"),
        source=options.get("source") or source,
        folder=folder,
        portable=portable,
    )
    where = replace(order.places[0], python="", profile=axes.profiles[0] if axes.profiles else "")
    return make_cells(where, replace(order.request, arch=()), axes)
