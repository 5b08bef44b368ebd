"""emit: the steps of a plan as files for elsewhere, which need no xpusetup."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.commands.forms import FOLDER, Form, Kind, check_options
from xpusetup.commands.imaging import emit_apptainer, emit_dockerfile
from xpusetup.commands.locking import ensure_locked
from xpusetup.commands.prepare import preview
from xpusetup.commands.result import Result
from xpusetup.commands.workspace import open_workspace
from xpusetup.effects import files
from xpusetup.effects.root import helper_files, lock_document
from xpusetup.emit.shell import render_shell
from xpusetup.errors import UsageError
from xpusetup.plan import make_plan

if TYPE_CHECKING:
    from xpusetup.commands.forms import Order


def emit(kind: str, order: Order, out: str) -> Result:
    """Write a form into a folder."""
    if kind not in KINDS:
        raise UsageError(f"there is no form {kind!r}", fix=f"there is: {', '.join(KINDS)}")
    check_options(kind, KINDS, order)
    form = KINDS[kind].make(order)
    folder = Path(out)
    for name, text in form.files.items():
        files.write_text(folder / name, text, executable=name.endswith((".sh", ".sbatch")))
    written = [str(folder / name) for name in sorted(form.files)]
    start = form.start.replace(FOLDER, shlex.quote(out))
    return Result("emit", {"kind": kind, "files": written, "start": start, "notes": list(form.notes)})


def emit_shell(order: Order) -> Form:
    """Give the step scripts and build.sh. The folder is a root: it builds as it lies."""
    workspace = ensure_locked(open_workspace(order.only_place), lambda _text: None)
    seen = preview(workspace, order.request, here=False).plan
    named = workspace.layout.python if workspace.layout.adopted else f"python{seen.target.python_version}"
    target = replace(seen.target, python=named)  # whatever its place elsewhere
    moved = make_plan(workspace.profile, order.request, target, workspace.layout)
    texts = {
        **render_shell(moved, device_required=order.request.verify == "require"),
        **helper_files(workspace.profile),
        "profile.lock.json": lock_document(workspace.profile, target, workspace.layout, {}),
    }
    return Form(files=texts, start=f"bash {FOLDER}/build.sh")


def emit_slurm(order: Order) -> Form:
    """Give the jobs of a cluster, and a folder for each build of the matrix."""
    from xpusetup.commands.clusters import slurm  # noqa: PLC0415 - one form is asked for

    made, first = slurm(order)
    return Form(files=made, start=f"bash {FOLDER}/{first}")


def emit_module(order: Order) -> Form:
    """Give modulefiles, and a folder for each build of the matrix."""
    from xpusetup.commands.clusters import module  # noqa: PLC0415 - one form is asked for

    made, first = module(order)
    return Form(files=made, start=f"bash {FOLDER}/{first}")


def emit_github(order: Order) -> Form:
    """Give a workflow, and a folder for each build of the matrix."""
    from xpusetup.commands.clusters import github  # noqa: PLC0415 - one form is asked for

    made, workflow = github(order)
    return Form(files=made, start=f"git add {workflow.split('/')[0]}")


IMAGE = frozenset({"from", "os", "target", "base", "driver", "pin"})
MATRIX = frozenset({"from", "verify"})
KINDS = {
    "shell": Kind(make=emit_shell, options=frozenset({"verify"})),
    "dockerfile": Kind(make=emit_dockerfile, options=IMAGE | {"dialect"}),
    "apptainer": Kind(make=emit_apptainer, options=IMAGE),
    "slurm": Kind(make=emit_slurm, options=MATRIX),
    "module": Kind(make=emit_module, options=MATRIX),
    "github": Kind(make=emit_github, options=MATRIX | {"label", "gpu-label", "extension"}, origin="wheels"),
}
"""The forms, each with the options that it knows beside those of all."""
