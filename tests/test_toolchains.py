"""A profile that several tool chains can compile: which is taken, by what it is known, and what follows from it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import tomli_w

from data.machines import KIT, machine
from data.profiles import device, shipped, small, small_text
from xpusetup.base.document import read_as, to_table, to_told
from xpusetup.base.errors import UsageError
from xpusetup.base.model import Layout, Request
from xpusetup.commands.emit import KINDS, EmitOrder, Form
from xpusetup.commands.profiles import make_schema
from xpusetup.config.load import parse_profile
from xpusetup.config.profile import Profile
from xpusetup.config.settings import ModuleSettings, Settings, merge_settings
from xpusetup.config.take import choose_toolkit, describe_chosen, toolkits_of
from xpusetup.doctor.question import Question
from xpusetup.doctor.toolkit import check_ccl, check_compiler, check_mkl, check_ocloc, check_open_compiler
from xpusetup.doctor.toolkit import check_version as check_oneapi_version
from xpusetup.emit.lmod import render_modules
from xpusetup.emit.matrix import Cell
from xpusetup.emit.script import render_shell
from xpusetup.machine.activation import render_activation
from xpusetup.machine.parsers import parse_compiler_version
from xpusetup.machine.toolkits import unknown_targets
from xpusetup.plan.install import BUILD
from xpusetup.plan.steps import make_plan
from xpusetup.plan.target import make_target
from xpusetup.plan.verify import lacks_collectives, verify_options
from xpusetup.recommend.answer import Note, Task
from xpusetup.recommend.machine import known
from xpusetup.recommend.setup import make_setup
from xpusetup.run.tool_chains import describe_others, describe_targets
from xpusetup.run.workspace import Where, open_workspace

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.base.model import Plan
    from xpusetup.machine.facts import Facts

RESOLUTE = {"name": "Ubuntu 26.04", "families": ["ubuntu", "debian"], "version": "26.04"}
OPEN_6 = {"kind": "dpclang", "root": "/usr", "compiler": "/usr/bin/dpclang++", "version": "6.2.0"}
OPEN_7 = {"kind": "dpclang", "root": "/opt/dpc", "compiler": "/opt/dpc/bin/dpclang++", "version": "7.0.0"}
UBUNTU = ("dpclang-6", "ocl-icd-opencl-dev", "pkg-config", "libze-dev", "intel-ocloc")
NEW = """
[{0}]
kind = {1}
name = {2}
accepts = ">=1"
preferred = "1"
runtime = "toolkit"
source = "s"
confidence = "likely"
"""


def seen(*kits: dict[str, Any], **sections: Any) -> Facts:
    return machine(toolkits={"found": list(kits)}, **sections)


def plan_of(name: str, kit: str, facts: Facts, site: str = "") -> Plan:
    profile = choose_toolkit(shipped(name), kit)
    settings = merge_settings([("site.toml", site)]) if site else Settings()
    target = make_target(profile, facts, device("xpu"), Request(), settings)
    return make_plan(profile, Request(), target, Layout())


def step_env(plan: Plan, step: str) -> dict[str, str]:
    return dict(next(each for each in plan.steps if each.id == step).env)


# What a profile says.


def test_the_first_of_several_is_the_preferred_one() -> None:
    two = NEW.format("[toolkit]", "'oneapi'", "''") + NEW.format("[toolkit]", "'dpclang'", "'open'")
    profile = small(more=two)
    assert [kit.called for kit in toolkits_of(profile)] == ["oneapi", "open"]
    again = parse_profile(tomli_w.dumps(to_told(profile)), "again")
    assert again == profile


def test_one_alone_may_be_a_table_and_stays_what_it_was() -> None:
    profile = small(more=NEW.format("toolkit", "'oneapi'", "''"))
    assert profile.toolkit is not None
    dump = to_table(profile)
    assert "other_toolkits" not in dump
    assert not {"name", "environment", "gives_up", "refused"} & dump["toolkit"].keys()
    assert read_as(Profile, dump) == profile


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (NEW.format("[toolkit]", "'oneapi'", "''") * 2, "two toolkits are called 'oneapi'"),
        (NEW.format("[toolkit]", "'oneapi'", "''") + NEW.format("[toolkit]", "'cuda'", "''"), "other_toolkits.0.kind"),
        (NEW.format("[other_toolkits]", "'oneapi'", "''"), "stand beside a toolkit, and there is none"),
    ],
)
def test_refused(more: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        parse_profile(small_text(more=more), "own.toml")


def test_every_alternative_says_what_it_gives_up_and_needs_no_wheels_of_the_other() -> None:
    for name in ("torch-2.13", "torch-2.14", "torch-2.15", "main"):
        for kit in shipped(name).other_toolkits:
            assert kit.gives_up
            chosen = choose_toolkit(shipped(name), kit.called)
            assert chosen.toolkit == kit
            assert (chosen.runtime_requirements is None) == (kit.kind != "wheels")
            assert kit.gives_up in describe_chosen(chosen)


def test_the_preferred_one_by_name_is_the_profile_as_it_is() -> None:
    chosen = choose_toolkit(shipped("torch-2.13"), "oneapi")
    assert chosen.toolkit == shipped("torch-2.13").toolkit
    assert chosen.runtime_requirements == shipped("torch-2.13").runtime_requirements


@pytest.mark.parametrize(
    ("name", "kit", "fix"),
    [
        ("torch-2.13", "dpcpp", "it has: oneapi, oneapi-2025.3, dpclang, wheels"),
        ("torch-2.12", "dpclang", "it has: oneapi"),
        ("sim", "oneapi", "leave --toolkit out: it is built without one"),
    ],
)
def test_what_a_profile_does_not_have(name: str, kit: str, fix: str) -> None:
    with pytest.raises(UsageError) as caught:
        choose_toolkit(shipped(name), kit)
    assert caught.value.fix == fix


# What a plan makes of it.


def test_what_the_build_is_told() -> None:
    plan = plan_of("torch-2.13", "dpclang", seen(OPEN_6))
    told = step_env(plan, "torch.configure")
    assert {name: told.get(name) for name in ("XPU_SYCL_COMPILER", "USE_KINETO", "USE_ONEMKL_XPU", "USE_XPU")} == {
        "XPU_SYCL_COMPILER": "dpclang",
        "USE_KINETO": "0",
        "USE_ONEMKL_XPU": "0",
        "USE_XPU": "1",
    }
    assert "PYTORCH_EXTRA_INSTALL_REQUIREMENTS" not in told
    assert "LDFLAGS" not in told, "no run time lies in the environment that it could be led to"
    assert "runtime" not in [step.id for step in plan.steps]
    assert "XPU_SYCL_COMPILER" not in step_env(plan_of("torch-2.13", "oneapi", seen(KIT)), "torch.configure")


def test_what_is_set_on_the_command_line_is_stronger() -> None:
    profile = choose_toolkit(shipped("torch-2.13"), "dpclang")
    request = Request(set=(("torch", "USE_KINETO", "1"),))
    target = make_target(profile, seen(OPEN_6), device("xpu"), request, Settings())
    assert step_env(make_plan(profile, request, target, Layout()), "torch.build")["USE_KINETO"] == "1"


def test_the_system_s_own_is_switched_on_by_nothing() -> None:
    kit = plan_of("torch-2.13", "dpclang", seen(KIT, OPEN_6)).target.toolkit
    assert kit is not None
    assert (kit.title, kit.at_run_time, kit.scripts, kit.prelude) == ("the open DPC++ 6.2.0", True, (), ())
    there, version = render_activation(kit).splitlines()
    assert there.startswith('command -v dpclang++ >/dev/null || fail "the toolkit has no dpclang++"')
    assert version.startswith("dpclang++ --version | grep -qF -- 6.2.0 || fail ")


def test_one_in_a_folder_of_its_own_is_put_on_the_paths() -> None:
    kit = plan_of("torch-2.14", "dpclang", seen(OPEN_6, OPEN_7)).target.toolkit
    assert kit is not None
    assert kit.version == "7.0.0"
    lines = render_activation(kit).splitlines()
    assert lines[2:5] == [
        "export PATH=/opt/dpc/bin${PATH:+:$PATH}",
        "export PKG_CONFIG_PATH=/opt/dpc/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}",
        "export LD_LIBRARY_PATH=/opt/dpc/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}",
    ]


def test_what_a_site_says_of_oneapi_is_not_said_of_the_open_one() -> None:
    facts = seen(OPEN_6)
    kit = plan_of("torch-2.13", "dpclang", facts, '[toolkit]\nprovider = "setvars"\n').target.toolkit
    assert kit is not None
    assert kit.scripts == ()
    named = plan_of("torch-2.13", "dpclang", seen(), '[toolkit]\nroot = "/opt/mine"\n').target.toolkit
    assert named is not None
    assert named.compiler == "/opt/mine/bin/dpclang++"


def test_a_long_term_oneapi_has_its_own_run_time() -> None:
    old = {**KIT, "version": "2025.3.1"}
    kit = plan_of("torch-2.13", "oneapi-2025.3", seen(old)).target.toolkit
    assert kit is not None
    assert (kit.title, kit.at_run_time) == ("oneAPI 2025.3.1", True)


def test_a_chosen_one_is_part_of_the_workspace(tmp_path: Path) -> None:
    where = Where(profile="torch-2.13", root=str(tmp_path), toolkit="dpclang")
    workspace = open_workspace(where)
    assert workspace.profile.toolkit is not None
    assert workspace.profile.toolkit.kind == "dpclang"
    assert workspace.known["toolkit"] == "dpclang"
    assert workspace.take_notes[0].startswith("--toolkit dpclang: the open DPC++ 6.2, unconfirmed. It gives up")
    assert open_workspace(Where(profile="torch-2.13", root=str(tmp_path))).profile.toolkit != workspace.profile.toolkit


def test_a_site_names_its_own_where_a_profile_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "xpusetup.toml").write_text('[toolkit]\nname = "oneapi-2025.3"\n')
    chosen = open_workspace(Where(profile="torch-2.13", root=str(tmp_path / "a"))).profile.toolkit
    assert chosen is not None
    assert chosen.called == "oneapi-2025.3"
    other = open_workspace(Where(profile="torch-2.14", root=str(tmp_path / "b"))).profile
    assert other == shipped("torch-2.14")


# What the doctor and setup say.


def say(check: Any, facts: Facts, name: str, kit: str = "dpclang") -> str:
    answer = check(Question(facts, choose_toolkit(shipped(name), kit), device("xpu"), "build"))
    return f"{answer.level}: {answer.seen}" if answer else ""


def test_doctor_of_the_open_compiler() -> None:
    assert say(check_open_compiler, seen(KIT, OPEN_6), "torch-2.13") == (
        "ok: /usr/bin/dpclang++ (6.2.0; accepted: >=6.2,<8)"
    )
    assert say(check_open_compiler, seen(KIT), "torch-2.13") == "fail: no dpclang++ on PATH"
    old = say(check_open_compiler, seen(OPEN_6), "torch-2.14")
    assert old.startswith("fail: here: 6.2.0; accepted: >=7,<8: PyTorch counts the open compiler 6 as oneAPI 2025")
    assert "pytorch PR 191470" in old
    assert say(check_open_compiler, seen(OPEN_6), "torch-2.13", "oneapi") == ""


def test_what_is_asked_of_oneapi_is_not_asked_of_the_open_compiler() -> None:
    facts = seen(OPEN_6, {**KIT, "parts": ["compiler"]})
    for check in (check_compiler, check_oneapi_version, check_mkl, check_ccl):
        assert say(check, facts, "torch-2.13") == ""
    assert say(check_compiler, facts, "torch-2.13", "oneapi").endswith("(2026.1.0)"), "dpclang++ is no icpx"
    without = machine(toolkits={"found": [OPEN_6], "ocloc": None})
    assert say(check_ocloc, without, "torch-2.13").startswith("fail: no ocloc")


def test_what_else_would_serve_is_offered() -> None:
    bare = seen(system=RESOLUTE)
    told = describe_others(bare, shipped("torch-2.13"), BUILD)
    assert told.startswith("oneAPI 2026.0 is not here. The open DPC++ 6.2 is in its own archive: dpclang-6 ocl-icd-")
    assert "(--toolkit dpclang; it gives up oneMKL on the GPU" in told
    assert "The open DPC++ 6.2.0 is here: /usr/bin/dpclang++" in describe_others(
        seen(OPEN_6), shipped("torch-2.13"), BUILD
    )
    lts = seen({**KIT, "version": "2025.3.2"})
    assert "oneAPI 2025.3.2 is here" in describe_others(lts, shipped("torch-2.13"), BUILD)
    made = describe_others(seen(), shipped("torch-2.13"), BUILD)
    assert made == (
        "oneAPI 2026.0 is not here. Or build without oneAPI: --toolkit wheels (SYCL from wheels 2026.0.0, unconfirmed)."
    )
    assert describe_others(seen(system={"machine": "aarch64"}), shipped("torch-2.13"), BUILD) == ""
    assert "dpclang" not in describe_others(bare, shipped("torch-2.14"), BUILD), "Ubuntu 26.04 has 6, and this needs 7"
    assert describe_others(seen({**KIT, "version": "2026.0.1"}, OPEN_6), shipped("torch-2.13"), BUILD) == ""
    words = check_compiler(Question(bare, shipped("torch-2.13"), device("xpu"), "build"))
    assert words is not None
    assert "--toolkit dpclang" in words.words["others"]


def setup_of(name: str, kit: str, facts: Facts) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    profile = choose_toolkit(shipped(name), kit) if kit else shipped(name)
    made = make_setup(facts, profile, known(), goal="build")
    tasks = {each.step.id: each.step.run[0] for each in made.tasks if isinstance(each, Task)}
    return tasks, {note.id: note.say for note in made.notes if isinstance(note, Note)}


def test_setup_of_the_open_compiler() -> None:
    bare = seen(system=RESOLUTE)
    tasks, _ = setup_of("torch-2.13", "dpclang", bare)
    assert tasks["setup.oneapi"] == ("apt-get", "install", "-y", *UBUNTU)
    assert "setup.oneapi-repository" not in tasks
    tasks, notes = setup_of("torch-2.13", "", bare)
    assert "setup.oneapi-repository" in tasks
    assert "--toolkit dpclang" in notes["setup.other"]
    made = make_setup(bare, shipped("torch-2.13"), known(), goal="build")
    (source,) = (each.source for each in made.notes if isinstance(each, Note) and each.id == "setup.other")
    assert source.startswith("torch-xpu-ops PR 3287"), "that of the one that is offered"
    tasks, notes = setup_of("torch-2.14", "dpclang", bare)
    assert "setup.oneapi" not in tasks
    assert notes["setup.oneapi"].startswith("No commands are known here; see https://github.com/intel/llvm/releases.")
    tasks, notes = setup_of("torch-2.13", "dpclang", seen(OPEN_6, system=RESOLUTE))
    assert not {"setup.oneapi", "setup.other"} & {*tasks, *notes}


def test_where_the_site_switches_the_toolkit_on_setup_installs_none() -> None:
    bare = seen(system=RESOLUTE)
    assert bare.toolkits is not None
    by_site = replace(bare.toolkits, ocloc=None, by_site="[toolkit] modules of site.toml")
    tasks, notes = setup_of("torch-2.14", "", replace(bare, toolkits=by_site))
    assert [name for name in tasks if "oneapi" in name] == []
    assert notes["setup.oneapi"].startswith("[toolkit] modules of site.toml has to put its icpx")


# What is written for elsewhere.


def test_an_image_has_the_compiler_of_its_own_system() -> None:
    place = Where(profile="torch-2.13", toolkit="dpclang")
    form = KINDS["dockerfile"].make(EmitOrder(places=(place,), request=Request(), options={"os": "ubuntu-26.04"}))
    assert " ".join(UBUNTU) in form.files["system/toolkit.sh"]
    assert not [name for name, text in form.files.items() if "repos.intel.com/oneapi" in text]
    assert "XPU_SYCL_COMPILER=dpclang" in form.files["steps/torch.build.sh"]
    assert "system/toolkit.sh" in form.files["Dockerfile"].rpartition("FROM ")[2], "the wheels need its library"
    with pytest.raises(UsageError, match=r"no apt packages are known of the open DPC\+\+ 6\.2"):
        KINDS["dockerfile"].make(EmitOrder(places=(place,), request=Request(), options={"os": "ubuntu-24.04"}))


def form_of(kind: str, name: str, kit: str, **options: Any) -> Form:
    order = EmitOrder(places=(Where(profile=name, toolkit=kit),), request=Request(), options=options)
    return KINDS[kind].make(order)


EMITTED = [("torch-2.13", "dpclang"), ("torch-2.13", "oneapi-2025.3"), ("torch-2.14", "dpclang")]


@pytest.fixture
def _nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write forms on a machine that has no tool chain."""
    monkeypatch.setattr("xpusetup.commands.emit.probe_all", lambda *_: seen())


