"""list: the builds that are here, one row for each; also those of a folder that holds several, as on a cluster."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from xpusetup.base.document import UnfitError
from xpusetup.base.errors import XpuError
from xpusetup.base.model import XPU, BuildState, BuildSummary, RootWheel
from xpusetup.base.verbs import sort_words
from xpusetup.commands.cache import measure
from xpusetup.commands.result import Result
from xpusetup.config.devices import torch_of
from xpusetup.config.load import read_profile
from xpusetup.run.builds import Build, find_builds
from xpusetup.run.guard import list_replaced, look_for_damage
from xpusetup.run.manifest import list_wheels
from xpusetup.run.root import find_packing
from xpusetup.run.workspace import load_settings, roots_folder
from xpusetup.system.environment import now


@dataclass(frozen=True)
class BuildList:
    """The builds in a folder. `checked`: every file was hashed. `packing`: folders of bundles that are unfinished."""

    root: str
    builds: list[BuildSummary]
    checked: bool
    packing: list[str] = field(default_factory=list)


def list_builds() -> Result[BuildList]:
    return Result("list", list_of("list", roots_folder(load_settings())).data)


def list_of(command: str, folder: Path, *, check: bool = False) -> Result[BuildList]:
    """List the builds in a folder; the code is 1 where one failed or is damaged. `check`: every file is hashed."""
    rows = [_row(build, check=check, sizes=True) for build in find_builds(folder)]
    bad = any(row.failed or row.damaged or row.verified is False for row in rows)
    packing = [str(path.absolute()) for path in find_packing(folder)]
    return Result(command, BuildList(str(folder.absolute()), rows, check, packing), code=1 if bad else 0)


def glance() -> list[BuildSummary]:
    """Give the builds in the usual folder without their sizes; none where the settings do not say where that is."""
    try:
        folder = roots_folder(load_settings())
    except XpuError:
        return []
    return [_row(build, check=False, sizes=False) for build in find_builds(folder)]


def _row(build: Build, *, check: bool, sizes: bool) -> BuildSummary:
    root, standing, lock = build.root, build.standing, build.lock
    damaged = look_for_damage(root, check=check and not standing.held) | _closed(build)
    torch, wheels = _made(build)
    return BuildSummary(
        name=build.name,
        profile=lock["profile"]["name"],
        torch=torch,
        python=lock.get("target", {}).get("python_version", ""),
        arch=lock.get("target", {}).get("arch", []),
        made_by=standing.command,
        state=_state(build, damaged),
        steps=len(standing.steps),
        done=len(set(standing.done) & set(standing.steps)),
        interrupted=[*standing.cut],
        failed=build.failed or None,
        damaged=damaged,
        wheels=wheels,
        verified=None if damaged or list_replaced(root) else build.verified,
        venv=str(build.venv),
        bytes=measure(root.path) if sizes else None,
        age_s=max(0, round(now() - build.when)) if build.when else None,
    )


def _closed(build: Build) -> dict[str, str]:
    """Say of an environment whose Python others may not run, as one below /root, what it leads to."""
    python = build.venv / "bin/python"
    if not os.path.lexists(python) or os.path.exists(python):  # noqa: PTH110 - of one that is closed to us Path raises
        return {}
    return {"venv": f"{python} leads to {os.path.realpath(python)}, which is gone or closed to you"}


def _state(build: Build, damaged: dict[str, str]) -> BuildState:
    if build.standing.held:
        return "at work"
    if build.failed:
        return "failed"
    return "damaged" if damaged else "done" if build.whole else "half"


def _made(build: Build) -> tuple[str, list[RootWheel]]:
    """Give the release of torch and the wheels; neither of a lock that another version of this program wrote."""
    try:
        profile = read_profile(build.lock["profile"])
    except UnfitError:
        return "", []
    made_by = "install" if "wheels.install" in build.standing.steps else "build"
    wheels, torch = list_wheels(build.root, profile, made_by), torch_of(profile)
    if XPU in sort_words(build.standing.words).get("--only", ()):  # beside a torch that is not ours
        torch = next((wheel.version for wheel in wheels), torch.partition("+")[0])
    return torch, wheels
