"""The scripts of the shipped profiles, file by file. XPUSETUP_TEST_UPDATE=1 pytest tests/test_golden.py writes them."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from data.profiles import shipped
from data.targets import TARGETS, plan_for
from golden import hold_scripts, hold_together
from xpusetup.base.model import Layout, Request
from xpusetup.emit.script import render_shell
from xpusetup.plan.steps import make_plan

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.base.model import Plan


def texts_of(plan: Plan) -> dict[str, str]:
    return render_shell(plan)


BASE = "torch-2.14"
"""The plan whose scripts are kept whole."""


def test_golden() -> None:
    hold_together(f"scripts/{BASE}.txt", texts_of(plan_for(BASE)))


@pytest.mark.parametrize("name", sorted({*TARGETS} - {BASE}))
def test_golden_differences(name: str) -> None:
    hold_scripts(name, texts_of(plan_for(name)), texts_of(plan_for(BASE)))


@pytest.mark.parametrize("name", TARGETS)
def test_same_input_same_bytes(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first = texts_of(plan_for(name))
    assert texts_of(plan_for(name)) == first
    for variable, value in reversed(tuple(os.environ.items())):
        monkeypatch.delenv(variable)
        monkeypatch.setenv(variable, value)
    for variable in ("CFLAGS", "CXX", "MAX_JOBS", "ROOT", "PYTHONPATH", "LD_LIBRARY_PATH", "HOME", "TZ", "USE_XPU"):
        monkeypatch.setenv(variable, "other")
    monkeypatch.chdir(tmp_path)
    assert texts_of(plan_for(name)) == first


def test_order_of_variables_in_the_file_is_not_in_the_scripts() -> None:
    profile = shipped("torch-2.5")
    turned = [
        replace(part, environment=dict(reversed(part.environment.items()))) if part.kind == "source" else part
        for part in profile.components
    ]
    plan = make_plan(replace(profile, components=turned), Request(), TARGETS["torch-2.5"], Layout())
    assert texts_of(plan) == texts_of(plan_for("torch-2.5"))


def test_scripts_name_no_place_but_the_root_and_the_target() -> None:
    for name in TARGETS:
        for text in texts_of(plan_for(name)).values():
            assert "@ROOT@" not in text
            assert os.getcwd() not in text  # noqa: PTH109 - a text, not a path


def test_a_layout_elsewhere_changes_only_its_folders() -> None:
    layout = replace(Layout(), src="/scratch/me", venv="/opt/torch")
    texts = texts_of(plan_for("torch-2.5", layout=layout))
    here = texts_of(plan_for("torch-2.5"))
    assert set(texts) == set(here)
    back = {name: text.replace("/scratch/me", '"$ROOT"/src') for name, text in texts.items()}
    back = {name: text.replace("/opt/torch", '"$ROOT"/venv') for name, text in back.items()}
    assert back["steps/venv.sh"] == here["steps/venv.sh"]
    # a folder of another length wraps lines elsewhere
    inspects = [each["steps/torch.inspect.sh"].replace("\\\n", " ").split() for each in (back, here)]
    assert inspects[0] == inspects[1]
