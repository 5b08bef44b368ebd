"""What the system lacks for building or running a release, as steps for root or without."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from packaging.version import Version

from xpusetup.base.command import Advice, Command
from xpusetup.base.model import Finding, Fix, Goal, Need, Step
from xpusetup.config.devices import find_device
from xpusetup.config.settings import Settings
from xpusetup.doctor.ages import before_kernel
from xpusetup.doctor.hardware import too_early
from xpusetup.doctor.question import Question
from xpusetup.machine.toolkits import find_others, needs_ocloc, say_others, usable_toolkits
from xpusetup.recommend.answer import After, Note, Setup, Task
from xpusetup.recommend.machine import (
    Card,
    MachineTables,
    choose_cards,
    driver_state,
    find_cards,
    find_distribution,
    in_container,
    kernel_version,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from xpusetup.config.profile import Profile
    from xpusetup.config.toolkit import Packages, ToolkitWanted
    from xpusetup.machine.facts import Facts
    from xpusetup.machine.first_releases import First
    from xpusetup.machine.platforms import DriverPackages, Line, LinuxDistribution, Manager


# Package managers: which one a distribution has, and how it installs without a question.


INSTALL: dict[Manager, tuple[str, ...]] = {
    "apt": ("apt-get", "install", "-y"),
    "dnf": ("dnf", "install", "-y"),
    "zypper": ("zypper", "--non-interactive", "install"),
    "pacman": ("pacman", "-Syu", "--needed", "--noconfirm"),
}
"""Arch's with all updates: with older lists a package is no longer there, and with newer ones alone it is a partial
upgrade, which nobody supports."""
UPDATE = ("apt-get", "update")
FAMILIES: dict[str, Manager] = {
    "debian": "apt",
    "ubuntu": "apt",
    "rhel": "dnf",
    "fedora": "dnf",
    "suse": "zypper",
    "arch": "pacman",
}


def install_argv(manager: Manager, names: Sequence[str], options: Sequence[str] = ()) -> tuple[str, ...]:
    return (*INSTALL[manager], *options, *names)


# Setup of what compiles: the host's compiler, Python's headers, and the toolkit, with root or without.


KEYRING = "/usr/share/keyrings/oneapi-archive-keyring.gpg"
"""Where Intel's own guide puts it: apt refuses one repository that is signed by two files."""
COMPILER: dict[Manager, str] = {"apt": "g++", "dnf": "gcc-c++", "zypper": "gcc-c++", "pacman": "gcc"}
HEADERS: dict[Manager, str] = {
    "apt": "python{0}-dev",
    "dnf": "python{0}-devel",
    "zypper": "python{1}-devel",
    "pacman": "python",
}
DOWNLOADS = "$HOME/.cache/xpusetup"


def toolchain_tasks(facts: Facts, manager: Manager | None, goal: Goal) -> Iterator[Task]:
    """Give what any build needs: a compiler, git, Python's headers; and an environment can be made."""
    if manager is None:
        return
    names, python = [], facts.python
    minor = ".".join(python.version.split(".")[:2]) if python else "3"
    if goal == "build" and facts.tools is not None:
        programs = {"g++": COMPILER[manager], "git": "git"}
        names += [package for program, package in programs.items() if facts.tool(program) is None]
    if goal == "build" and python is not None and not python.headers:
        names.append(HEADERS[manager].format(minor, minor.replace(".", "")))
    if python is not None and not python.venv and manager == "apt":  # others have it in Python's own package
        names.append(f"python{minor}-venv")
    if names:
        title = "what a build needs" if goal == "build" else "what an environment needs"
        run = (install_argv(manager, names),)
        yield Task(step=Step(id="setup.toolchain", title=title, run=run, needs=("root", "network")))


OCLOC = (
    "The tool chain is made by a step of the build. Without ocloc it compiles SPIR-V alone (--arch auto). Code for GPUs"
    " ahead of time needs ocloc: intel-ocloc, and on Debian sid libigc2, which that package does not require. Debian 12"
    " and 13 have none."
)
OCLOC_SOURCE = "ocloc 26.27 of Debian sid without libigc2: Loading of IGC library has failed (exit 250)"


