"""A profile that is compiled with SYCL from wheels: what it says, its plan, the device compiler, and what forms say."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pytest
from packaging.requirements import Requirement

from data.machines import machine
from data.profiles import device, shipped
from golden import hold
from test_wheel_images import archive, make_elf
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.base.model import NONE, Layout, Request, Toolkit
from xpusetup.bundle.collect import bundled_pins, make_bundle_plan
from xpusetup.commands import toolkit as command
from xpusetup.commands.emit import KINDS, EmitOrder
from xpusetup.commands.toolkit import make_toolkit
from xpusetup.config.hashes import key_of
from xpusetup.config.settings import Settings
from xpusetup.config.shipped import load_profile, profile_names
from xpusetup.config.take import choose_toolkit, toolkits_of
from xpusetup.config.toolkit import MADE
from xpusetup.doctor.question import Question
from xpusetup.doctor.toolkit import check_compiler, check_ocloc, check_open_compiler, check_version
from xpusetup.emit.script import fetching, render_scripts
from xpusetup.machine.activation import render_activation
from xpusetup.machine.tables import gpu_table
from xpusetup.plan.steps import find_unverified, make_plan
from xpusetup.plan.target import make_target, select_arch
from xpusetup.recommend.machine import known
from xpusetup.recommend.setup import make_setup
from xpusetup.run.tool_chains import describe_targets, name_lacking
from xpusetup.run.workspace import Where
from xpusetup.system.process import ProcessOutput

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.base.model import Plan
    from xpusetup.config.profile import Profile
    from xpusetup.machine.facts import Facts

HAVE = ("torch-2.6", "torch-2.13", "torch-2.14", "torch-2.15", "main")
RUNTIME = ("intel-cmplr-lib-rt", "intel-cmplr-lib-ur", "intel-cmplr-lic-rt", "intel-opencl-rt", "intel-sycl-rt")
BARE: dict[str, Any] = {"found": [], "ocloc": None}
WITH_OCLOC: dict[str, Any] = {"found": [], "ocloc": "/usr/bin/ocloc"}


def chosen(name: str) -> Profile:
    return choose_toolkit(shipped(name), "wheels")


def plan_of(name: str, *, arch: tuple[str, ...] = (), facts: Facts | None = None, **asked: Any) -> Plan:
    request = Request(arch=arch, **asked)
    target = make_target(chosen(name), facts or machine(toolkits=BARE), device("xpu"), request, Settings())
    return make_plan(chosen(name), request, target, Layout())


# What profiles say.


def test_which_profiles_have_one() -> None:
    every = [load_profile(name) for name in profile_names()]
    assert {profile.name for profile in every if "wheels" in {kit.kind for kit in toolkits_of(profile)}} == {*HAVE}


@pytest.mark.parametrize("name", HAVE)
def test_it_is_made_of_the_wheels_of_the_run_time(name: str) -> None:
    """So that what is compiled, and what it runs with, are of one version; all of them have published hashes."""
    profile = chosen(name)
    kit, runtime = profile.toolkit, profile.runtime_requirements
    assert kit is not None
    assert runtime is not None
    pins = {Requirement(pin).name: pin for pin in kit.pins}
    assert set(pins) == {*RUNTIME, "tbb", "tcmlib", "umf"}
    assert [pin for pin in kit.pins if key_of(pin) not in profile.hashes] == []
    asked = {Requirement(pin).name: pin for pin in runtime.pins}
    assert {name: asked[name] for name in pins if name in asked} == {n: pin for n, pin in pins.items() if n in asked}
    assert pins["intel-sycl-rt"] == f"intel-sycl-rt=={kit.preferred}"
    assert not {*kit.without} & set(asked)


@pytest.mark.parametrize("name", [name for name in HAVE if name != "torch-2.6"])
def test_from_2_13_on_they_are_those_of_the_release(name: str) -> None:
    kit, runtime = chosen(name).toolkit, shipped(name).runtime_requirements
    assert kit is not None
    assert runtime is not None
    assert set(kit.pins) <= set(runtime.pins)
    assert {*kit.without} <= {Requirement(pin).name for pin in runtime.pins}
    assert (kit.local, kit.replaces) == ("", [])


def test_2_6_is_none_that_could_stand_for_the_published_one() -> None:
    """Its libsycl has another name, so its version has, and no requirement of the old one is left."""
    profile, before = chosen("torch-2.6"), shipped("torch-2.6")
    versions = {part.name: part.version for part in profile.components if part.kind != "skip"}
    assert versions["torch"] == "2.6.0+xpu.sycl9"
    assert versions["vision"] == "0.21.0+xpu"
    assert profile.runtime_requirements is not None
    for pins in (profile.runtime_requirements.pins, profile.build_requirements.pins):
        assert [pin for pin in pins if pin.startswith("intel-") and "2025" in pin] == []
    assert before.runtime_requirements is not None
    assert "intel-sycl-rt==2025.0.2" in before.runtime_requirements.pins
    assert "torch-2.6.0+xpu.sycl9-*.whl" in " ".join(path for step in plan_of("torch-2.6").steps for path in step.makes)


def test_pins_belong_to_this_kind_alone() -> None:
    kit = chosen("torch-2.14").toolkit
    assert kit is not None
    with pytest.raises(ValueError, match="kind wheels has pins"):
        type(kit)(**{**vars(kit), "pins": []})
    with pytest.raises(ValueError, match="kind wheels has pins"):
        type(kit)(**{**vars(kit), "kind": "oneapi"})


def test_a_profile_without_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"torch-2\.12 has no toolkit 'wheels'") as caught:
        chosen("torch-2.12")
    with pytest.raises(UsageError, match=r"torch-2\.12 has no tool chain that is made from Intel's wheels") as caught:
        make_toolkit(str(tmp_path / "x"), "torch-2.12", print)
    assert caught.value.fix == (
        "those that have one: --profile main, --profile torch-2.13, --profile torch-2.14, --profile torch-2.15,"
        " --profile torch-2.6"
    )


# The plan.


def test_a_step_makes_it_before_what_compiles() -> None:
    plan = plan_of("torch-2.14")
    steps = {step.id: step for step in plan.steps}
    assert steps["toolkit"].needs == ("network",)
    assert "toolkit" in fetching(plan.steps), "where there is a network, and not where there are cores"
    assert plan.target.toolkit is not None
    assert plan.target.toolkit.made
    assert [step.id for step in plan.steps if "toolkit" in step.after] == ["torch.configure", "torch.build"]
    hold("toolkit-wheels", {name: text for name, text in render_scripts(plan).items() if name in FILES})
    told = dict(steps["torch.configure"].env)
    assert (told["USE_KINETO"], told["USE_ONEMKL_XPU"], told["USE_XCCL"]) == ("0", "0", "0")
    assert "onemkl" not in told["PYTORCH_EXTRA_INSTALL_REQUIREMENTS"]
    assert "collectives.two_ranks" in " ".join(word for argv in steps["verify.smoke"].run for word in argv)


FILES = ("steps/toolkit.sh", "steps/torch.configure.sh")


def test_nothing_makes_it_where_nothing_compiles_with_it() -> None:
    plan = plan_of("torch-2.14", only=("vision",), ready=("torch",))
    assert "toolkit" not in {step.id for step in plan.steps}


def test_a_root_is_a_place_like_any_other() -> None:
    kit = plan_of("torch-2.14").target.toolkit
    assert kit is not None
    there = kit.below("/data/root")
    assert (there.compiler, there.scripts) == ("/data/root/toolkit/bin/icpx", ("/data/root/toolkit/env.sh",))
    assert "--version" not in render_activation(there)
    assert "--version" not in render_activation(kit), "that of the compiler is not always that of its wheel"
    assert not Toolkit(provider="scripts", version="1", compiler="/opt/icpx", root="/opt").made


def test_its_hashes_are_asked_for_as_those_of_all() -> None:
    plan = plan_of("torch-2.14")
    assert not [each for each in find_unverified(chosen("torch-2.14"), plan) if each.startswith("intel")]


def test_another_processor_is_refused() -> None:
    arm = machine(toolkits=BARE, system={"machine": "aarch64"})
    with pytest.raises(NotReadyError, match="x86_64 alone"):
        plan_of("torch-2.14", facts=arm)


# The device compiler, which no wheel has.


def test_without_ocloc_auto_is_spirv_alone() -> None:
    aimed = select_arch(chosen("torch-2.14"), machine(toolkits=BARE), gpu_table())
    assert aimed.targets == (NONE,)
    assert "no ocloc is here" in aimed.note
    assert select_arch(chosen("torch-2.14"), machine(toolkits=WITH_OCLOC), gpu_table()).targets != (NONE,)
    assert select_arch(shipped("torch-2.14"), machine(toolkits=BARE), gpu_table()).targets != (NONE,), "oneAPI has one"


def test_without_ocloc_a_list_is_refused() -> None:
    bare = machine(toolkits=BARE)
    assert (
        describe_targets(bare, plan_of("torch-2.14", arch=("bmg",))) == "--arch bmg needs ocloc, which is not installed"
    )
    assert name_lacking(bare) == "oneapi.ocloc"
    assert describe_targets(bare, plan_of("torch-2.14", arch=(NONE,))) == ""
    assert describe_targets(machine(toolkits=WITH_OCLOC), plan_of("torch-2.14", arch=("bmg",))) == ""


@pytest.mark.parametrize(("name", "level"), [("torch-2.14", "info"), ("torch-2.6", "fail")])
def test_the_doctor_on_ocloc(name: str, level: str) -> None:
    """2.6 knows no word for generic code alone."""
    found = check_ocloc(Question(machine(toolkits=BARE), chosen(name), device("xpu"), "build"))
    assert found is not None
    assert found.level == level


@pytest.mark.parametrize("check", [check_compiler, check_version, check_open_compiler])
def test_nothing_of_oneapi_is_asked(check: Any) -> None:
    assert check(Question(machine(toolkits=BARE), chosen("torch-2.14"), device("xpu"), "build")) is None


def test_setup_names_ocloc_and_installs_none() -> None:
    bare = machine(toolkits=BARE, tools=[], system={"name": "Ubuntu 24.04", "families": ["ubuntu", "debian"]})
    made = make_setup(bare, chosen("torch-2.14"), known(), goal="build")
    assert [note.id for note in made.notes if note.id.startswith("setup.o")] == ["setup.ocloc"]
    words = " ".join(word for task in made.tasks for argv in task.step.run for word in argv)
    assert "g++" in words
    assert "ocloc" not in words
    assert "oneapi" not in words


# What goes elsewhere.


def test_a_bundle_holds_its_wheels() -> None:
    """Where a build requires another version of one, both are fetched: pip takes one of each at a time."""
    profile = chosen("torch-2.6")
    whole = plan_of("torch-2.6")
    assert {"tbb==2022.0.0", "tbb==2023.1.0", "intel-opencl-rt==2026.1.2"} <= {*bundled_pins(profile, whole)}
    plan = make_bundle_plan(profile, Request(), whole, ("1", "x", "y"))
    (wheels,) = (step for step in plan.steps if step.id == "bundle.wheels")
    lists = [[word for word in argv if "/requirements/" in word] for argv in wheels.run[1:]]
    assert [[each.rpartition("/")[2].partition("-")[0] for each in files] for files in lists] == [
        ["build", "runtime"],
        ["toolkit"],
    ]


@pytest.mark.parametrize("form", ["slurm", "github"])
def test_forms_say_what_machines_need(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xpusetup.commands.emit.probe_all", lambda *_: machine(toolkits=BARE))
    options: dict[str, Any] = {"from": "source", "label": "big", "gpu_label": "arc"} if form == "github" else {}
    place = Where(profile="torch-2.14", toolkit="wheels")
    options = {**options, "profiles": ["torch-2.14"]}
    made = KINDS[form].make(EmitOrder(places=(place,), request=Request(), options=options))
    assert [note for note in made.notes if note.startswith("the machines that build need ocloc (intel-ocloc, libigc2)")]
    steps = [text for name, text in made.files.items() if name.endswith("steps/torch.build.sh")]
    assert all('TOOLKIT="$ROOT"/toolkit/bin/icpx' in text for text in steps)
    others = (text for name, text in made.files.items() if not name.endswith((".json", ".py")))
    assert not [text for text in others if "@ROOT@" in text]


def test_an_image_makes_it_on_the_build_side() -> None:
    place = Where(profile="torch-2.14", toolkit="wheels")
    order = EmitOrder(places=(place,), request=Request(), options={"os": "ubuntu-24.04"})
    files = KINDS["dockerfile"].make(order).files
    assert "bash helpers/image_layer.sh toolkit" in files["Dockerfile"]
    assert "intel-ocloc" in files["system/driver.sh"]
    assert "toolkit.sh" not in files
    devel = EmitOrder(places=(place,), request=Request(), options={"os": "ubuntu-24.04", "target": "devel"})
    with pytest.raises(UsageError, match="an image to compile in has none") as caught:
        KINDS["dockerfile"].make(devel)
    assert caught.value.fix == "--target runtime"


# The command, with a helper that is said to have done something.


def helped(monkeypatch: pytest.MonkeyPatch, code: int, err: str = "", lines: tuple[str, ...] = ()) -> list[str]:
    said: list[str] = []

    def follow(_argv: Any, *, env: Any, say: Any) -> ProcessOutput:
        del env
        for line in lines:
            say(line)
        return ProcessOutput(code, "", err)

    monkeypatch.setattr(command, "follow_process", follow)
    return said


@pytest.mark.parametrize(("code", "kind"), [(2, UsageError), (3, NotReadyError)])
def test_what_the_helper_refuses(code: int, kind: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helped(monkeypatch, code, "xpusetup: /x is full\n  free 2 GiB there\n")
    with pytest.raises(kind, match="/x is full") as caught:
        make_toolkit(str(tmp_path / "x"), "", print)
    assert caught.value.fix == "free 2 GiB there"


def test_what_pip_says_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ("Collecting umf==1.1.0 (from -r x)", "ERROR: No matching distribution found for umf==1.1.0")
    helped(
        monkeypatch, 1, "xpusetup: pip could not download the 8 pinned wheels; the lines above say why\n  look\n", lines
    )
    told: list[str] = []
    with pytest.raises(Exception, match=r"the 8 pinned wheels; No matching distribution found for umf==1\.1\.0"):
        make_toolkit(str(tmp_path / "x"), "", told.append)
    assert told == ["fetching umf==1.1.0"]


def test_the_newest_release_is_meant() -> None:
    assert command._newest() == "torch-2.14"


def test_where_it_is_made() -> None:
    assert MADE == "@ROOT@/toolkit"


def test_a_wheel_is_known_to_have_the_device_code_of_the_driver(tmp_path: Path) -> None:
    """It was said to be in no section that is known; other large constants are in a section of that name."""
    sycl: Any = importlib.import_module("helperlib.sycl.images")
    contents: Any = importlib.import_module("helperlib.wheel.contents")
    libraries: Any = importlib.import_module("helperlib.wheel.libraries")
    code = (
        sycl.DeviceImage("spir64_gen", {"k": {}}, {}, archive("64.bmg/")),
        sycl.DeviceImage("spir64", {}, {}, b"spv"),
    )
    refused = (("dg2", "_ZTS1A"), ("dg2", "_ZTS1B"))
    record = b"".join(sycl.make_record(sycl.ObjectImages("a.cpp", code, refused))[0])
    found = []
    for data in (b"other constants", b"\0" * 8 + record + b"more of others"):
        (tmp_path / "l.so").write_bytes(make_elf(__dot__lrodata=data))
        with (tmp_path / "l.so").open("rb") as file:
            found.append(contents.read_library("l.so", file))
    assert [(each.images, each.targets.versions, each.targets.generic) for each in found] == [
        ((), frozenset(), False),
        ((".lrodata",), {"bmg"}, True),
    ]
    assert libraries._say_refused(found) == "; for dg2 it lacks _ZTS1A, _ZTS1B"
    broken = record.replace(b'"source":"a.cpp"', b'"source":a.cpp,', 1)
    for data in (broken, record[:8] + b"\0" * 16, record.replace(b'"target"', b'"tarot!"')):
        (tmp_path / "l.so").write_bytes(make_elf(__dot__lrodata=data))
        with (tmp_path / "l.so").open("rb") as file, pytest.raises(contents.NotElfError):
            contents.read_library("l.so", file)
