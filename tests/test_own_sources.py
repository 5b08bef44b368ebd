"""Source trees and patches of the user's own: what they change in a plan, and when its steps are done."""

from __future__ import annotations

import importlib
import json
import os
import shutil
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from data.profiles import shipped
from data.targets import plan_for
from xpusetup.base.errors import UsageError
from xpusetup.base.model import Patch, Plan, Request, Step
from xpusetup.commands.result import complete_result
from xpusetup.config.request import find_patches, find_sources, read_request, render_request
from xpusetup.emit.script import render_scripts
from xpusetup.plan.component import other_forms
from xpusetup.run.keys import OWN, RootState, Stamp, make_statuses
from xpusetup.run.root import Root
from xpusetup.run.trees import check_trees, describe_newer, find_newer, keep_trees
from xpusetup.run.workspace import Where, open_workspace

if TYPE_CHECKING:
    from pathlib import Path

build_target: Any = importlib.import_module("build_target")
own_source: Any = importlib.import_module("own_source")
install_editable: Any = importlib.import_module("install_editable")

TORCH, OPS = ("torch", "/home/me/pytorch"), ("torch-xpu-ops", "/home/me/torch-xpu-ops")
PATCH = Patch(source="torch-xpu-ops", file="/home/me/fix flash.patch", text="--- a\n")


def steps(**asked: object) -> dict[str, Step]:
    plan = plan_for("torch-2.14", replace(Request(), **asked))  # type: ignore[arg-type]
    return {step.id: step for step in plan.steps}


def words(step: Step) -> str:
    return "\n".join(" ".join(argv) for argv in step.run)


def test_a_tree_of_ones_own_is_neither_fetched_nor_emptied() -> None:
    seen = steps(sources=(TORCH,))
    fetch, build = seen["torch.fetch"], seen["torch.build"]
    assert "fetch_source.py --repo https://github.com/pytorch/pytorch" not in words(fetch)
    assert words(fetch).endswith("own_source.py --tree /home/me/pytorch --out @ROOT@/results/torch.source.json")
    assert all("--keep" in " ".join(argv) for argv in fetch.run[:-1])  # what configure would fetch, where it lacks
    assert "fresh_build.py" not in words(build)
    assert (build.cwd, build.source_date_from, build.always) == (TORCH[1], TORCH[1], True)
    assert "rm -rf @ROOT@/src/torch.wheel" in words(build)
    assert "/home/me/pytorch." not in words(build) + words(seen["torch.configure"])  # nothing is put beside it
    assert "--build-folder /home/me/pytorch" in words(seen["torch.inspect"])


def test_a_vendored_tree_of_ones_own_is_linked() -> None:
    seen = steps(sources=(OPS,))
    link = f"own_source.py --tree {OPS[1]} --link @ROOT@/src/torch/third_party/torch-xpu-ops"
    assert link in words(seen["torch.fetch"])
    assert not any("torch-xpu-ops" in path for path in seen["torch.fetch"].makes)
    assert (seen["torch.fetch"].always, seen["torch.build"].always) == (False, True)
    assert seen["torch.configure"].protected_trees == seen["torch.build"].protected_trees == (OPS[1],)


def test_other_components_are_as_they_were() -> None:
    own, plain = steps(sources=(TORCH, OPS)), steps()
    assert {name for name in plain if own[name] != plain[name]} == {
        "torch.fetch",
        "torch.configure",
        "torch.build",
        "torch.inspect",
    }


def test_git_is_held_in_the_scripts() -> None:
    plan = plan_for("torch-2.14", Request(sources=(TORCH, OPS)))
    text = render_scripts(plan)["steps/torch.build.sh"]
    assert "\nALWAYS=1\n" in text
    assert f"\nhold_git {TORCH[1]} {OPS[1]}\n" in text
    assert "ALWAYS" not in render_scripts(plan)["steps/vision.build.sh"]