def toolkit_tasks(
    facts: Facts, profile: Profile, known: MachineTables, manager: Manager | None, *, root: bool
) -> Iterator[Task | Note]:
    """Give the toolkit of a profile, where none is here that it accepts; and what else it can be compiled with."""
    wanted = profile.toolkit
    if profile.arch and not _compiles_ahead(profile) and needs_ocloc(wanted, facts):
        yield Note(id="setup.ocloc", title="ocloc, where --arch LIST is wanted", say=OCLOC, source=OCLOC_SOURCE)
    if wanted is None or usable_toolkits(wanted, facts):
        return
    names = wanted.packages.names(manager or "", facts.system.places if facts.system else ())
    others = say_others(profile, facts)
    if by_site := facts.toolkits.by_site if facts.toolkits else "":
        say = f"{by_site} has to put its icpx on PATH ({wanted.accepts}). What lacks: xpusetup doctor --for build"
        yield Note(id="setup.oneapi", title=wanted.title, say=say, source=_page(wanted))
        return
    if wanted.kind == "oneapi" and not root:
        yield _offline(wanted, known)
    elif manager is None or not root or not names:  # Intel has no repository for pacman
        say = f"No commands are known here; see {_page(wanted)}.{others}"
        yield Note(id="setup.oneapi", title=wanted.title, say=say, source=_page(wanted))
        return
    else:
        needs: tuple[Need, ...] = ("root", "network")
        if wanted.packages.key and (repository := tuple(_repository(wanted.packages, manager))):
            yield Task(
                step=Step(id="setup.oneapi-repository", title="oneAPI's repository", run=repository, needs=needs)
            )
        yield Task(step=Step(id="setup.oneapi", title=wanted.title, run=(install_argv(manager, names),), needs=needs))
    if others:
        source = "; ".join(kit.source for kit in find_others(profile, facts))
        line = Command(f"xpusetup setup {profile.name} --toolkit {find_others(profile, facts)[0].called}")
        yield Note(
            id="setup.other", title=f"instead of {wanted.title}", say=others.strip(), source=source, commands=(line,)
        )


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
        rows = (f"[{name}]", f"name={name}", f"baseurl={packages.rpm_source}", "enabled=1", "gpgcheck=1")
        text = "\\n".join((*rows, "repo_gpgcheck=1", f"gpgkey={packages.key}", ""))
        # a file, as in Intel's guide: config-manager of dnf 5 (Fedora) takes other options than that of dnf 4
        yield ("sh", "-c", f'printf "{text}" > /etc/yum.repos.d/{name}.repo')
    else:
        add = f"zypper --non-interactive addrepo --refresh {packages.rpm_source} {name}"
        yield ("sh", "-c", f"zypper --non-interactive repos {name} >/dev/null 2>&1 || {add}")


def _offline(wanted: ToolkitWanted, known: MachineTables) -> Task | Note:
    installer = known.platforms.installer_of(wanted.kind, wanted.preferred)
    if installer is None:
        say = f"No installer of oneAPI {wanted.preferred} is known that works without root; see {_page(wanted)}."
        return Note(id="setup.oneapi", title=wanted.title, say=say, source=_page(wanted))
    title = f"{wanted.title} into ~/intel/oneapi, without root; this accepts Intel's licence"
    fetch = f'mkdir -p "{DOWNLOADS}" && wget -c -P "{DOWNLOADS}" {installer.url}'
    start = f'sh "{DOWNLOADS}/{installer.file}" -a --silent --eula accept --install-dir "$HOME/intel/oneapi"'
    run = (("sh", "-c", fetch), ("sh", "-c", start))
    return Task(step=Step(id="setup.oneapi-offline", title=title, run=run, needs=("network",)))


# What the system lacks for building or running a release, as steps for root: only what the facts show missing.


@dataclass(frozen=True)
class SetupGoal:
    """A machine, and what is wanted of it."""

    facts: Facts
    profile: Profile
    known: MachineTables
    goal: Goal
    cards: tuple[Card, ...]
    distribution: LinuxDistribution | None
    manager: Manager | None

    @property
    def name(self) -> str:
        return self.facts.system.name if self.facts.system else "this system"


def make_setup(facts: Facts, profile: Profile, known: MachineTables, *, goal: Goal, root: bool = True) -> Setup:
    """Say what to install here, in order. Without `root`: what a user can install for themselves."""
    ours = profile.accelerator == "xpu"
    place = _place(facts, profile, known, goal, ours=ours)
    manager = place.manager
    found: list[Task | Note] = []
    if ours:
        found += [*_kernel(place), *_driver(place), *_access(place)]
    found += [*toolchain_tasks(facts, manager, goal), *_maker(place)]
    if not root:
        found = [_left_to_root(each) for each in found]
    if goal == "build":
        found += toolkit_tasks(facts, profile, known, manager, root=root)
    tasks = tuple(each for each in found if isinstance(each, Task))
    return Setup(tasks=tasks, notes=tuple(each for each in found if isinstance(each, Note)))


