"""What a build tells at its end."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from data.targets import plan_for
from xpusetup.base.model import Request
from xpusetup.commands.build_result import (
    OtherEnvironment,
    ProofSummary,
    describe_elsewhere,
    describe_proof,
    find_reached,
    find_servers,
    render_command,
)
from xpusetup.plan.install import INSTALL
from xpusetup.run.prepare import PreparedPlan
from xpusetup.run.root import Root
from xpusetup.run.runner import RunOutcome
from xpusetup.run.workspace import Where, open_workspace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("name", "needs"), [("torch-2.5", "oneAPI 2024.1.4"), ("torch-2.14", ""), ("sim", "")])
def test_elsewhere(tmp_path: Path, name: str, needs: str) -> None:
    prepared = PreparedPlan(root=Root(tmp_path), plan=plan_for(name), scripts={}, identities={})
    assert describe_elsewhere(prepared) == OtherEnvironment(f"pip install {tmp_path}/wheels/*.whl", needs)


def test_elsewhere_after_an_installation(tmp_path: Path) -> None:
    prepared = PreparedPlan(root=Root(tmp_path), plan=plan_for("sim"), scripts={}, identities={}, purpose=INSTALL)
    assert describe_elsewhere(prepared).command == f"pip install {tmp_path}/published/*.whl"


@pytest.mark.parametrize(
    ("where", "request_", "command"),
    [
        (Where(profile="sim"), Request(), "xpusetup build sim"),
        (
            Where(profile="sim", root="/r", python="3.12"),
            Request(set=(("simxpu", "A", "b c"),), verify="off"),
            "xpusetup build sim --root /r --python 3.12 --set 'simxpu.A=b c' --verify off",
        ),
    ],
)
def test_asking_again(where: Where, request_: Request, command: str) -> None:
    assert render_command(open_workspace(where), request_) == command


@pytest.mark.parametrize(
    ("step", "reached", "told"),
    [
        ("simxpu.build", (3, 9), [3, 9]),
        ("simxpu.build", (9, 9), [0, 0]),  # it failed after its last object
        ("simxpu.fetch", (3, 9), [0, 0]),  # git counts objects, and begins anew
        ("", (0, 0), [0, 0]),
    ],
)
def test_where_it_goes_on(step: str, reached: tuple[int, int], told: list[int]) -> None:
    assert find_reached(plan_for("sim").steps, RunOutcome(failed=step, reached=reached)) == told


def test_the_servers_of_a_download() -> None:
    step = next(each for each in plan_for("sim").steps if each.id == "torch.fetch")
    assert find_servers(step, "Looking in indexes: https://pypi.example/simple") == ["download.pytorch.org"]
    bare = replace(step, run=(("pip", "download"),))
    told = "Looking in indexes: https://me:x@pypi.example/simple, http://other.example:80\nhttps://no.example"
    assert find_servers(bare, told) == ["pypi.example", "other.example"]
    assert find_servers(bare, "") == []


def test_proof(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    assert describe_proof(Root(tmp_path)) == ProofSummary("", 0)
    seen = {"device": "xpu:0", "devices": [{"name": "Max 1100"}, {"name": "other"}], "checks": [{}, {}]}
    (tmp_path / "results/verify.json").write_text(json.dumps(seen))
    assert describe_proof(Root(tmp_path)) == ProofSummary("Max 1100", 2)
    (tmp_path / "results/verify.json").write_text(json.dumps({**seen, "devices": []}))
    assert describe_proof(Root(tmp_path)).device == "xpu:0"


@pytest.mark.parametrize(("device", "seen"), [("xpu:0", "the processor, no GPU (EPYC)"), ("cpu", "EPYC")])
def test_a_processor_in_the_place_of_a_gpu_is_said_to_be_none(tmp_path: Path, device: str, seen: str) -> None:
    found = {"device": device, "verified_on": "processor", "devices": [{"name": "EPYC"}]}
    (tmp_path / "results").mkdir()
    (tmp_path / "results/verify.json").write_text(json.dumps(found))
    assert describe_proof(Root(tmp_path)).device == seen
