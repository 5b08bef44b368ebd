"""What doctor says on a login node whose GPUs are, as the site file says, on another partition."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from data.saved import machine_file
from xpusetup.commands import doctor
from xpusetup.commands.recommend import way_of
from xpusetup.machine.facts import Network

if TYPE_CHECKING:
    from pathlib import Path

    from in_process import Program

SITE = '[scheduler]\naccount = "proj"\npartition = "cpu"\ngpu_partition = "gpu,gpu-long"\n'


@pytest.fixture(autouse=True)
def login_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "xpusetup").mkdir()
    (tmp_path / "xpusetup/site.toml").write_text(SITE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("SLURM_JOB_PARTITION", raising=False)
    facts = doctor.read_facts(str(machine_file("no-gpu-debian-12")))
    monkeypatch.setattr(doctor, "probe_for", lambda *_: facts)


def test_no_gpu_on_a_login_node_is_no_fault(program: Program) -> None:
    """It failed, and sent an administrator to the slots and the BIOS of a node that needs no GPU."""
    ran = program("doctor")
    line = "srun --account=proj --partition=gpu,gpu-long --gres=gpu:1 xpusetup doctor"
    assert ran.code == 0
    assert "the site file says that GPUs are on" in ran.out
    assert f"{line}\n" in ran.out
    assert "BIOS" not in ran.out
    assert f"{line} torch-2.13\n" in program("doctor torch-2.13").out
    document = program("doctor --json").document()["result"]
    assert document["stops"] == {"run": []}


def test_a_build_is_judged_on_a_login_node_if_it_is_asked_for(program: Program) -> None:
    ran = program("doctor --for build")
    assert "No GPU is on this node" not in ran.out
    assert "--partition=gpu,gpu-long" in ran.out
    assert list(program("doctor --for build --json").document()["result"]["stops"]) == ["build"]


def test_no_gpu_in_a_job_on_its_partition_is_a_fault(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_PARTITION", "gpu-long")
    ran = program("doctor")
    assert (ran.code, "srun" in ran.out) == (1, False)


def test_facts_of_another_machine_are_of_no_node_here(program: Program) -> None:
    ran = program(f"doctor --facts {machine_file('no-gpu-debian-12')}")
    assert (ran.code, "srun" in ran.out) == (1, False)


def test_the_way_on_a_login_node_leads_to_a_node_that_has_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = doctor.read_facts(str(machine_file("no-gpu-debian-12")))
    way = way_of(facts).data.way
    assert way is not None
    assert way.commands[0] == "srun --account=proj --partition=gpu,gpu-long --gres=gpu:1 xpusetup"
    assert "lspci" not in " ".join(way.commands)
    monkeypatch.setenv("SLURM_JOB_PARTITION", "gpu-long")
    way = way_of(facts).data.way
    assert way is not None
    assert "lspci" in " ".join(way.commands)


def test_without_a_network_and_a_gpu_what_is_built_comes_from_a_bundle() -> None:
    facts = doctor.read_facts(str(machine_file("no-gpu-debian-12")))
    cut = replace(facts, network=Network(routed=False))
    way = way_of(cut).data.way
    assert way is not None
    bundles = [line for line in way.commands if "sim" in line]
    assert bundles == ["xpusetup bundle create sim.tar --profile sim", "xpusetup build --bundle sim.tar"]
    assert not [line for line in way.commands if line.startswith(("xpusetup build t", "xpusetup setup"))]
