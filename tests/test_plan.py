"""The plan: which steps follow from a profile and a request, in which order, with which variables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from data.profiles import shipped, small
from data.targets import NEW, SIM, TARGETS, plan_for
from xpusetup.base.errors import UsageError
from xpusetup.base.model import Layout, Plan, Request, Step
from xpusetup.plan.steps import describe_set, make_plan

OLD_STEPS = [
    *("venv", "requirements"),
    *("torch.fetch", "torch.configure", "torch.build", "torch.inspect", "torch.install"),
    *("triton.fetch", "triton.build", "triton.inspect", "triton.install"),
    *("vision.fetch", "vision.build", "vision.inspect", "vision.install"),
    *("audio.fetch", "audio.build", "audio.inspect", "audio.install"),
    *("guard", "verify.smoke"),
]
SIM_STEPS = [
    *("venv", "requirements", "torch.fetch", "torch.install"),
    *("simxpu.fetch", "simxpu.build", "simxpu.inspect", "simxpu.install", "guard", "verify.smoke"),
]


def ids(name: str, **asked: Any) -> list[str]:
    return [step.id for step in plan_for(name, Request(**asked)).steps]


def step_of(plan: Plan, name: str) -> Step:
    return next(step for step in plan.steps if step.id == name)


def refused(name: str, **asked: Any) -> tuple[str, str]:
    with pytest.raises(UsageError) as caught:
        plan_for(name, Request(**asked))
    return caught.value.message, caught.value.fix


@pytest.mark.parametrize("name", TARGETS)
def test_steps_come_after_what_they_follow(name: str) -> None:
    seen: set[str] = set()
    for step in plan_for(name).steps:
        assert set(step.after) <= seen
        assert step.id not in seen
        assert step.makes
        assert step.run
        seen.add(step.id)


@pytest.mark.parametrize(
    ("name", "asked", "wanted"),
    [
        ("sim", {}, SIM_STEPS),
        ("sim", {"verify": "require"}, SIM_STEPS),
        ("sim", {"verify": "off"}, SIM_STEPS[:-1]),
        ("torch-2.5", {}, OLD_STEPS),
        ("torch-2.5", {"until": "verify.smoke"}, OLD_STEPS),
        ("torch-2.5", {"until": "venv"}, ["venv"]),
        ("torch-2.5", {"until": "torch.fetch"}, ["torch.fetch"]),
        ("torch-2.5", {"until": "torch.configure"}, OLD_STEPS[:4]),
        ("torch-2.5", {"only": ("torch",)}, OLD_STEPS[:7]),
        ("torch-2.5", {"only": ("vision",)}, [*OLD_STEPS[:7], *OLD_STEPS[11:15]]),
        ("torch-2.5", {"only": ("vision", "torch")}, [*OLD_STEPS[:7], *OLD_STEPS[11:15]]),
        ("torch-2.5", {"only": ("torch",), "until": "torch.build"}, OLD_STEPS[:5]),
        ("sim", {"only": ("torch",)}, SIM_STEPS[:4]),
        ("sim", {"only": ("simxpu",), "until": "torch.fetch"}, SIM_STEPS[:3]),
    ],
)
def test_selection(name: str, asked: dict[str, Any], wanted: list[str]) -> None:
    assert ids(name, **asked) == wanted


@pytest.mark.parametrize(
    ("name", "asked", "message", "fix"),
    [
        (
            "sim",
            {"only": ("trch",)},
            "this profile has no component 'trch'; did you mean torch?",
            "it has: simxpu, torch",
        ),
        (
            "torch-2.5",
            {"only": ("mkl",)},
            "this profile has no component 'mkl'",
            "it has: audio, torch, triton, vision",
        ),
        (
            "sim",
            {"until": "torch"},
            "this profile has no step 'torch'; did you mean torch.fetch?",
            f"it has: {', '.join(SIM_STEPS)}",
        ),
        (
            "sim",
            {"set": (("torch", "A", "1"),)},
            "this profile has no component that is built from source, 'torch'",
            "it has: simxpu",
        ),
        (
            "torch-2.14",
            {"only": ("torch-xpu-ops",)},
            "torch-xpu-ops is a part of torch and is built with it",
            "the same command with --only torch",
        ),
        (
            "torch-2.14",
            {"set": (("torch-xpu-ops", "A", "1"),)},
            "torch-xpu-ops is a part of torch and is built with it",
            "set it there: --set torch.KEY=VALUE",
        ),
    ],
)
def test_unknown_names(name: str, asked: dict[str, Any], message: str, fix: str) -> None:
    assert refused(name, **asked) == (message, fix)


@pytest.mark.parametrize(
    ("key", "meant"), [("DEBUGG", "DEBUG"), ("USE_STATIC_MLK", "USE_STATIC_MKL"), ("DEBUG", ""), ("USE_CUDNN", "")]
)
def test_a_variable_that_is_nearly_a_known_one_is_asked_about(key: str, meant: str) -> None:
    told = describe_set(shipped("torch-2.14"), Request(set=(("torch", key, "1"),)))
    assert told == ((f"--set: {key} is passed on; did you mean {meant}?",) if meant else ())


def test_verify_off_until_verify() -> None:
    assert refused("sim", verify="off", until="verify.smoke")[0] == "this profile has no step 'verify.smoke'"


def test_set_rules_over_the_profile_in_its_component_alone() -> None:
    plan = plan_for("torch-2.5", Request(set=(("torch", "USE_XPU", "0"), ("torch", "NEW", "a b"))))
    for name in ("torch.configure", "torch.build"):
        env = dict(step_of(plan, name).env)
        assert (env["USE_XPU"], env["NEW"], env["USE_CUDA"]) == ("0", "a b", "0")
    assert "NEW" not in dict(step_of(plan, "vision.build").env)
    assert list(dict(step_of(plan, "torch.build").env)) == sorted(dict(step_of(plan, "torch.build").env))


def test_arch_goes_where_the_profile_says() -> None:
    target = replace(NEW, arch=("pvc", "bmg"))
    plan = make_plan(shipped("torch-2.14"), Request(), target, Layout())
    assert dict(step_of(plan, "torch.build").env)["TORCH_XPU_ARCH_LIST"] == "pvc,bmg"
    assert "TORCH_XPU_ARCH_LIST" not in dict(step_of(plan, "vision.build").env)


def test_who_needs_what() -> None:
    plan = plan_for("torch-2.14")
    needs = {step.id: step.needs for step in plan.steps}
    assert needs["torch.build"] == ("compiler", "toolkit")
    assert needs["vision.build"] == ("compiler",)
    assert needs["runtime"] == needs["requirements"] == ("network",)
    assert needs["verify.smoke"] == ("device",)
    assert not any("network" in step.needs for step in plan.steps if step.id.endswith((".build", ".configure")))
    assert {step.id for step in plan.steps if step.locks} == {
        step.id
        for step in plan.steps
        if step.id in ("venv", "requirements", "runtime", "guard") or step.id.endswith("install")
    }


def test_expected_devices() -> None:
    assert "--expected" in step_of(plan_for("sim"), "verify.smoke").run[0]
    assert "--expected" not in step_of(plan_for("torch-2.14"), "verify.smoke").run[0]


def test_components_wait_for_what_they_build_on() -> None:
    profile = small(('kind = "wheel"\nname = "second"', 'kind = "wheel"\nname = "another"'))
    steps = {step.id: step for step in make_plan(profile, Request(), SIM, Layout()).steps}
    assert steps["first.build"].after == ("requirements", "first.fetch")
    assert steps["another.install"].after == ("another.fetch", "first.install")
    assert steps["guard"].after == ("another.install",)
    assert steps["verify.smoke"].after == ("guard",)
