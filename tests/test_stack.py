"""Stacks: a file becomes a profile of torch and its members, each had in the first way that is good on it."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from data.places import PLACES
from data.plans import plan_of
from data.profiles import TOP
from data.targets import NEW
from xpusetup.base.errors import UsageError
from xpusetup.base.model import Layout, Request
from xpusetup.commands.members import explain_package, list_members
from xpusetup.config.member import rank
from xpusetup.config.shipped import load_profile, stack_names
from xpusetup.config.shipped import shipped as releases
from xpusetup.config.stack import make_profile, parse_stack
from xpusetup.config.take import take_parts
from xpusetup.plan.install import make_install_plan, members_without_wheels
from xpusetup.plan.requirements import requirement_texts
from xpusetup.recommend.machine import known
from xpusetup.recommend.solve import make_way
from xpusetup.run.root import Root
from xpusetup.ui.members import show_choices, show_proofs, show_starts, show_why

if TYPE_CHECKING:
    from pathlib import Path

    from in_process import Program
    from xpusetup.config.profile import Profile

HEAD = """\
schema = 1
name = "mine"
summary = "two members"
tier = "own"
tried = "never"
torch = "cpu-2.13"
"""
WHEEL = """
[[members.candidates]]
kind = "wheel"
version = "1.2"
source = "made up"
confidence = "likely"
"""
SOURCE = """
[[members.candidates]]
kind = "source"
version = "1.2"
repo = "https://example.org/first-1.2.tar.gz"
sha256 = "{one}"
rev = "0123456789abcdef0123456789abcdef01234567"
source = "made up"
confidence = "likely"
frontend = "setup.py"
""".format(one="1" * 64)
SKIP = """
[[members.candidates]]
kind = "skip"
reason = "nobody publishes it"
"""
FITS = """
[[members.fits]]
torch = "{torch}"
file = "{file}"
answer = "{answer}"
reason = "seen"
source = "a test"
confidence = "confirmed"
"""
PROOF = """
[members.proof]
imports = ["first"]
"""
MEMBER = '\n[[members]]\nname = "first"\ndistribution = "First_Dist"\nbinds = "torch-minor"\n'.replace(
    "First_Dist", "first-dist"
)


def fits(answer: str = "fits", torch: str = "2.13.0+cpu", file: str = "a" * 64) -> str:
    return FITS.format(answer=answer, torch=torch, file=file)


def made(text: str) -> Profile:
    return make_profile(parse_stack(text, "mine.toml"), load_profile("cpu-2.13"))


def first(profile: Profile) -> Any:
    return next(part for part in profile.components if part.name == "first")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XPUSETUP_SYSROOT", str(tmp_path / "nothing"))
    return tmp_path


# Which candidate is taken.


@pytest.mark.parametrize(
    ("candidates", "kind", "answers"),
    [
        (WHEEL + SOURCE + fits(), "wheel", ["taken", "not needed"]),
        (WHEEL + SOURCE, "source", ["refused", "taken"]),
        (WHEEL + SOURCE + fits("does_not_fit"), "source", ["refused", "taken"]),
        (WHEEL + SOURCE + fits("unknown"), "source", ["refused", "taken"]),
        (WHEEL + SOURCE + fits(torch="2.14.1+xpu"), "source", ["refused", "taken"]),
        (WHEEL + SKIP + fits("does_not_fit"), "skip", ["refused", "taken"]),
        (SOURCE + SKIP, "source", ["taken", "not needed"]),
        (WHEEL + fits("does_not_fit") + fits("fits", file="b" * 64), "wheel", ["taken"]),
    ],
)
def test_first_good_way(candidates: str, kind: str, answers: list[str]) -> None:
    part = first(made(HEAD + MEMBER + candidates))
    assert part.kind == kind
    assert [each.answer for each in part.member.candidates] == answers
    assert all(each.why for each in part.member.candidates)


def test_no_way_is_an_error_that_names_each() -> None:
    with pytest.raises(UsageError, match=r"first cannot be had on torch 2\.13\.0\+cpu.*does not fit.*seen"):
        made(HEAD + MEMBER + WHEEL + fits("does_not_fit"))


def test_only_files_that_fit_are_installed() -> None:
    profile = made(HEAD + MEMBER + WHEEL + fits("does_not_fit") + fits("fits", file="b" * 64))
    assert profile.hashes["first-dist==1.2"] == ["b" * 64]
    text = next(text for name, text in requirement_texts(profile).items() if "first.wheel" in name)
    assert "b" * 64 in text
    assert "a" * 64 not in text


def test_wheel_can_be_built_where_it_is_asked_for() -> None:
    profile = made(HEAD + MEMBER + WHEEL + SOURCE + fits())
    taken = take_parts(profile, {"first": "source"}, {}).profile
    assert first(taken).kind == "source"
    assert first(taken).member == first(profile).member
    assert first(take_parts(profile, {"first": "skip"}, {}).profile).member == first(profile).member


# What the file may say.


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('binds = "torch-minor"', 'binds = "torch"'), "binds"),
        (('name = "first"', 'name = "first; rm"'), "name"),
        (("[members.proof]", "[members.prof]"), "prof"),
        (('imports = ["first"]', 'imports = ["os; x"]'), "imports"),
        (('imports = ["first"]', "imports = []"), "imports"),
        (('imports = ["first"]', 'imports = ["first"]\ncall = "first.f(1)"\ngives = 1'), "call"),
        (('imports = ["first"]', 'imports = ["first"]\ncall = "first.f"'), "answer"),
        (('imports = ["first"]', 'imports = ["first"]\noperators = ["first.f"]'), "operators"),
        (
            ('imports = ["first"]', 'imports = ["first"]\ncall = "first.f"\ngives = 1\narguments = [{a = 1}]'),
            "arguments",
        ),
        (('torch = "cpu-2.13"', 'torch = "--help"'), "torch"),
        (
            ('[[members.candidates]]\nkind = "source"', SKIP + '[[members.candidates]]\nkind = "source"'),
            "skip is the last",
        ),
        (('[[members.candidates]]\nkind = "source"', SOURCE + '[[members.candidates]]\nkind = "source"'), "one kind"),
        (('frontend = "setup.py"', 'frontend = "setup.py"\nname = "other"'), "another name"),
        (("rev = ", 'tag = "v1"\nrev = '), "neither tag nor ref"),
        (('frontend = "setup.py"', 'frontend = "setup.py"\nloosen = [{file = "../x", line = "a"}]'), "file"),
    ],
)
def test_refused(change: tuple[str, str], said: str) -> None:
    text = HEAD + MEMBER + SOURCE + PROOF
    assert change[0] in text
    with pytest.raises(UsageError, match=said):
        parse_stack(text.replace(*change), "mine.toml")
    parse_stack(text, "mine.toml")


def test_name_twice() -> None:
    with pytest.raises(UsageError, match="stands twice"):
        parse_stack(HEAD + MEMBER + SOURCE + MEMBER + SOURCE, "mine.toml")


def test_after_what_is_not_there() -> None:
    with pytest.raises(UsageError, match="'second', which is none of it"):
        made(HEAD + MEMBER + 'after = ["second"]\n' + SOURCE)


def test_a_stack_on_a_stack(here: Path) -> None:
    (here / "a.toml").write_text(HEAD.replace("cpu-2.13", "a.toml") + MEMBER + SOURCE)
    with pytest.raises(UsageError, match="is a stack itself"):
        load_profile("a.toml")


def test_profile_beside_the_stack(here: Path) -> None:
    (here / "there").mkdir()
    (here / "there/own.toml").write_text((TOP / "profiles/cpu-2.13.toml").read_text().replace('"cpu-2.13"', '"own"'))
    (here / "there/a.toml").write_text(HEAD.replace("cpu-2.13", "./own.toml") + MEMBER + SOURCE)
    profile = load_profile("there/a.toml")
    assert first(profile).member.torch == "own"


# What it becomes.


def test_profile_of_a_stack() -> None:
    pins = '[requirements]\npins = ["pillow==1.0", "scipy==2.0"]\n'
    profile = made(HEAD + pins + MEMBER + "memory_per_job_gib = 3.5\n" + WHEEL + fits())
    base = load_profile("cpu-2.13")
    assert (profile.name, profile.accelerator, profile.memory_per_job_gib) == ("mine", "cpu", 3.5)
    named = [pin.partition("==")[0] for pin in profile.build_requirements.pins]
    assert {"pillow==1.0", "scipy==2.0"} < {*profile.build_requirements.pins}
    assert named.count("pillow") == 1
    assert len(named) == len(base.build_requirements.pins) + 1
    assert profile.published is not None
    assert profile.published.wheels == ["torch==2.13.0+cpu", "first-dist==1.2"]
    left = {part.name for part in profile.components if part.kind == "skip"}
    assert left == {"vision", "audio"}


def test_parts_of_the_profile_stay_where_they_are_named() -> None:
    profile = made(HEAD.replace("torch = ", 'parts = ["vision"]\ntorch = ') + MEMBER + SOURCE)
    assert [part.name for part in profile.components if part.kind != "skip"] == ["torch", "vision", "first"]


def test_order_of_bindings() -> None:
    loose = MEMBER.replace('"first"', '"last"').replace("torch-minor", "none").replace("first-dist", "other")
    profile = made(HEAD + MEMBER + SOURCE + loose + WHEEL + fits())
    names = [part.name for part in profile.components if part.member]
    assert names == ["last", "first"]
    assert rank("none") < rank("torch-stable") < rank("torch-minor") < rank("torch-exact")


def test_steps_of_members() -> None:
    steps = plan_of(made(HEAD + MEMBER + SOURCE + PROOF))
    named = {step.id: step for step in steps.steps}
    assert named["first.fits"].after == ("first.inspect", "torch.install")
    assert named["first.install"].after[0] == "first.fits"
    assert named["first.proof"].after == ("first.install", "torch.install")
    run = [" ".join(argv) for argv in named["first.fetch"].run]
    assert "--sha256 " + "1" * 64 in run[0]
    assert run[1].endswith("--whole")
    assert "--repo @ROOT@/src/first.git" in run[2]
    wheel = {step.id: step for step in plan_of(made(HEAD + MEMBER + WHEEL + fits() + PROOF)).steps}
    assert wheel["first.fits"].after == ("first.fetch", "torch.install")
    assert "--take" not in " ".join(map(str, wheel["first.fits"].run)) or "skip" in " ".join(wheel["first.fits"].run[0])


def test_what_says_the_version_alone_is_in_the_script() -> None:
    said = 'version_headers = ["a/version.h"]\nversion_lines = { "a/macros.h" = ["VERSION"] }\n'
    steps = {step.id: step for step in plan_of(made(HEAD + said + MEMBER + SOURCE)).steps}
    for name in ("first.interface", "first.build"):
        words = " ".join(word for argv in steps[name].run for word in argv)
        assert "--leave-out a/version.h --leave-lines=a/macros.h:VERSION" in words
    with pytest.raises(UsageError, match="version_lines"):
        made(HEAD + 'version_lines = { "a/macros.h" = ["a b"] }\n' + MEMBER + SOURCE)


def test_loosened_pins_are_in_the_script() -> None:
    loose = 'loosen = [{file = "setup.cfg", line = "torch==1.0", to = "torch", source = "t", confidence = "likely"}]\n'
    with_it = plan_of(made(HEAD + MEMBER + SOURCE + loose))
    without = plan_of(made(HEAD + MEMBER + SOURCE))
    run = next(step.run for step in with_it.steps if step.id == "first.fetch")
    assert json.loads(run[-1][-1].removeprefix("--loosen=")) == ["setup.cfg", "torch==1.0", "torch"]
    assert run[:-1] == next(step.run for step in without.steps if step.id == "first.fetch")


def test_install_takes_wheels_alone() -> None:
    profile = made(
        HEAD + MEMBER + WHEEL + fits() + MEMBER.replace('"first"', '"built"').replace("first-dist", "b") + SOURCE
    )
    target, layout = plan_of(profile).target, plan_of(profile).layout
    plan = make_install_plan(profile, Request(), target, layout)
    assert [step.id for step in plan.steps if step.id.endswith(".download")] == ["torch.download", "first.download"]
    assert not any("compiler" in step.needs for step in plan.steps)


def test_install_proves_each_member_before_and_after() -> None:
    """Torch is installed first; a member's wheel is held against it, installed beside it, and proved."""
    profile = made(HEAD + MEMBER + WHEEL + fits() + PROOF)
    target, layout = plan_of(profile).target, plan_of(profile).layout
    steps = {step.id: step for step in make_install_plan(profile, Request(), target, layout).steps}
    middle = ["wheels.install", "first.fits", "members.install", "first.proof", "guard"]
    assert [name for name in steps if name in middle] == middle
    torch, members = (" ".join(steps[name].run[0]) for name in ("wheels.install", "members.install"))
    assert ("--wheel torch==2.13.0+cpu" in torch, "first-dist" in torch) == (True, False)
    assert "--beside torch==2.13.0+cpu" in members
    assert "--wheel first-dist==1.2" in members
    assert steps["first.fits"].after == ("first.download", "wheels.install")
    assert "@ROOT@/published" in steps["first.fits"].run[0]
    assert steps["members.install"].after == ("first.fits",)
    assert steps["first.proof"].after == ("members.install",)
    assert "--had installed" in " ".join(steps["first.proof"].run[0])


