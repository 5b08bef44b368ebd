"""What the owner of a new card is told, from a post or on the machine: each screen says the same of the same facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from data.diagnosis import diagnose
from data.saved import machine_file
from test_machines import screen
from test_pastes import POSTS
from xpusetup.commands.doctor import DoctorOptions
from xpusetup.commands.setup import SetupOptions, prepare_setup, show_setup
from xpusetup.run.workspace import Where
from xpusetup.ui.doctor import show_doctor
from xpusetup.ui.setup import show_setup as show_setup_screen

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.commands.doctor import Diagnosis
    from xpusetup.commands.setup import SetupPlan

OLD = "Linux ryzen 6.8.0-41-generic #41-Ubuntu SMP PREEMPT_DYNAMIC Fri Aug  2 20:41:06 UTC 2024 x86_64 GNU/Linux"
CARD = "03:00.0 VGA compatible controller [0300]: Intel Corporation Battlemage G21 [Arc B580] [8086:e20b]"
DRIVEN = f"{CARD}\n\tKernel driver in use: xe\n\tKernel modules: xe"
RELEASE = '$ cat /etc/os-release\nPRETTY_NAME="Ubuntu 24.04.3 LTS"\nID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"'
FAILS = "RuntimeError: No XPU devices are available."
POSTED = {
    "no release": f"{OLD}\n{CARD}\n{FAILS}",
    "no error": f"{RELEASE}\n$ uname -a\n{OLD}\n$ lspci -nnk\n{CARD}\n\tSubsystem: Intel Device [8086:1100]",
    "new kernel": f"{RELEASE}\n$ uname -a\n{OLD.replace('6.8.0-41', '6.17.0-6')}\n$ lspci -nnk\n{DRIVEN}",
    "card alone": DRIVEN,
    **{name: POSTS[name]["text"] for name in ("age-mtl-6-5", "age-b-series-6-8", "arch-6-8-clinfo-0")},
}
PACKAGES = "Intel's driver packages (if they are not there yet)"


def told(text: str, folder: Path) -> tuple[Diagnosis, SetupPlan]:
    """Give what doctor says of a post, and setup of what doctor saved."""
    post, saved = folder / "post.txt", folder / "facts.json"
    post.write_text(text)
    found = diagnose(Where(), DoctorOptions(paste=(str(post),), save=str(saved)))
    return found, prepare_setup(SetupOptions(facts=str(saved)))


@pytest.mark.parametrize("name", POSTED)
def test_doctor_and_setup_name_the_same_steps(name: str, tmp_path: Path) -> None:
    """Of one post doctor began with the kernel and setup with packages; or doctor left the packages out."""
    found, plan = told(POSTED[name], tmp_path)
    road = "\n".join(step.title for step in found.way.steps)
    tasks = [task.step.title for task in plan.setup.tasks if task.step.id != "setup.repository"]
    for title in [*tasks, *(note.title for note in plan.setup.notes)]:
        assert title in road
    kernel = [task.step.id for task in plan.setup.tasks][:1] == ["setup.kernel"] or any(
        note.id == "setup.kernel" for note in plan.setup.notes
    )
    assert kernel == ("kmd.force_probe" in found.root_causes)
    assert "kmd.force_probe" not in [gap.id for gap in show_setup(plan).data.left]


@pytest.mark.parametrize(("name", "first"), [("no release", "a newer kernel"), ("card alone", PACKAGES)])
def test_the_driver_comes_before_the_wheels(name: str, first: str, tmp_path: Path) -> None:
    found, _ = told(POSTED[name], tmp_path)
    titles = [step.title for step in found.way.steps]
    assert titles[0].startswith(first)
    assert [PACKAGES in title for title in titles].count(True) == 1
    assert "6.12" in screen(show_doctor, found) or name == "card alone"


def test_a_kernel_that_is_too_old_is_told_in_one_way(tmp_path: Path) -> None:
    """Of a card that no driver has it said that no driver supports it, which is not so."""
    seen = []
    for text in (POSTED["no release"], POSTED["no error"]):
        found, _ = told(text, tmp_path)
        seen += [each.seen.partition(" at ")[0] for each in found.findings if each.id == "kmd.force_probe"]
    assert seen == ["Linux 6.8.0-41-generic is older than the first that drives Arc B580 (Battlemage)"] * 2


def test_a_post_without_its_card_is_asked_for_it(tmp_path: Path) -> None:
    """It said that no accelerator is here that it serves, and setup that nothing is missing."""
    found, plan = told(f"{OLD}\n{FAILS}", tmp_path)
    shown = screen(show_doctor, found), screen(show_setup_screen, show_setup(plan).data)
    for text in shown:
        assert "which GPU it is was not told; paste also what `lspci -nnk` prints" in " ".join(text.split())
        assert "No accelerator" not in text
        assert "no accelerator" not in text
        assert "nothing is missing" not in text


def test_apply_ends_with_3_where_something_is_left() -> None:
    """It ended with 0 below a cross."""
    plan = prepare_setup(SetupOptions(facts=str(machine_file("no-gpu-debian-12"))))
    assert plan.setup.tasks == ()
    assert [show_setup(plan, apply=apply).code for apply in (False, True)] == [0, 3]