@pytest.mark.usefixtures("_nowhere")
@pytest.mark.parametrize(("name", "kit"), EMITTED)
def test_jobs_of_a_cluster(name: str, kit: str) -> None:
    """They say what the nodes need, and have no job over several nodes where the tool chain gives XCCL up."""
    form = form_of("slurm", name, kit, profiles=[name])
    title = choose_toolkit(shipped(name), kit).toolkit
    assert title is not None
    assert [note for note in form.notes if note.startswith(f"--toolkit {kit}: ") and "It gives up" in note]
    assert [note for note in form.notes if f"that use the wheels, need {title.title} " in note]
    readme = form.files["README.md"]
    assert f"The machines that build, and those that use the wheels, need {title.title} " in readme
    for step in ("torch.build", "verify.smoke"):
        assert title.product.compiler in form.files[f"{name}/steps/{step}.sh"]
    gone = kit == "dpclang"
    assert ("nodes.sbatch" not in form.files) == gone
    assert (f"no XCCL with {title.title}" in readme) == gone
    assert ("--skip collectives.two_ranks" in form.files[f"{name}/steps/verify.smoke.sh"]) == gone


@pytest.mark.usefixtures("_nowhere")
@pytest.mark.parametrize(("name", "kit"), EMITTED)
def test_a_workflow(name: str, kit: str) -> None:
    """What the runners need is said beside it, another compiler is another cache, and the check is that of a build."""
    options = {"from": "source", "label": "big", "gpu_label": "arc"}
    form = form_of("github", name, kit, profiles=[name], **options)
    wanted = choose_toolkit(shipped(name), kit).toolkit
    assert wanted is not None
    assert f"need {wanted.title} " in form.files[".github/xpusetup/README.md"]
    assert f"--toolkit {kit} " in form.files[".github/xpusetup/README.md"], "how it is written anew"
    workflow = form.files[".github/workflows/xpusetup.yml"]
    assert f"/{wanted.product.compiler} --version || :; python3 -VV" in workflow
    check, step = (form.files[f".github/xpusetup/{name}/{file}"] for file in ("check.sh", "steps/verify.smoke.sh"))
    assert f"command -v {wanted.product.compiler}" in check
    skips = [text.count("--skip collectives.two_ranks") for text in (check, step)]
    assert skips == [1, 1] if kit == "dpclang" else [0, 0]


