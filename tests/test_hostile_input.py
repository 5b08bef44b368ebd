"""Files that are wrong in ways that no person writes: one clear refusal, never a traceback, never a hang."""

from __future__ import annotations

import copy
import importlib
import io
import json
import os
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from data.profiles import small_text
from data.well import WELL
from test_commands import make_root
from xpusetup.base.errors import XpuError
from xpusetup.base.model import Event
from xpusetup.bundle.contents import parse_bundle
from xpusetup.cli.finish import Finished, finish, say_part
from xpusetup.commands.doctor import DoctorOptions, examine_machine, list_checks, read_facts
from xpusetup.commands.result import Result
from xpusetup.commands.status import status
from xpusetup.config.load import parse_profile
from xpusetup.config.shipped import load_profile
from xpusetup.run.manifest import read_manifest
from xpusetup.run.root import Root, read_lock
from xpusetup.run.workspace import Where, open_workspace
from xpusetup.system.files import read_input
from xpusetup.ui.live import BuildView

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DEEP = 100_000
VALUES: tuple[Any, ...] = (None, True, -1, 10**400, 1e308, float("inf"), "x", "../x", [], ["x"], {}, {"x": {"y": []}})


@pytest.mark.parametrize(
    "text",
    [
        small_text(("schema = 1", "schema = " + "9" * 10_000)),
        small_text(("schema = 1", "schema = 1e308")),
        small_text(("schema = 1", "schema = inf")),
        small_text() + "\na = " + "[" * DEEP,
        small_text() + "\n[" + ".".join("a" * 5000) + "]\n",
        small_text() + "\na = {" + "b = {" * DEEP,
        small_text(('python = ">=3.10"', f'python = ">={"1." * 5000}1"')),
        small_text(('tried = "never"', f'tried = "{"x" * 100_000}"')),
        small_text(("pip==26.0", f"pip=={'9' * 5000}")),
        "\0",
        "",
    ],
    ids=range(11),
)
def test_a_profile(text: str) -> None:
    with pytest.raises(XpuError) as refused:
        parse_profile(text, "x.toml")
    assert refused.value.code == 2
    assert len(refused.value.message) < 5000


def test_what_has_no_end_is_no_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    for path in (str(pipe), "/dev/zero", "/dev/tty"):
        with pytest.raises(XpuError, match="pipe or a device"):
            load_profile(path)
    with pytest.raises(XpuError, match="pipe or a device"):
        read_facts(str(pipe))
    with (tmp_path / "long.toml").open("wb") as stream:
        stream.truncate(1 << 31)
    with pytest.raises(XpuError, match="has 2 GiB"):
        read_input(tmp_path / "long.toml")


def changed(value: Any, new: Any) -> Iterator[Any]:
    """Give a document with each of its values, one after another, replaced."""
    if isinstance(value, dict):
        for key in value:
            yield {**value, key: new}
            yield from ({**value, key: inner} for inner in changed(value[key], new))
    elif isinstance(value, list):
        for number, each in enumerate(value[:2]):
            yield [*value[:number], new, *value[number + 1 :]]
            yield from ([*value[:number], inner, *value[number + 1 :]] for inner in changed(each, new))