def test_patches_follow_what_they_patch() -> None:
    step = steps(patches=(PATCH, replace(PATCH, source="torch", file="/p/a.patch")))["torch.fetch"]
    (first,) = (number for number, argv in enumerate(step.run) if "/patches/torch-a-" in argv[-1])
    (second,) = (number for number, argv in enumerate(step.run) if argv[-1] == f"@ROOT@/helpers/patches/{PATCH.name}")
    assert "fetch_source.py" in step.run[first - 1][1]
    assert step.run[second][-2] == "@ROOT@/src/torch/third_party/torch-xpu-ops"
    assert step.run[second - 1][-1] == step.run[second][-2]
    assert step.title.endswith(", 2 patches")


def test_a_patch_for_ones_own_tree_is_refused() -> None:
    with pytest.raises(UsageError, match="is a tree of your own"):
        steps(sources=(OPS,), patches=(PATCH,))


@pytest.mark.parametrize(
    "asked", [{"sources": (("onednn", "/x"),)}, {"patches": (replace(PATCH, source="onednn"),)}], ids=["tree", "patch"]
)
def test_what_the_build_clones_at_a_commit_takes_no_change(asked: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="torch clones onednn at a commit when it is built, and sees no change"):
        steps(**asked)


@pytest.mark.parametrize("own", [(), (TORCH,)], ids=["fetched", "own"])
def test_git_is_led_to_what_was_fetched_in_every_step_that_compiles_torch(own: tuple[tuple[str, str], ...]) -> None:
    """In none that has the network: there a user's own settings hold."""
    tree = TORCH[1] if own else "@ROOT@/src/torch"
    seen = steps(sources=own)
    for name in ("torch.configure", "torch.build"):
        env = dict(seen[name].env)
        settings = {
            env[f"GIT_CONFIG_VALUE_{number}"]: env[f"GIT_CONFIG_KEY_{number}"]
            for number in range(int(env["GIT_CONFIG_COUNT"]))
        }
        assert (settings.pop("always"), settings.pop("false")) == ("protocol.file.allow", "clone.rejectShallow")
        owners = ("https://github.com/uxlfoundation/oneDNN", "https://github.com/oneapi-src/oneDNN")
        named = {f"{owner}{ending}" for owner in owners for ending in ("", ".git")}
        assert settings == dict.fromkeys(named, f"url.{tree}/third_party/onednn.insteadOf")
    others = [step for step in seen.values() if step.id not in {"torch.configure", "torch.build"}]
    assert all("GIT_CONFIG_COUNT" not in dict(step.env) for step in others)


@pytest.mark.parametrize("asked", [{"sources": (("nosuch", "/x"),)}, {"patches": (replace(PATCH, source="audi"),)}])
def test_what_is_no_source_is_refused(asked: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="has no source"):
        steps(**asked)


def test_the_same_again() -> None:
    request = Request(sources=(TORCH,), patches=(PATCH,))
    assert render_request(request) == (
        "--source",
        "torch=/home/me/pytorch",
        "--patch",
        "torch-xpu-ops=/home/me/fix flash.patch",
    )


class Shelf:
    """A plan of three steps whose first one works in a tree of the user's own; all of them have stamps."""

    def __init__(self) -> None:
        chain = (Step(id="a", title="", run=(), always=True), Step(id="b", title="", run=(), after=("a",)))
        self.steps = (*chain, Step(id="c", title="", run=(), after=("b",)))
        self.scripts = {step.id: step.id for step in self.steps}
        self.stamps: dict[str, Stamp] = {}
        for step in self.steps:
            self.stamps[step.id] = Stamp(self.key(step), ())

    def seen(self) -> RootState:
        return RootState(root="/r", scripts=self.scripts, stamps=self.stamps, identities={}, damaged={})

    def key(self, step: Step) -> str:
        from xpusetup.run.keys import current_key  # noqa: PLC0415 - a name of its own below

        return current_key(step, self.seen())

    def states(self) -> list[tuple[str, str]]:
        return [(status.state, status.why) for status in make_statuses(self.steps, self.seen())]


def test_what_follows_is_done_as_long_as_nothing_came_of_it() -> None:
    shelf = Shelf()
    assert shelf.states() == [("stale", OWN), ("done", ""), ("done", "")]
    shelf.stamps["a"] = Stamp("another", ())
    assert [state for state, _ in shelf.states()] == ["stale", "stale", "stale"]