def test_an_image_proves_what_its_tool_chain_has() -> None:
    form = form_of("dockerfile", "torch-2.13", "dpclang", os="ubuntu-26.04")
    assert "--skip collectives.two_ranks --skip models.infer_compiled" in form.files["entry.sh"].replace("\\\n", "")
    assert 'xpusetup.toolkit="dpclang 6.2"' in form.files["Dockerfile"]
    assert "gives up oneMKL on the GPU" in form.files["README.md"]
    old = form_of("dockerfile", "torch-2.13", "oneapi-2025.3")
    assert "intel-deep-learning-essentials-2025.3" in old.files["system/toolkit.sh"]
    assert "system/toolkit.sh" in old.files["Dockerfile"].rpartition("FROM ")[2]
    assert "--toolkit oneapi-2025.3: oneAPI 2025.3" in old.files["README.md"]
    with pytest.raises(UsageError) as caught:
        form_of("dockerfile", "torch-2.14", "dpclang")
    assert caught.value.fix.endswith("the open DPC++ 7.0: https://github.com/intel/llvm/releases")


def test_checks_that_a_tool_chain_cannot_pass_are_those_of_a_build_alone() -> None:
    profile = choose_toolkit(shipped("torch-2.13"), "dpclang")
    target = make_target(profile, seen(OPEN_6), device("xpu"), Request(), Settings())
    assert "collectives.two_ranks" in verify_options(target, profile)
    assert "collectives.two_ranks" not in verify_options(replace(target, toolkit=None), profile), "published wheels"
    assert lacks_collectives(profile, target) == "no XCCL with the open DPC++ 6.2.0"
    assert lacks_collectives(profile, replace(target, toolkit=None)) == ""


