"""Device targets: which words a release can be compiled for, wherever they are said."""

from __future__ import annotations

import importlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from data.places import PLACES
from data.profiles import device, shipped
from data.targets import NEW
from xpusetup.base.errors import UsageError
from xpusetup.base.model import Request
from xpusetup.commands.doctor import DoctorOptions as Diagnosis
from xpusetup.commands.doctor import examine_machine
from xpusetup.commands.emit import KINDS, EmitOrder, emit
from xpusetup.commands.plan import make_savings
from xpusetup.commands.wheel_check import WheelOptions, verify_wheel
from xpusetup.config.request import make_request
from xpusetup.config.settings import Settings, merge_settings
from xpusetup.config.shipped import every_profile
from xpusetup.doctor.hardware import check_release
from xpusetup.doctor.question import Question
from xpusetup.machine.gpus import check_targets, foreign_targets
from xpusetup.machine.tables import gpu_table, target_table
from xpusetup.run.prepare import preview
from xpusetup.run.workspace import Where, open_workspace

if TYPE_CHECKING:
    from pathlib import Path

wheel_images: Any = importlib.import_module("helperlib.wheel.images")
XPU = [profile.name for profile in every_profile() if profile.accelerator == "xpu"]


def refusal(name: str, targets: str, site: str = "") -> str:
    settings = merge_settings([("site.toml", site)]) if site else Settings()
    asked = tuple(targets.split(",")) if targets else ()
    try:
        check_targets(shipped(name), asked, settings, target_table())
    except UsageError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("name", "targets", "says"),
    [
        ("torch-2.14", "xyz", "'xyz' is not a known device target\n  targets of torch-2.14: pvc, bmg, dg2, arl-h"),
        ("torch-2.14", "bgm", "'bgm' is not a known device target; did you mean bmg?"),
        ("torch-2.14", "PVC", "'PVC' is pvc for ocloc, and PyTorch's build compares words: write pvc"),
        ("torch-2.14", "bmg_g21", "write bmg-g21"),
        ("torch-2.14", "0xe20b", "'0xe20b' is no name of a GPU: ocloc takes ids"),
        ("torch-2.14", "20.9.9", "is no name of a GPU: ocloc takes ids, versions and"),
        ("torch-2.14", "bmg:ptl-h", "is no name of a GPU: ocloc takes ids, versions and"),
        ("torch-2.14", "pvc,dg2-g99", "'dg2-g99' is not a known device target; did you mean dg2?"),
        ("torch-2.14", "skl", "'skl' is not a known device target"),
        ("torch-2.14", "sm_90", "'sm_90' is not a known device target"),
        (
            "torch-2.4",
            "bmg",
            "torch-2.4 cannot be compiled for bmg: ocloc knows that word from 24.31 on, and the one of",
        ),
        ("torch-2.4", "bmg", "\n  targets of torch-2.4: pvc, xe-lpg"),
        ("torch-2.4", "20.1.0", "torch-2.4 cannot be compiled for 20.1.0"),
        ("torch-2.5", "bmg", "torch-2.5 cannot be compiled for bmg"),
        ("torch-2.7", "ptl-h", "torch-2.7 cannot be compiled for ptl-h: ocloc knows that word from 24.45 on"),
        ("torch-2.10", "cri", "torch-2.10 cannot be compiled for cri"),
        ("torch-2.7", "none", "torch-2.7 does not know the word none"),
        ("torch-2.14", "none,pvc", "none is the whole list or no part of it"),
        ("torch-2.4", "pvc,xe-lpg", ""),
        ("torch-2.4", "dg2-g10", ""),
        ("torch-2.5", "lnl-m,mtl-u,mtl-h,ats-m150", ""),  # its list for Windows
        ("torch-2.6", "xe2-lpg,xe2-hpg", ""),  # same
        ("torch-2.6", "bmg", ""),
        ("torch-2.8", "none", ""),
        ("torch-2.11", "cri", ""),
        ("torch-2.14", "bmg-g21-b0,20.4.4,tgl", ""),
        ("main", "nvl-p", ""),
        ("sim", "xyz", ""),  # it has no list, which is said elsewhere
    ],
)
def test_what_a_release_can_be_compiled_for(name: str, targets: str, says: str) -> None:
    said = refusal(name, targets)
    assert says in said if says else said == ""


def test_a_settings_file_is_named_and_an_option_rules_over_it() -> None:
    assert refusal("torch-2.14", "", 'arch = ["xyz"]').startswith("arch in site.toml: 'xyz' is not")
    assert refusal("torch-2.14", "pvc", 'arch = ["xyz"]') == ""
    assert refusal("torch-2.4", "", 'arch = ["pvc", "bmg"]').startswith("arch in site.toml: torch-2.4 cannot")


