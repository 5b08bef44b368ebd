"""Whatever a file holds that someone gives us: an answer or a clear refusal, and nothing else."""

from __future__ import annotations

import importlib
import io
import json
import re
import shlex
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from data.profiles import SMALL, TOP
from data.well import WELL
from fuzzing import anything, as_bytes, as_json, broken, cut, examples, hold, patience
from nasty import any_text
from test_bundles import document as bundle_document
from test_commands import make_root
from test_inspect_wheel import INFO, SOUND, TAG, make_wheel
from xpusetup.base.errors import UsageError
from xpusetup.base.values import parse_toml
from xpusetup.bundle.contents import parse_bundle
from xpusetup.commands.env import ShellEnvironment
from xpusetup.machine.probe_tools import parse_dump
from xpusetup.run.workspace import Where, open_workspace
from xpusetup.ui.console import make_console
from xpusetup.ui.env import show_env

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

inspect_wheel: Any = importlib.import_module("inspect_wheel")
PROFILES = tuple((TOP / f"profiles/{name}.toml").read_text() for name in ("sim", "torch-2.5", "gaudi-1.22"))
DEVICE = (TOP / "xpusetup/data/devices/hpu.toml").read_text()
OWN = SMALL.replace('accelerator = "cpu"', 'accelerator = "hpu"\ndevice = "device.toml"')
NINJA = "# ninja log v5\n1\t200\t0\tbuild/a.o\t1f\n2\t900\t0\tbuild/b.o\t2f\n900\t990\t0\tlib/c.so\t3f\n"
LOG = """\
[12/34] Building CXX object a.cpp.o
FAILED: a.cpp.o
/usr/bin/c++ -c a.cpp
a.cpp:1:2: error: 'x' was not declared in this scope
icpx: error: unable to execute command: Killed
ninja: build stopped: subcommand failed.
Traceback (most recent call last):
  File "setup.py", line 1, in <module>
RuntimeError: Error compiling objects for extension
"""
PASTES = "".join(path.read_text() for path in sorted((TOP / "tests/pastes").glob("*.toml"))[:12])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("fuzz")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("XPUSETUP_ROOT", str(folder / "roots"))
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))  # what is kept on this machine is none of ours
        make_root(open_workspace(Where(profile="sim")))
        (folder / "roots/sim/src/simxpu").mkdir(parents=True)
        yield folder


def toml(text: str) -> st.SearchStrategy[bytes]:
    """Give a TOML file with other values, and one with other letters."""
    return broken(parse_toml(text)).map(_dump).map(as_bytes) | cut(text).map(as_bytes)


def _dump(document: Any) -> str:
    try:
        return tomli_w.dumps(document)
    except (TypeError, AttributeError):  # TOML has no null, and a document is a table
        return str(document)


@examples(8)
@given(text=st.sampled_from((SMALL, *PROFILES)).flatmap(toml))
def test_profiles(place: Path, text: bytes) -> None:
    (place / "p.toml").write_bytes(text)
    hold(place, "profiles", "check", "p.toml", "--json")
    hold(place, "profiles", "show", "p.toml")


@examples(6)
@given(text=toml(DEVICE))
def test_device_files(place: Path, text: bytes) -> None:
    (place / "device.toml").write_bytes(text)
    (place / "p.toml").write_text(OWN)
    hold(place, "profiles", "check", "p.toml")


@examples(6)
@given(
    text=st.sampled_from(
        (SMALL, '[toolkit]\nprovider = "setvars"\n[network]\npip_index = "https://a.invalid"\n')
    ).flatmap(toml)
)
def test_settings_files(place: Path, text: bytes) -> None:
    (place / "xpusetup.toml").write_bytes(text)
    try:
        hold(place, "status")
    finally:
        (place / "xpusetup.toml").unlink()


@examples(3)
@given(text=broken({"schema": 1, **WELL}).map(as_json) | cut(json.dumps({"schema": 1, **WELL})).map(as_bytes))
def test_facts(place: Path, text: bytes) -> None:
    (place / "facts.json").write_bytes(text)
    hold(place, "doctor", "--facts", "facts.json", "-p", "torch-2.14", "-v")
    hold(place, "setup", "--facts", "facts.json", "--json")


@pytest.mark.parametrize("name", ["profile.lock.json", "manifest.json"])
@examples(4)
@given(data=st.data())
def test_what_lies_in_a_root(place: Path, name: str, data: st.DataObject) -> None:
    path = place / "roots/sim" / name
    before = path.read_bytes()
    whole = json.loads(before) | ({} if name != "manifest.json" else MANIFEST)
    try:
        path.write_bytes(data.draw(broken(whole).map(as_json) | cut(before.decode()).map(as_bytes)))
        hold(place, "status", "--root", str(path.parent), "--json")
        hold(place, "status", "-p", "sim", "-v")
    finally:
        path.write_bytes(before)


