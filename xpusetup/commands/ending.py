"""What a build tells at its end: where the time went, how to use what was made, and how to go on after a failure."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xpusetup.commands.purpose import BUILD
from xpusetup.effects import files
from xpusetup.effects.history import DISK
from xpusetup.effects.manifest import read_document
from xpusetup.effects.process import run_process
from xpusetup.model import ROOT
from xpusetup.plan.install import PUBLISHED
from xpusetup.request import render_request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.commands.prepare import Prepared
    from xpusetup.commands.workspace import Workspace
    from xpusetup.effects.root import Root
    from xpusetup.effects.runner import Outcome
    from xpusetup.model import Request

PATIENCE = 120
KIB = 1024


def describe_time(outcome: Outcome) -> dict[str, Any]:
    """Give how long the build took, and each of its steps, in seconds."""
    return {"seconds": round(outcome.seconds, 3), "took": outcome.took}


def describe_tried(outcome: Outcome) -> dict[str, Any]:
    """Give with how many jobs the memory was too small, and how many bytes the largest process took at the end."""
    return {"tried": outcome.tried.get(outcome.failed, []), "heaviest": outcome.heaviest}


def describe_proof(root: Root) -> dict[str, Any]:
    """Give what was verified last: the device's name and the number of checks."""
    seen = read_document(root / "results/verify.json")
    names = [device.get("name", "") for device in seen.get("devices", [])]
    return {"device": names[0] if names else seen.get("device", ""), "checks": len(seen.get("checks", []))}


def describe_elsewhere(prepared: Prepared) -> dict[str, Any]:
    """Give the command that installs the wheels into another environment, and what has to be switched on there."""
    kit = prepared.plan.target.toolkit
    needs = f"oneAPI {kit.version}" if kit is not None and kit.at_run_time else ""
    folder = prepared.plan.layout.wheels if prepared.purpose is BUILD else PUBLISHED
    return {"command": f"pip install {folder.replace(ROOT, str(prepared.root.path))}/*.whl", "needs": needs}


def describe_going_on(
    workspace: Workspace, request: Request, outcome: Outcome, *, tuned: Sequence[str] = (), command: str = "build"
) -> dict[str, Any]:
    """Give the command that goes on after a failure, and how far the failed step came."""
    words = [*render_request(request), *tuned]
    python = ("--python", workspace.python) if workspace.python and "--into" not in workspace.options else ()
    more = shlex.join((*python, *words))
    return {
        "command": f"xpusetup {command} {workspace.options} {more}".rstrip(),
        "reached": list(outcome.reached),
        "seconds": outcome.took.get(outcome.failed, outcome.seconds),
    }


def record_disk(prepared: Prepared, ran: Sequence[str]) -> None:
    """Write down what a finished root takes on the disk, so that the next plan of its profile can say it.

    Nothing is measured when all that ran is a verification: on a file system of a cluster that takes a while.
    """
    if all("device" in step.needs for step in prepared.plan.steps if step.id in ran):
        return
    root, layout = prepared.root, prepared.plan.layout
    own = (layout.src,) if layout.adopted else (layout.src, layout.venv)
    folders = [Path(folder.replace(ROOT, str(root.path))) for folder in own]
    outside = [str(folder) for folder in folders if folder.is_dir() and not folder.is_relative_to(root.path)]
    done = run_process(("du", "-skc", str(root.path), *outside), seconds=PATIENCE)
    kib = done.out.splitlines()[-1].split()[0] if done.code == 0 and done.out else ""
    if kib.isdigit():
        files.write_text(root / DISK, f'{{"bytes": {int(kib) * KIB}}}\n')
