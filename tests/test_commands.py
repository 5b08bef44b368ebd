"""What commands return for a root that lies there ready: no process is started, no network asked."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from data.machines import LAPTOP, machine
from data.profiles import shipped
from data.screens import BUILT, FAILED
from data.targets import OLD, SIM, TARGETS, plan_for
from xpusetup.base.document import to_json
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.base.model import ROOT, Layout, Request, Toolkit
from xpusetup.commands.build import TOLD, _remember
from xpusetup.commands.build_result import NO_NETWORK, BuildResult, _offline
from xpusetup.commands.emit import EmitOrder, emit
from xpusetup.commands.env import env
from xpusetup.commands.explain import GoingOn, StepWords, describe_failure, explain, known_signatures
from xpusetup.commands.plan import _row
from xpusetup.commands.profiles import ensure_locked
from xpusetup.commands.result import complete_result
from xpusetup.commands.status import status_of_one
from xpusetup.commands.tuning import choose_tuning, memory_per_job
from xpusetup.explain.explanation import explain as explain_chunks
from xpusetup.machine.probe_tools import ActivationChange
from xpusetup.plan.install import BUILD, INSTALL, Purpose
from xpusetup.run.keys import Status
from xpusetup.run.manifest import read_document
from xpusetup.run.preflight import failing, find_unreached, gate
from xpusetup.run.prepare import PreparedPlan, _say_private, parse_target
from xpusetup.run.root import Root, helper_files, lock_document, read_lock
from xpusetup.run.workspace import Where, Workspace, open_workspace
from xpusetup.system.files import hash_file, is_open_to_others
from xpusetup.system.process import run_process

if TYPE_CHECKING:
    from pathlib import Path

    from in_process import Program
    from xpusetup.base.model import Target


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.chdir(tmp_path)
    return open_workspace(Where(profile="sim"))


def make_root(workspace: Workspace) -> Path:
    """Make what a finished build of sim leaves behind, as far as commands look at it."""
    root = workspace.root
    for folder in ("venv/bin", "stamps", "wheels", "results"):
        (root / folder).mkdir(parents=True)
    (root / "venv/bin/python").touch()
    (root / "profile.lock.json").write_text(lock_document(workspace.profile, SIM, Layout(), {}))
    wheel = root / "wheels/simxpu-1.0.0-cp311.whl"
    wheel.write_text("a wheel")
    seen = wheel.stat()
    changed = f"{seen.st_mtime_ns // 10**9}.{seen.st_mtime_ns % 10**9:09d}"
    times = f"{seen.st_size} {changed} 1.000000000 1"
    (root / "stamps/simxpu.build").write_text(f"key\n{hash_file(wheel)} {times} {wheel}\n")
    (root / "stamps/venv").write_text("key\n")
    (root / "stamps/.venv.123").write_text("")
    proven = {"simxpu.build": [hash_file(wheel)]}
    document = {"schema": 1, "verified": True, "proven": proven, "failed": None}
    (root / "manifest.json").write_text(json.dumps(document))
    return root


def test_status(workspace: Workspace) -> None:
    root = make_root(workspace)
    result = status_of_one(Where(profile="sim"))
    assert (result.code, result.data.verified, result.data.damaged) == (0, True, {})
    assert result.data.skipped == ["simxpu.build", "venv"]
    assert [wheel.name for wheel in result.data.wheels] == ["simxpu"]
    assert result.data.wheels[0].path == str(root / "wheels/simxpu-1.0.0-cp311.whl")


LOST = f"""fatal: remote error: upload-pack: not our ref {"0" * 40}
xpusetup: cannot get {"0" * 40} of x from https://x.invalid: it has no such commit
  pin a commit that it has
"""


def test_advice_for_a_tree_that_the_build_fetches(workspace: Workspace, tmp_path: Path) -> None:
    """`git submodule sync` works where one stands: of a step's log its own last word is the advice."""
    logs = make_root(workspace) / "logs"
    logs.mkdir()
    for folder in (logs, tmp_path):
        (folder / "x.fetch.log").write_text(LOST)
    (of_step,), (of_others,) = (explain(str(folder / "x.fetch.log")).data.causes for folder in (logs, tmp_path))
    assert (of_step.id, of_step.fix, of_step.commands) == (of_others.id, "pin a commit that it has", [])
    assert of_others.commands[0] == "git submodule sync --recursive"


