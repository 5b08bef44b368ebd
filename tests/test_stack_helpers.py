"""What a stack's steps do: pins are loosened by a diff, wheels held against torch, members proved."""

from __future__ import annotations

import importlib
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

apply_patches: Any = importlib.import_module("apply_patches")
prove_member: Any = importlib.import_module("prove_member")
git_process: Any = importlib.import_module("helperlib.git.process")

SETUP = 'setup(\n    install_requires=[\n        "numpy",\n        "torch==1.0",\n    ],\n)\n'


# Pins of its own that go.


def change(line: str, to: str = "", file: str = "setup.py") -> Any:
    return apply_patches.LineChange(file, line, to)


def test_a_pin_is_loosened_and_shown_as_a_diff(tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text(SETUP)
    diff = apply_patches.render_diff(tmp_path, [change('"torch==1.0",', '"torch",')])
    assert '-        "torch==1.0",\n+        "torch",\n' in diff
    assert diff.startswith("--- a/setup.py\n+++ b/setup.py\n")
    gone = apply_patches.render_diff(tmp_path, [change('"torch==1.0",'), change('"numpy",')])
    assert [line for line in gone.splitlines() if line.startswith("+") and "+++" not in line] == []
    assert (tmp_path / "setup.py").read_text() == SETUP


@pytest.mark.parametrize(
    ("line", "file", "said"),
    [
        ('"torch==1.1",', "setup.py", "is not there; '\"torch==1.0\",' is"),
        ("torch==1.0", "setup.py", "is not there"),
        ('"numpy",', "setup.cfg", "cannot be read"),
        ("],", "twice.py", "stands 2 times"),
        ("root", "../outside", "leads out of"),
    ],
)
def test_a_line_that_is_not_there_once_is_an_error(tmp_path: Path, line: str, file: str, said: str) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "setup.py").write_text(SETUP)
    (tree / "twice.py").write_text(SETUP + SETUP)
    (tmp_path / "outside").write_text("root\n")
    with pytest.raises(git_process.FetchError, match=said.replace("[", r"\[").replace("(", r"\(")):
        apply_patches.render_diff(tree, [change(line, file=file)])


def test_the_last_line_without_an_end(tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_bytes(b"a\r\ntorch==1")
    diff = apply_patches.render_diff(tmp_path, [change("torch==1", "torch", "r.txt")])
    assert diff.count("\\ No newline at end of file") == 2
    assert " a\r\n" in diff


# Is it held against torch.


def library(path: str = "first/_C.so", **more: Any) -> dict[str, Any]:
    return {"path": path, "group": path, "torch": 0, "stable": 0, "foreign": False, "problems": [], **more}


PROBLEM = {"kind": "torch", "library": "first/_C.so", "names": ["a", "b", "c", "d"], "count": 9}


@pytest.mark.parametrize(
    ("libraries", "more", "binds", "said"),
    [
        ([], {}, "none", ""),
        ([library(torch=3)], {}, "torch-minor", ""),
        ([library(torch=3)], {}, "none", "its libraries ask for torch-minor"),
        ([library(torch=3)], {}, "torch-stable", "its libraries ask for torch-minor"),
        ([library(stable=3)], {}, "torch-stable", ""),
        ([library(stable=3)], {}, "sycl-major", "its libraries ask for torch-stable"),
        ([library(problems=[PROBLEM])], {}, "none", "_C.so needs a, b, c and 6 more (torch)"),
        ([library(problems=[PROBLEM]), library("first/_D.so", group="first/_C.so")], {}, "none", ""),
        ([library(problems=[PROBLEM], foreign=True), library("first/_D.so")], {}, "none", ""),
        ([library(problems=[PROBLEM], foreign=True)], {}, "none", "needs a, b, c"),
        ([library()], {"overwrites": {"torch 2.13.0": 3}}, "none", "overwrite files of torch 2.13.0"),
        ([library()], {"overwrites": {"numpy 2.0": 3}}, "none", ""),
        ([library()], {"troubles": ["_C.so: it is cut off"]}, "none", "cannot be read"),
    ],
)
def test_why_a_wheel_is_not_proven(libraries: list[Any], more: dict[str, Any], binds: str, said: str) -> None:
    seen = {"libraries": libraries, "overwrites": {}, "troubles": [], **more}
    found = prove_member.why_not(seen, binds)
    assert (found == "") is (said == "")
    assert said in found


# How far is it proved.


def prove(tmp_path: Path, **proof: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "imports": [],
        "operators": [],
        "call": None,
        "arguments": [],
        "options": {},
        "gives": [],
        "within": 1e-5,
    }
    words = [
        "prove_member.py",
        "works",
        "--member",
        "m",
        "--distribution",
        "none-such",
        "--out",
        str(tmp_path / "m.json"),
    ]
    sys_argv, sys.argv = sys.argv, [*words, f"--proof={json.dumps({**given, **proof})}"]
    try:
        prove_member.main()
    finally:
        sys.argv = sys_argv
    found: dict[str, Any] = json.loads((tmp_path / "m.json").read_text())
    return found


def test_a_known_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prove_member, "has_device", lambda _device: True)
    found = prove(tmp_path, imports=["json.decoder"], call="math.hypot", arguments=[3, 4], gives=5.0)
    assert (found["proven"], found["answer"], found["imports"]) == (True, 5.0, ["json.decoder"])
    assert capsys.readouterr().out == "= imports | gives 5.0\n"


def test_nothing_is_claimed_without_a_call_or_a_device(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert prove(tmp_path, imports=["json"])["proven"] is None
    assert "built, not verified: no call" in capsys.readouterr().out
    monkeypatch.setattr(prove_member, "has_device", lambda _device: False)
    assert prove(tmp_path, imports=["json"], call="math.hypot", gives=5.0)["proven"] is None
    assert "built, not verified: there is no cpu here" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("proof", "said"),
    [
        ({"imports": ["none_such"]}, "import none_such: ModuleNotFoundError"),
        ({"imports": ["json"], "call": "math.hypot", "arguments": [3, 4], "gives": 6.0}, "gives 5.0, and 6.0 is right"),
        ({"imports": ["json"], "call": "math.none", "gives": 6.0}, "math.none: AttributeError"),
        ({"imports": ["json"], "call": "none_such.f", "gives": 6.0}, "none_such.f: ModuleNotFoundError"),
    ],
)
def test_what_is_not_right_ends_the_step(
    tmp_path: Path,
    proof: dict[str, Any],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prove_member, "has_device", lambda _device: True)
    with pytest.raises(SystemExit):
        prove(tmp_path, **proof)
    assert said in capsys.readouterr().err
    assert not (tmp_path / "m.json").exists()
    assert json.loads((tmp_path / "m.failed.json").read_text())["proven"] is False


@pytest.mark.parametrize(
    ("given", "wanted", "near"),
    [
        ([1.0, 2.000001], [1.0, 2.0], True),
        ([1.0, 2.1], [1.0, 2.0], False),
        ([1.0], [1.0, 2.0], False),
        (float("nan"), 1.0, False),
        ([[1, 2]], [[1, 2]], True),
        (True, 1, False),
        ("a", "a", True),
        (None, 1.0, False),
        (1e9, 1e9 + 1, True),
    ],
)
def test_near(given: Any, wanted: Any, near: bool) -> None:
    assert prove_member.is_near(given, wanted, 1e-5) is near


# What of torch a member sees.
