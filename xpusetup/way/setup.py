"""What the system lacks for building or running a release, as steps for root: only what the facts show missing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from packaging.version import Version

from xpusetup.model import Step
from xpusetup.way.answer import Note, Setup, Task
from xpusetup.way.machine import (
    choose_cards,
    driver_state,
    find_cards,
    find_distribution,
    in_container,
    kernel_version,
)
from xpusetup.way.packages import install_argv, manager_of
from xpusetup.way.toolkit import toolchain_tasks, toolkit_tasks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.facts import Facts
    from xpusetup.model import Goal
    from xpusetup.platforms import Distribution, DriverPackages, Line, Manager
    from xpusetup.profile import Profile
    from xpusetup.way.answer import After
    from xpusetup.way.machine import Card, Known


@dataclass(frozen=True)
class Place:
    """A machine, and what is wanted of it."""

    facts: Facts
    profile: Profile
    known: Known
    goal: Goal
    cards: tuple[Card, ...]
    distribution: Distribution | None
    manager: Manager | None
    root: bool = True

    @property
    def name(self) -> str:
        """What people call the operating system here."""
        return self.facts.system.name if self.facts.system else "this system"


def make_setup(facts: Facts, profile: Profile, known: Known, *, goal: Goal, root: bool = True) -> Setup:
    """Say what to install here, in order. Without `root`: what a user can install for themselves."""
    distribution = find_distribution(facts, known)
    manager = distribution.manager if distribution else manager_of(facts)
    ours = profile.accelerator == "xpu"
    cards = choose_cards(find_cards(facts, known)) if ours else ()
    place = Place(facts, profile, known, goal, cards, distribution, manager, root)
    found: list[Task | Note] = []
    if root and ours:
        found += [*_kernel(place), *_driver(place), *_access(place)]
    if root:
        found += toolchain_tasks(facts, manager, goal)
    if root:
        found += _maker(place)
    if goal == "build":
        found += toolkit_tasks(facts, profile, known, manager, root=root)
    tasks = tuple(each for each in found if isinstance(each, Task))
    return Setup(tasks=tasks, notes=tuple(each for each in found if isinstance(each, Note)))


def with_lists(setup: Setup) -> Setup:
    """Read apt's lists before a package is installed: a container and a new machine have none. Images see to it."""
    for number, task in enumerate(setup.tasks):
        heads = [argv[:2] for argv in task.step.run]
        if ("apt-get", "install") in heads:
            step = replace(task.step, run=(("apt-get", "update"), *task.step.run))
            known = ("apt-get", "update") in heads[: heads.index(("apt-get", "install"))]
            tasks = (*setup.tasks[:number], task if known else replace(task, step=step), *setup.tasks[number + 1 :])
            return replace(setup, tasks=tasks)
    return setup


def _maker(place: Place) -> Iterator[Note]:
    """Give what the device's maker has the administrator do; all of it, for it says itself what is there already."""
    installer = place.profile.installer
    if installer is not None and installer.before:
        yield Note(
            id="setup.driver",
            title=f"driver and packages of release {installer.release}, which need root and are never run from here",
            say="Nothing is done where they are of this release already: doctor says so.",
            source=installer.source,
            commands=tuple(installer.before),
        )


def _task(name: str, title: str, *run: tuple[str, ...], then: After = "") -> Task:
    step = Step(id=f"setup.{name}", title=title, run=run, needs=("root", "network"))
    return Task(step=step, then=then)


def _kernel(place: Place) -> Iterator[Task | Note]:
    """Give a newer kernel, where no driver has the GPU and the running one is older than the first that knows it."""
    running = kernel_version(place.facts)
    for card in place.cards:
        kernel = card.platform.kernel if card.platform else None
        if kernel is None or card.bound or running is None or place.facts.in_wsl:
            continue
        family = place.distribution.family if place.distribution else ""
        first = Version(kernel.by_distribution.get(family, kernel.first))
        if running < first:
            yield _newer_kernel(place, card, first, kernel.source)
            return