MANIFEST = {
    "pins": [{"name": "a", "rev": "0" * 40}],
    "own": {"a": {"folder": "/a"}},
    "patches": [{"source": "a", "file": "b", "sha256": "c"}],
    "verification": {"device": "x", "checks": [{"id": "a.b", "level": "ok", "seen": "x", "seconds": 1.0}]},
    "facts": {"system": {"name": "x"}},
    "unverified": [{"name": "a==1", "sha256": None}],
    "made_by": "build",
    "edited": ["a"],
}


@examples(4)
@given(text=cut(NINJA), events=broken([{"step": "simxpu.build", "state": "ran", "time": 5.0, "seconds": 2.0}]))
def test_ninja_logs_and_journals(place: Path, text: str, events: Any) -> None:
    root = place / "roots/sim"
    (root / "src/simxpu/.ninja_log").write_bytes(as_bytes(text))
    rows = events if isinstance(events, list) else [events]
    (root / "journal.jsonl").write_bytes(b"".join(as_json(row) + b"\n" for row in rows))
    try:
        hold(place, "report", "-p", "sim", "-o", str(place / "report.html"))
    finally:
        (root / "journal.jsonl").unlink()


@examples(12)
@given(text=broken(bundle_document()).map(as_json) | cut(json.dumps(bundle_document())).map(as_bytes))
def test_heads_of_bundles(text: bytes) -> None:
    """The head alone: what git and tar make of the rest is not tried here."""
    with patience():
        try:
            parse_bundle(text, "b.tar")
        except UsageError:
            return


@st.composite
def wheels(draw: Any) -> tuple[dict[str, bytes], bytes | None]:
    """Give other members of a wheel, and where it is drawn other bytes of the file itself."""
    names = st.sampled_from((*SOUND, f"{INFO}/RECORD", f"{INFO}/entry_points.txt", "demo/a.so", "../a")) | any_text
    texts = any_text.map(as_bytes) | st.binary(max_size=40) | st.sampled_from(tuple(SOUND.values())).map(bytes)
    elf = st.binary(max_size=200).map(lambda more: b"\x7fELF\x02\x01\x01" + more)
    return draw(st.dictionaries(names, texts | elf, max_size=4)), draw(st.none() | st.binary(min_size=1, max_size=8))


@examples(10)
@given(made=wheels(), at=st.integers(0, 1 << 20))
def test_wheels(place: Path, made: tuple[dict[str, bytes], bytes | None], at: int) -> None:
    """In this process, by the helper that verify-wheel starts."""
    changed, spoiled = made
    try:
        path = make_wheel(place / "wheels", changed={name: text for name, text in changed.items() if _storable(name)})
    except (ValueError, UnicodeEncodeError, zipfile.LargeZipFile):
        return
    if spoiled:
        whole = path.read_bytes()
        spot = at % len(whole)
        path.write_bytes(whole[:spot] + spoiled + whole[spot + len(spoiled) :])
    _hold_inspector(place, path)


def _storable(name: str) -> bool:
    return bool(name) and "\0" not in name


def _hold_inspector(place: Path, path: Path) -> None:
    out, said = place / "wheel.json", io.StringIO()
    with patience(), redirect_stdout(said), redirect_stderr(said):
        code = inspect_wheel.main(["--wheel", str(path), "--any-python", "--out", str(out)])
    assert code in {0, 1}
    assert json.loads(out.read_text())["ok"] is (code == 0)


@examples(6)
@given(text=cut(LOG) | cut("\n".join(PASTES.splitlines()[:80])) | any_text)
def test_logs(place: Path, text: str) -> None:
    (place / "build.log").write_bytes(as_bytes(text))
    hold(place, "explain", "build.log", "--json")
    hold(place, "explain", "build.log")


@examples(4)
@given(text=cut(PASTES) | any_text)
def test_pastes(place: Path, text: str) -> None:
    (place / "post.txt").write_bytes(as_bytes(text))
    hold(place, "doctor", "--paste", "post.txt", "-p", "torch-2.14")


@examples(30)
@given(dump=st.binary(max_size=60) | st.lists(any_text, max_size=6).map("\0".join).map(as_bytes))
def test_dumps_of_an_environment(dump: bytes) -> None:
    """What a toolkit set reaches the shell of whoever evaluates it as it is, and runs nothing there."""
    said = io.StringIO()
    with patience(), redirect_stdout(said):
        sets = parse_dump(dump)
        show_env(make_console(), ShellEnvironment(sets, ["A", "B; touch CANARY"]), verbose=False)
    plain = re.sub(r"\$'(?:\\.|[^'\\])*'", "text", said.getvalue())  # bash's own quotes, which shlex does not know
    lines = shlex.split(plain.replace("\\\n", ""))
    assert [word for word in lines if word == "touch"] == []


@examples(4)
@given(document=anything)
def test_facts_that_are_anything(place: Path, document: Any) -> None:
    (place / "facts.json").write_bytes(as_json(document))
    hold(place, "doctor", "--facts", "facts.json", "-p", "sim")
    (place / f"demo-1-{TAG}.whl").write_bytes(as_json(document))
    _hold_inspector(place, place / f"demo-1-{TAG}.whl")
