"""self and skill: which xpusetup this is, how a newer one comes, where what it keeps lies; one page for agents."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from xpusetup.base.text import hide
from xpusetup.commands.result import Result
from xpusetup.run.workspace import load_settings, roots_folder, settings_files
from xpusetup.system import program
from xpusetup.system.environment import cache_folder
from xpusetup.system.files import PACKAGE, package_text
from xpusetup.system.program import NAME
from xpusetup.system.trust import record_file

if TYPE_CHECKING:
    from collections.abc import Mapping

TOOLS = {"uv-receipt.toml": "uv tool", "pipx_metadata.json": "pipx"}
"""The file that each installer of programs leaves in the environment of one."""


@dataclass(frozen=True)
class Origin:
    """Where an installed program came from: `kind` is index, clone, checkout (never installed), wheel, git or other.

    `editable`: the environment runs the clone itself.
    """

    kind: str
    address: str = ""
    editable: bool = False


@dataclass(frozen=True)
class KeptPlace:
    """A place of what this program reads or writes, and whether it is there yet."""

    what: str
    path: str
    there: bool


@dataclass(frozen=True)
class Self:
    """What this program is: its version and place, who installed it, from what, and what it keeps.

    `upgrade` and `uninstall` are whole commands, empty where there is none; `note` says why.
    """

    version: str
    python: str
    program: str
    prefix: str
    installer: str
    origin: str
    upgrade: str
    uninstall: str
    note: str
    places: list[KeptPlace]


def describe() -> Result[Self]:
    """Say it of the program that runs. Raises UntrustedError for settings that others may write."""
    prefix = Path(sys.prefix)
    installer, origin = find_installer(prefix), read_origin(_direct_url())
    lost = origin.kind in {"clone", "wheel"} and not Path(origin.address).exists()
    upgrade = "" if lost else upgrade_line(installer, origin, sys.executable)
    note = "it came as a file: a newer one is installed over it the same way" if origin.kind == "wheel" else ""
    return Result(
        "self",
        Self(
            version=program.describe_version(),
            python=f"{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}",
            program=str(Path(sys.argv[0]).absolute()),
            prefix=str(prefix),
            installer=installer,
            origin=hide(origin.address) or origin.kind,
            upgrade=upgrade,
            uninstall=uninstall_line(installer, origin, sys.executable),
            note=f"{origin.address} is gone: clone it again, and install it from there" if lost else note,
            places=list_places(),
        ),
    )


def _direct_url() -> str | None:
    """Give direct_url.json of this program; None where it is not installed, empty where an index had it."""
    try:
        return metadata.distribution(NAME).read_text("direct_url.json") or ""
    except metadata.PackageNotFoundError:
        return None


def find_installer(prefix: Path) -> str:
    """Say who made the environment of this program: uv tool, pipx, or a person with pip."""
    return next((name for file, name in TOOLS.items() if (prefix / file).is_file()), "pip")


def read_origin(told: str | None) -> Origin:
    """Read direct_url.json (PEP 610); None is of a clone that is run without having been installed."""
    if told is None:
        return Origin("checkout", str(PACKAGE.parent))
    try:
        document = json.loads(told) if told else {}
        address, folder = str(document.get("url", "")), document.get("dir_info")
    except (ValueError, AttributeError):
        return Origin("other")
    path = unquote(urlsplit(address).path)
    if isinstance(folder, dict):
        return Origin("clone", path, editable=folder.get("editable") is True)
    if "vcs_info" in document:
        return Origin("git", address)
    if address:
        return Origin("wheel", path) if address.startswith("file:") else Origin("other", address)
    return Origin("index")


def upgrade_line(installer: str, origin: Origin, python: str) -> str:
    """Give the command that brings a newer one the same way; empty where nobody but the user knows it."""
    if origin.kind in {"wheel", "other"}:
        return ""
    clone = shlex.quote(origin.address)
    if origin.kind == "checkout":
        return f"git -C {clone} pull"
    again = {
        "uv tool": f"uv tool install --reinstall {clone}",
        "pipx": f"pipx install --force {clone}",
        "pip": f"{shlex.quote(python)} -m pip install {'-e ' if origin.editable else ''}{clone}",
    }
    newest = {
        "uv tool": f"uv tool upgrade {NAME}",
        "pipx": f"pipx upgrade {NAME}" if origin.kind == "index" else f"pipx reinstall {NAME}",
        "pip": f"{shlex.quote(python)} -m pip install --upgrade "
        f"{NAME if origin.kind == 'index' else shlex.quote(f'git+{origin.address}')}",
    }
    return f"git -C {clone} pull && {again[installer]}" if origin.kind == "clone" else newest[installer]


def uninstall_line(installer: str, origin: Origin, python: str) -> str:
    """Give the command that takes this program away; builds and settings stay. A clone that is run needs none."""
    if origin.kind == "checkout":
        return ""
    own = {"uv tool": f"uv tool uninstall {NAME}", "pipx": f"pipx uninstall {NAME}"}
    return own.get(installer, f"{shlex.quote(python)} -m pip uninstall {NAME}")


def list_places() -> list[KeptPlace]:
    """List where builds, fetched sources, settings and trust lie, be they there or not."""
    machine, own, project = settings_files()
    rows = (
        ("builds, a folder each", roots_folder(load_settings())),
        ("what could be fetched again", cache_folder("git").parent),
        ("settings of this machine", machine),
        ("settings of yours", own),
        ("settings of this folder", project),
        ("files of others that you trust", record_file()),
    )
    return [KeptPlace(what, str(path.absolute()), path.exists()) for what, path in rows]


# skill: one page for agents: how to ask this program, which way to go, and what not to do.


PAGE = "data/skill.md"
COMMANDS = "@COMMANDS@"


@dataclass(frozen=True)
class Skill:
    """The page, as Markdown."""

    text: str


def make_skill(commands: Mapping[str, str]) -> Result[Skill]:
    """Give the page with the commands that there are, by name, and what each does."""
    rows = [f"- `xpusetup {name}`: {said}" for name, said in commands.items()]
    return Result("skill", Skill(package_text(PAGE).replace(COMMANDS, "\n".join(rows))))