UNKNOWN = fits().replace('"fits"', '"unknown"')


@pytest.mark.parametrize(("seen", "hashes"), [(UNKNOWN, ["a" * 64]), ("", None)], ids=["unknown", "not-seen"])
def test_a_wheel_of_which_nobody_knows_is_tried_where_that_is_asked_for(seen: str, hashes: list[str] | None) -> None:
    """By `--take` it is installed where it fits the torch that is there, and held to the file that was looked into."""
    profile = made(HEAD + MEMBER + WHEEL + SKIP + seen + PROOF)
    assert first(profile).kind == "skip"
    taken = take_parts(profile, {"first": "wheel"}, {}).profile
    assert (first(taken).kind, first(taken).member) == ("wheel", first(profile).member)
    assert taken.hashes.get("first-dist==1.2") == hashes
    assert taken.published is not None
    assert taken.published.wheels == ["torch==2.13.0+cpu", "first-dist==1.2"]
    target, layout = plan_of(profile).target, plan_of(profile).layout
    names = [step.id for step in make_install_plan(taken, Request(), target, layout).steps]
    assert names.index("first.fits") < names.index("members.install") < names.index("first.proof")
    answers = [(each.how, each.answer) for each in list_members(taken)[0].candidates]
    assert answers == [("wheel", "taken"), ("skip", "not needed")]


