"""The steps of a way: what the system needs, another Python, and the command at the end."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from xpusetup.way.answer import WayStep
from xpusetup.way.machine import driver_state, sees_devices
from xpusetup.way.setup import make_setup

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from xpusetup.facts import Facts, Torch
    from xpusetup.profile import Profile
    from xpusetup.way.answer import After, Note, Refusal, Task
    from xpusetup.way.machine import Card, Known

KERNEL = "setup.kernel"
DRIVER = ("setup.repository", "setup.driver", "setup.kernel-driver")
"""Tasks that are left out where nobody looked whether the driver is there."""
MENDS = {
    "setup.kernel": ("kmd.force_probe", "kmd.bound"),
    "setup.kernel-driver": ("kmd.pvc_needs_backports", "kmd.bound"),
    "setup.driver": ("umd.ze_intel_gpu", "umd.ze_loader", "umd.stock_ubuntu_too_old"),
    "setup.access": ("perm.render_group",),
    "setup.toolchain": ("py.venv",),
}
"""The checks that find fault until a task is done."""
WRONG = ("torch.is_xpu_build", "hw.release_has_code")
WINDOWS = ("wsl.dxg", "umd.ze_init")


def system_steps(
    facts: Facts, profile: Profile, known: Known, cards: Sequence[Card], options: str, *, wheel: bool
) -> Iterator[WayStep]:
    """Give the system's part: the kernel first, then what setup installs and what no command is known for."""
    setup = make_setup(facts, profile, known, goal="run" if wheel else "build")
    if facts.in_wsl and not sees_devices(facts):
        title = "in Windows, which has the GPU: Intel's current graphics driver, then wsl --update"
        yield WayStep(title=title, mends=WINDOWS)
    kernel = next((task for task in setup.tasks if task.step.id == KERNEL), None)
    if kernel is not None:
        yield WayStep(title=kernel.step.title, commands=_commands(kernel), then=kernel.then, mends=MENDS[KERNEL])
    looked = driver_state(facts, cards) != "unknown"
    notes = [note for note in setup.notes if looked or note.id == KERNEL]
    yield from (_by_hand(note) for note in notes if note.id == KERNEL)
    rest = [task for task in setup.tasks if task is not kernel and (looked or task.step.id not in DRIVER)]
    if rest:
        yield _to_install(rest, "" if wheel else options)
    yield from (_by_hand(note) for note in notes if note.id != KERNEL)


def _to_install(tasks: Sequence[Task], options: str) -> WayStep:
    names = dict.fromkeys(task.step.title for task in tasks if not task.step.id.endswith("repository"))
    then: After = next((task.then for task in tasks if task.then), "")
    mends = tuple(name for task in tasks for name in MENDS.get(task.step.id, ()))
    return WayStep(title=", ".join(names), commands=(f"xpusetup setup{options} --apply",), then=then, mends=mends)


def _by_hand(note: Note) -> WayStep:
    mends = MENDS.get(note.id, ())
    if note.id == "setup.driver":  # packages that are not known here: those of the kernel driver too
        mends += MENDS["setup.kernel-driver"]
    return WayStep(title=f"{note.title}: {note.say}", mends=mends)


def _commands(task: Task) -> tuple[str, ...]:
    sudo = ("sudo",) if "root" in task.step.needs else ()
    return tuple(shlex.join((*sudo, *argv)) for argv in task.step.run)


def python_steps(profile: Profile, refusals: Mapping[str, Refusal]) -> Iterator[WayStep]:
    """Give the step to another Python, where that alone speaks against the release."""
    refusal = refusals.get(profile.name)
    if refusal is not None and refusal.why.startswith("it takes Python"):
        newest = next(minor for minor in range(15, 9, -1) if _takes(profile, minor))
        yield WayStep(
            title=f"another Python: {refusal.why}", commands=(f"uv python install 3.{newest}",), mends=("py.version",)
        )


def _takes(profile: Profile, minor: int) -> bool:
    """Say whether a profile takes Python 3.<minor>."""
    return SpecifierSet(profile.python).contains(f"3.{minor}.5")


def step_to_prove(torch: Torch, what: str, statement: str) -> WayStep:
    """Give the command that shows what the PyTorch that is here sees."""
    command = shlex.join((torch.python, "-c", statement))
    title = f"nothing to install: {what} is in {torch.prefix}"
    return WayStep(title=title, commands=(command,), mends=("hw.release_has_code",))


def last_step(profile: Profile, options: str, *, wheel: bool) -> WayStep:
    """Give the command that brings PyTorch."""
    if wheel and profile.published:
        version = profile.published.wheels[0].partition("==")[2]
        title = f"the published wheels, {version}; no build needed"
        return WayStep(title=title, commands=(f"xpusetup install{options}",), mends=WRONG)
    toolkit = f" with oneAPI {profile.toolkit.preferred}" if profile.toolkit else ""
    return WayStep(title=f"{profile.name} from source{toolkit}", commands=(f"xpusetup build{options}",), mends=WRONG)
