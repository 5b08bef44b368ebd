"""Setup of what compiles: the host's compiler, Python's headers, and the toolkit, with root or without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from xpusetup.model import Step
from xpusetup.way.answer import Note, Task
from xpusetup.way.packages import install_argv

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.facts import Facts
    from xpusetup.model import Goal, Need
    from xpusetup.platforms import Installer, Manager
    from xpusetup.profile import Packages, Profile, ToolkitWanted
    from xpusetup.way.machine import Known

KEYRING = "/usr/share/keyrings/oneapi-archive-keyring.gpg"
"""Where Intel's own guide puts it: apt refuses one repository that is signed by two files."""
COMPILER: dict[Manager, str] = {"apt": "g++", "dnf": "gcc-c++", "zypper": "gcc-c++"}
HEADERS: dict[Manager, str] = {"apt": "python{0}-dev", "dnf": "python{0}-devel", "zypper": "python{1}-devel"}
DOWNLOADS = "$HOME/.cache/xpusetup"


def toolchain_tasks(facts: Facts, manager: Manager | None, goal: Goal) -> Iterator[Task]:
    """Give what any build needs: a compiler, git, Python's headers; and an environment can be made."""
    if manager is None:
        return
    names = list(_missing(facts, manager, goal))
    if names:
        title = "what a build needs" if goal == "build" else "what an environment needs"
        run = (install_argv(manager, names),)
        yield Task(step=Step(id="setup.toolchain", title=title, run=run, needs=("root", "network")))


def _missing(facts: Facts, manager: Manager, goal: Goal) -> Iterator[str]:
    python = facts.python
    minor = ".".join(python.version.split(".")[:2]) if python else "3"
    if goal == "build" and facts.tools is not None:
        yield from (COMPILER[manager] for _ in (1,) if facts.tool("g++") is None)
        yield from ("git" for _ in (1,) if facts.tool("git") is None)
    if goal == "build" and python is not None and not python.headers:
        yield HEADERS[manager].format(minor, minor.replace(".", ""))
    if python is not None and not python.venv and manager == "apt":  # others have it in Python's own package
        yield f"python{minor}-venv"


def toolkit_tasks(
    facts: Facts, profile: Profile, known: Known, manager: Manager | None, *, root: bool
) -> Iterator[Task | Note]:
    """Give the toolkit of a profile, where none is here that it accepts."""
    wanted = profile.toolkit
    if wanted is None or _is_there(facts, wanted):
        return
    if not root:
        yield _offline(wanted, known)
    elif manager is None:
        yield Note(
            id="setup.oneapi",
            title=_title(wanted),
            say=f"No commands are known here; see {_page(wanted)}.",
            source=_page(wanted),
        )
    else:
        needs: tuple[Need, ...] = ("root", "network")
        if repository := tuple(_repository(wanted.packages, manager)):
            yield Task(
                step=Step(id="setup.oneapi-repository", title="oneAPI's repository", run=repository, needs=needs)
            )
        names = wanted.packages.apt if manager == "apt" else wanted.packages.rpm
        run = (install_argv(manager, names),)
        yield Task(step=Step(id="setup.oneapi", title=_title(wanted), run=run, needs=needs))


def _is_there(facts: Facts, wanted: ToolkitWanted) -> bool:
    accepted = SpecifierSet(wanted.accepts)
    found = facts.toolkits.found if facts.toolkits else []
    return any(kit.version is not None and accepted.contains(kit.version) for kit in found)


def _title(wanted: ToolkitWanted) -> str:
    return f"oneAPI {wanted.preferred}"


def _page(wanted: ToolkitWanted) -> str:
    return wanted.packages.page or wanted.source


def _repository(packages: Packages, manager: Manager) -> Iterator[tuple[str, ...]]:
    name = packages.rpm_source.rsplit("/", 1)[-1].replace("oneapi", "oneAPI")  # as in Intel's guide
    if manager == "apt":
        line = f"deb [signed-by={KEYRING}] {packages.apt_source}"
        yield ("apt-get", "install", "-y", "wget", "gpg", "ca-certificates")
        yield ("sh", "-c", f"wget -qO- {packages.key} | gpg --dearmor --yes -o {KEYRING}")
        yield ("sh", "-c", f'echo "{line}" > /etc/apt/sources.list.d/{name}.list')
        yield ("apt-get", "update")
        return
    yield ("rpm", "--import", packages.key)
    if manager == "dnf":
        yield ("dnf", "install", "-y", "dnf-command(config-manager)")
        yield ("dnf", "config-manager", "--add-repo", packages.rpm_source)
    else:
        add = f"zypper --non-interactive addrepo --refresh {packages.rpm_source} {name}"
        yield ("sh", "-c", f"zypper --non-interactive repos {name} >/dev/null 2>&1 || {add}")


def _offline(wanted: ToolkitWanted, known: Known) -> Task | Note:
    installer = next((each for each in known.platforms.installer if each.toolkit == wanted.preferred), None)
    if installer is None:
        say = f"No installer of oneAPI {wanted.preferred} is known that works without root; see {_page(wanted)}."
        return Note(id="setup.oneapi", title=_title(wanted), say=say, source=_page(wanted))
    title = f"{_title(wanted)} into ~/intel/oneapi, without root; this accepts Intel's licence"
    return Task(step=Step(id="setup.oneapi-offline", title=title, run=_offline_run(installer), needs=("network",)))


def _offline_run(installer: Installer) -> tuple[tuple[str, ...], ...]:
    start = f'sh "{DOWNLOADS}/{installer.file}" -a --silent --eula accept --install-dir "$HOME/intel/oneapi"'
    return (
        ("sh", "-c", f'mkdir -p "{DOWNLOADS}" && wget -c -P "{DOWNLOADS}" {installer.url}'),
        ("sh", "-c", start),
    )