def test_words_of_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "tree/.git").mkdir(parents=True)
    (tmp_path / "a.patch").write_text("--- a\n+++ b\n")
    assert find_sources([f"torch={tmp_path}/tree"]) == (("torch", f"{tmp_path}/tree"),)
    (patch,) = find_patches([f"torch={tmp_path}/a.patch"])
    assert (patch.source, patch.file, patch.text) == ("torch", f"{tmp_path}/a.patch", "--- a\n+++ b\n")
    assert patch.name == f"torch-a-{patch.digest}.patch"
    (tmp_path / "a.patch").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="is not UTF-8"):
        find_patches([f"torch={tmp_path}/a.patch"])
    (tmp_path / "a.patch").write_bytes(b"\n")
    with pytest.raises(UsageError, match="is empty"):
        find_patches([f"torch={tmp_path}/a.patch"])


def test_what_is_no_tree_is_told_for_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "tree/.git").mkdir(parents=True)
    for name in ("HEAD", "objects", "refs"):
        (tmp_path / "bare.git" / name).mkdir(parents=True)
    cases = {
        "https://me:secret@example.org/a/b": ("is an address", "git clone --recurse-submodules https://"),
        "git@example.org:a/b": ("is an address", "git clone --recurse-submodules git@example.org:a/b DIR"),
        f"{tmp_path}/tree:editble": ("':editble' is nothing", f"--source torch={tmp_path}/tree:editable"),
        f"{tmp_path}/gone": (f"there is no folder {tmp_path}/gone", "--source torch=DIR"),
        f"{tmp_path}/bare.git": ("is a bare repository", f"git clone --recurse-submodules {tmp_path}/bare.git DIR"),
    }
    for folder, (said, fix) in cases.items():
        with pytest.raises(UsageError) as raised:
            find_sources([f"torch={folder}"])
        assert said in raised.value.message
        assert fix in raised.value.fix
        assert "secret" not in f"{raised.value.message} {raised.value.fix}"
    with pytest.raises(UsageError, match="names torch twice"):
        find_sources([f"torch={tmp_path}/tree", "torch=pinned"])