def test_a_wheel_that_does_not_fit_is_not_tried() -> None:
    profile = made(HEAD + MEMBER + WHEEL + SKIP + fits().replace('"fits"', '"does_not_fit"') + PROOF)
    with pytest.raises(UsageError, match="cannot be taken as a published wheel"):
        take_parts(profile, {"first": "wheel"}, {})


def test_another_member_leaves_torch_as_it_is() -> None:
    """The steps of torch are the same whatever stands on it: after `--take first=skip` it is not installed again."""
    profile = made(HEAD + MEMBER + WHEEL + fits() + PROOF)
    without = take_parts(profile, {"first": "skip"}, {}).profile
    assert without.published is not None
    assert without.published.wheels == ["torch==2.13.0+cpu"]
    target, layout = plan_of(profile).target, plan_of(profile).layout
    plans = [make_install_plan(each, Request(), target, layout) for each in (profile, without)]
    scripts = [{step.id: step for step in plan.steps} for plan in plans]
    assert [name for name in scripts[1] if scripts[0][name] != scripts[1][name]] == ["guard"]
    assert {*scripts[0]} - {*scripts[1]} == {"first.download", "first.fits", "members.install", "first.proof"}


# The shipped ones.


@pytest.mark.parametrize("name", stack_names())
def test_shipped(name: str) -> None:
    """Every wheel was seen to fit, by the hash of its file; every source has one too."""
    profile = load_profile(name)
    assert profile.name == name
    for part in profile.components:
        if part.member is None:
            continue
        if part.kind == "wheel":
            assert profile.hashes[f"{part.distribution}=={part.version}"]
        if part.kind == "source":
            assert part.sha256 or part.from_git
        assert part.kind == "skip" or part.member.proof is not None


