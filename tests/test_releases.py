"""Every release that ships, against what is known of it: a table of facts, and its whole plan as a recipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from data.plans import locked, plan_of
from data.profiles import SHIPPED, TOP, shipped
from data.releases import FACTS, Fact
from data.texts import GPUS
from golden import hold, hold_changes
from xpusetup.base.model import ROOT
from xpusetup.config.profile import SkippedComponent, SourceComponent, WheelComponent
from xpusetup.emit.script import recipe_of

if TYPE_CHECKING:
    from xpusetup.base.model import Plan
    from xpusetup.config.profile import Component, Vendored


def component(name: str, profile: str) -> Component:
    return next(part for part in shipped(profile).components if part.name == name)


def source(name: str, profile: str) -> SourceComponent:
    found = component(name, profile)
    assert isinstance(found, SourceComponent)
    return found


def vendored(name: str, profile: str) -> Vendored | None:
    return next((item for item in source("torch", profile).vendored if item.name == name), None)


def fact_of(name: str) -> Fact:
    """Read a profile as a row of the table."""
    profile = shipped(name)
    assert profile.toolkit is not None
    assert profile.arch is not None
    torch, vision, audio = (source(each, name) for each in ("torch", "vision", "audio"))
    ops, tla = vendored("torch-xpu-ops", name), vendored("sycl-tla", name)
    assert ops is not None
    return Fact(
        torch=(Version(torch.version).public, (torch.rev or "")[:12], torch.confidence),
        ops=((ops.rev or "")[:12], ops.confidence),
        vision=(Version(vision.version).public, (vision.rev or "")[:12]),
        audio=(Version(audio.version).public, (audio.rev or "")[:12]),
        triton=triton_of(name),
        tier=profile.tier,
        cmake=profile.cmake.removeprefix(">="),
        gcc=profile.gcc.removeprefix(">="),
        bundle=" ".join(profile.toolkit.packages.apt),
        scripts=" ".join(script.removesuffix("/latest/env/vars.sh") for script in profile.toolkit.scripts),
        arch=",".join(profile.arch.default),
        tla=tla.tag if tla else "",
        abi=torch.environment.get("_GLIBCXX_USE_CXX11_ABI"),
        frontend=torch.frontend,
    )


def triton_of(name: str) -> tuple[str, str, str] | None:
    triton = component("triton", name)
    if isinstance(triton, SkippedComponent):
        return None
    return triton.distribution, triton.version, triton.confidence


def test_every_release_is_in_the_table() -> None:
    assert {name for name in SHIPPED if name.startswith("torch-")} == set(FACTS)
    assert len(FACTS) == 12
    others = {name for name in SHIPPED if shipped(name).tier == "other"}
    assert set(SHIPPED) - set(FACTS) - others == {"sim", "cpu-2.13", "openreg-2.13", "main"}


@pytest.mark.parametrize("name", FACTS)
def test_the_profile_says_what_is_known(name: str) -> None:
    assert fact_of(name) == FACTS[name]


ONEDNN = {
    "torch-2.4": None,
    "torch-2.5": None,
    "torch-2.6": None,
    "torch-2.7": ("v3.7.1", "8d263e693366", "likely"),
    "torch-2.8": ("v3.8.1", "df786faad216", "likely"),
    "torch-2.9": ("v3.9.1", "80a3a8e745d2", "likely"),
    "torch-2.10": ("v3.10.2", "f1d471933dc8", "likely"),
    "torch-2.11": ("v3.10.2", "f1d471933dc8", "likely"),
    "torch-2.12": ("v3.11.2", "03c022d3ffdc", "unconfirmed"),
    "torch-2.13": ("v3.12", "80afa71049cd", "unconfirmed"),
    "torch-2.14": ("v3.12.3", "6db5f1ba860c", "likely"),
    "torch-2.15": ("v3.12.3", "6db5f1ba860c", "unconfirmed"),
}
"""Tags as uxlfoundation/oneDNN has them; up to 2.6 it is a submodule of a submodule."""


@pytest.mark.parametrize("name", FACTS)
def test_which_onednn_the_build_of_a_release_clones(name: str) -> None:
    """Named by the tree's own file, so that this is a pin of less than certainty; from either owner."""
    item = vendored("onednn", name)
    assert (item and (item.tag, (item.rev or "")[:12], item.confidence)) == ONEDNN[name]
    assert item is None or (item.pin_file == "cmake/Modules/FindMKLDNN.cmake" and len(item.clones) == 2)


@pytest.mark.parametrize("name", FACTS)
def test_a_release_hangs_together(name: str) -> None:
    profile = shipped(name)
    torch = source("torch", name)
    assert torch.tag == f"v{Version(torch.version).public}"
    assert torch.version.startswith(f"{name.removeprefix('torch-')}.")
    sources = [part for part in profile.components if part.kind == "source" and part.name != "triton"]
    assert {part.version.endswith("+xpu") for part in sources} == {True}
    assert torch.inspect.xpu
    assert torch.inspect.abi == 1
    assert SpecifierSet(profile.python).contains("3.11.9")
    assert profile.toolkit is not None
    accepted = SpecifierSet(profile.toolkit.accepts)
    assert accepted.contains(profile.toolkit.preferred)
    assert not accepted.contains("2022.1")


