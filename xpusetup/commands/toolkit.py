"""toolkit: a SYCL tool chain in a folder, made from Intel's run-time wheels; nothing of oneAPI is installed."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from xpusetup.base.command import Command
from xpusetup.base.errors import NotReadyError, UsageError, WorkFailedError, XpuError
from xpusetup.commands.result import Result, Say
from xpusetup.config.hashes import key_of, render_requirements
from xpusetup.config.settings import make_network
from xpusetup.config.shipped import load_profile, profile_names
from xpusetup.config.take import toolkits_of
from xpusetup.run.manifest import read_document
from xpusetup.run.workspace import load_settings
from xpusetup.system.environment import variables
from xpusetup.system.files import check_folder, note_place, package_file
from xpusetup.system.process import follow_process

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xpusetup.config.profile import Profile
    from xpusetup.config.toolkit import ToolkitWanted


HELPER = "helpers/make_sycl_toolkit.py"
ABOUT = "toolkit.json"
KIND = "wheels"
State = Literal["made", "updated", "unchanged"]


@dataclass(frozen=True, kw_only=True)
class MadeToolkit:
    """A SYCL tool chain: where it lies, for which profile, its version, the wheels by name with their versions.

    `state`: `made`, `updated` where only the driver is another one, `unchanged`. `bytes`: what the folder takes.
    `activate` is the script that switches it on, `terms` the folder with the licences of the wheels.
    """

    folder: str
    profile: str
    version: str
    wheels: dict[str, str]
    state: State
    bytes: int
    activate: str
    terms: str


def make_toolkit(folder: str, named: str, say: Say) -> Result[MadeToolkit]:
    """Make the folder, or bring it up to date.

    Raises UsageError for a profile that has no such tool chain and a folder that holds something else, NotReadyError
    where the file system does not take it, WorkFailedError where the wheels cannot be had.
    """
    settings = load_settings()
    profile = load_profile(named or settings.profile or _newest())
    wanted = _wanted(profile)
    into = check_folder(note_place(Path(folder).absolute(), "DIR"))
    network = {**variables(), **make_network(settings.network, variables())}
    state = _run(profile, wanted, into, network, say)
    about = read_document(into / ABOUT)
    found = MadeToolkit(
        folder=str(into),
        profile=profile.name,
        version=str(about["version"]),
        wheels=dict(about["wheels"]),
        state=state,
        bytes=sum(path.lstat().st_size for path in into.rglob("*") if path.is_file()),
        activate=str(into / "env.sh"),
        terms=str(into / "licensing"),
    )
    return Result("toolkit", found)


def _newest() -> str:
    """Give the newest release with such a tool chain that is no preview."""
    names = [name for name in _have() if load_profile(name).tier == "current"]
    return max(names, key=lambda name: [int(each) for each in name.rpartition("-")[2].split(".")])


def _have() -> list[str]:
    return [name for name in profile_names() if _find(load_profile(name))]


def _find(profile: Profile) -> ToolkitWanted | None:
    return next((kit for kit in toolkits_of(profile) if kit.kind == KIND), None)


def _wanted(profile: Profile) -> ToolkitWanted:
    """Give the tool chain of a profile. Raises UsageError where it has none, or a wheel has no known hash."""
    wanted = _find(profile)
    if wanted is None:
        fix = f"those that have one: {', '.join(f'--profile {name}' for name in _have())}"
        raise UsageError(f"{profile.name} has no tool chain that is made from Intel's wheels", fix=fix)
    if free := [pin for pin in wanted.pins if key_of(pin) not in profile.hashes]:
        begun = Command(f"xpusetup profiles lock {profile.name} --out FILE", gaps=("FILE",))
        fix = "write the sha256 of each file into [hashes] of a profile of your own, which this begins: "
        raise UsageError(f"no hash is known of {', '.join(free)}", fix=fix, command=begun)
    return wanted


def _run(profile: Profile, wanted: ToolkitWanted, into: Path, env: Mapping[str, str], say: Say) -> State:
    """Let the helper do it, as a step of a build would; say what is fetched. Gives what it did."""
    with tempfile.TemporaryDirectory(prefix="xpusetup-") as scratch:
        listed = Path(scratch) / "requirements.txt"
        listed.write_text(render_requirements(profile.hashes, wanted.pins), encoding="utf-8")
        out = Path(scratch) / "done.json"
        options = ("--requirements", str(listed), "--record", scratch, "--into", str(into), "--out", str(out))
        argv = (sys.executable, "-B", str(package_file(HELPER)), *options)
        errors: list[str] = []
        ended = follow_process(argv, env=env, say=lambda line: _hear(line, errors, say))
        if ended.code == 0:
            state: State = read_document(out)["state"]
            return state
    raise _error(ended.code, ended.err.strip() or ended.why, errors)


def _hear(line: str, errors: list[str], say: Say) -> None:
    """Say which wheel is fetched, and keep the errors of pip."""
    if line.startswith("Collecting "):
        say(f"fetching {line.split()[1]}")
    elif line.startswith("ERROR: "):
        errors.append(line.removeprefix("ERROR: "))


def _error(code: int | None, words: str, errors: list[str]) -> XpuError:
    """Make an error of what the helper wrote: `xpusetup: MESSAGE`, and the fix on the line below."""
    _, _, told = words.rpartition("xpusetup: ")
    message, _, fix = (told or words.splitlines()[-1]).partition("\n")
    message = message.replace("the lines above say why", errors[-1]) if errors else message
    kinds: dict[int | None, type[XpuError]] = {UsageError.code: UsageError, NotReadyError.code: NotReadyError}
    return kinds.get(code, WorkFailedError)(message, fix=fix.strip())