@pytest.mark.parametrize("name", ["stack-comfyui", "stack-inference"])
def test_three_commands_on_a_b580_with_ubuntu_26_04(name: str) -> None:
    """From saved facts: what the machine lacks, the stack, and what begins with it; or an image in its place."""
    profile = load_profile(name)
    way = make_way(PLACES["b580-ubuntu-26.04"], releases(), known())
    assert (way.route, way.profile, way.commands[-1]) == ("wheel", "torch-2.14", "xpusetup install")
    (start,) = profile.starts
    stack = () if start.instead else (f"xpusetup install --stack {name}",)
    commands = (*way.commands[:-1], *stack, shlex.join(start.argv))
    assert commands[0] == "xpusetup setup --apply"
    assert len(commands) <= 3
    assert ("docker run" in commands[-1]) is start.instead


@pytest.mark.parametrize("name", ["stack-comfyui", "stack-inference"])
def test_the_torch_of_a_stack_for_xpu_stays(name: str) -> None:
    """Nothing compiles, torch and Triton are those of the release, and pip is held to them before anything is added."""
    profile = load_profile(name)
    assert members_without_wheels(profile) == []
    base = load_profile("torch-2.14").published
    assert base is not None
    assert profile.published is not None
    assert {"torch==2.14.1+xpu", "triton-xpu==3.8.0"} < {*profile.published.wheels} & {*base.wheels}
    plan = make_install_plan(profile, Request(), NEW, Layout())
    guard = next(step for step in plan.steps if step.id == "guard")
    words = guard.run[0]
    assert {"torch", "triton-xpu", "transformers"} < {words[at + 1] for at, word in enumerate(words) if word == "--pin"}
    assert not any("compiler" in step.needs for step in plan.steps)