@pytest.mark.parametrize("name", ["manifest.json", "profile.lock.json", "stamps/simxpu.build", "results/guard.json"])
def test_what_lies_in_a_root(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    root = make_root(open_workspace(Where(profile="sim")))
    for text in ("[" * DEEP, "9" * 10_000, "null", "[]", '"x"', "{", "{}", "key\nx y z\n", "key\nsha 1 2 /x\n", "\0"):
        (root / name).write_text(text)
        read_manifest(Root(root))
        read_lock(Root(root))
        try:
            status(Where(profile="sim"))
        except XpuError:
            continue


@pytest.mark.parametrize("name", ["manifest.json", "profile.lock.json"])
def test_wrong_types_in_a_root(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    root = make_root(open_workspace(Where(profile="sim")))
    document = json.loads((root / name).read_text())
    document.pop("profile", None)
    if name == "manifest.json":
        document |= {"own": {"a": {"folder": "/a"}}, "patches": [{"source": "a", "file": "b", "sha256": "c"}]}
        document |= {
            "pins": [{"name": "a"}],
            "facts": {"system": {}},
            "verification": {"checks": []},
            "made_by": "build",
        }
    else:
        document["profile"] = {"name": "sim"}
    for new in VALUES:
        for wrong in changed(copy.deepcopy(document), new):
            (root / name).write_text(json.dumps(wrong))
            try:
                status(Where(profile="sim"))
            except XpuError:
                continue


@pytest.mark.parametrize("new", VALUES)
def test_facts(new: Any, tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    for number, wrong in enumerate(changed({"schema": 1, **WELL}, new)):
        if number % 9 == VALUES.index(new) % 9:  # each value at other places
            path.write_text(json.dumps(wrong))
            try:
                examine_machine(Where(profile="torch-2.14"), DoctorOptions(facts=(str(path),)))
            except XpuError:
                continue


@pytest.mark.parametrize("text", ["[" * DEEP, '{"a":' * DEEP, "9" * 10_000, '{"schema": 1e999}'])
def test_facts_that_are_none(text: str, tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    path.write_text(text)
    with pytest.raises(XpuError):
        read_facts(str(path))


@pytest.mark.parametrize("version", ["../x", "", "x" * 10_000, 1, None, "0.1.0; x"])
def test_a_bundle_by_nobody(version: object) -> None:
    with pytest.raises(XpuError, match="created_by"):
        parse_bundle(json.dumps({"schema": 1, "created_by": version}).encode(), "x.tar")


class Full(io.StringIO):
    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def flush(self) -> None:
        raise self.error


@pytest.mark.parametrize("json_wanted", [True, False])
def test_an_answer_that_cannot_be_written(
    json_wanted: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", Full(OSError(28, "No space left on device")))
    with pytest.raises(Finished) as ended:
        finish("profiles schema", lambda: Result("profiles schema", {}), json=json_wanted)
    assert ended.value.code == 3
    assert "No space left on device" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdout", Full(BrokenPipeError(32, "Broken pipe")))
    with pytest.raises(Finished) as ended:
        finish("profiles schema", lambda: Result("profiles schema", {}), json=json_wanted)
    assert ended.value.code == 0


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), BrokenPipeError(32, "Broken pipe")])
def test_progress_that_cannot_be_written(error: OSError, monkeypatch: pytest.MonkeyPatch) -> None:
    """The work goes on; rich would end the program with 1 where the reader of a pipe has gone."""
    monkeypatch.setattr(sys, "stdout", Full(error))
    with BuildView(json=False, verbose=False) as view:
        view.observe(Event(kind="plan", time=0.0, text="x"))
        view.observe(Event(kind="note", time=0.0, text="x"))


@pytest.mark.usefixtures("capsys")
def test_a_screen_whose_reader_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Full(BrokenPipeError(32, "Broken pipe")))
    with pytest.raises(Finished) as ended:
        finish("doctor", list_checks, json=False)
    assert ended.value.code == 0


@pytest.mark.usefixtures("capsys")
def test_a_log_whose_reader_has_gone() -> None:
    def write() -> None:
        raise BrokenPipeError(32, "Broken pipe")

    with pytest.raises(Finished) as ended:
        say_part(write)
    assert ended.value.code == 0


INFO = "demo-1.0.dist-info"


def wheel_with(path: Path, *, metadata: bytes = b"Name: demo\nVersion: 1.0\n", flag: int = 0, method: int = 0) -> Path:
    """Make a wheel whose second member says of itself that it is encrypted, or packed in a way that nobody knows."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {
            f"{INFO}/METADATA": metadata,
            f"{INFO}/WHEEL": b"Tag: py3-none-any\n",
            f"{INFO}/RECORD": b"",
            "demo.py": b"x = 1\n",
        }.items():
            archive.writestr(name, data)
    raw = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = raw.rfind(mark)
        raw[place + at] |= flag
        if method:
            raw[place + at + 2] = method
    path.write_bytes(bytes(raw))
    return path


@pytest.mark.parametrize(("flag", "method"), [(1, 0), (0, 99), (0, 14), (0, 12)])
def test_a_wheel_with_a_member_that_cannot_be_read(flag: int, method: int, tmp_path: Path) -> None:
    contents = importlib.import_module("helperlib.wheel.contents")
    wheel = contents.read_wheel(wheel_with(tmp_path / "demo-1.0-py3-none-any.whl", flag=flag, method=method), ())
    assert [member.path for member in wheel.members if member.trouble] == ["demo.py"]


def test_a_wheel_whose_metadata_has_no_end(tmp_path: Path) -> None:
    contents = importlib.import_module("helperlib.wheel.contents")
    path = wheel_with(tmp_path / "demo-1.0-py3-none-any.whl", metadata=b"a" * ((64 << 20) + 1))
    with pytest.raises(contents.NotAWheelError, match="longer than 64 MiB"):
        contents.read_wheel(path, ())