def _newer_kernel(place: Place, card: Card, first: Version, source: str) -> Task | Note:
    running = kernel_version(place.facts)
    title = f"a newer kernel: {running} does not know this GPU"
    if in_container(place.facts):
        return Note(
            id="setup.kernel",
            title=title,
            say=f"The kernel is the host's: {first} or newer, then start again.",
            source=source,
        )
    packages = place.distribution.kernel if place.distribution else None
    if packages is None or place.manager is None or Version(packages.version) < first:
        who = _who_has(place, first)
        say = f"{card.product.title()} needs Linux {first} or newer, and {place.name} is not known to have it; {who}."
        return Note(id="setup.kernel", title=title, say=say, source=source)
    install = install_argv(place.manager, packages.packages, packages.options)
    return _task("kernel", title, *map(tuple, packages.prepare), install, then="restart")


def _who_has(place: Place, first: Version) -> str:
    known = place.known.distributions.distribution
    names = [each.name for each in known if each.kernel and Version(each.kernel.version) >= first]
    return f"{', '.join(names)} {'have' if len(names) > 1 else 'has'} one" if names else "nothing known here has one"


def _driver(place: Place) -> Iterator[Task | Note]:
    """Give Intel's packages, where they are missing or too old; ocloc alone where nothing but a build is wanted."""
    state = driver_state(place.facts, place.cards)
    wants_driver = bool(place.cards or place.facts.in_wsl) and state != "there"
    wants_ocloc = place.goal == "build" and not _has_ocloc(place.facts) and place.profile.arch is not None
    wants_kernel_driver = any(card.gpu.driver is None for card in place.cards if _is_server(card))
    if not wants_driver and not wants_ocloc and not wants_kernel_driver:
        return
    line: Line = next((card.platform.line for card in place.cards if card.platform), "client")
    packages = place.distribution.drivers.get(line) if place.distribution else None
    title = "Intel's driver packages" if wants_driver else "Intel's offline compiler (ocloc)"
    if packages is None or place.manager is None or not _has_release(place):
        yield _not_packaged(place, title)
        return
    yield _task("repository", "Intel's driver repository", *(_fill(argv, place) for argv in packages.prepare))
    if wants_driver or wants_kernel_driver:
        yield from _kernel_driver(place, packages)
    if wants_driver or wants_ocloc:
        names = [*(packages.packages if wants_driver else []), *(packages.build if place.goal == "build" else [])]
        yield _task("driver", title, install_argv(place.manager, names))


def _is_server(card: Card) -> bool:
    return card.platform is not None and card.platform.line == "data-center"


def _has_ocloc(facts: Facts) -> bool:
    return facts.toolkits is not None and facts.toolkits.ocloc is not None


def _has_release(place: Place) -> bool:
    releases = place.distribution.releases if place.distribution else []
    return not releases or (place.facts.system is not None and place.facts.system.version in releases)


def _not_packaged(place: Place, title: str) -> Note:
    if place.distribution and place.distribution.drivers_say:
        return Note(
            id="setup.driver", title=title, say=f"{place.distribution.drivers_say}.", source=place.distribution.source
        )
    known = ", ".join(each.name for each in place.known.distributions.distribution)
    page = "https://github.com/intel/compute-runtime/releases"
    return Note(
        id="setup.driver",
        title=title,
        say=f"Nothing is known of {place.name}; commands are known for {known}.",
        source=page,
    )


def _kernel_driver(place: Place, packages: DriverPackages) -> Iterator[Task]:
    """Give the kernel driver of the server line, which is built for the running kernel."""
    if not packages.kernel_driver or any(card.bound for card in place.cards) or place.manager is None:
        return
    names = _fill([*packages.headers, *packages.kernel_driver], place)
    title = "Intel's kernel driver for Data Center GPUs"
    yield _task("kernel-driver", title, install_argv(place.manager, names), then="restart")


def _access(place: Place) -> Iterator[Task]:
    """Give the groups; in a container it is the number that counts, and who has joined only has to log in again."""
    hardware, system = place.facts.hardware, place.facts.system
    closed = (
        [node for node in hardware.nodes if not node.openable and node.vendor in ("8086", None)] if hardware else []
    )
    joined = system is not None and any(node.gid in system.joined for node in closed)
    if closed and place.cards and system is not None and not joined and not in_container(place.facts):
        title = f"access to {closed[0].path} for {system.user}"
        run = ("usermod", "-aG", "render,video", system.user)
        step = Step(id="setup.access", title=title, run=(run,), needs=("root",))
        yield Task(step=step, then="login")


def _fill(argv: list[str], place: Place) -> tuple[str, ...]:
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
