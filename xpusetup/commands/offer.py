"""What an installation would fetch and put where, known before anything is fetched."""

import json
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xpusetup.base.command import Advice, Command
from xpusetup.base.errors import NotReadyError
from xpusetup.base.model import ROOT
from xpusetup.base.text import hide_all, render_size
from xpusetup.plan.install import INSTALL, published_pins
from xpusetup.run.preflight import failing
from xpusetup.run.prepare import PreparedPlan
from xpusetup.run.workspace import Workspace
from xpusetup.system import files
from xpusetup.system.environment import variable, variables
from xpusetup.system.package_index import HELPER
from xpusetup.system.process import run_process

TIMEOUT_S = 600.0
"""Seconds that all questions to the indexes may take: each is given up much earlier by pip itself."""


@dataclass(frozen=True, kw_only=True)
class WheelToFetch:
    """A wheel that is to be installed, and from where: a host, or a folder of this machine.

    `by` is what requires it, empty for what the profile names; `here`: it was fetched before. `bytes` is its size,
    `unpacked` what it takes when it is installed; null where the index does not tell.
    """

    name: str
    version: str
    place: str
    by: str
    here: bool
    bytes: int | None
    unpacked: int | None


@dataclass(frozen=True, kw_only=True)
class InstallOffer:
    """What an installation would do. `wheels` are all that are not in the `environment` yet, none where `why` says why.

    `fetch` are the bytes that come over the network, `disk` those that are taken, both at least that where `unread`
    names wheels of which the index tells nothing; `free` those that are free there. `trouble` is the first reason for
    which the device cannot be used here, empty where it can. `steps` are those to come; `declined`: someone said no.
    """

    profile: str
    root: str
    environment: str
    python: str
    device: str
    trouble: str
    wheels: list[WheelToFetch]
    fetch: int
    disk: int
    free: int
    unread: list[str]
    why: str
    steps: list[str]
    declined: bool = False


def make_offer(workspace: Workspace, prepared: PreparedPlan, network: Mapping[str, str], device: str) -> InstallOffer:
    """Ask for all parts, fetching none; `device` names the device.

    Raises NotReadyError where a part is nowhere, or there is no room for all.
    """
    steps = [status.id for status in prepared.statuses() if status.state != "done"]
    venv = Path(workspace.layout.venv.replace(ROOT, str(prepared.root.path)))
    asks = any(step.endswith((".download", ".install")) for step in steps)
    told = _ask(workspace, prepared, venv, network) if asks else {}
    wheels = [WheelToFetch(**each) for each in told.get("parts", [])]
    kept = sum(each.bytes or 0 for each in wheels if not each.by)  # the root keeps what the profile names
    offer = InstallOffer(
        profile=workspace.profile.name,
        root=str(prepared.root.path),
        environment=str(venv),
        python=prepared.plan.target.python_version,
        device=device,
        trouble=_trouble(workspace, prepared),
        wheels=wheels,
        fetch=sum(each.bytes or 0 for each in wheels if not each.here),
        disk=sum(each.unpacked or 0 for each in wheels) + kept,
        free=shutil.disk_usage(_there(venv)).free,
        unread=told.get("unread", []),
        why=told.get("why", ""),
        steps=steps,
    )
    if offer.disk > offer.free and not workspace.layout.adopted:  # there, what is replaced makes room
        what = f"{render_size(offer.disk)} are taken, and {render_size(offer.free)} are free in {_there(venv)}"
        line = Command("the same command with --root DIR", again=("--root", "DIR"), gaps=("DIR",))
        raise NotReadyError(what, fix="make room there, or: ", command=line)
    return offer


def _there(path: Path) -> Path:
    """Give the nearest folder that is there: the first build makes the others."""
    return next(each for each in (path, *path.parents) if each.exists())


def _trouble(workspace: Workspace, prepared: PreparedPlan) -> str:
    """Say why the device cannot be used here, as the checks of a verification see it."""
    if prepared.facts is None:
        return ""
    found = failing(workspace, prepared.facts, INSTALL, "require")
    return next((each.seen for each in found if not each.caused_by), "")


def _ask(workspace: Workspace, prepared: PreparedPlan, venv: Path, network: Mapping[str, str]) -> dict[str, Any]:
    """Let the interpreter that will carry the environment ask for the parts; where its pip cannot be asked, say why."""
    profile = workspace.profile
    if not published_pins(profile):
        return {"why": "a program of the maker of this device installs it, and says nothing beforehand"}
    own = venv / "bin/python"
    base = prepared.facts.python.executable if prepared.facts and prepared.facts.python else "python3"
    index = ("--index", profile.published.index) if profile.published and profile.published.index else ()
    words = (*index, "--fetched", str(prepared.root / "published"), *(("--into-this",) if own.exists() else ()))
    command = (str(own) if own.exists() else base, "-E", "-s", "-B", str(files.package_file(HELPER)), *words)
    env = {**variables(), **network}
    done = run_process((*command, "parts", *published_pins(profile)), seconds=TIMEOUT_S, env=env)
    if done.code != 0:
        lines = [line.strip() for line in done.err.splitlines()]
        why = next((line for line in lines if line.startswith("xpusetup: ")), done.why or "pip did not answer")
        return {"why": why.removeprefix("xpusetup: ")}
    told: dict[str, Any] = json.loads(done.out.strip().splitlines()[-1])
    if told["missing"]:
        raise _nowhere(told, profile.name, prepared.plan.target.python_version, index[-1] if index else "")
    return told


def _nowhere(told: dict[str, Any], profile: str, python: str, index: str) -> NotReadyError:
    """Say which parts are nowhere, and which index gave no answer; where none did, nobody knows what is there."""
    named = [f"{each['pin']} ({each['by']} requires it)" if each["by"] else each["pin"] for each in told["missing"]]
    where = f"where pip looks{f' and at {index}' if index else ''}"
    said = f"no wheel for Python {python} of {', '.join(named)}, {where}" if told["reached"] else ""
    if told["silent"]:
        proxy = hide_all(variable("https_proxy") or variable("HTTPS_PROXY"))
        silent = f"no answer from {', '.join(told['silent'])}{f' by the proxy {proxy}' if proxy else ''}"
        said = f"{silent}: {said}" if said else silent
    kept = variable("PIP_FIND_LINKS")
    name = shlex.quote(profile)
    offline = (
        "look at the connection and the proxy (https_proxy), then type the same command again",
        "without a network here, make a bundle elsewhere, copy it, and install it",
        Command(f"xpusetup bundle create {name}.tar --profile {name} --from wheels"),
        Command(f"xpusetup install --bundle {name}.tar"),
    )
    lines = (
        *(offline if told["silent"] else ()),
        f"or name an index {'that answers here' if told['silent'] else 'that has the wheels'}, or a folder of wheels",
        Command("export PIP_EXTRA_INDEX_URL=https://HOST/simple", gaps=("HOST",)),
        Command(f"export PIP_FIND_LINKS={shlex.quote(f'DIR {kept}') if kept else 'DIR'}", gaps=("DIR",)),
    )
    return NotReadyError(f"{said}; nothing was fetched", fix=Advice.lines(lines))
