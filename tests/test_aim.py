"""From profile and facts to the target: which toolkit, how it is switched on, which device targets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from data.machines import KIT, LAPTOP, machine
from data.profiles import device, shipped
from data.targets import NEW, NEW_KIT, SETVARS_KIT, SIM
from xpusetup.aim import make_target
from xpusetup.errors import NotReadyError, UsageError
from xpusetup.model import Request, Target, Toolkit
from xpusetup.settings import merge_settings

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