def test_the_steps_of_every_form_compile_with_it() -> None:
    build = render_shell(plan_of("torch-2.14", "dpclang", seen(OPEN_7)))["steps/torch.build.sh"]
    assert "export XPU_SYCL_COMPILER=dpclang" in build
    assert "TOOLKIT=/opt/dpc/bin/dpclang++" in build
    assert "icpx" not in build


def test_a_module_of_wheels_that_need_it() -> None:
    profile = choose_toolkit(shipped("torch-2.14"), "dpclang")
    for kit, path in ((OPEN_7, True), ({**OPEN_7, "root": "/usr", "compiler": "/usr/bin/dpclang++"}, False)):
        target = make_target(profile, seen(kit), device("xpu"), Request(), Settings())
        cell = Cell(name="a", profile=profile, plan=make_plan(profile, Request(), target, Layout()))
        texts = render_modules([cell], ModuleSettings())
        (text,) = (text for name, text in texts.items() if name.endswith(".lua"))
        assert "need the runtime of the open DPC++ 7.0.0 itself" in text
        assert "pytorch-xpu needs the runtime of the open DPC++ 7.0.0: begin a new shell" in text
        assert 'conflict("intel-oneapi"' in text, "two SYCL runtimes"
        assert ('prepend_path("LD_LIBRARY_PATH", "/opt/dpc/lib")' in text) == path