@pytest.mark.parametrize("name", [*FACTS, "main"])
def test_wheels_bring_the_run_time_that_they_were_compiled_for(name: str) -> None:
    """A compiler newer than the run-time libraries, or of another year, makes wheels that do not load."""
    profile = shipped(name)
    runtime, toolkit = profile.runtime_requirements, profile.toolkit
    assert toolkit is not None
    assert (toolkit.runtime == "wheels") == (runtime is not None)
    if runtime is None:
        return
    pins = pins_of(runtime.pins)
    sycl = Version(pins["intel-sycl-rt"])
    assert f"{sycl.major}.{sycl.minor}" == toolkit.preferred
    assert not SpecifierSet(toolkit.accepts).contains(f"{sycl.major}.{sycl.minor + 1}")
    assert not SpecifierSet(toolkit.accepts).contains(f"{sycl.major - 1}.3")
    beside = GPUS.firsts.driver_beside(pins["intel-sycl-rt"], "") if GPUS.firsts else None
    assert beside is not None
    assert profile.arch is not None
    assert (profile.arch.ocloc or beside.driver) == beside.driver
    assert name == "main" or name.removeprefix("torch-") in beside.torch
    building = pins_of(profile.build_requirements.pins)
    assert {name: version for name, version in building.items() if pins.get(name, version) != version} == {}


def pins_of(pins: list[str]) -> dict[str, str]:
    found = map(Requirement, pins)
    return {pin.name: next(iter(pin.specifier)).version for pin in found}


@pytest.mark.parametrize("name", SHIPPED)
def test_one_environment_serves_every_step(name: str) -> None:
    """What our own steps use is among the requirements; Triton and old third parties need a CMake before 4."""
    profile = shipped(name)
    pins = pins_of(profile.build_requirements.pins)
    if not profile.compiles:
        assert "setuptools" in pins or not pins
        return
    assert {"pip", "build", "ninja", "packaging", "setuptools", "wheel"} <= set(pins)
    assert Version(pins["setuptools"]) < Version("81")
    if profile.cmake:
        assert Version(pins["cmake"]) in SpecifierSet(f"{profile.cmake},<4")


def test_what_moves_is_pinned_by_a_lock_alone() -> None:
    assert {name for name in SHIPPED if shipped(name).tier == "moving"} == {"main"}
    torch = source("torch", "main")
    assert (torch.ref, torch.rev, torch.reason) == ("main", None, "a branch: resolved by a lock")
    files = {name: source(name, "main").pin_file for name in ("vision", "audio")}
    assert files == {name: f".github/ci_commit_pins/{name}.txt" for name in files}
    assert shipped("main").published is None


def test_the_cpu_profile_needs_no_toolkit() -> None:
    profile = shipped("cpu-2.13")
    assert (profile.accelerator, profile.toolkit, profile.arch, profile.runtime_requirements) == (
        "cpu",
        None,
        None,
        None,
    )
    assert source("vision", "cpu-2.13").rev == source("vision", "torch-2.13").rev
    assert source("audio", "cpu-2.13").rev == source("audio", "torch-2.13").rev


def render_recipe(plan: Plan) -> str:
    """Give the whole plan as text; `$ROOT` stands for the root."""
    target = plan.target
    kit = target.toolkit.title if target.toolkit else "no toolkit"
    parts = [f"{plan.profile}: Python {target.python_version}, {target.cc} and {target.cxx}, {kit}\n"]
    for step in plan.steps:
        parts.append(f"\n{step.id}: {step.title}\n")
        parts += [f"    {line}\n" for line in recipe_of(step, target)]
    return "".join(parts).replace(ROOT, "$ROOT")


def test_openreg_is_of_the_release_that_it_is_built_against() -> None:
    part, torch = source("openreg", "openreg-2.13"), source("torch", "torch-2.13")
    assert (part.repo, part.tag, part.rev) == (torch.repo, torch.tag, torch.rev)
    assert part.sparse == [part.directory]
    ready = component("torch", "openreg-2.13")
    assert isinstance(ready, WheelComponent)
    assert f"v{Version(ready.version).public}" == torch.tag


LIKE = {
    **{f"torch-2.{minor}": f"torch-2.{minor + 1}" for minor in range(4, 14)},
    "torch-2.15": "torch-2.14",
    "main": "torch-2.14",
    **{f"gaudi-1.2{minor}": "gaudi-1.24.0" for minor in range(4)},
    "ascend-2.10": "ascend-2.14",
    "ascend-2.12": "ascend-2.14",
}
"""Whose plan one is most like: of these only what differs from that is kept."""


def test_golden_recipes() -> None:
    recipes = {name: render_recipe(plan_of(locked(shipped(name)))) for name in SHIPPED}
    hold("plans", {f"{name}.txt": text for name, text in recipes.items() if name not in LIKE})
    assert {path.stem for path in (TOP / "tests/golden/plan-changes").iterdir()} == {*LIKE}
    for name, other in LIKE.items():
        hold_changes(f"plan-changes/{name}", {other: recipes[name]}, recipes)


def test_one_recipe_in_the_order_of_the_releases_guide() -> None:
    lines = render_recipe(plan_of(shipped("torch-2.4"))).splitlines()
    told = (
        "source /opt/intel/oneapi/pytorch-gpu-dev-0.5/oneapi-vars.sh",
        "export USE_XPU=1",
        "export _GLIBCXX_USE_CXX11_ABI=1",
        "$ROOT/venv/bin/python setup.py bdist_wheel --dist-dir $ROOT/src/torch.wheel",
    )
    start = lines.index("torch.build: torch 2.4.1+xpu from source")
    places = [lines.index(f"    {line}", start) for line in told]
    assert places == sorted(places)