def test_the_name_of_a_build_stands_for_the_log_of_the_step_that_failed(workspace: Workspace) -> None:
    root = make_root(workspace)
    with pytest.raises(UsageError, match="no step of the build sim failed"):
        explain("sim")
    (root / "logs").mkdir()
    (root / "logs/x.fetch.log").write_text(LOST)
    (root / "failed").write_text("x.fetch\n")
    assert explain("sim").data.log == str(root / "logs/x.fetch.log")


def test_what_a_step_said_by_itself_is_told_whole(workspace: Workspace, tmp_path: Path) -> None:
    """Its advice was cut to the width of a screen among the last lines. Logs of others advise nothing by themselves."""
    logs = make_root(workspace) / "logs"
    logs.mkdir()
    fix = f"keep them elsewhere, then: git -C {'/long' * 40} checkout -- ."
    for folder in (logs, tmp_path):
        (folder / "x.fetch.log").write_text(f"+ x\nxpusetup: it holds changes of your own (setup.py)\n  {fix}\n")
    go_on = GoingOn(command="xpusetup build", reached=[0, 0], seconds=1)
    said = StepWords("it holds changes of your own (setup.py)", fix)
    assert describe_failure(Root(logs.parent), "x.fetch", go_on).said == said
    assert explain(str(logs / "x.fetch.log")).data.said == said
    assert explain(str(tmp_path / "x.fetch.log")).data.said is None


def test_the_command_that_a_step_names_is_one(workspace: Workspace) -> None:
    """It gets the options of the build, as every command that is advised."""
    log = make_root(workspace) / "logs/x.configure.log"
    log.parent.mkdir()
    log.write_text("+ x\nxpusetup: there is no SYCL\n  what is missing:\n    xpusetup doctor --for build\n")
    told = complete_result(explain(str(log)).data.said, {"--profile": ["sim"]})
    assert told == StepWords("there is no SYCL", "what is missing: xpusetup doctor sim --for build")


def test_a_build_is_not_advised_to_install_something_else(workspace: Workspace) -> None:
    """What it installs is pinned: `TMPDIR=DIR pip install NAME` mends nothing in it."""
    logs = make_root(workspace) / "logs"
    logs.mkdir()
    said = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n"
    (logs / "requirements.log").write_text(said)
    (cause,) = explain(str(logs / "requirements.log")).data.causes
    assert cause.commands
    assert not [line for line in cause.commands if "pip install" in line]


@pytest.mark.parametrize("proven", [None, {}, {"simxpu.build": ["0" * 64]}, {"torch.install": ["0" * 64]}, "x"])
def test_a_proof_is_of_what_was_verified(workspace: Workspace, proven: object) -> None:
    """As where the manifest of another root was put here, or one that says no hashes."""
    root = make_root(workspace)
    document = {"schema": 1, "verified": True, "proven": proven, "failed": None}
    (root / "manifest.json").write_text(json.dumps(document))
    result = status_of_one(Where(profile="sim"))
    assert (result.data.verified, result.data.void) == (None, True)


