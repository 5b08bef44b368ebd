"""What a stack's steps do: pins are loosened by a diff, wheels held against torch, members proved, interfaces seen."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from data.elf import make_elf
from standins.wheels import pack_wheel
from xpusetup.run.keys import Made, Stamp, make_inputs, result_of

if TYPE_CHECKING:
    from pathlib import Path

apply_patches: Any = importlib.import_module("apply_patches")
prove_member: Any = importlib.import_module("prove_member")
torch_interface: Any = importlib.import_module("torch_interface")
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


@pytest.fixture
def torch(tmp_path: Path) -> Path:
    folder = tmp_path / "torch"
    (folder / "include/ATen").mkdir(parents=True)
    (folder / "lib").mkdir()
    (folder / "include/ATen/Tensor.h").write_text("struct Tensor;")
    (folder / "include/ATen/Other.h").write_text("struct Other;")
    (folder / "include/version.h").write_text("#define V 1")
    (folder / "lib/libtorch_cpu.so").write_bytes(make_elf(["add", "mul"]))
    return folder


def look(torch: Path, tmp_path: Path) -> str:
    options = argparse.Namespace(used=tmp_path / "used.json", out=tmp_path / "out.json")
    torch_interface.look(torch_interface.read_offer(torch, ["version.h"]), options)
    return str(json.loads(options.out.read_text())["interface"])


def build(torch: Path, tmp_path: Path, headers: set[str] | None) -> None:
    offer = torch_interface.read_offer(torch, ["version.h"])
    used = torch_interface.describe(offer, {"add", "printf"}, headers)
    (tmp_path / "used.json").write_text(json.dumps({"interface": torch_interface.digest(offer), **used}))


def test_before_the_first_build_all_counts(torch: Path, tmp_path: Path) -> None:
    before = look(torch, tmp_path)
    (torch / "include/version.h").write_text("#define V 2")
    assert look(torch, tmp_path) == before
    (torch / "include/ATen/Other.h").write_text("struct Others;")
    assert look(torch, tmp_path) != before


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("include/version.h", b"#define V 2", ""),
        ("include/ATen/Other.h", b"struct Others;", ""),
        ("include/ATen/New.h", b"", ""),
        ("lib/libtorch_cpu.so", make_elf(["add", "div"]), ""),
        ("include/ATen/Tensor.h", b"struct Tensors;", "ATen/Tensor.h: the header is another"),
        ("lib/libtorch_cpu.so", make_elf(["mul"]), "add: the name is gone"),
    ],
)
def test_only_what_is_used_counts(
    torch: Path, tmp_path: Path, file: str, content: bytes, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = look(torch, tmp_path)
    build(torch, tmp_path, {"ATen/Tensor.h"})
    assert look(torch, tmp_path) == before
    (torch / file).unlink(missing_ok=True)
    (torch / file).write_bytes(content)
    capsys.readouterr()
    assert (look(torch, tmp_path) == before) is (said == "")
    assert said in capsys.readouterr().out


def test_headers_that_nobody_wrote_down_all_count(torch: Path, tmp_path: Path) -> None:
    before = look(torch, tmp_path)
    build(torch, tmp_path, None)
    (torch / "include/ATen/New.h").write_text("")
    assert look(torch, tmp_path) != before


def test_names_that_a_wheel_asks_for(tmp_path: Path) -> None:
    wheel = pack_wheel(tmp_path, "first", "1.0", {"first/_C.so": make_elf(asked=["add", "mul"])})
    assert torch_interface.asked_names(wheel) == {"add", "mul"}


def test_lines_that_say_the_version_count_for_nothing(torch: Path) -> None:
    """As in caffe2/core/macros.h, which says the release among what was configured."""
    header = torch / "include/macros.h"

    def seen(text: str) -> Any:
        header.write_text(text)
        return torch_interface.read_offer(torch, (), ["macros.h:TORCH_VERSION", "macros.h:COMMIT_SHA"]).headers

    first = seen('{"TORCH_VERSION", "1"},\n{"COMMIT_SHA", "a"},\n{"USE_XPU", "1"},\n')
    assert seen('{"TORCH_VERSION", "2"},\n{"COMMIT_SHA", "b"},\n{"USE_XPU", "1"},\n') == first
    assert seen('{"TORCH_VERSION", "2"},\n{"COMMIT_SHA", "b"},\n{"USE_XPU", "0"},\n') != first
    assert seen('{"TORCH_VERSIONS", "2"},\n{"USE_XPU", "1"},\n') != first


def test_a_build_follows_from_what_was_seen_and_not_from_what_was_read() -> None:
    seen, other = (Stamp(key, (Made("aa", 1, "1", "/r/x"),)) for key in ("k1", "k2"))
    assert result_of("first.interface", seen) == result_of("first.interface", other)
    assert result_of("first.install", seen) != result_of("first.install", other)
    inputs = [
        make_inputs(root="/r", script="", after=[("first.interface", one)], identities=[]) for one in (seen, other)
    ]
    assert inputs[0] == inputs[1]
