"""What drives the builds of a matrix elsewhere, file by file, and the pairs that are refused."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from data.profiles import device, shipped
from data.targets import CPU, NEW, OLD, OLD_KIT, SIM, plan_for
from golden import hold
from xpusetup.base.errors import UsageError
from xpusetup.base.model import Layout, Request
from xpusetup.config.settings import ModuleSettings, Scheduler, merge_settings
from xpusetup.config.shipped import load_profile
from xpusetup.emit.github import Runners, render_github, render_keys
from xpusetup.emit.lmod import render_modules
from xpusetup.emit.matrix import Cell, make_places
from xpusetup.emit.script import fetched_late, fetching, render_shell
from xpusetup.emit.slurm import render_slurm
from xpusetup.machine.tables import target_table
from xpusetup.plan.install import make_install_plan
from xpusetup.plan.steps import make_plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.base.model import Plan

CELLS = tuple(Cell(name=name, profile=shipped(name), plan=plan_for(name)) for name in ("torch-2.5", "torch-2.14"))
SITE = """
[scheduler]
account = "proj"
partition = "cpu"
gpu_partition = "gpu"
gres = "gpu:pvc:1"
cpus = 32
time = "08:00:00"
modules = ["gcc/13.2"]
scratch = "/local/$USER"

[module]
conflicts = ["anaconda"]
requires = ["gcc/13.2"]
"""
SETTINGS = merge_settings([("site.toml", SITE)])


def moving() -> Cell:
    return Cell(name="main", profile=shipped("main"), plan=make_plan(shipped("main"), Request(), NEW, Layout()))


def published() -> Cell:
    profile = shipped("torch-2.14")
    return Cell(name="torch-2.14", profile=profile, plan=make_install_plan(profile, Request(), NEW, Layout()))


def drivers(texts: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if "/steps/" not in name or "extension" in name}


def test_slurm() -> None:
    hold("slurm", render_slurm(CELLS, SETTINGS.scheduler))


def test_slurm_asks_for_nothing_that_the_site_did_not_name() -> None:
    texts = render_slurm(CELLS[:1], Scheduler())
    assert "account" not in texts["build.sbatch"]
    assert "--gres=gpu:1" in texts["verify.sbatch"]
    assert "MODULES=()" in texts["common.sh"]


def test_slurm_asks_for_no_gpu_where_no_build_computes_on_one() -> None:
    """Verifications of a simulated device waited for a GPU that the cluster may not have."""
    sim = Cell(name="sim", profile=shipped("sim"), plan=make_plan(shipped("sim"), Request(), SIM, Layout()))
    jobs = ("verify.sbatch", "nodes.sbatch")
    alone, beside = (render_slurm(cells, Scheduler()) for cells in ([sim], [sim, CELLS[1]]))
    assert ["--gres" in alone[job] for job in jobs] == [False, False]
    assert ["--gres=gpu:1" in beside[job] for job in jobs] == [True, True]
    assert "--gres=gpu:2" in render_slurm([sim], Scheduler(gres="gpu:2"))["verify.sbatch"]  # the site says so


def test_a_verification_asks_for_what_it_needs() -> None:
    """It asked for no memory and no cores, and got what the cluster gives to who asks for nothing."""
    texts = render_slurm(CELLS[1:], Scheduler(gres="gpu:2", verify_cpus=2, verify_memory_gib=8))
    assert "--cpus-per-task=2\n#SBATCH --mem=8G\n" in texts["verify.sbatch"]
    assert "--cpus-per-task=2\n#SBATCH --mem=16G\n" in texts["nodes.sbatch"]  # two ranks
    assert "--job-name=verify-torch-2.14\n" in texts["verify.sbatch"]
    assert "--job-name=build\n" in render_slurm(CELLS, Scheduler())["build.sbatch"]


@pytest.mark.parametrize("partition", ["", "gpu"])
def test_limits_of_a_submission_are_those_of_its_builds(partition: str) -> None:
    """SBATCH_TIMELIMIT=20:00:00, as the README advises, reached verifications too."""
    text = render_slurm(CELLS[1:], Scheduler(gpu_partition=partition))["submit.sh"]
    assert text.count("$(sbatch --") == 1
    assert text.count("$(later --") == 3
    unset = text.partition("later() {")[2].partition("}")[0]
    assert "-u SBATCH_TIMELIMIT" in unset
    assert ("-u SBATCH_PARTITION" in unset) == bool(partition)


def test_slurm_asks_for_a_rank_for_each_device() -> None:
    text = render_slurm(CELLS[1:], Scheduler(gres="gpu:pvc:4", nodes=3))["nodes.sbatch"]
    assert [f"--{word}" in text for word in ("nodes=3", "ntasks=12", "ntasks-per-node=4", "array=0")] == [True] * 4
    for gres in ("", "gpu", "gpu:pvc"):
        assert "--ntasks=2\n" in render_slurm(CELLS[1:], Scheduler(gres=gres))["nodes.sbatch"]


@pytest.mark.parametrize(
    ("gres", "devices"),
    [("gpu:pvc:2,lscratch:800", 2), ("nvme:100,gpu:4", 4), ("gpu:a:2,gpu:b:1", 3), ("xpu:3", 3), ("gpu,nic:8", 1)],
)
def test_slurm_counts_devices_among_whatever_else_a_node_is_asked_for(gres: str, devices: int) -> None:
    text = render_slurm(CELLS[1:], Scheduler(gres=gres))["nodes.sbatch"]
    assert f"--ntasks-per-node={devices}\n" in text


def test_slurm_on_one_node_has_no_job_over_several() -> None:
    alone = render_slurm(CELLS, Scheduler(nodes=1))
    assert not [name for name in alone if "nodes" in name]
    assert "nodes.sbatch" not in alone["submit.sh"]


def test_slurm_where_no_torch_has_collectives() -> None:
    texts = render_slurm(CELLS[:1], Scheduler())  # 2.5 has no XCCL
    assert not [name for name in texts if "nodes" in name]
    assert "no XCCL" in texts["README.md"]


def test_slurm_scratch_of_the_site_for_all_sources_needs_no_other() -> None:
    profile = shipped("sim")
    cell = Cell(name="sim", profile=profile, plan=make_plan(profile, Request(), SIM, Layout(src="/lustre/sim")))
    assert """printf '%s\\n' ""; }""" in render_slurm([cell], SETTINGS.scheduler)["common.sh"]


def test_module() -> None:
    texts = render_modules(CELLS, SETTINGS.module)
    hold("module", {name.replace(".py", ".py.txt"): text for name, text in texts.items()})


def test_a_stack_in_every_form() -> None:
    """Its module has its own name, beside that of the torch that it stands on; jobs and workflows run all its steps.

    What is the same for every build is held above.
    """
    profile = load_profile("stack-cpu")
    cell = Cell(name=profile.name, profile=profile, plan=make_plan(profile, Request(), CPU, Layout()))
    module = render_modules([cell], SETTINGS.module)
    slurm = render_slurm([cell], SETTINGS.scheduler)
    github = drivers(render_github([cell], Runners(label="big")))
    texts = {f"module/{name.replace('.py', '.py.txt')}": text for name, text in module.items()}
    texts |= {
        f"slurm/{name}": text for name, text in slurm.items() if name.startswith("stack-cpu/") and "/steps/" not in name
    }
    texts |= {
        f"github/{name.removeprefix('.github/')}": text
        for name, text in github.items()
        if name.endswith((".yml", "keys"))
    }
    texts |= {name: text for name, text in render_shell(cell.plan).items() if name.endswith("build.sh")}
    hold("stack", texts)


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        (plan_for("torch-2.14"), """'the wheels are in '"$ROOT"/wheels"""),
        (published().plan, """'it is installed in '"$ROOT"/venv"""),
        (replace(plan_for("sim"), steps=plan_for("sim").steps[-2:]), """'it is installed in '"$ROOT"/venv"""),
        (replace(plan_for("sim"), steps=plan_for("sim").steps[:1]), "'done: venv is the last step here'"),
    ],
)
def test_a_build_ends_with_what_is_true(plan: Plan, says: str) -> None:
    assert render_shell(plan)["build.sh"].endswith(f"\nROOT=$PWD\necho {says}\n")


@pytest.mark.parametrize("request_", [Request(only=("torch",)), Request(until="torch.fetch")])
def test_a_module_of_a_part_is_refused(request_: Request) -> None:
    part = replace(CELLS[0], plan=make_plan(CELLS[0].profile, request_, OLD, Layout()))
    with pytest.raises(UsageError, match="a module holds the whole of a profile"):
        render_modules([part], ModuleSettings())


def test_modules_of_the_same_version_are_told_apart() -> None:
    cells = [replace(CELLS[0], name=name) for name in ("pvc", "bmg")]
    names = [name for name in render_modules(cells, ModuleSettings()) if name.startswith("modulefiles/")]
    assert names == ["modulefiles/pytorch-xpu/2.5.1+xpu-pvc.lua", "modulefiles/pytorch-xpu/2.5.1+xpu-bmg.lua"]


def test_github_from_wheels() -> None:
    hold("github-wheels", drivers(render_github([published()], Runners(extension="acme"))))


def test_github_from_source() -> None:
    again = ("xpusetup", "emit", "github", "--profile", "main")
    hold("github-source", drivers(render_github([moving()], Runners(label="big", gpu_label="arc", again=again))))


@pytest.mark.parametrize("runners", [Runners(extension="acme"), Runners(label="big", gpu_label="arc")])
def test_actions_are_pinned_and_nothing_is_left_to_fill_in(runners: Runners) -> None:
    text = render_github(CELLS, runners)[".github/workflows/xpusetup.yml"]
    used = re.findall(r"uses: (.*)", text)
    assert len(used) >= 7
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", each) for each in used)
    assert not re.search(r"@[A-Z_]+@", text)
    assert "secrets." not in text


def test_a_label_is_text_in_yaml_and_a_machine_with_a_device_gets_its_python_too() -> None:
    text = render_github(CELLS, Runners(label="1.10", gpu_label="true"))[".github/workflows/xpusetup.yml"]
    assert 'runs-on: "1.10"' in text
    assert 'runs-on: [self-hosted, "true"]' in text
    assert text.count("actions/setup-python@") == 2


def test_what_a_repository_ignores_is_committed_all_the_same() -> None:
    """The usual .gitignore of a Python project leaves out `env/` and `lib/`: a helper lies in a folder of that name."""
    texts = render_github(CELLS[:1], Runners(label="big"))
    lines = texts[".github/xpusetup/.gitignore"].splitlines()
    assert lines[0] == "!*"
    assert {"/*/venv", "/*/ccache", "__pycache__/"} < set(lines[1:])
    assert texts[".github/xpusetup/.gitattributes"].startswith("* -text ")


def test_a_key_follows_from_the_scripts_before_it() -> None:
    first, *_ = CELLS
    changed = make_plan(first.profile, Request(set=(("vision", "USE_CUDA", "1"),)), OLD, Layout())
    before, after = (dict(line.split() for line in render_keys(plan).splitlines()) for plan in (first.plan, changed))
    assert before["torch.build"] == after["torch.build"]
    assert {name for name in before if before[name] != after[name]} >= {"vision.build", "vision.install", "guard"}


def test_what_is_fetched_before_and_after_the_first_compile() -> None:
    steps = CELLS[1].plan.steps
    assert fetching(steps) >= {"venv", "requirements", "torch.fetch", "triton.fetch", "vision.fetch", "audio.fetch"}
    assert not fetching(steps) & {"torch.build", "torch.install", "runtime"}
    assert fetched_late(steps) == {"runtime"}
    assert fetched_late(CELLS[0].plan.steps) == set()


def places(profiles: Sequence[str], pythons: Sequence[str] = (), archs: Sequence[str] = ()) -> list[str]:
    named = [(name, shipped(name)) for name in profiles]
    return [each.name for each in make_places(named, pythons, [tuple(one.split(",")) for one in archs], target_table())]


def test_cells_are_named_by_what_tells_them_apart() -> None:
    assert places(["torch-2.5"]) == ["torch-2.5"]
    assert places(["torch-2.5", "sim"], ["3.11"]) == ["torch-2.5", "sim"]
    assert places(["sim"], ["3.11", "3.12", "3.11"]) == ["sim-py3.11", "sim-py3.12"]
    assert places(["torch-2.14"], [], ["pvc", "pvc,bmg"]) == ["torch-2.14-pvc", "torch-2.14-pvc+bmg"]


@pytest.mark.parametrize(
    ("words", "says", "fix"),
    [
        ((["torch-2.5"], ["3.11", "3.14"]), "torch-2.5 cannot be built for Python 3.14", "torch-2.5-py3.11"),
        ((["torch-2.5", "torch-2.14"], [], ["bmg"]), "torch-2.5 cannot be compiled for bmg", ": torch-2.14"),
        ((["torch-2.5"], ["3.14"]), "cannot be built for Python 3.14", "name one of these: 3.10, 3.11, 3.12"),
        ((["sim"], [], ["pvc"]), "sim has no list of device targets", "what it takes: xpusetup profiles show sim"),
    ],
)
def test_impossible_pairs(words: tuple[list[str], ...], says: str, fix: str) -> None:
    with pytest.raises(UsageError) as caught:
        places(*words)
    assert says in caught.value.message
    assert caught.value.fix.endswith(fix)


def test_another_spelling_of_a_target_and_one_that_no_table_has() -> None:
    assert places(["torch-2.5"], [], ["dg2-g10", "12.55.8"]) == ["torch-2.5-dg2-g10", "torch-2.5-12.55.8"]
    with pytest.raises(UsageError, match=r"'xe9-future' is not a known device target; targets of torch-2\.5: pvc"):
        places(["torch-2.5"], [], ["dg2-g10", "xe9-future"])


def test_two_profiles_of_one_name() -> None:
    with pytest.raises(UsageError, match="would both lie in the folder sim"):
        make_places([("sim", shipped("sim")), ("other/sim.toml", shipped("sim"))], [], [], target_table())


@pytest.mark.parametrize(
    "text",
    [
        'account = "a b"',
        'scratch = "$(rm x)"',
        'scratch = "/a/${}"',
        'scratch = "/a/${b"',
        'scratch = "/$"',
        'modules = ["a; b"]',
        "cpus = 0",
    ],
)
def test_a_site_file_writes_no_commands_into_jobs(text: str) -> None:
    with pytest.raises(UsageError):
        merge_settings([("site.toml", f"[scheduler]\n{text}\n")])


def test_devices_without_a_toolkit_declare_no_conflict_with_one() -> None:
    sim = Cell(name="sim", profile=shipped("sim"), plan=make_plan(shipped("sim"), Request(), SIM, Layout()))
    text = render_modules([sim], ModuleSettings())["modulefiles/pytorch-simxpu/2.13.0+cpu.lua"]
    assert device("simxpu").name in text
    assert "oneapi" not in text


def test_a_toolkit_from_modules_is_loaded_as_a_module() -> None:
    prelude = ("source /etc/profile.d/modules.sh", "module load oneapi/2024.1 pti")
    kit = replace(OLD_KIT, provider="modules", scripts=(), prelude=prelude)
    profile = shipped("torch-2.5")
    plan = make_plan(profile, Request(), replace(OLD, toolkit=kit), Layout())
    (text,) = (
        text
        for name, text in render_modules([Cell(name="a", profile=profile, plan=plan)], ModuleSettings()).items()
        if name.endswith(".lua")
    )
    assert 'depends_on("oneapi/2024.1")\ndepends_on("pti")' in text
    assert "source_sh" not in text
    assert "SETVARS_COMPLETED" not in text, "it is the toolkit that these wheels need"


def ascend() -> Cell:
    profile, scripts = shipped("ascend-2.12"), ("/usr/local/Ascend/ascend-toolkit/set_env.sh", "/opt/a b/set_env.sh")
    target = replace(CPU, accelerator="npu", scripts=scripts)
    return Cell(name="ascend", profile=profile, plan=make_plan(profile, Request(), target, Layout()))


def test_a_module_switches_on_what_the_devices_libraries_need_and_conflicts_with_none_of_it() -> None:
    text = render_modules([ascend()], ModuleSettings())["modulefiles/pytorch-npu/2.12.0+cpu.lua"]
    assert 'conflict("cuda", "rocm")\n' in text
    assert 'if isFile("/usr/local/Ascend/ascend-toolkit/set_env.sh") then\n  source_sh("bash", "/usr/local/' in text
    assert 'elseif isFile("/opt/a b/set_env.sh") then\n  source_sh("bash", "\'/opt/a b/set_env.sh\'")\nend\n' in text


def test_a_plan_of_ready_wheels_alone_is_verified_from_where_it_puts_them() -> None:
    check = render_github([ascend()], Runners(label="big"))[".github/xpusetup/ascend/check.sh"]
    assert "install --quiet --no-deps --no-index wheels/*.whl" in check
    assert "install_published.py" not in check
    assert check.index("set_env.sh") < check.index("helpers/verify_device.py")


def test_what_kinds_of_profiles_verify_on_what() -> None:
    texts = render_github([published()], Runners())
    check = texts[".github/xpusetup/torch-2.14/check.sh"]
    assert "helpers/install_published.py --wheels" in check
    assert "helpers/requirements/published-" in check
    built = render_github(CELLS[:1], Runners(label="big"))[".github/xpusetup/torch-2.5/check.sh"]
    assert "helpers/pinned_wheels.py install --requirements" in built
    assert "helpers/requirements/build-" in built
    assert "pip --disable-pip-version-check install --quiet --no-deps --no-index wheels/*.whl" in built
    assert "source /opt/intel/oneapi/pytorch-gpu-dev-0.5/oneapi-vars.sh" in built
