"""What a plan says of building less."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from data.profiles import shipped
from data.targets import SIM, XPU
from xpusetup.base.model import Layout, Plan, Request
from xpusetup.commands.plan import Saving, is_usual, make_savings
from xpusetup.machine.tables import target_costs
from xpusetup.run.compiler_caches import Launcher
from xpusetup.run.prepare import PreparedPlan
from xpusetup.run.root import Root
from xpusetup.run.workspace import Where, open_workspace

CCACHE = Launcher("ccache", "/usr/bin/ccache")


def savings(name: str = "torch-2.14", *, launcher: Launcher | None = CCACHE, **changes: Any) -> dict[str, Saving]:
    target = replace(XPU, **changes)
    found = make_savings(shipped(name), target, launcher=launcher, linkers=["mold"], compiles=True)
    return {saving.id: saving for saving in found}


def test_all_targets_cost_most() -> None:
    whole = shipped("torch-2.14").arch
    assert whole is not None
    told = savings(arch=tuple(whole.default))["arch"]
    assert (told.on, told.what) == (False, f"device code for all {len(whole.default)} targets")
    assert told.how.startswith("--arch")


def test_what_a_target_costs_is_told_as_it_was_measured() -> None:
    told = savings(arch=("bmg",))["arch"].saves
    assert "for five kernels of Triton 3.8.0, not for torch: pvc 141 KiB 0.75 s, bmg 138 KiB 0.72 s, " in told
    old = savings("torch-2.5", arch=("pvc",))["arch"].saves
    assert old.endswith("not for torch: pvc 141 KiB 0.75 s; not measured: xe-lpg, ats-m150")
    assert target_costs().describe(("another",)) == ""


def test_one_target() -> None:
    told = savings(arch=("bmg",))["arch"]
    assert (told.on, told.how) == (True, "")
    assert told.what.startswith("device code for bmg alone, of ")


def test_a_cache_that_is_not_here() -> None:
    assert savings()["cache"].on
    assert savings(launcher=None)["cache"].how == "install ccache"


def test_a_linker_is_used_where_the_site_names_it() -> None:
    assert not savings()["linker"].on
    assert 'linker = "mold"' in savings()["linker"].how
    assert savings(linker="lld")["linker"].what == "lld links"


def test_tests_of_upstream_are_left_out() -> None:
    assert savings()["tests"].on
    assert "tests" not in savings("sim")


def test_nothing_to_compile_is_nothing_to_save() -> None:
    assert make_savings(shipped("sim"), SIM, launcher=None, linkers=[], compiles=False) == ()


@pytest.mark.parametrize("saving", savings().values(), ids=savings())
def test_what_is_off_says_how(saving: Saving) -> None:
    assert saving.on or saving.how
    assert saving.saves
    assert saving.gives_up


@pytest.mark.parametrize(
    ("where", "request_", "arch", "whole"),
    [
        ({}, {}, (), True),
        ({}, {}, ("bmg",), False),
        ({}, {"only": ("vision",)}, (), False),
        ({"toolkit": "wheels"}, {}, (), False),
        ({"take": ("vision=wheel",)}, {}, (), False),
    ],
)
def test_a_part_of_a_profile_is_not_told_the_cost_of_the_whole(
    where: dict[str, Any], request_: dict[str, Any], arch: tuple[str, ...], *, whole: bool
) -> None:
    workspace, request = open_workspace(Where(profile="torch-2.14", **where)), Request(**request_)
    assert workspace.profile.arch is not None
    target = replace(XPU, arch=arch or tuple(workspace.profile.arch.default))
    plan = Plan(profile="torch-2.14", layout=Layout(), target=target, steps=())
    prepared = PreparedPlan(root=Root(workspace.root), plan=plan, scripts={}, identities={})
    assert is_usual(workspace, request, prepared) is whole
