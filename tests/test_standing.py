"""What a root says of itself: its profile, how far it is, and never more than is so."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from data.profiles import shipped, small_text
from data.targets import SIM, TARGETS
from xpusetup.base.errors import NotReadyError, WorkFailedError
from xpusetup.base.model import Layout, Request
from xpusetup.base.text import render_age
from xpusetup.commands import verify
from xpusetup.commands.build import BuildOptions, render_options
from xpusetup.commands.build_result import describe_build
from xpusetup.commands.list import BuildList, glance, list_builds, list_of
from xpusetup.commands.recommend import way_of, with_builds
from xpusetup.commands.run import run_and_tell
from xpusetup.commands.status import WAY, BuildStatus, find_built, find_whole, must_be_installed, status, status_of_one
from xpusetup.commands.verify import VerifyOptions, find_subject
from xpusetup.config.request import read_request
from xpusetup.machine.facts import Facts
from xpusetup.plan.install import BUILD, INSTALL, Purpose
from xpusetup.run.builds import go_on
from xpusetup.run.guard import ReplacedPackage
from xpusetup.run.lock import describe_process
from xpusetup.run.manifest import read_proof
from xpusetup.run.prepare import PreparedPlan, write_prepared
from xpusetup.run.root import Root, lock_document, moved_from
from xpusetup.run.runner import RunOutcome
from xpusetup.run.workspace import LAST, ONLY, Where, open_built, open_workspace
from xpusetup.ui.list import _state
from xpusetup.verify import runner

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XPUSETUP_SYSROOT", str(tmp_path / "nothing"))
    monkeypatch.setattr("xpusetup.commands.list.measure", lambda _path: 1 << 20)  # it starts du
    return tmp_path


def make_root(path: Path, *, name: str = "sim", purpose: Purpose = BUILD, done: int = 0, **manifest: Any) -> Path:
    """Make what a run left that came as far as its first steps, `done` of them."""
    profile, target = shipped(name), TARGETS.get(name, SIM)
    steps = [step.id for step in purpose.make(profile, Request(), target, Layout()).steps]
    for folder in ("venv/bin", "stamps", "inputs", "logs", "results"):
        (path / folder).mkdir(parents=True)
    (path / "venv/bin/python").touch()
    for step in steps[:done]:
        (path / f"stamps/{step}").write_text("key\n")
    asked = {"command": purpose.command}
    known: dict[str, Any] = {"named": name, "rev": [], "steps": steps, "words": []}
    if path.parent.name == "xpusetup":  # the usual folder
        known["place"] = {"path": str(path), "name": "" if path.name == name else path.name}
    (path / "profile.lock.json").write_text(lock_document(profile, target, Layout(), asked, **known))
    if manifest:
        proven = read_proof(Root(path))
        said = {"schema": 1, "made_by": purpose.command, "proven": proven, **manifest}
        (path / "manifest.json").write_text(json.dumps(said))
    return path


def test_an_installation_that_failed_half_way(here: Path) -> None:
    root = make_root(here / "r", name="torch-2.14", purpose=INSTALL, done=7, failed="wheels.install", verified=None)
    wheel = root / "published/torch-2.14.1+xpu-cp311-cp311-linux_x86_64.whl"
    wheel.parent.mkdir()
    wheel.write_text("a wheel")
    seen = wheel.stat()
    changed = f"{seen.st_mtime_ns // 10**9}.{seen.st_mtime_ns % 10**9:09d}"
    (root / "stamps/torch.download").write_text(f"key\n{'0' * 64} {seen.st_size} {changed} 1.000000000 1 {wheel}\n")
    (root / "stamps/wheels.install").unlink(missing_ok=True)
    result = status_of_one(Where(root=str(root)))
    data = result.data
    assert (result.code, data.failed, data.made_by, data.verified) == (1, "wheels.install", "install", None)
    assert [(wheel.name, wheel.installed) for wheel in data.wheels] == [("torch", False)]
    assert "wheels.install" in data.left
    assert data.fix == f"xpusetup install torch-2.14 --root {root}"


def test_a_run_that_was_killed_before_its_manifest(here: Path) -> None:
    """The purpose and the steps are in the lock, which is written first."""
    data = status_of_one(Where(root=str(make_root(here / "r", name="torch-2.14", purpose=INSTALL, done=2)))).data
    assert (data.made_by, data.failed, data.left[0]) == ("install", None, "torch.download")


@pytest.mark.parametrize(("done", "left"), [(4, ["simxpu.fetch", "simxpu.build"]), (9, []), (10, [])])
def test_as_far_as_was_asked(here: Path, done: int, left: list[str]) -> None:
    root = make_root(here / "r", done=done, verified=True)
    workspace = open_workspace(Where(profile="sim", root=str(root)))
    plan = BUILD.make(workspace.profile, Request(until="torch.install"), SIM, Layout())
    prepared = PreparedPlan(root=Root(root), plan=plan, scripts={}, identities={})
    told = describe_build(workspace, prepared, RunOutcome(), Request(until="torch.install"))
    assert (told.left[:2], told.verified) == (left, None if left else True)
    assert told.go_on == f"xpusetup build sim --root {root}"
    assert told.only == []
    assert told.verify == f"xpusetup verify --profile sim --root {root}"
    assert status_of_one(Where(root=str(root))).data.left[:2] == left


@pytest.mark.parametrize("named", ["name", "root", "XPUSETUP_ROOT"])
def test_every_command_goes_on_with_all_that_was_asked(here: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    """One maker: the end of a build, status, verify, run and a command that names no build say the same."""
    (tree := here / "tree").mkdir()
    (tree / "setup.py").touch()
    where = {"name": Where(profile="sim", name="dev"), "root": Where(profile="sim", root="dev")}.get(named)
    if where is None:
        monkeypatch.setenv("XPUSETUP_ROOT", str(here / "other"))
    workspace = open_workspace(where or Where(profile="sim", name="dev"))
    given = "" if named == "name" else f" --root {workspace.root}"
    call = f"xpusetup build sim{given or ' --name dev'} --only simxpu"
    rest = f"--verify off --source simxpu={tree}:editable --jobs 3 --launcher none"
    request = read_request(only=["simxpu"], verify="off", source=[f"simxpu={tree}:editable"])
    make_root(workspace.root, done=1, failed="simxpu.install")
    plan = BUILD.make(workspace.profile, request, SIM, Layout())
    prepared = PreparedPlan(root=Root(workspace.root), plan=plan, scripts={}, identities={})
    write_prepared(workspace, request, prepared, tuned=render_options(BuildOptions(jobs=3, launcher="none")))
    assert go_on(prepared.root) == f"{call} {rest}"  # what failed was asked for alone
    assert go_on(prepared.root, whole=True) == f"{call} {rest}".replace(" --only simxpu", "")
    assert describe_build(workspace, prepared, RunOutcome(failed="x"), request).go_on == go_on(
        prepared.root, whole=True
    )
    told = status_of_one(Where(root=str(workspace.root))).data
    assert (told.failed, str(told.fix)) == ("simxpu.install", f"{call} {rest}")
    with pytest.raises(NotReadyError) as raised:
        must_be_installed(workspace, find_built(workspace))
    assert str(raised.value.fix).endswith(f"{call} {rest}")
    if named != "root":
        with pytest.raises(NotReadyError) as raised:
            open_built(Where())
        assert raised.value.fix == f"{call} {rest}"


def test_what_was_asked_for_alone_is_whole(here: Path) -> None:
    """`--only` leaves out what nobody asked for; `--until` with it stops on the way."""
    root = make_root(here / "r", done=4)
    workspace = open_workspace(Where(profile="sim", root=str(root)))
    for until, only in (("", ["simxpu"]), ("simxpu.build", [])):
        request = Request(only=("simxpu",), until=until)
        plan = BUILD.make(workspace.profile, request, SIM, Layout())
        prepared = PreparedPlan(root=Root(root), plan=plan, scripts={}, identities={})
        assert describe_build(workspace, prepared, RunOutcome(), request).only == only


def test_a_build_at_work(here: Path) -> None:
    root = make_root(here / "r", done=4, failed="simxpu.build", verified=True)
    (root / "lock").write_text(f"{describe_process(os.getpid())}\n")
    for step, when in {"simxpu.fetch": 0, "simxpu.build": 10}.items():
        (root / f"inputs/.begun.{step}").touch()
        (root / f"logs/{step}.log").touch()
        os.utime(root / f"logs/{step}.log", (2e9 + when, 2e9 + when))
    os.utime(root / "lock", (2e9 + 5, 2e9 + 5))
    result = status_of_one(Where(root=str(root)))
    assert (result.code, result.data.at_work, result.data.failed) == (0, ["simxpu.build"], None)
    assert result.data.verified is None
    (root / "venv/bin/python").unlink()
    (root / "stamps/venv").unlink()
    with pytest.raises(NotReadyError, match="a build is at work in") as caught:
        status_of_one(Where(root=str(root)))
    assert caught.value.fix == f"xpusetup status --profile sim --root {root} --log venv -f"


def test_an_interrupted_build_has_not_failed(here: Path) -> None:
    """Its manifest is of the run before, whose failure was repeated; the lock's owner lives no longer."""
    root = make_root(here / "r", done=8, failed="simxpu.build")
    (root / "lock").write_text("1 0 another\n")
    (root / "stamps/simxpu.build").unlink()
    (root / "steps").mkdir()
    (root / "steps/simxpu.install.sh").write_text("AFTER='simxpu.build'\n")
    (root / "inputs/.begun.simxpu.build").touch()
    (root / "logs/simxpu.build.log").touch()
    os.utime(root / "lock", (1e9, 1e9))
    result = status_of_one(Where(root=str(root)))
    assert (result.code, result.data.failed, result.data.interrupted) == (0, None, ["simxpu.build"])
    assert result.data.older == ["simxpu"]
    assert result.data.fix == f"xpusetup build sim --root {root}"


