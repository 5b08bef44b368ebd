"""From profile and facts to the target: which toolkit, how it is switched on, which device targets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from data.machines import BMG, KIT, LAPTOP, machine
from data.profiles import device, shipped
from data.targets import NEW, NEW_KIT, SETVARS_KIT, SIM
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.base.model import Layout, Request, Target, Toolkit
from xpusetup.config.settings import merge_settings
from xpusetup.machine.tables import gpu_table
from xpusetup.plan.target import ArchSelection, make_target, select_arch
from xpusetup.run.prepare import built_arch
from xpusetup.run.root import lock_document
from xpusetup.run.workspace import Where, open_workspace

if TYPE_CHECKING:
    from pathlib import Path

OLD_KIT = {
    **KIT,
    "version": "2024.1.4",
    "compiler": "/opt/intel/oneapi/pytorch-gpu-dev-0.5/bin/icpx",
    "scripts": [
        "/opt/intel/oneapi/pytorch-gpu-dev-0.5/oneapi-vars.sh",
        "/opt/intel/oneapi/pti/latest/env/vars.sh",
    ],
}


def aim(name: str, facts: Any = None, settings: str = "", **asked: Any) -> Target:
    profile = shipped(name)
    chosen = merge_settings([("site.toml", settings)])
    return make_target(profile, facts or machine(), device(profile.accelerator), Request(**asked), chosen)


def kit_of(target: Target) -> Toolkit:
    assert target.toolkit is not None
    return target.toolkit


def with_kits(*kits: dict[str, Any]) -> Any:
    return machine(toolkits={"found": list(kits)})


def test_targets_as_the_goldens_have_them() -> None:
    assert aim("sim", machine(LAPTOP)) == SIM
    assert aim("torch-2.14") == NEW
    assert kit_of(aim("torch-2.14", with_kits({**KIT, "scripts": []}))) == SETVARS_KIT


def test_device_targets_of_the_site() -> None:
    site = 'arch = ["pvc"]'
    assert aim("torch-2.14", settings=site).arch == ("pvc",)
    assert aim("torch-2.14", settings=site, arch=("bmg",)).arch == ("bmg",)
    assert aim("sim", settings=site).arch == ()


def test_a_toolkit_that_the_wheels_need_too() -> None:
    kit = kit_of(aim("torch-2.5", with_kits(KIT, OLD_KIT)))
    assert (kit.version, kit.provider, kit.at_run_time) == ("2024.1.4", "scripts", True)
    assert kit.scripts == tuple(OLD_KIT["scripts"])


@pytest.mark.parametrize(
    ("kit", "settings", "provider", "scripts"),
    [
        (KIT, "", "scripts", 6),
        ({**KIT, "setvars": None, "scripts": []}, "", "scripts", 6),
        ({**KIT, "scripts": KIT["scripts"][1:]}, "", "setvars", 1),
        (KIT, 'toolkit.provider = "setvars"', "setvars", 1),
        ({**KIT, "setvars": None}, 'toolkit.provider = "setvars"', "setvars", 1),
        ({**KIT, "scripts": []}, 'toolkit.provider = "scripts"', "scripts", 6),
        (KIT, 'toolkit.provider = "environment"', "environment", 0),
        (KIT, 'toolkit.provider = "modules"\ntoolkit.prelude = ["module load oneapi"]', "modules", 0),
    ],
)
def test_providers(kit: dict[str, Any], settings: str, provider: str, scripts: int) -> None:
    found = kit_of(aim("torch-2.14", with_kits(kit), settings))
    assert (found.provider, len(found.scripts)) == (provider, scripts)
    assert all(script.startswith("/opt/intel/oneapi/") for script in found.scripts)
    assert found.prelude == (("module load oneapi",) if provider == "modules" else ())
    assert found.sets == ("CMPLR_ROOT",)


@pytest.mark.parametrize(
    ("versions", "chosen"),
    [
        (("2026.0.1", "2026.1.0"), "2026.1.0"),
        (("2026.1.0", "2026.0.1"), "2026.1.0"),
        (("2025.3.1", "2026.0.1"), "2026.0.1"),
        (("2026.1.1", "2026.1.0"), "2026.1.1"),
    ],
)
def test_which_of_several(versions: tuple[str, ...], chosen: str) -> None:
    kits = [{**KIT, "version": version} for version in versions]
    assert kit_of(aim("torch-2.14", with_kits(*kits))).version == chosen


@pytest.mark.parametrize("kits", [(), ({**KIT, "version": None},), ({**KIT, "version": "2025.3.1"},)])
def test_a_toolkit_that_is_not_here_is_assumed(kits: tuple[dict[str, Any], ...]) -> None:
    assert kit_of(aim("torch-2.14", with_kits(*kits))) == replace(NEW_KIT, version="2026.1")
    moved = kit_of(aim("torch-2.14", with_kits(*kits), 'toolkit.root = "/sw/oneapi"'))
    assert moved.compiler == "/sw/oneapi/compiler/latest/bin/icpx"
    assert kit_of(aim("torch-2.14", machine(toolkits=None))).root == "/opt/intel/oneapi"


def test_nothing_was_probed() -> None:
    with pytest.raises(NotReadyError, match="no Python was probed") as caught:
        aim("sim", machine({"schema": 1, "taken": "now"}))
    assert caught.value.code == 3


def test_arch() -> None:
    assert aim("torch-2.5", with_kits(OLD_KIT)).arch == ("pvc", "xe-lpg", "ats-m150")
    assert aim("torch-2.5", with_kits(OLD_KIT), arch=("pvc",)).arch == ("pvc",)
    with pytest.raises(UsageError) as caught:
        aim("sim", arch=("pvc",))
    assert str(caught.value) == "sim has no list of device targets\n  leave --arch out"


def test_compilers_of_the_site_and_python() -> None:
    target = aim("sim", settings='compilers = { cc = "gcc-13", cxx = "/opt/gcc/bin/g++" }')
    assert (target.cc, target.cxx) == ("gcc-13", "/opt/gcc/bin/g++")
    assert aim("sim", machine(python={"version": "3.13.0rc1"})).python_version == "3.13"


def test_the_compiler_of_the_chosen_version_is_sourced() -> None:
    """`latest` may point at another version than the one that the profile prefers."""
    latest = {**KIT, "version": "2026.0.0", "compiler": "/opt/intel/oneapi/compiler/latest/bin/icpx"}
    older = {**KIT, "version": "2026.1.0", "compiler": "/opt/intel/oneapi/compiler/2026.1/bin/icpx"}
    kit = kit_of(aim("torch-2.14", with_kits(latest, older)))
    assert kit.version == "2026.1.0"
    assert kit.scripts[0] == "/opt/intel/oneapi/compiler/2026.1/env/vars.sh"


def test_a_toolkit_that_is_not_here_is_assumed_for_plans() -> None:
    kit = kit_of(aim("torch-2.14", with_kits()))
    assert (kit.version, kit.compiler) == ("2026.1", "/opt/intel/oneapi/compiler/latest/bin/icpx")


LIST = ("pvc", "bmg", "dg2", "arl-h", "mtl-h", "lnl-m", "ptl-h", "ptl-u")


@pytest.mark.parametrize(
    ("profile", "ids", "built", "targets"),
    [
        ("torch-2.14", ["e20b"], (), ("bmg",)),
        ("torch-2.14", ["e223"], (), ("bmg",)),
        ("torch-2.14", ["56a0"], (), ("dg2",)),
        ("torch-2.5", ["56a0"], (), ("ats-m150",)),
        ("torch-2.5", ["7d55"], (), ("xe-lpg",)),
        ("torch-2.14", ["7d55"], (), ("mtl-h",)),
        ("torch-2.14", ["fd80"], (), ("ptl-h",)),
        ("torch-2.14", ["56a0", "0bd5", "56a0"], (), ("dg2", "pvc")),
        ("torch-2.14", ["e20b", "9a49"], (), ("bmg",)),
        ("torch-2.14", [], (), LIST),
        ("torch-2.14", ["ffff"], (), LIST),
        ("torch-2.14", [], ("bmg",), ("bmg",)),
        ("torch-2.14", ["e20b"], LIST, LIST),
        ("torch-2.14", ["56a0"], ("bmg",), ("dg2",)),
        ("sim", ["e20b"], (), ()),
    ],
)
def test_arch_auto(profile: str, ids: list[str], built: tuple[str, ...], targets: tuple[str, ...]) -> None:
    gpus = [{**BMG, "device": device} for device in ids]
    aimed = select_arch(shipped(profile), machine(hardware={"gpus": gpus}), gpu_table(), built)
    assert aimed == ArchSelection(targets)


def test_arch_auto_for_a_gpu_that_the_release_leaves_out() -> None:
    aimed = select_arch(shipped("torch-2.5"), machine(), gpu_table())
    assert aimed.targets == ("pvc", "xe-lpg", "ats-m150")
    assert aimed.note.startswith("Arc B580 (Battlemage) is no target of torch-2.5")
    assert select_arch(shipped("torch-2.5"), machine(), gpu_table(), ("pvc",)) == ArchSelection(("pvc",))


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ({"arch": [], "settings": {"arch": []}}, ("bmg",)),
        ({"arch": ["bmg"], "settings": {"arch": []}}, ()),
        ({"arch": [], "settings": {"arch": ["bmg"]}}, ()),
        ({}, ()),
    ],
)
def test_a_root_stays_aimed(
    asked: dict[str, Any], kept: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    workspace = open_workspace(Where(profile="torch-2.14", root=str(tmp_path)))
    target = replace(NEW, arch=("bmg",))
    document = lock_document(workspace.profile, target, Layout(), asked)
    (tmp_path / "profile.lock.json").write_text(document)
    assert built_arch(workspace) == kept
    (tmp_path / "profile.lock.json").write_text(lock_document(shipped("torch-2.5"), target, Layout(), asked))
    assert built_arch(workspace) == (), "another release's targets"
    (tmp_path / "profile.lock.json").unlink()
    assert built_arch(workspace) == ()
