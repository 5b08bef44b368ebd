"""What lies beside torch and does not fit it: looked for once, told by status and builds, and never an error."""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from xpusetup.commands.members import list_misfits
from xpusetup.machine import probe_fit
from xpusetup.machine.probe_fit import find_misfits, read_version
from xpusetup.system.process import ProcessOutput

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LIBRARY: dict[str, Any] = {"path": "acme/_C.so", "group": "acme/_C", "torch": 1, "stable": 0, "foreign": False}
GONE: dict[str, Any] = {
    "kind": "torch",
    "library": "acme/_C.so",
    "names": ["_ZN2at4goneEv"],
    "count": 1,
    "certain": True,
    "first": "torch/lib/libtorch_cpu.so",
    "near": [],
}
ACME: dict[str, Any] = {
    "file": "acme 1.0",
    "name": "acme",
    "version": "1.0",
    "tags": [],
    "requires": [],
    "python": "",
    "compiled": 1,
    "device": {"gpus": [], "names": [], "generic": False, "trouble": ""},
    "libraries": [{**LIBRARY, "problems": [GONE]}],
    "troubles": [],
    "overwrites": {},
    "broken": "",
}
SAID = {"torch": {"version": "2.13.0+cpu", "libraries": []}, "wheels": [ACME], "plain": {"_ZN2at4goneEv": "at::gone()"}}
REASON = "was made for another torch: _C.so needs at::gone(), which that torch has not"


class Helper:
    """Stands for the process that reads the environment, and counts how often it was started."""

    def __init__(self, text: str) -> None:
        self.output = ProcessOutput(0, text, "")
        self.lines: list[Sequence[str]] = []

    def __call__(self, argv: Sequence[str], **_words: object) -> ProcessOutput:
        self.lines.append(argv)
        return self.output


@pytest.fixture
def helper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Helper:
    """Give the helper that finds one misfit; what is kept goes into a folder of the test."""
    found = Helper(json.dumps(SAID))
    monkeypatch.setattr(probe_fit, "run_process", found)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return found


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """Give an environment with a torch and what was made for another."""
    place = tmp_path / "venv/lib/python3.11/site-packages"
    (tmp_path / "venv/bin").mkdir(parents=True)
    (tmp_path / "venv/bin/python").touch()
    (place / "torch/lib").mkdir(parents=True)
    (place / "torch/version.py").write_text("__version__ = '2.13.0+cpu'\n")
    (place / "torch/lib/libtorch_cpu.so").touch()
    (place / "acme-1.0.dist-info").mkdir()
    (place / "acme-1.0.dist-info/RECORD").write_text("acme/_C.so,,\n")
    return tmp_path / "venv"


def test_what_is_for_another_accelerator_and_not_needed_is_none(
    venv: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As torchao's parts for CUDA are: its code catches the error and goes on in Python alone."""
    spare = {**ACME, "libraries": [{**LIBRARY, "foreign": True, "optional": True, "problems": [GONE]}]}
    monkeypatch.setattr(probe_fit, "run_process", Helper(json.dumps({**SAID, "wheels": [spare]})))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert list_misfits(venv) == []


@pytest.mark.parametrize("name", ["FitBench", "find_optional"])
def test_what_decides_the_answer_counts_for_what_is_kept(name: str) -> None:
    """Where one of these files changes, an answer that was kept before is looked for again."""
    module = getattr(importlib.import_module("inspect_fit"), name).__module__
    assert f"helpers/{module.replace('.', '/')}.py" in probe_fit.READS


def test_a_misfit_is_told_with_the_command_that_mends_it(helper: Helper, venv: Path) -> None:
    found = list_misfits(venv)
    assert found is not None
    (row,) = found
    assert (row.name, row.version, row.reason) == ("acme", "1.0", REASON)
    assert row.fix == f"{venv}/bin/python -m pip uninstall --yes acme"
    (line,) = helper.lines
    place = str(venv / "lib/python3.11/site-packages")
    assert list(line[3:]) == ["--installed", "--prefix", str(venv), "--place", place]


def test_it_is_looked_at_once(helper: Helper, venv: Path) -> None:
    first, second = list_misfits(venv), list_misfits(venv)
    assert (first, len(helper.lines)) == (second, 1)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("acme-1.0.dist-info/RECORD", "acme/_C.so,,\nacme/_D.so,,\n"),
        ("other-1.0.dist-info/RECORD", "other/_C.so,,\n"),
        ("torch/lib/libtorch_cpu.so", "another"),
    ],
)
def test_it_is_looked_at_again_where_something_was_installed(helper: Helper, venv: Path, file: str, text: str) -> None:
    list_misfits(venv)
    path = venv / "lib/python3.11/site-packages" / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    list_misfits(venv)
    assert len(helper.lines) == 2


def test_another_library_path_is_another_question(helper: Helper, venv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    list_misfits(venv)
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/other/lib")
    list_misfits(venv)
    assert len(helper.lines) == 2


@pytest.mark.parametrize("text", ["", "not JSON", "{}", '{"torch": 1}'])
def test_a_look_that_failed_is_no_error_and_is_not_tried_each_time(helper: Helper, venv: Path, text: str) -> None:
    helper.output = ProcessOutput(None, text, "", "it took too long")
    assert (list_misfits(venv), list_misfits(venv), len(helper.lines)) == (None, None, 1)


@pytest.mark.parametrize("kept", ["", "not JSON", "[]", '{"key": 1}', '{"key": "a", "misfits": [{}]}'])
def test_what_was_kept_may_be_broken(helper: Helper, venv: Path, tmp_path: Path, kept: str) -> None:
    list_misfits(venv)
    (file,) = (tmp_path / "cache/xpusetup/fits").iterdir()
    file.write_text(kept)
    assert list_misfits(venv) is not None
    assert len(helper.lines) == 2


def test_where_nothing_can_be_kept_it_is_told_all_the_same(helper: Helper, venv: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    assert len(list_misfits(venv) or ()) == 1
    assert len(list_misfits(venv) or ()) == 1
    assert len(helper.lines) == 2


def test_without_a_torch_nothing_is_looked_for(helper: Helper, venv: Path, tmp_path: Path) -> None:
    (venv / "lib/python3.11/site-packages/torch/lib/libtorch_cpu.so").unlink()
    assert (list_misfits(venv), list_misfits(tmp_path / "none"), helper.lines) == (None, None, [])


def test_a_folder_that_cannot_be_listed_is_no_error(
    helper: Helper, venv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_path: object) -> list[str]:
        raise PermissionError

    monkeypatch.setattr("os.listdir", refuse)
    place = venv / "lib/python3.11/site-packages"
    assert (find_misfits(venv, [place]), helper.lines) == (None, [])


def test_the_version_is_read_and_nothing_imported(venv: Path, tmp_path: Path) -> None:
    assert read_version([tmp_path, venv / "lib/python3.11/site-packages"]) == "2.13.0+cpu"
    assert read_version([tmp_path]) == ""
