"""emit slurm, module and github: what drives the builds of a matrix elsewhere."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from xpusetup.commands.cells import Axes, make_cells
from xpusetup.commands.workspace import load_settings
from xpusetup.errors import UsageError
from xpusetup.request import parse_arch, render_request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xpusetup.commands.cells import Cells
    from xpusetup.commands.forms import Order


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


def github(order: Order) -> tuple[Mapping[str, str], str]:
    """Give a workflow and the builds that it runs, and the workflow's name.

    Raises UsageError where what compiles would run on a machine that GitHub hosts, because nobody named another, and
    where no job would have wheels to check.
    """
    from xpusetup.emit.github import FOLDER, HOSTED, WORKFLOW, Runners, render_github  # noqa: PLC0415 - one form

    options = {name: str(order.options.get(name) or "") for name in ("from", "label", "gpu_label", "extension")}
    _check_words(options)
    made = _cells(order, "wheels", folder=FOLDER)
    for cell in made.cells:
        if cell.profile.installer is not None:
            raise UsageError(
                f"{cell.profile.name} is installed by its maker: no wheels come of it that a job could hand on",
                fix=f"xpusetup emit shell --profile {cell.profile.name} --out DIR",
            )
    if options["from"] == "source" and not options["label"]:
        raise UsageError(
            "a build from source needs more than a runner that GitHub hosts: 14 GB of disk and 6 hours",
            fix="name a runner that has them: --label LABEL; or take what was published: --from wheels",
        )
    runners = Runners(
        label=options["label"] or HOSTED,
        gpu_label=options["gpu_label"],
        extension=options["extension"],
        again=_again(order, options),
    )
    return {**made.files, **render_github(made.cells, runners)}, WORKFLOW


def _check_words(options: Mapping[str, str]) -> None:
    """Refuse what would not be one plain word in the workflow."""
    for name in ("label", "gpu_label"):
        if options[name] and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", options[name]) is None:
            raise UsageError(f"{options[name]!r} is no label of a runner", fix="letters, digits, '.', '_' and '-'")
    if options["extension"] and not all(part.isidentifier() for part in options["extension"].split(".")):
        raise UsageError(
            f"--extension {options['extension']!r} is no module", fix="as in import NAME: --extension NAME"
        )


def _again(order: Order, options: Mapping[str, str]) -> tuple[str, ...]:
    """Give the command that writes the same form anew."""
    several = {"--profile": "profiles", "--python": "pythons", "--arch": "archs"}
    words = [
        word for option, name in several.items() for text in order.options.get(name, ()) for word in (option, text)
    ]
    named = {"--from": "from", "--label": "label", "--gpu-label": "gpu_label", "--extension": "extension"}
    words += [word for option, name in named.items() if options[name] for word in (option, options[name])]
    revs = [word for rev in order.places[0].rev for word in ("--rev", rev)]
    return ("xpusetup", "emit", "github", *words, *revs, *render_request(order.request), "--out", ".")


def _cells(order: Order, source: str, *, folder: str = "", portable: bool = True) -> Cells:
    options = order.options
    axes = Axes(
        profiles=tuple(options.get("profiles", ())),
        pythons=tuple(options.get("pythons", ())),
        archs=tuple(parse_arch(text) for text in options.get("archs", ()) if text != "auto"),
        source=options.get("from") or source,
        folder=folder,
        portable=portable,
    )
    if axes.source == "wheels" and axes.archs:
        raise UsageError(
            "published wheels hold the device targets that they hold", fix="leave --arch out, or: --from source"
        )
    where = replace(order.places[0], python="", profile=axes.profiles[0] if axes.profiles else "")
    return make_cells(where, replace(order.request, arch=()), axes)