@pytest.mark.parametrize("name", XPU)
def test_a_release_takes_its_own_targets_and_upstreams_word_for_none_of_them(name: str) -> None:
    arch = shipped(name).arch
    assert arch is not None
    assert refusal(name, ",".join(arch.default)) == ""
    assert set(arch.default) <= set(target_table().first)
    release = name.partition("-")[2]
    assert arch.none == (release == "" or int(release.split(".")[1]) >= 8)
    assert arch.spirv  # -fsycl-targets=spir64_gen,spir64 in cmake/BuildFlags.cmake at each pin


def test_every_name_of_a_gpu_is_a_word_of_ocloc() -> None:
    words = {word for family in gpu_table().families for word in family.targets}
    assert words <= set(target_table().first)
    assert set(target_table().first) >= wheel_images.NAMES
    assert all(re.fullmatch(r"\d\d\.\d\d", release) for release in target_table().first.values())


def test_a_target_that_is_nobodys_own_is_said() -> None:
    def said(name: str, *targets: str) -> str:
        return foreign_targets(shipped(name), targets, target_table(), gpu_table())

    assert said("torch-2.14", "pvc", "dg2-g10", "bmg-g21") == ""
    assert said("torch-2.6", "bmg") == (
        "no target of torch-2.6 itself: bmg (in ocloc since 24.31); an older ocloc stops the build at it"
    )
    assert said("torch-2.14", "none") == said("sim", "pvc") == ""


@pytest.mark.parametrize("text", [",", " , "])
def test_an_empty_list_is_no_list(text: str) -> None:
    with pytest.raises(UsageError, match="names no device target"):
        make_request(only=(), until="", arch=text, set_=(), verify="auto")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("said", ["option", "settings"])
def test_every_form_refuses(place: Path, kind: str, said: str) -> None:
    arch = ("xyz",) if said == "option" else ()
    if said == "settings":
        (place / "xpusetup.toml").write_text('arch = ["xyz"]\n')
    options = {"archs": ["xyz"] if arch else [], "from": "source" if kind == "github" else ""}
    where = Where(profile="torch-2.14", root=str(place / "out"))
    with pytest.raises(UsageError, match="'xyz' is not a known device target"):
        emit(kind, EmitOrder(places=(where,), request=Request(arch=arch), options=options), str(place / "out"))
    assert not (place / "out").exists()


def test_what_looks_at_this_machine_refuses(place: Path) -> None:
    where = Where(profile="torch-2.14", root=str(place / "root"))
    with pytest.raises(UsageError, match="is not a known device target"):
        preview(open_workspace(where), Request(arch=("xyz",)))
    (place / "xpusetup.toml").write_text('arch = ["xyz"]\n')
    for act in (lambda: preview(open_workspace(where), Request()), lambda: examine_machine(where, Diagnosis())):
        with pytest.raises(UsageError, match=r"arch in xpusetup\.toml: 'xyz' is not a known device target"):
            act()


def test_an_inspected_wheel_is_held_against_no_word_that_means_nothing(place: Path) -> None:
    wheel = place / "torch-2.14.1+xpu-cp311-cp311-linux_x86_64.whl"
    wheel.write_bytes(b"")
    with pytest.raises(UsageError, match="'pcv' is not a known device target; did you mean pvc"):
        verify_wheel(str(wheel), WheelOptions(arch="pcv"))


@pytest.mark.parametrize(
    ("wanted", "versions", "lacking"),
    [
        (("12.60.7", "20.1.0"), ("12.60",), ["20.1.0"]),
        (("bmg-g21-b0",), ("20.1",), []),
        (("dg2-g10-c0", "cri", "nvl-p"), ("35.11",), ["dg2-g10-c0", "nvl-p"]),
    ],
)
def test_exact_versions_and_steppings_are_looked_for_in_a_wheel(
    wanted: tuple[str, ...], versions: tuple[str, ...], lacking: list[str]
) -> None:
    assert wheel_images.find_lacking(wanted, versions) == lacking


@pytest.mark.parametrize(("spirv", "level"), [(True, "warn"), (False, "fail")])
def test_a_gpu_without_code_of_its_own_is_refused_only_where_there_is_no_generic_code(spirv: bool, level: str) -> None:
    old = shipped("torch-2.6")
    assert old.arch is not None
    profile = replace(old, arch=replace(old.arch, spirv=spirv))
    answer = check_release(Question(PLACES["b580-healthy"], profile, device("xpu"), "run", gpu_table()))
    assert answer is not None
    assert answer.level == level
    assert ("neo_compiler_cache" in answer.words["others"]) == spirv


def test_a_plan_without_device_code_says_so() -> None:
    target = replace(NEW, arch=("none",))
    told = make_savings(shipped("torch-2.14"), target, launcher=None, linkers=(), compiles=True)
    assert next(each.what for each in told if each.id == "arch").startswith("no ahead-of-time device code:")
