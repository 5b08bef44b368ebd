"""What the helper that loads extensions reads and says, without a torch: modules, ends of processes, the switch."""

from __future__ import annotations

import importlib
import os
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

helper: Any = importlib.import_module("load_extensions")


@pytest.mark.parametrize(
    ("module", "there"),
    [("json", True), ("json.decoder", True), ("json.none", True), ("no_such_package", False), ("none.json", False)],
)
def test_modules_are_looked_for_by_their_top_package(module: str, *, there: bool) -> None:
    """What lies below it is found by importing it alone, and a list imports nothing."""
    assert helper.is_there(module) == there


def test_a_folder_without_contents_is_no_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "leftover/__pycache__").mkdir(parents=True)
    monkeypatch.syspath_prepend(tmp_path)
    assert not helper.is_there("leftover")
    assert helper.is_there("leftover.part"), "a package of several distributions has no __init__.py"


@pytest.mark.parametrize(
    ("code", "said", "text"),
    [
        (None, "", "no end within 5 s"),
        (
            None,
            'Thread 1:\n  File "/a/b.py", line 3 in load\n  File "/c.py", line 9',
            "no end within 5 s, at /a/b.py:3",
        ),
        (-11, 'Fatal Python error\n  File "/a/b.py", line 3 in f', "the process was ended by SIGSEGV, at /a/b.py:3"),
        (-9, "", "the process was ended by SIGKILL"),
        (7, "one\ntwo\n", "the process ended with exit code 7: two"),
        (7, "", "the process ended with exit code 7"),
    ],
)
def test_how_a_process_ended(code: int | None, said: str, text: str) -> None:
    assert helper.describe_end(code, said, 5.0) == text


def test_errors_with_what_they_came_from() -> None:
    error = RuntimeError("Failed to load")
    error.__cause__ = ImportError("a\n  b")
    assert helper.words_of(error) == "RuntimeError: Failed to load; because ImportError: a b"
    assert helper.words_of(SystemExit(3)) == "SystemExit: 3"


@pytest.mark.parametrize("kept", [None, "0", "true"])
def test_the_rule_is_asked_and_the_variable_left_as_it_was(kept: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(helper.AUTOLOAD, raising=False)
    if kept is not None:
        monkeypatch.setenv(helper.AUTOLOAD, kept)
    torch = SimpleNamespace(
        __version__="2.13.0",
        _is_device_backend_autoload_enabled=lambda: os.environ.get(helper.AUTOLOAD, "1") == "1",
    )
    seen = helper.switch_of(torch)
    assert seen == {"version": "2.13.0", "switch": {"enabling": ["1"], "unset": True}}
    assert os.environ.get(helper.AUTOLOAD) == kept
    assert helper.switch_of(SimpleNamespace(__version__="2.4.0")) == {"version": "2.4.0", "switch": None}


def test_what_torch_calls_its_accelerator() -> None:
    device = SimpleNamespace(type="xpu")
    module = SimpleNamespace(current_accelerator=lambda: device, device_count=lambda: 2)
    assert helper.accelerator_of(SimpleNamespace(accelerator=module)) == {"accelerator": "xpu", "count": 2}
    assert helper.accelerator_of(SimpleNamespace()) == {}


def test_version_files() -> None:
    text = "__version__ = '2.13.0+xpu'\ndebug = False\ncuda: Optional[str] = None\nxpu: Optional[str] = '20260100'\n"
    said = {name: single or double for name, single, double in helper.ASSIGNED.findall(text)}
    assert said == {"__version__": "2.13.0+xpu", "xpu": "20260100"}