class Kept:
    """A root that was last built of a tree of the user's own, and what the next command makes of it."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.folder, self.tree = folder, folder / "tree"
        (self.tree / ".git").mkdir(parents=True)
        words = words or ("--source", f"torch={self.tree}:editable")
        lock = {"schema": 1, "named": "torch-2.14", "rev": [], "words": words, "profile": {"name": "torch-2.14"}}
        (folder / "root").mkdir()
        (folder / "root/profile.lock.json").write_text(json.dumps(lock))

    def ask(self, *words: str, **where: Any) -> tuple[Request, str]:
        place = open_workspace(Where(**{"root": str(self.folder / "root"), "profile": "torch-2.14", **where}))
        place, request = keep_trees(place, read_request(source=words))
        return request, "\n".join(place.take_notes)


def test_a_root_keeps_to_the_trees_that_it_was_built_of(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    request, said = kept.ask()
    assert (request.sources, request.editable) == ((("torch", str(kept.tree)),), ("torch",))
    assert (
        said == f"torch is of your tree {kept.tree}, as in the last build here; the pinned one: --source torch=pinned"
    )
    request, said = kept.ask("torch=pinned")
    assert (request.sources, request.pinned, said) == ((), ("torch",), "")
    assert render_request(request) == ("--source", "torch=pinned")
    (tmp_path / "other/.git").mkdir(parents=True)
    request, said = kept.ask(f"torch={tmp_path}/other")
    assert (request.sources, said) == ((("torch", f"{tmp_path}/other"),), "")
    assert kept.ask(profile="torch-2.13") == (Request(), "")
    shutil.rmtree(kept.tree)
    with pytest.raises(UsageError, match=r"the last build in .* was of a tree of your own") as raised:
        kept.ask()
    assert f"xpusetup build torch-2.14 --root {tmp_path}/root --source torch=pinned" in raised.value.fix


def test_a_named_build_keeps_that_it_is_not_verified(tmp_path: Path) -> None:
    kept = Kept(tmp_path, "--verify", "off")
    request, said = kept.ask()
    assert (request.verify, said) == ("off", "not verified, as in the last build here; --verify auto verifies it")
    place = open_workspace(Where(root=str(tmp_path / "root"), profile="torch-2.14"))
    assert keep_trees(place, read_request(verify="auto"))[1].verify == "auto"
    assert keep_trees(place, read_request(verify="require"))[1].verify == "require"


def test_a_root_of_a_profile_says_what_it_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept(tmp_path)
    (tmp_path / "root").rename(tmp_path / "torch-2.14")
    monkeypatch.setenv("XPUSETUP_ROOT", str(tmp_path))
    request, said = kept.ask(root="")
    assert request.sources == ()
    assert said.endswith(f"your tree again: --source torch={kept.tree}:editable")


def test_what_the_last_build_was_asked_besides_is_named(tmp_path: Path) -> None:
    kept = Kept(tmp_path, "--set", "torch.DEBUG=1", "--arch", "bmg")
    assert kept.ask()[1] == "the last build here was with --set torch.DEBUG=1, which this one leaves out"


def test_plans_of_two_patches_differ() -> None:
    plans: list[Plan] = [plan_for("torch-2.14", Request(patches=(replace(PATCH, text=text),))) for text in "ab"]
    texts = [render_scripts(plan)["steps/torch.fetch.sh"] for plan in plans]
    assert texts[0] != texts[1]


def test_one_target_and_no_wheel() -> None:
    seen = steps(target="c10")
    assert list(seen) == ["venv", "requirements", "torch.fetch", "torch.configure", "torch.target"]
    step = seen["torch.target"]
    assert step.run[-1][1:] == (
        "@ROOT@/helpers/build_target.py",
        *("--build", "@ROOT@/src/torch/build", "--target", "c10", "--out", "@ROOT@/results/torch.target.json"),
    )
    whole = steps()
    assert (step.env, step.needs) == (whole["torch.build"].env, whole["torch.build"].needs)
    assert (step.always, whole["torch.configure"]) == (True, seen["torch.configure"])  # so that a build goes on


@pytest.mark.parametrize(
    ("profile", "asked", "said"),
    [
        ("torch-2.14", {"only": ("vision",)}, "vision has no build by CMake"),
        ("sim", {}, "builds nothing with CMake"),
        ("torch-2.14", {"until": "torch.build"}, "--until exclude each other"),
        ("torch-2.14", {"verify": "require"}, "--verify require exclude each other"),
    ],
)
def test_where_there_is_no_target(profile: str, asked: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        plan_for(profile, replace(Request(target="c10"), **asked))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("c10:\n  input: phony\n    lib/libc10.so\n    | generated.h\n  outputs:\n    all\n", ["lib/libc10.so"]),
        ("lib/libc10.so:\n  input: CXX_LINK\n    a.o\n  outputs:\n    c10\n", ["lib/libc10.so"]),
        ("all:\n  input: phony\n", []),
    ],
)
def test_what_a_target_stands_for(text: str, found: list[str]) -> None:
    assert list(build_target.outputs(text, text.partition(":")[0])) == found


def test_what_is_taken_as_a_wheel_is_built_from_its_tree() -> None:
    seen = steps(sources=(("triton", "/home/me/triton"),))
    build = seen["triton.build"]
    assert "build_tree.py --tree /home/me/triton --outdir @ROOT@/src/triton.wheel" in words(build)
    assert build.makes == ("@ROOT@/wheels/triton_xpu-*-*.whl",)  # its tree says which version
    assert dict(build.env)["TRITON_WHEEL_NAME"] == "triton-xpu"
    assert (build.always, build.needs, build.protected_trees) == (True, ("network", "compiler"), ("/home/me/triton",))
    assert seen["triton.install"].makes[0].endswith("/triton_xpu-*.dist-info/RECORD")
    assert {name for name, step in steps().items() if seen[name] != step} == {"triton.fetch", "triton.install"}


def test_a_ready_wheel_that_was_built_of_a_tree_comes_back() -> None:
    assert steps(pinned=("triton",)) == steps()


@pytest.mark.parametrize(
    ("seconds", "date"), [(-315619200, 0), (0, 0), (1_700_000_000, 1_700_000_000), (7_258_118_400, 4_354_819_198)]
)
def test_an_archive_of_any_time_has_a_date_that_wheels_and_compilers_take(
    tmp_path: Path, seconds: int, date: int
) -> None:
    (tmp_path / "PKG-INFO").touch()
    os.utime(tmp_path / "PKG-INFO", (seconds, seconds))
    assert own_source.date_of(tmp_path, 1) == date


def test_an_editable_tree_of_something_else_does_not_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[tuple[str, ...]] = []
    (tmp_path / "setup.py").touch()
    there = {"other": SimpleNamespace(name="other", source=str(tmp_path)), "far": SimpleNamespace(source="/gone")}

    def run(words: tuple[str, ...], **_settings: object) -> SimpleNamespace:
        ran.append(words)
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(install_editable.subprocess, "run", run)
    monkeypatch.setattr(install_editable, "installed", lambda: there)
    monkeypatch.setattr(install_editable, "make_movable", lambda _prefix: None)
    named = ["--component", "simxpu", "--distribution", "simxpu", "--tree", str(tmp_path)]
    monkeypatch.setattr("sys.argv", ["install_editable.py", *named])
    with pytest.raises(SystemExit):
        install_editable.main()
    message, fix = capsys.readouterr().err.splitlines()
    assert message == f"xpusetup: {tmp_path} installs other, and not simxpu; it was taken out again"
    assert fix == "  name the tree of simxpu: --source simxpu=DIR:editable"
    assert ran[-1][-3:] == ("uninstall", "--yes", "other")


def test_an_editable_tree_is_installed_as_it_lies() -> None:
    request = Request(sources=(TORCH,), editable=("torch",))
    seen = {step.id: step for step in plan_for("torch-2.14", request).steps}
    assert not {"torch.build", "torch.inspect"} & set(seen)
    install, build = seen["torch.install"], steps(sources=(TORCH,))["torch.build"]
    assert (
        "install_editable.py --component torch --distribution torch --tree /home/me/pytorch -- -Ccmake.define."
        in words(install)
    )
    more = dict(set(install.env) - set(build.env))
    assert more.pop("LDFLAGS") == f"{dict(build.env)['LDFLAGS']} -Wl,-rpath,@ROOT@/venv/lib"  # $ORIGIN is in the tree
    assert more == {"PIP_CONSTRAINT": "/dev/null"}
    assert dict(seen["torch.configure"].env)["LDFLAGS"] == dict(install.env)["LDFLAGS"]
    assert (install.always, install.locks, install.needs) == (True, ("venv",), build.needs)
    assert "torch.configure" in install.after
    assert "torch.install" in seen["runtime"].after
    assert list(other_forms(shipped("torch-2.14"), request))[:2] == ["torch.build", "torch.inspect"]
    assert render_request(request) == ("--source", "torch=/home/me/pytorch:editable")


def test_what_is_a_part_of_another_is_not_editable() -> None:
    with pytest.raises(UsageError, match="is built as a part of another"):
        steps(sources=(OPS,), editable=("torch-xpu-ops",))


def test_editable_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "tree/.git").mkdir(parents=True)
    given = [f"torch={tmp_path}/tree:editable", f"vision={tmp_path}/tree"]
    assert find_sources(given) == (("torch", f"{tmp_path}/tree"), ("vision", f"{tmp_path}/tree"))
    assert read_request(source=given).editable == ("torch",)


def test_a_checkout_in_a_folder_that_flags_cannot_carry() -> None:
    with pytest.raises(UsageError) as caught:
        find_sources(["torch=/a b/pytorch"])
    assert caught.value.fix == "move it to a plainer one, and name that: --source torch=DIR"


def test_one_component_until_a_step_before_it() -> None:
    plan = plan_for("torch-2.14", Request(only=("vision",), until="requirements"))
    assert [step.id for step in plan.steps] == ["venv", "requirements"]


SAYS = {
    "pyproject.toml": '[project]\nname = "simxpu"\n',
    "setup.cfg": "[metadata]\nname = simxpu\n",
    "setup.py": 'from setuptools import setup\nsetup(name="simxpu")\n',
    "python/setup.py": 'import setuptools\nNAME = "simxpu"\nsetuptools.setup(name=NAME)\n',
}
OPEN = {
    "pyproject.toml": "[build-system]\nrequires = []\n",
    "setup.cfg": "[",
    "setup.py": 'import os\nsetup(name=os.getenv("NAME", "torchaudio"))\n',
    "python/setup.py": 'name = "a"\nname = "b"\nsetup(name=name)\n',
}


@pytest.mark.parametrize("file", SAYS)
def test_a_tree_of_something_else_is_refused_before_anything_begins(tmp_path: Path, file: str) -> None:
    place = tmp_path / file
    place.parent.mkdir(exist_ok=True)
    place.write_text(SAYS[file])
    with pytest.raises(UsageError, match="is the source of simxpu, and not of torch") as caught:
        check_trees(shipped("sim"), Request(sources=(("torch", str(tmp_path)),)))
    assert caught.value.fix.endswith(f"--source simxpu={tmp_path}")
    check_trees(shipped("sim"), Request(sources=(("simxpu", str(tmp_path)),)))
    place.write_text(OPEN[file])
    check_trees(shipped("sim"), Request(sources=(("torch", str(tmp_path)),)))


def test_a_name_that_the_profile_has_not_is_told_with_the_one_that_is_meant(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "simxpu"\n')
    request = Request(sources=(("simxp", str(tmp_path)),), editable=("simxp",))
    with pytest.raises(UsageError, match=r"no component 'simxp', .* did you mean simxpu\?") as caught:
        check_trees(shipped("sim"), request)
    words = ["build", "sim", "--source", f"simxp={tmp_path}:editable", "--jobs", "2"]
    told = complete_result(caught.value.fix, {}, words)
    assert told == f"xpusetup build sim --jobs 2 --source simxpu={tmp_path}:editable"


def test_a_tree_of_a_component_is_none_of_what_is_vendored(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "torch"\n')
    with pytest.raises(UsageError, match="is the source of torch, and not of torch-xpu-ops"):
        check_trees(shipped("torch-2.14"), Request(sources=(("torch-xpu-ops", str(tmp_path)),)))


@pytest.mark.parametrize(
    ("own", "step", "newer"),
    [
        ({"torch": {}}, "torch.build", ["torch"]),
        ({"torch": {"editable": True}}, "torch.install", ["torch"]),
        ({"torch": {"editable": True}}, "torch.build", []),  # of another form: nothing is known of this one
        ({"torch-xpu-ops": {}}, "torch.build", ["torch-xpu-ops"]),
        ({"torch-xpu-ops": {}}, "xpu.build", ["torch-xpu-ops"]),
        ({"torch": {}}, "", []),
    ],
)
def test_a_tree_that_changed_since_it_was_built(
    tmp_path: Path, own: dict[str, dict[str, Any]], step: str, newer: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts from the beginning of the build: what is edited meanwhile may not be in it."""
    asked: list[float] = []

    def look(_tree: Path, since: float, **_: str) -> bool:
        asked.append(since)
        return True

    monkeypatch.setattr("xpusetup.run.trees.has_changed", look)
    run = {"step": step, "state": "ran", "time": 1000.0, "seconds": 300.0}
    (tmp_path / "journal.jsonl").write_text(
        "".join(json.dumps(each) + "\n" for each in (run, {**run, "state": "failed"}))
    )
    told = {name: {"folder": f"/mine/{name}", **more} for name, more in own.items()}
    found = find_newer(Root(tmp_path), shipped("torch-2.14"), told)
    assert [*found] == newer
    assert asked == [700.0 for _ in newer]
    assert bool(describe_newer(found)) == bool(newer)