def _left_to_root(each: Task | Note) -> Note:
    """Give what only root can do as a note for whoever has no such right."""
    if isinstance(each, Note):
        return each
    say = Advice("Only root can do this: ", SETUP)
    return Note(id=each.step.id, title=each.step.title, say=say, source="")


def _place(facts: Facts, profile: Profile, known: MachineTables, goal: Goal, *, ours: bool) -> SetupGoal:
    distribution = find_distribution(facts, known)
    families = facts.system.families if facts.system else []
    usual = next((FAMILIES[family] for family in families if family in FAMILIES), None)
    manager = distribution.manager if distribution else usual
    cards = choose_cards(find_cards(facts, known)) if ours else ()
    return SetupGoal(facts, profile, known, goal, cards, distribution, manager)


def with_lists(setup: Setup) -> Setup:
    """Read apt's lists before a package is installed: a container and a new machine have none. Images see to it."""
    for number, task in enumerate(setup.tasks):
        heads = [argv[:2] for argv in task.step.run]
        if ("apt-get", "install") in heads:
            step = replace(task.step, run=(UPDATE, *task.step.run))
            known = UPDATE in heads[: heads.index(("apt-get", "install"))]
            tasks = (*setup.tasks[:number], task if known else replace(task, step=step), *setup.tasks[number + 1 :])
            return replace(setup, tasks=tasks)
    return setup


def _maker(place: SetupGoal) -> Iterator[Note]:
    """Give what the device's maker has the administrator do; all of it, for it says itself what is there already."""
    installer = place.profile.installer
    if installer is not None and installer.before:
        yield Note(
            id="setup.driver",
            title=f"driver and packages of release {installer.release}, which need root and are never run from here",
            say="Nothing is done where they are of this release already: doctor says so.",
            source=installer.source,
            commands=tuple(map(Command, installer.before)),
        )


def _task(name: str, title: str, *run: tuple[str, ...], then: After = "") -> Task:
    step = Step(id=f"setup.{name}", title=title, run=run, needs=("root", "network"))
    return Task(step=step, then=then)


def _kernel(place: SetupGoal) -> Iterator[Task | Note]:
    """Give a newer kernel, where the running one is older than the first that knows the GPU.

    Not where a driver has the GPU, or may have it, unless nothing works with it.
    """
    device = find_device(place.profile.accelerator, "", Settings())
    question = Question(place.facts, place.profile, device, place.goal, place.known.gpus)
    early, running = too_early(question), place.facts.system.kernel if place.facts.system else ""
    for card in () if place.facts.in_wsl else place.cards:
        first = before_kernel(question, card.gpu, running, sure=False)
        own = card.platform is not None and card.platform.line == "data-center"  # has a kernel driver of its own
        if first is not None and not own and not (card.bound and card.gpu not in early):
            yield _newer_kernel(place, card, first)
            return


def _newer_kernel(place: SetupGoal, card: Card, wanted: First) -> Task | Note:
    family, source = place.distribution.family if place.distribution else "", wanted.source
    first, named = Version(wanted.on([family])), wanted.say([family])
    title = f"a newer kernel: {kernel_version(place.facts)} does not know this GPU"
    if in_container(place.facts):
        say = f"The kernel is the host's: {named} or newer, then start again."
        return Note(id="setup.kernel", title=title, say=say, source=source)
    packages = place.distribution.kernel if place.distribution else None
    if packages is None or place.manager is None or Version(packages.version) < first:
        known = place.known.distributions.distribution
        new = [each for each in known if each.kernel and Version(each.kernel.version) >= first]
        names = [each.name for each in ([each for each in new if each.family == family] or new)]
        who = f"{', '.join(names)} {'have' if len(names) > 1 else 'has'} one" if names else "nothing known here has one"
        say = f"{card.product.title()} needs Linux {named} or newer, and {place.name} is not known to have it; {who}."
        if place.distribution and place.distribution.kernel_say:
            say = f"{card.product.title()} needs Linux {named} or newer. {place.distribution.kernel_say}."
        return Note(id="setup.kernel", title=title, say=say, source=source)
    install = install_argv(place.manager, packages.packages, packages.options)
    return _task("kernel", title, *map(tuple, packages.prepare), install, then="restart")


