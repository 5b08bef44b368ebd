"""A number in the path of the sources that an old oneDNN takes for the version of GCC."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from data.machines import WORKSTATION, machine
from data.profiles import device, shipped
from xpusetup.doctor.question import Question
from xpusetup.doctor.resources import check_path
from xpusetup.emit.matrix import make_places
from xpusetup.machine.tables import target_table
from xpusetup.run.workspace import Where, open_workspace

if TYPE_CHECKING:
    from pathlib import Path

DISK = WORKSTATION["resources"]["disks"][0]


def judge(path: str, release: str = "torch-2.4") -> str:
    disks = [{**DISK, "path": path}, {**DISK, "path": "/scratch-1.2", "holds": ["temporary"]}]
    facts = machine(resources={"disks": disks})
    answer = check_path(Question(facts, shipped(release), device("xpu"), "build"))
    return f"{answer.level}: {answer.seen}" if answer else ""


@pytest.mark.parametrize(
    ("path", "says"),
    [
        # What true oneDNN 3.4.2 made of these folders with g++ 12.2: "Host compiler version: 2.4", and so on.
        ("/home/me/pytorch-2.4", "fail: /home/me/pytorch-2.4 holds 2.4"),
        ("/home/me/.local/share/xpusetup/torch-2.6", "fail: /home/me/.local/share/xpusetup/torch-2.6 holds 2.6"),
        ("/x7.3y", "fail: /x7.3y holds 7.3"),
        ("/py3.11/src", "fail: /py3.11/src holds 3.11"),
        ("/torch-9.1/a2.0", "ok: /torch-9.1/a2.0"),  # the first number alone counts
        ("/x7.4y", "ok: /x7.4y"),
        ("/torch-24", "ok: /torch-24"),
        ("/home/me/.local/share/xpusetup/torch-2_4", "ok: /home/me/.local/share/xpusetup/torch-2_4"),
    ],
)
def test_the_first_number_with_a_dot_decides(path: str, says: str) -> None:
    assert judge(path) == says
    assert judge(path, "torch-2.5") == ""  # its oneDNN, 3.5.3, is mended


def test_the_usual_folder_of_that_release_is_a_plain_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPUSETUP_ROOT", str(tmp_path / "roots"))
    monkeypatch.chdir(tmp_path)
    assert open_workspace(Where(profile="torch-2.4")).root.name == "torch-2_4"
    assert open_workspace(Where(profile="torch-2.4", rev=("vision=v0.19.0",))).root.name == "torch-2_4-vision-v0_19_0"
    assert open_workspace(Where(profile="torch-2.5")).root.name == "torch-2.5"
    assert open_workspace(Where(profile="torch-2.4", name="torch-2.4")).root.name == "torch-2.4"  # the check says it
    named = [(name, shipped(name)) for name in ("torch-2.4", "torch-2.5")]
    assert [each.name for each in make_places(named, [], [], target_table())] == ["torch-2_4", "torch-2.5"]
