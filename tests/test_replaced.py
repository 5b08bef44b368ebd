"""What commands make of an environment in which something was replaced: stamps that go, rows of status, variables."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import pytest

from data.profiles import shipped
from data.targets import NEW, SIM, plan_for
from test_distributions import guarded, put
from xpusetup.base.model import Layout, Request
from xpusetup.base.verbs import about_build
from xpusetup.commands.env import env
from xpusetup.commands.status import status_of_one
from xpusetup.plan.install import INSTALL, make_install_plan
from xpusetup.run.guard import list_replaced
from xpusetup.run.prepare import PreparedPlan, forget_replaced
from xpusetup.run.root import Root, find_damage, lock_document
from xpusetup.run.workspace import Where, open_workspace

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.base.model import Plan

BUILT = {"torch.build", "torch.install", "runtime", "triton.install", "guard", "verify.smoke"}


@pytest.fixture
def root(tmp_path: Path) -> Root:
    """Make a root in which a build of torch-2.14 is done, as far as its stamps and its guard say."""
    for folder in ("stamps", "results", "venv/bin"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "venv/bin/python").touch()
    infos = [put(tmp_path / "packages", "torch", "2.14.1+xpu"), put(tmp_path / "packages", "umf", "1.1.0")]
    (tmp_path / "results/guard.json").write_text(json.dumps(guarded(tmp_path / "packages", *infos)))
    for name in BUILT:
        (tmp_path / "stamps" / name).write_text("key\n")
    return Root(tmp_path)


def stamps(root: Root) -> set[str]:
    return {path.name for path in (root / "stamps").iterdir()}


def prepared(root: Root, plan: Plan) -> PreparedPlan:
    return PreparedPlan(root=root, plan=plan, scripts={}, identities={})


def test_nothing_is_forgotten_where_nothing_changed(root: Root) -> None:
    assert forget_replaced(prepared(root, plan_for("torch-2.14"))) == []
    assert stamps(root) == BUILT


def test_a_root_that_was_moved_is_judged_where_it_is(root: Root, tmp_path_factory: pytest.TempPathFactory) -> None:
    made = root / "venv/pyvenv.cfg"
    made.write_text("home = /usr/bin\n")
    sha256 = hashlib.sha256(made.read_bytes()).hexdigest()
    (root / "inputs").mkdir()
    for name in ("venv", "guard"):
        (root / f"inputs/{name}").write_text(f"xpusetup 1\nroot {root}\nscript 0\n\n")
    (root / "stamps/venv").write_text(f"key\n{sha256} 16 0.000000000 0.000000000 1 {made}\n")
    moved = Root(root.path.rename(tmp_path_factory.mktemp("other") / "place"))
    assert (find_damage(moved), list_replaced(moved)) == ({}, [])
    (moved / "venv/pyvenv.cfg").unlink()
    (moved / "packages/umf-1.1.0.dist-info").rename(moved / "packages/umf-1.2.0.dist-info")
    assert find_damage(moved) == {"venv": f"{moved}/venv/pyvenv.cfg is missing"}
    assert [(row.name, row.now) for row in list_replaced(moved)] == [("umf", "1.2.0")]


@pytest.mark.parametrize(
    ("folder", "gone"),
    [("torch-2.14.1+xpu", "torch.install"), ("umf-1.1.0", "runtime")],
)
def test_what_was_replaced_is_installed_again_and_guarded_anew(root: Root, folder: str, gone: str) -> None:
    name, was = folder.split("-")
    (root / f"packages/{folder}.dist-info").rename(root / f"packages/{name}-9.dist-info")
    assert forget_replaced(prepared(root, plan_for("torch-2.14"))) == [f"{name} {was} was replaced by 9"]
    assert stamps(root) == BUILT - {gone, "guard"}


def test_an_installation_ends_what_a_build_installed(root: Root) -> None:
    (root / "manifest.json").write_text(json.dumps({"made_by": "build"}))
    plan = make_install_plan(shipped("torch-2.14"), Request(), NEW, Layout())
    assert forget_replaced(replace(prepared(root, plan), purpose=INSTALL)) == []
    assert stamps(root) == {"torch.build", "guard", "verify.smoke"}


def test_rows(root: Root) -> None:
    assert list_replaced(root) == []
    old = root / "packages/torch-2.14.1+xpu.dist-info"
    for path in old.iterdir():
        path.unlink()
    old.rmdir()
    put(root / "packages", "torch", "2.9.0", INSTALLER="pip\n", REQUESTED="")
    (row,) = list_replaced(root)
    assert [each.name for each in fields(row)] == ["name", "was", "now", "when", "by", "culprit", "why"]
    assert (row.name, row.was, row.now, row.by) == ("torch", "2.14.1+xpu", "2.9.0", "pip")
    assert row.when
    assert row.when[4] == row.when[7] == "-"


def test_status_and_variables(root: Root) -> None:
    where = Where(profile="sim", root=str(root.path))
    layout = Layout(venv=f"{root.path}/venv")
    (root / "profile.lock.json").write_text(lock_document(shipped("sim"), SIM, layout, {}))
    (root / "manifest.json").write_text(json.dumps({"made_by": "install", "verified": True}))
    (root / "packages/umf-1.1.0.dist-info").rename(root / "packages/umf-2.dist-info")
    result = status_of_one(where)
    assert (result.code, [row.name for row in result.data.replaced]) == (1, ["umf"])
    assert result.data.fix.startswith(about_build("install", open_workspace(where).options))
    assert "UV_CONSTRAINT" not in env(where, build=False).data.set_
    (root / "venv/xpusetup-constraints.txt").touch()
    assert env(where, build=False).data.set_["UV_CONSTRAINT"] == f"{root.path}/venv/xpusetup-constraints.txt"
    assert "UV_CONSTRAINT" not in env(where, build=True).data.set_


def test_constraints_for_uv_are_added_to_those_that_are_set(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "profile.lock.json").write_text(lock_document(shipped("sim"), SIM, Layout(), {}))
    ours = root / "venv/xpusetup-constraints.txt"
    ours.touch()
    where = Where(profile="sim", root=str(root.path))
    monkeypatch.setenv("UV_CONSTRAINT", f"{ours} mine.txt")
    assert env(where, build=False).data.set_["UV_CONSTRAINT"] == f"mine.txt {ours}"
    monkeypatch.setenv("UV_CONSTRAINT", f"mine.txt {ours}")
    assert "UV_CONSTRAINT" not in env(where, build=False).data.set_
