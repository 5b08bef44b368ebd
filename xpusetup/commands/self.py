"""self and skill: which xpusetup this is, how a newer one comes, where what it keeps lies; one page for agents."""

import json
import shlex
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.utils import canonicalize_name

from xpusetup.base.text import hide
from xpusetup.commands.result import Result
from xpusetup.run.workspace import load_settings, roots_folder, settings_files
from xpusetup.system import program
from xpusetup.system.environment import cache_folder, own_environment, which
from xpusetup.system.files import PACKAGE, package_text
from xpusetup.system.git import ask_git, last_words
from xpusetup.system.program import NAME
from xpusetup.system.trust import record_file

UV, PIP = "uv", "pip"
ORIGIN = "direct_url.json"
GIT_S = 20.0
TOOLS = {"uv-receipt.toml": "uv tool", "pipx_metadata.json": "pipx"}
"""The file that each installer of programs leaves in the environment of one."""


@dataclass(frozen=True)
class InstallOrigin:
    """Where an installed program came from: `kind` is index, clone, checkout (never installed), wheel, git or other.

    `editable`: the environment runs the clone itself. `ref`: the branch, tag or commit of a repository that was named.
    """

    kind: str
    address: str = ""
    editable: bool = False
    ref: str = ""


@dataclass(frozen=True)
class KeptPlace:
    """A place of what this program reads or writes, and whether it is there yet."""

    what: str
    path: str
    there: bool