def test_a_proof_ends_with_a_change_that_set_the_times_back(workspace: Workspace) -> None:
    wheel = make_root(workspace) / "wheels/simxpu-1.0.0-cp311.whl"
    seen = wheel.stat()
    wheel.write_text("A wheel")
    os.utime(wheel, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    result = status_of_one(Where(profile="sim"))
    assert list(result.data.damaged) == ["simxpu.build"]
    assert (result.data.verified, result.data.void) == (None, True)
    assert result.data.wheels[0].intact is False


@pytest.mark.parametrize("change", ["missing", "changed", "touched"])
def test_status_sees_damage(workspace: Workspace, change: str) -> None:
    wheel = make_root(workspace) / "wheels/simxpu-1.0.0-cp311.whl"
    if change == "missing":
        wheel.unlink()
    elif change == "changed":
        wheel.write_text("another")
    else:
        os.utime(wheel, (1, 1))
    result = status_of_one(Where(profile="sim"))
    why = {"missing": f"{wheel} is missing", "changed": f"{wheel} was changed after it was made"}
    assert result.data.damaged == ({"simxpu.build": why[change]} if change in why else {})
    assert result.code == (1 if change in why else 0)


def test_environment_of_the_result(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_root(workspace)
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.setenv("PYTHONPATH", "/mine")
    monkeypatch.delenv("PYTHONHOME", raising=False)
    data = env(Where(profile="sim"), build=False).data
    assert data.set_ == {"VIRTUAL_ENV": str(root / "venv"), "PATH": f"{root}/venv/bin:/usr/bin"}
    assert data.unset == ["PYTHONPATH"]


def test_a_tool_chain_that_a_step_makes_is_switched_on_in_the_root(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, home = make_root(workspace), f"{ROOT}/toolkit"
    kit = Toolkit(provider="scripts", version="", root=home, compiler=f"{home}/bin/icpx", scripts=(f"{home}/env.sh",))
    (root / "profile.lock.json").write_text(lock_document(shipped("sim"), replace(SIM, toolkit=kit), Layout(), {}))
    monkeypatch.setattr("xpusetup.commands.env.capture", lambda kit: ActivationChange({"SOURCED": kit.scripts[0]}, ()))
    assert env(Where(profile="sim"), build=True).data.set_["SOURCED"] == f"{root}/toolkit/env.sh"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 2}', '{"schema": 1}', '{"schema": 1, "target": {"x": 1}}'])
def test_a_lock_that_cannot_be_used(workspace: Workspace, text: str) -> None:
    (make_root(workspace) / "profile.lock.json").write_text(text)
    with pytest.raises(NotReadyError, match="nothing is built in") as caught:
        status_of_one(Where(profile="sim"))
    assert caught.value.fix == "xpusetup build sim"


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_a_target_survives_the_lock(target: Target, tmp_path: Path) -> None:
    (tmp_path / "profile.lock.json").write_text(lock_document(shipped("sim"), target, Layout(), {}))
    assert parse_target((read_lock(Root(tmp_path)) or {})["target"]) == target


@pytest.mark.parametrize("program", ["git", "/usr/bin/git", "pip"])
def test_git_is_asked_about_the_tree_that_is_named(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a hook of git, or where a home is kept in git, variables name another repository: settings alone pass."""
    seen: dict[str, str] = {}

    def popen(*_: object, env: dict[str, str] | None, **__: object) -> None:
        seen.update(env or os.environ)
        raise FileNotFoundError

    given = {"GIT_DIR": "/x", "GIT_WORK_TREE": "/", "GIT_INDEX_FILE": "/i", "GIT_SSL_CAINFO": "/c"}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("subprocess.Popen", popen)
    kept = {"GIT_SSL_CAINFO"} if "git" in program else set(given)
    for asked in (None, given):
        seen.clear()
        assert run_process((program, "status"), seconds=1, env=asked).code is None
        assert seen.keys() & given.keys() == kept


def test_rows_of_a_plan_name_real_places() -> None:
    plan = plan_for("torch-2.5")
    text = json.dumps([to_json(_row(step, Status(step.id, "todo"), plan.target, "/r")) for step in plan.steps])
    assert "@ROOT@" not in text
    assert "/r/venv/bin/python" in text


def test_the_gate() -> None:
    workspace = open_workspace(Where(profile="torch-2.5"))
    assert [finding.id for finding in failing(workspace, machine(LAPTOP, tools=[]))] == [
        *("oneapi.compiler", "cc.gcc", "git.present"),
    ]
    with pytest.raises(NotReadyError) as caught:
        gate(workspace, machine(LAPTOP))
    assert caught.value.code == 3
    assert caught.value.message.splitlines()[0] == "this machine is not ready to build torch-2.5"
    assert "intel-for-pytorch-gpu-dev-0.5 intel-pti-dev-0.9" in caught.value.fix
    sim = open_workspace(Where(profile="sim"))
    gate(sim, machine(LAPTOP))
    alone = machine(LAPTOP, network={"routed": False})
    assert [finding.id for finding in find_unreached(sim, alone)] == ["net.git_reach"]  # plan tells it
    gate(sim, alone)  # what is fetched may be here, or come in a bundle


def tuned(monkeypatch: pytest.MonkeyPatch, workspace: Workspace, *, facts: Any, jobs: int = 0, word: str = "") -> Any:
    monkeypatch.setenv("MAX_JOBS", word)
    prepared = PreparedPlan(root=Root(workspace.root), plan=plan_for("sim"), scripts={}, identities={}, facts=facts)
    return choose_tuning(workspace, prepared, jobs).get("MAX_JOBS")


def test_jobs(monkeypatch: pytest.MonkeyPatch, workspace: Workspace) -> None:
    assert tuned(monkeypatch, workspace, facts=None) is None
    assert tuned(monkeypatch, workspace, facts=machine(LAPTOP)) == "2"
    assert tuned(monkeypatch, workspace, facts=machine(LAPTOP), word="7") == "7"
    assert tuned(monkeypatch, workspace, facts=machine(LAPTOP), word="7", jobs=3) == "3"


def test_a_guess_stands_until_all_that_compiles_was_measured(tmp_path: Path) -> None:
    where = Where(profile="torch-2.14", root=str(tmp_path))
    prepared = PreparedPlan(root=Root(tmp_path), plan=plan_for("torch-2.14"), scripts={}, identities={})
    compiling = [step.id for step in prepared.plan.steps if "compiler" in step.needs]
    record = {"time": 1, "seconds": 1, "state": "ran", "load": [2, 2 << 20, 1 << 20]}
    lines = [json.dumps({"step": name, **record}) for name in compiling]
    (tmp_path / "journal.jsonl").write_text(lines[0])
    workspace = open_workspace(where)
    assert memory_per_job(workspace, prepared) == workspace.profile.memory_per_job_gib * (1 << 30)
    (tmp_path / "journal.jsonl").write_text("\n".join(lines))
    assert memory_per_job(workspace, prepared) == 1 << 20


@pytest.mark.usefixtures("no_server")
def test_without_a_server_a_release_is_planned_with_its_guess(tmp_path: Path) -> None:
    """A branch is not: it has no commit."""
    said: list[str] = []
    new = Where(profile="torch-2.15", root=str(tmp_path / "new"))
    workspace = ensure_locked(open_workspace(new), said.append)
    assert (workspace.locked, workspace.profile) == (False, shipped("torch-2.15"))
    assert said[-1] == "git cannot read it; planned with the pins of torch-2.15, which are not confirmed"
    order = EmitOrder(places=(new,), request=Request(), options={})
    notes = emit("dockerfile", order, str(tmp_path / "out")).data.notes
    assert any("triton-xpu 3.9.0 is a guess" in note for note in notes)
    for other in (replace(new, profile="main"), replace(new, rev=("torch=v2.15.0",))):
        with pytest.raises(NotReadyError):
            ensure_locked(open_workspace(other), said.append)


def test_where_every_part_is_a_tree_of_the_users_own_no_server_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asked GitHub for branches of which nothing was built, and ended without a network."""
    asked: list[str] = []

    def answer(repo: str, *_asked: object) -> dict[str, str]:
        asked.append(repo)
        raise NotReadyError(f"{repo} is away", fix="")

    monkeypatch.setattr("xpusetup.commands.profiles.list_refs", answer)
    notes: list[str] = []
    workspace = open_workspace(Where(profile="main", root=str(tmp_path / "new")))
    same = ensure_locked(workspace, notes.append, own=("torch", "vision", "audio"))
    assert (same, asked) == (workspace, [])
    assert notes == [
        "audio, torch, vision are trees of your own, so that no branch is looked up; of the profile stay: triton 3.8.0"
    ]
    with pytest.raises(NotReadyError, match="unless each part is a tree of --source"):
        ensure_locked(workspace, own=("torch", "vision"))
    other = open_workspace(Where(profile="main", root=str(tmp_path / "new"), rev=("vision=main",)))
    with pytest.raises(NotReadyError):  # a revision that was asked for by name is found
        ensure_locked(other, own=("torch", "vision", "audio"))


def test_what_is_done_for_a_lock_is_no_note_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []
    said: list[str] = []

    def answer(repo: str, *_asked: object) -> dict[str, str]:
        raise NotReadyError(f"{repo} is away", fix="")

    monkeypatch.setattr("xpusetup.commands.profiles.list_refs", answer)
    new = Where(profile="torch-2.15", root=str(tmp_path / "new"))
    ensure_locked(open_workspace(new), notes.append, said.append)
    assert said == ["asking https://github.com/pytorch/pytorch for v2.15.0"]
    assert [text.partition(";")[0] for text in notes] == ["https://github.com/pytorch/pytorch is away"]


def test_helpers_travel() -> None:
    found = helper_files(shipped("sim"))
    assert {"helpers/step.sh", "helpers/verify_device.py", "helpers/simxpu/setup.py"} <= set(found)
    assert {"helpers/helperlib/git/store.py", "helpers/helperlib/fallbacks/messages.json"} <= set(found)
    assert not any("__pycache__" in name or "device_generic" in name for name in found)
    assert OLD.toolkit is not None


@pytest.mark.parametrize(("purpose", "form"), [(BUILD, ""), (INSTALL, " --from wheels")])
def test_a_failed_download_tells_the_way_without_a_network(workspace: Workspace, purpose: Purpose, form: str) -> None:
    asked = Request(only=("simxpu",), require_hashes=True)
    again = f"xpusetup {purpose.command} sim --only simxpu --require-hashes"
    log = iter([b"Failed to establish a new connection\n"])
    cause = explain_chunks(log, known_signatures(), failed=True).describe().causes[0]
    told = _offline(cause, workspace, asked, purpose.command, again)
    create, use = told.commands[-2:]
    assert create == f"xpusetup bundle create sim.tar --profile sim --only simxpu --require-hashes{form}"
    assert use == f"{again} --bundle sim.tar"
    assert "Where there is no network" in told.fix
    assert told.id in NO_NETWORK


def test_a_python_that_others_may_not_run_is_warned_of(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a cluster the Python of a build must not lie where the others cannot read, as in another's folder of 0700."""
    closed = tmp_path / "colleague"
    (closed / "bin").mkdir(parents=True)
    closed.chmod(0o700)
    monkeypatch.setattr("xpusetup.run.prepare.is_open_to_others", lambda path: path != closed)  # pytest's own is 0700
    facts = machine(LAPTOP, python={"executable": str(closed / "bin/python3.12")})
    assert not is_open_to_others(closed)
    shared = replace(workspace, root=tmp_path / "shared/sim")
    assert "--python PATH" in _say_private(shared, facts)
    assert not _say_private(replace(workspace, root=closed / "sim"), facts)
    built = tmp_path / "built"
    (built / "stamps").mkdir(parents=True)
    (built / "stamps/venv").touch()
    assert not _say_private(replace(workspace, root=built), facts)  # said when its environment was made
    assert not _say_private(shared, machine(LAPTOP, python={"executable": "/usr/bin/python3"}))


LACKING = {
    **LAPTOP,
    "tools": [],
    "network": {"routed": False},
    "python": {**LAPTOP["python"], "version": "3.6.8"},
}


@pytest.mark.parametrize(
    ("words", "goal", "among"),
    [
        ("torch-2.14", "build", "oneapi.compiler"),
        ("gaudi-1.24.1", "run", "py.version"),
        ("gaudi-1.24.1 --verify require", "run", "hw.intel_gpu_present"),
        ("sim", "build", "net.git_reach"),
    ],
)
def test_what_a_plan_calls_missing_is_shown_by_the_command_that_it_names(
    words: str, goal: str, among: str, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("xpusetup.run.preflight.probe_to_begin", lambda *_: machine(LACKING))
    monkeypatch.setattr("xpusetup.run.prepare.read_identities", lambda *_: {})
    monkeypatch.setattr("xpusetup.commands.plan.find_closed", lambda *_: "")
    (tmp_path / "facts.json").write_text(json.dumps(LACKING))
    told = program(f"plan {words} --json").document()["result"]
    assert told["fix"] == f"xpusetup doctor {words.split(maxsplit=1)[0]} --for {goal}"
    findings = program(f"{told['fix'].removeprefix('xpusetup ')} --facts facts.json --json").document()["result"]
    assert among in told["missing"]
    assert {*told["missing"]} <= {each["id"] for each in findings["findings"] if each["level"] == "fail"}


def test_a_build_that_leads_on_as_the_one_before_says_so(tmp_path: Path) -> None:
    """In the loop of a developer the same lines stood below every build."""
    root = Root(tmp_path)

    def run(data: BuildResult, *notes: str) -> BuildResult:
        return _remember(root, data, [*notes], read_document(root / TOLD))

    assert not run(BUILT, "of your tree").repeated
    assert run(replace(BUILT, seconds=3.0, ran=["vision.build"]), "of your tree").repeated
    assert read_document(root / TOLD)["notes"] == ["of your tree"]
    assert not run(FAILED).repeated
    assert read_document(root / TOLD)["notes"] == ["of your tree"]
    for other in (replace(BUILT, use="another"), replace(BUILT, wheels=BUILT.wheels[:1])):
        assert not run(other).repeated