def test_a_proof_says_what_it_can_prove() -> None:
    plan = make_install_plan(load_profile("stack-cpu"), Request(), NEW, Layout())
    titles = {step.id: step.title for step in plan.steps}
    assert titles["safetensors.proof"] == "safetensors imports"
    assert titles["einops.proof"] == "einops imports and gives the known answer"


def test_what_could_not_be_had_says_why() -> None:
    members = {each.distribution: each for each in list_members(load_profile("stack-inference"))}
    for name, said in {"vllm": "libcudart.so.13", "vllm-xpu-kernels": "libc10_xpu.so"}.items():
        assert members[name].how == "skip"
        assert members[name].candidates[0].answer == "refused"
        assert said in members[name].candidates[0].why
    assert members["vllm-xpu-kernels"].candidates[0].why.startswith("nobody knows whether it fits torch 2.14.1+xpu: ")
    assert (members["bitsandbytes"].how, members["bitsandbytes"].binds) == ("wheel", "sycl-major")


def test_what_begins_with_a_stack_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    show_starts(Console(width=200), load_profile("stack-inference").starts)
    shown = capsys.readouterr().out
    assert "from its official image (instead of installing)" in shown
    assert "docker run --rm --network=host" in shown


def test_stack_cpu_has_what_it_is_for() -> None:
    members = [each for each in list_members(load_profile("stack-cpu")) if each.how != "skip"]
    assert len(members) >= 6
    assert len([each for each in members if (each.how, each.binds) == ("source", "torch-minor")]) >= 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("plan --stack stack-cpu --profile sim", "exclude each other"),
        ("plan --stack sim", "is no stack"),
        ("plan --stack stack-cp", "did you mean stack-cpu"),
        ("build --stack none.toml", "no profile file none.toml"),
        ("emit shell --stack sim --out x", "is no stack"),
        ("emit shell --stack stack-cpu --profile sim --out x", "for one profile"),
        ("install --stack stack-cpu --take torchvision=skip", "has no component 'torchvision'"),
        ("install --stack stack-cpu --take scatter=source", "xpusetup build stack-cpu --take scatter=source"),
    ],
)
def test_words_of_the_command_line(words: str, said: str, program: Program) -> None:
    ran = program(words)
    assert ran.code == 2
    assert said in " ".join(ran.err.split())