def test_scripts_that_were_killed_were_interrupted(here: Path) -> None:
    root = make_root(here / "r", done=8)
    (root / "unfinished").write_text("simxpu.build\n")
    data = status_of_one(Where(root=str(root))).data
    assert (data.failed, data.interrupted) == (None, ["simxpu.build"])


@pytest.mark.parametrize(("verified", "code"), [(True, 0), (None, 0), (False, 1)])
def test_a_failed_verification_ends_with_one(here: Path, *, verified: bool | None, code: int) -> None:
    done = 10 if verified else 9
    make_root(
        here / "roots/sim", done=done, failed=None if verified is not False else "verify.smoke", verified=verified
    )
    (here / "roots/sim/results/verify.json").write_text(json.dumps({"verified": verified}))
    assert status_of_one(Where(root=str(here / "roots/sim"))).code == code
    assert status(Where(root=str(here / "roots"))).code == code


def test_a_root_knows_its_profile(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_root(here / "r", done=9)
    (here / "xpusetup.toml").write_text('profile = "torch-2.5"\n')
    workspace = open_workspace(Where(root=str(root)))
    assert (workspace.profile.name, workspace.chosen_by) == ("sim", "--root")
    assert workspace.options == f"--profile sim --root {root}"
    assert open_workspace(Where(root=str(root), profile="torch-2.9")).profile.name == "torch-2.9"
    assert open_workspace(Where(root=str(here / "new"))).profile.name == "torch-2.5"
    monkeypatch.setenv("XPUSETUP_ROOT", str(here))
    by_name = open_workspace(Where(name="r"))
    assert (by_name.profile.name, by_name.chosen_by, by_name.root) == ("sim", "--name", root)


def test_a_root_knows_its_file_and_revisions(here: Path) -> None:
    file = here / "own.toml"
    file.write_text(small_text())
    asked = open_workspace(Where(profile="own.toml", root="r"))
    (here / "r").mkdir()
    known = {**asked.known, "rev": ["torch=main"]}
    (here / "r/profile.lock.json").write_text(lock_document(asked.profile, SIM, Layout(), {}, **known))
    again = open_workspace(Where(root="r"))
    assert (again.profile.name, again.revs) == (asked.profile.name, {"torch": "main"})
    assert open_workspace(Where(root="r", rev=("torch=v1",))).revs == {"torch": "v1"}
    file.unlink()  # it came from another machine, or is gone since
    assert open_workspace(Where(root="r")).profile == asked.profile


@pytest.fixture
def roots(here: Path) -> Path:
    """Give the folder of builds, in which one failed, one is half done and two are finished, `old` the earlier one."""
    parent = here / "data/xpusetup"
    make_root(parent / "torch-2.14", name="torch-2.14", purpose=INSTALL, done=7, failed="wheels.install")
    make_root(parent / "half", done=3)
    for name, when in {"old": 1e9, "sim": 1.1e9}.items():
        root = make_root(parent / name, done=9, failed=None)
        for path in (root / "manifest.json", *(root / "stamps").iterdir()):
            os.utime(path, (when, when))
    return parent


def test_the_build_that_was_finished_last_is_meant(roots: Path) -> None:
    """Never one that failed or is half done, though it is newer; and the user is told which one."""
    told: list[str] = []
    workspace = open_built(Where(say=told.append))
    assert (workspace.root, workspace.chosen_by) == (roots / "sim", LAST)
    assert told == ["sim, the build that was finished last"]
    os.utime(roots / "old/manifest.json")  # it was verified just now
    assert open_built(Where()).root == roots / "old"
    for place in ("sim/venv", "sim/venv/bin/python"):
        assert open_built(Where(into=str(roots / place))).root == roots / "sim"
    assert open_built(Where(name="half", say=told.append)).root == roots / "half"
    assert len(told) == 1


def test_no_build_is_finished(roots: Path) -> None:
    for name in ("old", "sim"):
        shutil.rmtree(roots / name)
    with pytest.raises(NotReadyError) as caught:
        open_built(Where())
    assert (
        caught.value.message
        == "not finished: half (to come: torch.install and 6 more), torch-2.14 (wheels.install failed)"
    )
    assert caught.value.fix == "xpusetup build sim --name half\nxpusetup install torch-2.14"


@pytest.mark.parametrize(("name", "named"), [("mine", "torch-2.6"), ("sim", "torch-2.6"), ("2.6", "torch-2.6")])
def test_the_command_that_goes_on_means_that_build(here: Path, name: str, named: str) -> None:
    """A build may have the name of another profile, and an environment that its name does not tell."""
    root = make_root(here / f"data/xpusetup/{name}", name=named, done=3)
    lock = json.loads((root / "profile.lock.json").read_text())
    env = here / "env"
    (env / "bin").mkdir(parents=True)
    (env / "bin/python").touch()
    layout = Layout(src=f"{here}/src", venv=str(env), adopted=True)
    (root / "profile.lock.json").write_text(
        json.dumps({**lock, "layout": asdict(layout), "words": ["--device", "processor"]})
    )
    with pytest.raises(NotReadyError, match="not finished") as caught:
        open_built(Where())
    words = shlex.split(caught.value.fix)
    assert words[-2:] == ["--device", "processor"]
    told = ("--profile", *words[2:-2]) if words[2] == named else words[2:-2]
    given: dict[str, Any] = {
        option.removeprefix("--").replace("-", "_"): value for option, value in zip(told[::2], told[1::2], strict=True)
    }
    again = open_workspace(Where(**given))
    assert (again.root, again.profile.name, again.layout) == (root, named, layout)


def test_a_build_whose_verification_failed_is_only_looked_at_and_verified(here: Path) -> None:
    root = make_root(here / "data/xpusetup/sim", done=9, failed="verify.smoke", verified=False)
    (root / "results/verify.json").write_text('{"verified": false}')
    assert open_built(Where(), failing=True).root == open_built(Where(), half=True).root == root
    with pytest.raises(NotReadyError, match=r"not finished: sim \(verify.smoke failed\)") as caught:
        open_built(Where())
    assert caught.value.fix == "xpusetup verify sim"


def test_a_build_of_one_component_is_finished_as_asked(here: Path) -> None:
    root = make_root(here / "data/xpusetup/dev", done=4)
    lock = json.loads((root / "profile.lock.json").read_text())
    with pytest.raises(NotReadyError, match="not finished"):
        open_built(Where())
    (root / "profile.lock.json").write_text(json.dumps({**lock, "words": ["--only", "torch"]}))
    assert open_built(Where()).root == root


@pytest.mark.parametrize("there", [True, False])
def test_a_build_from_a_bundle_goes_on_from_it_while_that_is_there(here: Path, there: bool) -> None:
    root = make_root(here / "data/xpusetup/sim", done=4)
    lock = json.loads((root / "profile.lock.json").read_text())
    (root / "profile.lock.json").write_text(
        json.dumps({**lock, "words": ["--verify", "off"], "bundle": f"{here}/a b.tar"})
    )
    if there:
        (here / "a b.tar").touch()
    again = "xpusetup build sim --verify off" + (f" --bundle '{here}/a b.tar'" if there else "")
    assert status_of_one(Where()).data.fix == again
    with pytest.raises(NotReadyError, match="not finished") as caught:
        open_built(Where())
    assert caught.value.fix == again


@pytest.mark.parametrize(("where", "place"), [(Where(), "data/xpusetup"), (Where(root="r"), "r")])
def test_where_nothing_is_built_no_release_is_named_that_nobody_named(here: Path, where: Where, place: str) -> None:
    with pytest.raises(NotReadyError) as caught:
        status(where)
    assert (caught.value.message, caught.value.fix) == (f"nothing is built in {here / place}", f"{WAY}xpusetup")
    with pytest.raises(NotReadyError) as caught:
        status(Where(profile="sim"))
    assert caught.value.fix == "xpusetup build sim"


def test_status_lists_several_and_shows_one(roots: Path) -> None:
    listed = status(Where())
    assert isinstance(listed.data, BuildList)
    assert [(row.name, row.state) for row in listed.data.builds] == [
        ("half", "half"),
        ("old", "done"),
        ("sim", "done"),
        ("torch-2.14", "failed"),
    ]
    assert all(row.bytes for row in listed.data.builds)
    assert (listed.code, list_builds().code) == (1, 0)
    for name in ("old", "sim", "torch-2.14"):
        shutil.rmtree(roots / name)
    shown = status(Where()).data
    assert isinstance(shown, BuildStatus)
    assert shown.left[0] == "torch.install"


def test_the_only_build_may_be_of_a_file(here: Path) -> None:
    parent = here / "data/xpusetup"
    make_root(parent / "own-1a2b3c4d", done=9)
    workspace = open_built(Where())
    assert (workspace.root, workspace.profile.name, workspace.chosen_by) == (parent / "own-1a2b3c4d", "sim", ONLY)


def test_nothing_is_advised_to_be_installed_into_a_systems_own_python(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "look_at", lambda _python: runner.SeenInterpreter((3, 12), torch=False))
    (here / "an env/bin").mkdir(parents=True)
    (here / "an env/bin/python3").touch()
    monkeypatch.setattr("xpusetup.commands.verify.check_folder", lambda path, *_told, **_more: path)
    for place, fix in (("/usr/bin/env", "xpusetup install"), ("an env/bin/python3", f"install --into '{here}/an env'")):
        with pytest.raises(NotReadyError) as caught:
            find_subject(Where(into=place), VerifyOptions())
        assert caught.value.fix.endswith(fix)


def test_nothing_is_computed_with_what_a_build_still_changes(here: Path) -> None:
    root = make_root(here / "r", done=3)
    workspace = open_workspace(Where(profile="sim", root=str(root)))
    assert find_whole(workspace).root == Root(root)  # it was stopped: what is there may be looked at
    (root / "lock").write_text(describe_process(os.getpid()))
    for step in ("torch.install", "verify.smoke"):
        (root / f"inputs/.begun.{step}").touch()
        (root / f"logs/{step}.log").touch()
    with pytest.raises(NotReadyError) as caught:
        find_whole(workspace)
    assert caught.value.message == f"a build is at work in {root}; to come: torch.install and 6 more"
    watch = f"xpusetup status --profile sim --root {root} --log torch.install -f"
    assert caught.value.fix == f"watch it: {watch}\nand when it has ended: the same command"
    assert caught.value.follows == watch


def test_verifying_at_the_end_of_a_build_changes_nothing(here: Path) -> None:
    root = make_root(here / "r", done=99)
    (root / "lock").write_text(describe_process(os.getpid()))
    (root / "inputs/.begun.verify.smoke").touch()
    (root / "logs/verify.smoke.log").touch()
    assert find_whole(open_workspace(Where(profile="sim", root="r"))).root == Root(root)


def test_a_build_that_stopped_is_gone_on_with_before_the_device_is_blamed(here: Path) -> None:
    root = make_root(here / "r", done=4)
    subject = find_subject(Where(profile="sim", root=str(root)), VerifyOptions())
    assert subject.left[0] == "simxpu.fetch"
    assert subject.go_on == f"xpusetup build sim --root {root}"
    assert find_subject(Where(profile="sim", root=str(make_root(here / "s", done=99))), VerifyOptions()).go_on == ""


def test_where_nothing_is_installed_nothing_is_verified(here: Path) -> None:
    root = make_root(here / "r", done=3)
    with pytest.raises(
        NotReadyError, match=r"nothing is installed yet in .*; to come: torch.install and 6 more"
    ) as caught:
        find_subject(Where(profile="sim", root=str(root)), VerifyOptions())
    assert caught.value.fix == f"go on: xpusetup build sim --root {root}"


def test_a_verification_says_its_level_and_what_it_took_before_it_begins(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    def run(*_told: object) -> runner.VerifierRun:
        said.append("begun")
        return runner.VerifierRun(None, 1, "that is all")

    monkeypatch.setattr(runner, "run_verifier", run)
    checks = [{"id": name, "seconds": seconds} for name, seconds in (("a", 60.5), ("b", 11.5), ("c", None))]
    seen = {"level": "smoke", "verified": True, "checks": checks}
    root = str(make_root(here / "r", done=99, verification=seen))
    for asked, first in (
        (VerifyOptions(), "verifying sim, level smoke; its checks took 1:12 last time"),
        (VerifyOptions(level="full"), "verifying sim, level full"),
        (VerifyOptions(only=("a",)), "verifying sim, level smoke"),
    ):
        with pytest.raises(WorkFailedError):
            verify.verify(Where(profile="sim", root=root), asked, said.append, said.append)
        assert said == [first, "begun"]
        said.clear()


def test_a_part_that_was_uninstalled_is_installed_before_anything_is_verified(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seventy checks failed in its place, and nothing said what to do."""
    root = make_root(here / "r", done=99)
    for name, now in (("torch", "2.13.0"), ("numpy", None), ("torch", None)):
        row = ReplacedPackage(name=name, was="2.13.0+cpu", now=now, when=None, by="", culprit="", why="")
        monkeypatch.setattr(verify, "list_replaced", lambda _root, row=row: [row])
        if (name, now) != ("torch", None):
            find_subject(Where(profile="sim", root=str(root)), VerifyOptions())
    with pytest.raises(NotReadyError, match=r"torch 2\.13\.0\+cpu is gone from the environment") as caught:
        find_subject(Where(profile="sim", root=str(root)), VerifyOptions())
    assert caught.value.fix == f"to install it again: xpusetup build sim --root {root}"


def test_the_way_sends_nobody_to_build_again_what_is_finished(roots: Path) -> None:
    found = with_builds(way_of(Facts(taken="2026-11-22")).data, glance())
    assert found.way is not None
    assert [row.name for row in found.builds] == ["half", "old", "sim", "torch-2.14"]
    told = [line for step in found.way.steps for line in step.commands]
    assert "xpusetup build sim" not in (*told, *found.way.commands)
    assert told, "what else there is to do stays"
    shutil.rmtree(roots)
    assert with_builds(way_of(Facts(taken="2026-11-22")).data, glance()) == way_of(Facts(taken="2026-11-22")).data


def test_what_follows_from_a_step_that_failed_is_to_come_too(here: Path) -> None:
    """Its stamp of before says nothing: it is done again."""
    root = make_root(here / "r", done=99, failed="simxpu.build", verified=None)
    (root / "stamps/simxpu.build").unlink()
    (root / "steps").mkdir()
    for step, after in {"simxpu.inspect": "simxpu.build", "simxpu.install": "simxpu.inspect torch.install"}.items():
        (root / f"steps/{step}.sh").write_text(f"STEP={step}\nAFTER={shlex.quote(after)}\n")
    data = status_of_one(Where(root=str(root))).data
    assert data.left == ["simxpu.build", "simxpu.inspect", "simxpu.install"]
    assert len(data.skipped) + len(data.left) == data.steps == 10
    (row,) = list_of("list", here).data.builds
    assert row.done == 7
    (root / "stamps/simxpu.build").write_text("key\n")
    (root / "stamps/verify.smoke").unlink()
    assert status_of_one(Where(root=str(root))).data.left == []


def test_a_build_that_never_ran_has_no_age(here: Path) -> None:
    make_root(here / "roots/sim")
    (row,) = list_of("list", here / "roots").data.builds
    assert (row.age_s, render_age(row.age_s)) == (None, "-")


def test_what_a_look_at_every_file_found_is_kept_until_it_is_mended(here: Path) -> None:
    """Its size and times are those of the stamp, so that nothing but its hash tells."""
    root = make_root(here / "r", done=99, verified=True)
    wheel = root / "wheel"
    wheel.write_text("damaged")
    seen = wheel.stat()
    times = " ".join(f"{time // 10**9}.{time % 10**9:09d}" for time in (seen.st_mtime_ns, seen.st_ctime_ns))
    line = f"{seen.st_size} {times} {seen.st_ino} {wheel}\n"
    (root / "stamps/simxpu.build").write_text(f"key\n{'0' * 64} {line}")
    where, why = Where(root=str(root)), {"simxpu.build": f"{wheel} was changed after it was made"}
    assert status_of_one(where).data.damaged == {}
    checked = status_of_one(where, check=True).data
    assert (checked.damaged, checked.fix) == (why, f"xpusetup build sim --root {root}")
    later = status_of_one(where).data
    assert (later.damaged, later.verified) == (why, None), "also without --check, and so for the next build"
    (root / "stamps/simxpu.build").write_text(f"key\n{hashlib.sha256(b'damaged').hexdigest()} {line}")
    assert status_of_one(where, check=True).data.damaged == {}
    assert status_of_one(where).data.damaged == {}


def test_nothing_is_called_damaged_while_a_build_is_at_work(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_root(here / "r", done=99)
    (root / "lock").write_text(describe_process(os.getpid()))
    monkeypatch.setattr("xpusetup.run.guard.find_altered_steps", lambda _root: {"torch.install": "is missing"})
    told = status_of_one(Where(root=str(root)), check=True).data
    assert (told.damaged, told.checked, told.at_work) == ({}, False, [])


def test_what_a_build_that_is_not_finished_left_is_named(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command would run the kernel of the build before in silence."""
    root, said = make_root(here / "r", done=99), list[str]()
    (root / "stamps/simxpu.build").unlink()
    (root / "steps").mkdir()
    (root / "steps/simxpu.install.sh").write_text("AFTER=simxpu.build\n")
    monkeypatch.setattr("xpusetup.commands.run.run_attached", lambda *_told, **_more: 0)
    where = Where(profile="sim", root=str(root), say=said.append)
    run_and_tell(where, ["python"])
    find_subject(where, VerifyOptions())
    words = f"the environment still holds simxpu of the build before; go on: xpusetup build sim --root {root}"
    assert said == [f"r is not finished: {words}"] * 2


@pytest.mark.parametrize(("ran", "held"), [(True, True), (False, True), (True, False)])
def test_an_interrupted_switch_to_editable_names_what_the_environment_holds(here: Path, ran: bool, held: bool) -> None:
    """Its one step takes its own stamp away, compiles for hours, and replaces the older package at the end."""
    root = make_root(here / "r", done=99)
    (root / "stamps/simxpu.install").unlink()
    name, state = "simxpu" if held else "other", "ran" if ran else "failed"
    (root / f"venv/lib/python3.11/site-packages/{name}-0.1.dist-info").mkdir(parents=True)
    (root / "journal.jsonl").write_text(json.dumps({"step": "simxpu.install", "state": state, "time": 1, "seconds": 1}))
    assert status_of_one(Where(root=str(root))).data.older == (["simxpu"] if ran and held else [])


def test_nothing_is_installed_yet_while_a_build_is_at_work(here: Path) -> None:
    root = make_root(here / "r", done=1)
    (root / "lock").write_text(describe_process(os.getpid()))
    with pytest.raises(NotReadyError) as caught:
        run_and_tell(Where(profile="sim", root=str(root)), ["python"])
    assert caught.value.message.startswith("a build is at work in ")
    assert caught.value.fix.startswith("watch it: xpusetup status ")


def test_a_list_says_in_which_step_a_build_was_interrupted(here: Path) -> None:
    root = make_root(here / "r", done=2)
    (root / "lock").write_text("1 0 gone\n")
    (root / "inputs/.begun.torch.fetch").touch()
    (root / "logs/torch.fetch.log").touch()
    (row,) = list_of("list", here).data.builds
    assert row.interrupted == ["torch.fetch"]
    assert _state(row) == "interrupted in torch.fetch, 2 of 10 steps"


def test_a_list_names_xpu_beside_a_torch_by_the_release_of_that(here: Path) -> None:
    root = make_root(here / "r", name="torch-2.6", done=1)
    assert [row.torch for row in list_of("list", here).data.builds] == ["2.6.0+xpu"]
    lock = json.loads((root / "profile.lock.json").read_text())
    (root / "profile.lock.json").write_text(json.dumps({**lock, "words": ["--only", "xpu", "--device", "processor"]}))
    assert [row.torch for row in list_of("list", here).data.builds] == ["2.6.0"]


def test_a_build_that_was_moved_says_that_it_is_done_again(here: Path) -> None:
    root = Root(make_root(here / "r", done=3))
    for step in ("venv", "requirements"):
        (root / f"inputs/{step}").write_text(f"script x\nroot {root}\n")
    assert moved_from(root) == ""
    (root / "inputs/venv").write_text("script x\nroot /old/place\n")
    assert moved_from(root) == "", "a part of it was done here"
    (root / "inputs/requirements").unlink()
    assert moved_from(root) == "/old/place"


def test_a_form_goes_on_by_its_own_script(here: Path) -> None:
    root = Root(make_root(here / "a b", done=3))
    (root / "build.sh").touch()
    assert go_on(root) == f"bash '{root}/build.sh'"