def _driver(place: SetupGoal) -> Iterator[Task | Note]:
    """Give Intel's packages, where they are missing or too old; ocloc alone where nothing but a build is wanted."""
    state = driver_state(place.facts, place.cards)
    wants_driver = bool(place.cards or place.facts.in_wsl) and state != "there"
    ocloc = place.facts.toolkits.ocloc if place.facts.toolkits else None
    by_site = place.facts.toolkits is not None and place.facts.toolkits.by_site  # which brings its ocloc
    wants_ocloc = place.goal == "build" and ocloc is None and not by_site and _compiles_ahead(place.profile)
    servers = [card for card in place.cards if card.platform and card.platform.line == "data-center"]
    wants_kernel_driver = any(card.gpu.driver is None for card in servers)
    if not wants_driver and not wants_ocloc and not wants_kernel_driver:
        return
    packages = _packages(place)
    title = "Intel's driver packages" if wants_driver else "Intel's offline compiler (ocloc)"
    title = title if wants_driver or wants_ocloc else "Intel's driver of the kernel (DKMS)"
    title += " (if they are not there yet)" if wants_driver and state == "unknown" else ""
    if packages is None or place.manager is None:
        yield _not_packaged(place, title)
        return
    if packages.prepare:
        yield _task("repository", "Intel's driver repository", *(_fill(argv, place) for argv in packages.prepare))
    if wants_driver or wants_kernel_driver:
        yield from _kernel_driver(place, packages)
    if wants_driver or wants_ocloc:
        ahead = _compiles_ahead(place.profile)
        build = [name for name in packages.build if ahead or name != "intel-ocloc"] if place.goal == "build" else []
        names = [*(packages.packages if wants_driver else []), *build]
        yield _task("driver", title, install_argv(place.manager, names))


def _compiles_ahead(profile: Profile) -> bool:
    """Say whether code for GPUs is compiled unless that is left out; of wheels it is compiled where it is asked for."""
    kit = profile.toolkit
    return profile.arch is not None and not (kit and kit.kind == "wheels" and profile.arch.none)


def _line(place: SetupGoal) -> Line:
    return next((card.platform.line for card in place.cards if card.platform), "client")


def _packages(place: SetupGoal) -> DriverPackages | None:
    """Give the packages of the GPU's line on this release of the distribution; None where it has none."""
    found = place.distribution.drivers.get(_line(place)) if place.distribution else None
    if found is None or place.distribution is None:
        return None
    releases = found.releases or place.distribution.releases
    here = place.facts.system.version if place.facts.system else None
    return found if not releases or here in releases else None


SETUP = Command("xpusetup setup")
GPUS: dict[Line, str] = {"client": "client GPUs", "data-center": "Data Center GPUs"}


def _not_packaged(place: SetupGoal, title: str) -> Note:
    line, system = _line(place), place.facts.system
    names = ", ".join(each.name for each in place.known.distributions.distribution if line in each.drivers)
    say = f"No packages for {GPUS[line]} are known on {place.name}; they are for {names}."
    source = "https://github.com/intel/compute-runtime/releases"
    if system is None or not system.families:
        say = Advice("Which they are depends on the distribution. On that machine, this says it: ", SETUP)
    elif "windows" in system.families:
        say = "In Windows they come with Intel's graphics driver."
    elif place.distribution and place.distribution.drivers_say:
        say, source = f"{place.distribution.drivers_say}.", place.distribution.source
    return Note(id="setup.driver", title=title, say=say, source=source)


def _kernel_driver(place: SetupGoal, packages: DriverPackages) -> Iterator[Task]:
    """Give the kernel driver of the server line, which is built for the running kernel."""
    if not packages.kernel_driver or any(card.bound for card in place.cards) or place.manager is None:
        return
    names = _fill([*packages.headers, *packages.kernel_driver], place)
    title = "Intel's kernel driver for Data Center GPUs"
    yield _task("kernel-driver", title, install_argv(place.manager, names), then="restart")


def _access(place: SetupGoal) -> Iterator[Task | Note]:
    """Give the groups; in a container it is the number that counts, and who has joined only has to log in again."""
    hardware, system = place.facts.hardware, place.facts.system
    closed = (
        [node for node in hardware.nodes if not node.openable and node.vendor in ("8086", None)] if hardware else []
    )
    joined = system is not None and any(node.gid in system.joined for node in closed)
    if closed and place.cards and system is not None and not joined and not in_container(place.facts):
        title = f"access to {closed[0].path} for {'you' if system.user == HIDDEN else system.user}"
        if place.distribution and place.distribution.groups_say:
            say = f"{place.distribution.groups_say.replace('<user>', system.user)}; then log in again."
            yield Note(id="setup.access", title=title, say=say, source=place.distribution.source)
            return
        run = ("usermod", "-aG", "render,video", system.user)
        step = Step(id="setup.access", title=title, run=(run,), needs=("root",))
        yield Task(step=step, then="login")