def test_a_form_of_wheels_alone_says_what_it_leaves_out(program: Program, tmp_path: Path) -> None:
    ran = program(f"dockerfile --from wheels --stack stack-cpu --out {tmp_path / 'form'}")
    assert ran.code == 0
    assert "left out, for no wheel of them fits: torch-scatter, torch-sparse" in " ".join(ran.out.split())
    assert "--from source compiles them" in ran.out


def test_stacks_are_listed(program: Program) -> None:
    listed = program("profiles list --json").document()["result"]["stacks"]
    (found,) = (each for each in listed if each["name"] == "stack-cpu")
    assert (found["stands_on"], found["left_out"]) == ("cpu-2.13", ["torchvision"])
    assert "torch-sparse" in found["sources"]
    assert {each["name"] for each in listed} == set(stack_names())


@pytest.mark.parametrize(
    ("package", "said"),
    [
        ("torch-sparse", "it stands on torch-scatter 2.1.2"),
        ("torch_sparse", "it stands on torch 2.13.0+cpu, of the profile cpu-2.13"),
        ("torchvision", "wheel 0.28.0: refused: does not fit torch 2.13.0+cpu: _C.so needs libc10_cuda.so"),
        ("scipy", "pinned by stack-cpu"),
        ("torch", "on it stand: "),
        ("audio", "it is none of the stack"),
    ],
)
def test_why(package: str, said: str) -> None:
    assert said in "\n".join(explain_package(load_profile("stack-cpu"), package).lines)


def test_why_of_what_is_not_there() -> None:
    with pytest.raises(UsageError, match="has no package 'numba'"):
        explain_package(load_profile("stack-cpu"), "numba")
    assert list_members(load_profile("sim")) == []


def test_screens(capsys: pytest.CaptureFixture[str]) -> None:
    profile = load_profile("stack-cpu")
    console = Console(width=200)
    show_choices(console, list_members(profile))
    show_why(console, explain_package(profile, "torchao"))
    show_proofs(console, list_members(profile))
    shown = capsys.readouterr().out
    assert "✗ wheel 0.28.0: does not fit torch 2.13.0+cpu: _C.so needs libc10_cuda.so" in shown
    assert "✓ left out: the package index has no source of it" in shown
    assert "torchvision is left out" in shown
    assert "it is bound to torch by: none" in shown


def test_proofs_that_a_root_holds(here: Path) -> None:
    (here / "stamps").mkdir()
    (here / "results").mkdir()
    for name, proof in {
        "scatter": {"proven": True, "answer": [3.0, 7.0]},
        "safetensors": {"proven": None, "why": "no call with a known answer is given"},
        "cluster": {"proven": True, "answer": 1},
    }.items():
        (here / f"results/{name}.proof.json").write_text(json.dumps(proof))
    for name in ("scatter", "safetensors"):
        (here / f"stamps/{name}.proof").write_text("key\n")
    found = {each.name: (each.proven, each.proof) for each in list_members(load_profile("stack-cpu"), Root(here))}
    assert found["scatter"] == (True, "gives [3.0, 7.0]")
    assert found["safetensors"] == (None, "imports; not verified: no call with a known answer is given")
    assert found["cluster"] == (None, "")
