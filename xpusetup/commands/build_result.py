"""What a build tells at its end: where the time went, how to use what was made, and how to go on after a failure."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xpusetup.base.errors import NotReadyError
from xpusetup.base.model import ROOT
from xpusetup.config.request import render_request
from xpusetup.plan.install import PUBLISHED
from xpusetup.plan.steps import find_unverified
from xpusetup.run.manifest import (
    DISK,
    Origin,
    read_document,
    read_history,
    read_manifest,
    read_standing,
    still_verified,
    write_manifest,
)
from xpusetup.run.preflight import BUILD
from xpusetup.run.prepare import python_words, whole_of
from xpusetup.run.root import read_origins
from xpusetup.system import files
from xpusetup.system.environment import variable
from xpusetup.system.files import read_rooms
from xpusetup.system.process import run_process

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from xpusetup.base.model import Plan, Request
    from xpusetup.config.profile import Profile
    from xpusetup.run.prepare import Prepared
    from xpusetup.run.root import Root
    from xpusetup.run.runner import Outcome
    from xpusetup.run.workspace import Workspace


# What of a build or an installation is of unverified origin, with the hashes that it is held to.


def describe_unverified(profile: Profile, root: Root, plan: Plan | None = None) -> list[dict[str, Any]]:
    """Give what came into a root without a published hash, and what a plan will fetch so: its sha256 is null."""
    known = {name: found for name, found in read_origins(root).items() if name not in profile.hashes}
    names = {*(find_unverified(profile, plan) if plan else ()), *known}
    return [{"name": name, "sha256": known.get(name)} for name in sorted(names)]


PATIENCE = 120
KIB = 1024
GIB = 1 << 30
DISK_FULL = "compile.disk_full"
"""The signature of a log that tells of a full disk."""


def describe_time(outcome: Outcome) -> dict[str, Any]:
    """Give how long the build took, and each of its steps, in seconds."""
    return {"seconds": round(outcome.seconds, 3), "took": outcome.took}


def describe_tried(outcome: Outcome) -> dict[str, Any]:
    """Give with how many jobs the memory was too small, and how many bytes the largest process took at the end."""
    return {"tried": outcome.tried.get(outcome.failed, []), "heaviest": outcome.heaviest}


def describe_end(workspace: Workspace, prepared: Prepared, request: Request, tuned: Sequence[str]) -> dict[str, Any]:
    """Give how far the whole profile is, what was proven of it, and the commands that go on and that prove it.

    Nothing is verified of what is installed by half.
    """
    standing = read_standing(prepared.root)
    verified = still_verified(prepared.root, read_manifest(prepared.root)) if standing.installed else None
    return {
        "left": list(standing.left),
        "only": [] if request.until else list(request.only),
        "go_on": render_command(workspace, whole_of(request), tuned=tuned, command=prepared.purpose.command),
        "verified": verified,
        "verify": f"xpusetup verify {workspace.options}",
        "proof": describe_proof(prepared.root) if verified else None,
    }


def describe_proof(root: Root) -> dict[str, Any]:
    """Give what was verified last: the device's name and the number of checks."""
    seen = read_document(root / "results/verify.json")
    names = [device.get("name", "") for device in seen.get("devices", [])]
    return {"device": names[0] if names else seen.get("device", ""), "checks": len(seen.get("checks", []))}


def describe_target(prepared: Prepared, request: Request) -> dict[str, Any] | None:
    """Give what ninja built of one target; None where whole wheels were asked for."""
    made = (path for step in prepared.plan.steps if step.id.endswith(".target") for path in step.makes)
    path = next(made, "").replace(ROOT, str(prepared.root.path))
    return read_document(Path(path)) if request.target else None


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
    return {
        "command": render_command(workspace, request, tuned=tuned, command=command),
        "reached": list(outcome.reached),
        "seconds": outcome.took.get(outcome.failed, outcome.seconds),
    }


def render_command(workspace: Workspace, request: Request, *, tuned: Sequence[str] = (), command: str = "build") -> str:
    """Give the whole command that asks for the same again."""
    words = (*python_words(workspace), *render_request(request), *tuned)
    return f"xpusetup {command} {workspace.options} {shlex.join(words)}".rstrip()


def describe_full(workspace: Workspace, prepared: Prepared, told: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give the file systems that are full after a failure; what the log tells of may be free again by now.

    `lacks` are the bytes that the build needs beyond what there was before it, null where that is not known.
    """
    layout, root = prepared.plan.layout, str(prepared.root.path)
    cache = variable("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    side = (variable("TMPDIR") or "/tmp", variable("PIP_CACHE_DIR") or cache)  # noqa: S108 - where compilers write
    places = [Path(place.replace(ROOT, root)) for place in (root, layout.src, layout.venv, *side)]
    rooms = read_rooms(places)
    full = [room for room in rooms if room.full]
    if not full and any(cause["id"] == DISK_FULL for cause in told["causes"]):
        full = sorted(rooms, key=lambda room: room.free)[:1]
    lacks = _lacks(workspace, prepared)
    own = read_rooms(places[:1])
    return [{**asdict(room), "says": str(room), "lacks": lacks if room in own else None} for room in full]


def _lacks(workspace: Workspace, prepared: Prepared) -> int | None:
    """Give by how much the disk was too small before the build began, from what an earlier one took or the profile."""
    guess = int(workspace.profile.disk_gib * GIB) if workspace.profile.disk_gib is not None else None
    needed = read_history(prepared.root.path, workspace.profile.name).disk or guess
    resources = prepared.facts.resources if prepared.facts else None
    disk = next((each for each in (resources.disks if resources else ()) or () if "sources" in each.holds), None)
    if needed is None or disk is None or disk.used is None or needed <= disk.used + disk.free:
        return None
    return needed - disk.used - disk.free


def record_end(workspace: Workspace, prepared: Prepared, outcome: Outcome, request: Request) -> Iterator[str]:
    """Write the manifest, and what a whole build took. Gives what could not be written, where a failure is told."""
    purpose = prepared.purpose
    origin = Origin(target=prepared.plan.target, facts=prepared.facts, made_by=purpose.command, request=request)
    try:
        write_manifest(prepared.root, workspace.profile, outcome, origin)
        if purpose is BUILD and not (request.only or request.until or request.target) and not outcome.failed:
            record_disk(prepared, outcome.ran)
    except NotReadyError as error:
        if not outcome.failed:
            raise
        yield error.message


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
