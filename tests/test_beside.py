"""Sound machines with something beside the GPU, and one cause that has no second beside it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from data.ailing import BLIND, but
from data.diagnosis import diagnose
from data.fleet import B580, MAX, METEOR, TIGER, UBUNTU_24, Doc, card, healthy
from xpusetup.base.document import read_as
from xpusetup.commands.doctor import DoctorOptions
from xpusetup.commands.recommend import way_of
from xpusetup.machine.facts import Facts
from xpusetup.run.workspace import Where

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.commands.doctor import Diagnosis

NPU: Doc = {**B580, "address": "0000:00:0b.0", "device": "7d1d", "pci_class": "120000", "driver": "intel_vpu"}
LUNAR_NPU: Doc = {**NPU, "device": "643e", "driver": None}
FLEX = card("56c0", None, pci_class="038000")
GUEST: Doc = {**B580, "address": "0000:08:00.0", "driver": "vfio-pci"}


def judge(machine: Doc, tmp_path: Path) -> Diagnosis:
    file = tmp_path / "facts.json"
    file.write_text(json.dumps(machine))
    return diagnose(Where(), DoctorOptions(goal="run", facts=(str(file),)))


def with_more(machine: Doc, *cards: Doc) -> Doc:
    return but(machine, {"hardware.gpus": [*machine["hardware"]["gpus"], *cards]})


@pytest.mark.parametrize("gpu", [B580, METEOR])
@pytest.mark.parametrize("npu", [NPU, LUNAR_NPU])
def test_the_processors_npu_is_no_gpu(gpu: Doc, npu: Doc, tmp_path: Path) -> None:
    """Core Ultra has one: that Level Zero "passes over 8086:7d1d" was called a failure of a sound machine."""
    data = judge(with_more(healthy(UBUNTU_24, gpu), npu), tmp_path)
    assert {each.level for each in data.findings} <= {"ok", "info"}
    assert not any(npu["device"] in each.seen for each in data.findings)


def test_an_npu_alone_is_no_gpu(tmp_path: Path) -> None:
    machine = but(healthy(UBUNTU_24, release=""), {"hardware.gpus": [NPU]})
    assert judge(machine, tmp_path).stops["run"][:1] == ["hw.intel_gpu_present"]


@pytest.mark.parametrize("driver", [None, "vfio-pci"])
def test_an_integrated_gpu_that_nothing_drives_beside_a_card(driver: str | None, tmp_path: Path) -> None:
    data = judge(with_more(healthy(UBUNTU_24, B580), {**TIGER, "driver": driver}), tmp_path)
    assert {each.level for each in data.findings} <= {"ok", "info"}


def test_a_card_that_was_given_to_a_guest_is_not_missing(tmp_path: Path) -> None:
    data = judge(with_more(healthy(UBUNTU_24, B580), GUEST), tmp_path)
    assert {each.level for each in data.findings} <= {"ok", "info"}


def test_a_mask_leaves_cards_out_on_purpose(tmp_path: Path) -> None:
    machine = healthy(UBUNTU_24, B580, {**B580, "address": "0000:08:00.0"})
    machine["userland"]["level_zero"]["devices"].pop()
    machine["torch"]["report"] |= {"count": 1}
    found = {each.id: each.level for each in judge(but(machine, {"environment": {}}), tmp_path).findings}
    assert found["hw.multi_bmg_enum"] == "warn"
    masked = judge(but(machine, {"environment": {"ZE_AFFINITY_MASK": "0"}}), tmp_path)
    assert {each.level for each in masked.findings} <= {"ok", "info"}


DARK: Doc = {**BLIND, "hardware.nodes": [], "kernel.modules": {}, "kernel.messages": []}
CMDLINE = "BOOT_IMAGE=/vmlinuz root=/dev/sda2 quiet nomodeset"
NO_FIRMWARE = [
    "i915 0000:03:00.0: Direct firmware load for i915/dg2_guc_70.bin failed with error -2",
    "i915 0000:03:00.0: [drm] *ERROR* GT0: GuC firmware i915/dg2_guc_70.bin: fetch failed with error -ENOENT",
]
SERVERS: dict[str, tuple[Doc, str]] = {
    "given to a guest": ({"driver": "vfio-pci"}, "kmd.bound"),
    "nomodeset": ({"kernel.cmdline": CMDLINE}, "kmd.blacklisted"),
    "no firmware": ({"kernel.messages": NO_FIRMWARE}, "fw.guc_missing"),
    "no driver": ({}, "kmd.pvc_needs_backports"),
}


@pytest.mark.parametrize("gpu", [FLEX, MAX[0]])
@pytest.mark.parametrize("name", SERVERS)
def test_a_server_gpu_has_one_cause(gpu: Doc, name: str, tmp_path: Path) -> None:
    """That it "has no driver" and wants DKMS was said of one that a guest has, and beside nomodeset."""
    changes, cause = SERVERS[name]
    dark: Any = {key: value for key, value in changes.items() if "." in key}
    lost = {**gpu, "driver": changes.get("driver")}
    machine = but(healthy(UBUNTU_24, {**gpu, "driver": "i915"}), DARK, {"hardware.gpus": [lost]}, dark)
    assert judge(machine, tmp_path).stops["run"] == [cause]


def test_a_kernel_before_the_gpu_is_told_once(tmp_path: Path) -> None:
    """That Arc wants Linux 6.2 stood beside the cause that said the same."""
    gpu = card("56a0", None)
    old: Doc = {"kernel.release": "5.15.0-20-generic", "system.kernel": "5.15.0-20-generic"}
    machine = but(healthy(UBUNTU_24, {**gpu, "driver": "i915"}), DARK, {"hardware.gpus": [gpu]}, old)
    machine["kernel"]["claims"] = {"56a0": []}
    assert judge(machine, tmp_path).stops["run"] == ["kmd.force_probe"]


@pytest.mark.parametrize("device", ["7d67", "7d45", "7d41"])
def test_what_works_is_not_replaced_by_an_older_release(device: str) -> None:
    """Arrow Lake-S with a PyTorch 2.14 that works was sent to 2.6, which holds code for it."""
    gpu = {**METEOR, "device": device}
    machine = but(healthy(UBUNTU_24, METEOR), {"hardware.gpus": [gpu]})
    way = way_of(read_as(Facts, machine)).data.way
    assert way is not None
    assert "PyTorch 2.14.1+xpu is here and compiles its kernels when they are first used" in way.why
    assert [step.title for step in way.steps] == [
        "nothing to install: PyTorch 2.14.1+xpu for Intel GPUs is in /home/me/venv"
    ]
    assert "not torch-2.14" not in way.why


@pytest.mark.parametrize(
    "python",
    [
        {"version": "3.9.21", "executable": "/usr/bin/python3.9"},  # RHEL 9's own
        {"venv": False},  # Debian without python3-venv
    ],
)
def test_a_python_that_makes_no_environment_beside_one_that_works(python: Doc, tmp_path: Path) -> None:
    machine = healthy(UBUNTU_24, B580)
    machine["python"] |= python
    data = judge(machine, tmp_path)
    assert {each.level for each in data.findings} <= {"ok", "info"}
    assert [step.title for step in data.way.steps] == [
        "nothing to install: PyTorch 2.14.1+xpu for Intel GPUs is in /home/me/venv"
    ]
    bare = but(machine, {"torch": None, "notes": {"torch": "no Python environment is active or built here"}})
    assert judge(bare, tmp_path).stops["run"]


def test_a_small_window_through_which_the_card_is_listed(tmp_path: Path) -> None:
    """A virtual function, or a board without resizable BAR under a newer driver: it works, and was called a failure."""
    found = judge(healthy(UBUNTU_24, {**B580, "bar": 256 << 20}), tmp_path)
    assert found.stops["run"] == []
    assert {each.id for each in found.findings if each.level == "warn"} == {"hw.small_bar"}