def test_what_the_open_compiler_says_of_itself() -> None:
    assert parse_compiler_version("DPC++ compiler 6.2.0 (https://github.com/intel/llvm 1234)\nTarget: x\n") == "6.2.0"


# What the ocloc of this machine knows.


def with_ocloc(*targets: str, **more: Any) -> Facts:
    return machine(toolkits={"found": [KIT], "ocloc": "/usr/bin/ocloc", "targets": list(targets) or None, **more})


@pytest.mark.parametrize(
    ("targets", "asked", "unknown"),
    [
        (("pvc", "bmg"), ("pvc", "bmg"), []),
        (("pvc", "bmg"), ("pvc", "ptl-h", "cri"), ["ptl-h", "cri"]),
        (("pvc", "bmg"), ("none",), []),
        (("pvc", "bmg"), ("20.1.0", "xe2-hpg", "gen12"), []),  # which the list need not have
        (("pvc", "xe-lpg"), ("xe2-hpg",), ["xe2-hpg"]),  # where it has such words it has all
        ((), ("pvc", "cri"), []),  # nothing could be asked
    ],
)
def test_unknown_targets(targets: tuple[str, ...], asked: tuple[str, ...], unknown: list[str]) -> None:
    assert unknown_targets(with_ocloc(*targets), asked) == unknown


def test_unknown_targets_of_a_machine_without_ocloc() -> None:
    assert unknown_targets(machine(toolkits={"found": [], "ocloc": None, "targets": None}), ("pvc",)) == []
    assert unknown_targets(machine(toolkits=None), ("pvc",)) == []


def test_a_plan_for_targets_that_ocloc_does_not_know() -> None:
    facts, profile = with_ocloc("pvc", "bmg"), shipped("torch-2.14")
    for arch, only, says in (
        (("pvc", "cri"), (), "/usr/bin/ocloc does not know cri: "),
        (("pvc",), (), ""),
        (("cri",), ("vision",), ""),  # no device code of its own
    ):
        request = Request(arch=arch, only=only, ready=("torch",) if only else ())
        target = make_target(profile, facts, device("xpu"), request, Settings())
        assert describe_targets(facts, make_plan(profile, request, target, Layout())).startswith(says)
        assert bool(describe_targets(facts, make_plan(profile, request, target, Layout()))) == bool(says)


def test_the_schema_for_editors_takes_one_and_several() -> None:
    schema: Any = make_schema().data
    kinds = schema["properties"]["toolkit"]["anyOf"]
    assert {each.get("type") for each in kinds} == {None, "null", "array"}