@dataclass(frozen=True)
class Self:
    """What this program is: its version and place, who installed it, from what, and what it keeps.

    `upgrade` and `uninstall` are whole commands, empty where there is none; `note` says why, or what to know of them.
    `installer` is empty where a checkout is run that nobody installed.
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
    origin = read_origin(_read_record(ORIGIN))
    installer = "" if origin.kind == "checkout" else find_installer(prefix, _read_record("INSTALLER") or "")
    kept = _why_not_pulled(Path(origin.address)) if origin.kind in {"clone", "checkout"} else ""
    upgrade = "" if kept else upgrade_line(installer, origin, sys.executable)
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
            uninstall=_remove_line(prefix, installer) or uninstall_line(installer, origin, sys.executable),
            note=_note(installer, origin, kept),
            places=list_places(),
        ),
    )


def _read_record(name: str) -> str | None:
    """Give a file that an installer wrote of this program; None where what runs is not what it installed."""
    try:
        found = metadata.distribution(NAME)
    except metadata.PackageNotFoundError:
        return None
    origin = read_origin(found.read_text(ORIGIN) or "")
    place = Path(origin.address) / NAME if origin.editable else Path(str(found.locate_file(NAME)))
    return (found.read_text(name) or "") if place.resolve() == PACKAGE.resolve() else None


def _why_not_pulled(clone: Path) -> str:
    """Say why `git pull` would bring nothing to a clone; empty where it follows a branch of elsewhere."""
    if not clone.exists():
        return "it is gone"
    if not (clone / ".git").exists():
        return "it is no clone of git"
    done = ask_git({}, "-C", str(clone), "rev-parse", "--abbrev-ref", "@{upstream}", seconds=GIT_S)
    return "" if done.code == 0 else last_words(done)


def _note(installer: str, origin: InstallOrigin, kept: str) -> str:
    """Say how a newer one comes where no command alone brings it, or what holds it where it is; else empty."""
    if origin.kind == "wheel":
        again = install_line(installer, replace(origin, address="FILE"), sys.executable)
        return f"it came as a file; a newer one, FILE, comes by: {again}"
    if kept:
        again = install_line(installer, origin, sys.executable)
        sources = f"bring the newer sources to {origin.address}"
        return f"git pull cannot bring it ({kept}): {sources}{', then: ' if again else ''}{again}"
    named = "which was named when it was installed: a newer one of it comes where that is a branch"
    return f"it is of {origin.ref}, {named}" if origin.ref else ""


def find_installer(prefix: Path, told: str = "pip") -> str:
    """Say who made the environment of this program: uv tool, pipx, or a person with uv or pip, as INSTALLER tells."""
    return next((name for file, name in TOOLS.items() if (prefix / file).is_file()), UV if told.strip() == UV else PIP)


def read_origin(told: str | None) -> InstallOrigin:
    """Read direct_url.json (PEP 610); None is of a clone that is run without having been installed."""
    if told is None:
        return InstallOrigin("checkout", str(PACKAGE.parent))
    try:
        document = json.loads(told) if told else {}
        address, folder = str(document.get("url", "")), document.get("dir_info")
    except (ValueError, AttributeError):
        return InstallOrigin("other")
    path = unquote(urlsplit(address).path)
    if isinstance(folder, dict):
        return InstallOrigin("clone", path, editable=folder.get("editable") is True)
    if isinstance(vcs := document.get("vcs_info"), dict):
        return InstallOrigin("git", address, ref=str(vcs.get("requested_revision") or ""))
    if address:
        return InstallOrigin("wheel", path) if address.startswith("file:") else InstallOrigin("other", address)
    return InstallOrigin("index")


def upgrade_line(installer: str, origin: InstallOrigin, python: str) -> str:
    """Give the command that brings a newer one the same way; empty where nobody but the user knows it.

    A newer commit may have the version of before, so each is told to install all the same.
    """
    if origin.kind in {"wheel", "other"}:
        return ""
    pull = f"git -C {shlex.quote(origin.address)} pull"
    if origin.kind == "checkout":
        return pull
    # What was installed along with it (`--with`, `inject`) stays by these two.
    kept = {"uv tool": f"uv tool upgrade --reinstall-package {NAME} {NAME}", "pipx": f"pipx reinstall {NAME}"}
    if origin.kind == "index":
        newest = {"uv tool": f"uv tool upgrade {NAME}", "pipx": f"pipx upgrade {NAME}"}
        return newest.get(installer) or f"{_install(installer, python)} --upgrade {NAME}"
    again = kept.get(installer) or install_line(installer, origin, python)
    return f"{pull} && {again}" if origin.kind == "clone" else again


def install_line(installer: str, origin: InstallOrigin, python: str) -> str:
    """Give the command that installs what lies at an origin over what is there; empty for what is run where it lies."""
    if origin.kind == "checkout":
        return ""
    what = f"{'-e ' if origin.editable else ''}{shlex.quote(_address(origin))}"
    over = {
        "uv tool": f"uv tool install --reinstall-package {NAME}",
        "pipx": "pipx install --force",
        UV: f"{_install(UV, python)} --reinstall-package {NAME}",
    }
    force = " --force-reinstall" if origin.kind in {"git", "wheel"} else ""
    return f"{over.get(installer) or f'{_install(PIP, python)}{force}'} {what}"


def add_line(package: str) -> str:
    """Give the command that installs a package beside this program, where that was installed as it was."""
    origin = read_origin(_read_record(ORIGIN))
    installer = find_installer(Path(sys.prefix), _read_record("INSTALLER") or "")
    if installer == "uv tool":
        what = NAME if origin.kind == "index" else _address(origin)
        return f"uv tool install --with {package} {shlex.quote(what)}"
    return (
        f"pipx inject {NAME} {package}" if installer == "pipx" else f"{_install(installer, sys.executable)} {package}"
    )


def _address(origin: InstallOrigin) -> str:
    return f"git+{origin.address}{'@' if origin.ref else ''}{origin.ref}" if origin.kind == "git" else origin.address


def _install(installer: str, python: str) -> str:
    """Give the words of the two that install into an environment of a person's own; one of uv's has no pip."""
    python = shlex.quote(python)
    return f"uv pip install --python {python}" if installer == UV else f"{python} -m pip install"


def uninstall_line(installer: str, origin: InstallOrigin, python: str) -> str:
    """Give the command that takes this program away; builds and settings stay. A clone that is run needs none."""
    if origin.kind == "checkout":
        return ""
    own = {"uv tool": f"uv tool uninstall {NAME}", "pipx": f"pipx uninstall {NAME}"}
    own[UV] = f"uv pip uninstall --python {shlex.quote(python)} {NAME}"
    return own.get(installer, f"{shlex.quote(python)} -m pip uninstall {NAME}")


def _remove_line(prefix: Path, installer: str) -> str:
    """Give the command that removes a venv that holds this program alone, and the link to it that PATH finds.

    Empty for any other environment: a person's own, or one of a tool that knows how to remove it.
    """
    if installer not in {UV, PIP} or own_environment() is None:
        return ""
    there = {canonicalize_name(each.name) for each in metadata.distributions(path=[sysconfig.get_path("purelib")])}
    if there - {NAME, "pip", "setuptools", "wheel", *program.running_with()}:
        return ""
    link = Path(which(NAME) or prefix)
    linked = link.is_symlink() and link.resolve().is_relative_to(prefix.resolve()) and not link.is_relative_to(prefix)
    return shlex.join(("rm", "-r", str(prefix), *([str(link)] if linked else [])))


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