def _fill(argv: list[str], place: SetupGoal) -> tuple[str, ...]:
    system = place.facts.system
    release = (system.version if system else None) or ""
    words = {"<kernel>": system.kernel if system else "", "<release>": release}
    words["<codename>"] = release.replace(".", "sp")
    filled = []
    for text in argv:
        for word, value in words.items():
            text = text.replace(word, value)  # noqa: PLW2901 - one word after the other
        filled.append(text)
    return tuple(filled)


# What doctor advises where packages are amiss: those that setup would install here, from the same place.


DRIVER_CHECKS = (
    *("umd.ze_intel_gpu", "umd.ze_loader", "umd.stock_ubuntu_too_old", "umd.older_than_gpu", "umd.only_opencl_gpu"),
    *("hw.multi_bmg_enum", "kmd.compute_runtime_vs_kernel"),
)
"""What the packages of the driver mend, whether they are missing or too old."""
KERNEL_DRIVER_CHECK, KERNEL_CHECK = "kmd.pvc_needs_backports", "kmd.force_probe"
RESTART = "sudo reboot"


def mend_here(found: Iterable[Finding], facts: Facts, profile: Profile, known: MachineTables) -> tuple[Finding, ...]:
    """Give findings with the packages of this distribution's own release in their fixes, as setup has them.

    What a check says of this very machine stays, and so do the usual commands where the release was not told, or
    where its package manager takes all of the system along (pacman).
    """
    place = _place(facts, profile, known, "run", ours=True)
    if not _is_told(place):
        return tuple(found)
    return tuple(replace(each, fix=_fix_here(each, place)) for each in found)


def _is_told(place: SetupGoal) -> bool:
    system = place.facts.system
    if system is None or place.manager == "pacman":
        return False
    return bool(system.version) or system.name.endswith("/sid")


def _fix_here(finding: Finding, place: SetupGoal) -> Fix:
    own = {name for name, _ in finding.fix.commands}
    if not own or "any" in own:  # nothing is amiss, or the check knows better
        return finding.fix
    if finding.id in DRIVER_CHECKS:
        return _fix_packages(finding, place, kernel=False)
    if finding.id == KERNEL_DRIVER_CHECK:
        return _fix_packages(finding, place, kernel=True)
    return _fix_kernel(finding.fix, place) if finding.id == KERNEL_CHECK else finding.fix


def _fix_packages(finding: Finding, place: SetupGoal, *, kernel: bool) -> Fix:
    packages = _packages(place)
    names = [] if packages is None else packages.kernel_driver if kernel else packages.packages
    if packages is None or not names:
        return _unpackaged(finding, place)
    wanted = [*packages.headers, *names] if kernel else names
    return _with_commands(finding.fix, *_prepared(place, packages, wanted), restart=kernel)


def _fix_kernel(fix: Fix, place: SetupGoal) -> Fix:
    kernel = None if in_container(place.facts) else next(_kernel(place), None)
    if isinstance(kernel, Task):
        return _with_commands(fix, *kernel.step.run, restart=True)
    return fix if kernel is None else replace(fix, say=Advice(kernel.say, " ", fix.say), commands=())


def _prepared(place: SetupGoal, packages: DriverPackages, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    if place.manager is not None:
        yield from (_fill(argv, place) for argv in packages.prepare)
        yield install_argv(place.manager, _fill([*names], place))


HIDDEN = "<user>"
"""Who facts were saved by, as they say it: the one who reads what follows from them."""


def line_of(argv: Sequence[str]) -> str:
    """Give the words of a command as a line for a shell."""
    return shlex.join(argv).replace(shlex.quote(HIDDEN), '"$USER"')


def _with_commands(fix: Fix, *run: tuple[str, ...], restart: bool = False) -> Fix:
    lists = (UPDATE,) if run[0][:2] == INSTALL["apt"][:2] else ()  # a new machine and a container have none
    lines = [line_of(("sudo", *argv)) for argv in (*lists, *run)] + ([RESTART] if restart else [])
    return replace(fix, commands=(("any", tuple(map(Command, lines))),))


def _unpackaged(finding: Finding, place: SetupGoal) -> Fix:
    """Give what is known where no package is; commands that were written for a system that setup does not know stay."""
    system = place.facts.system
    own = system.families[0] if system and system.families else ""
    listed = {each.family for each in place.known.distributions.distribution}
    if own not in listed and own in dict(finding.fix.commands):
        return finding.fix
    return replace(finding.fix, say=_not_packaged(place, finding.title).say, commands=())
