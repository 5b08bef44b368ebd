"""Results side by side: each form in which one is saved, the table of several, and the screen of two."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from data.proofs import ARC, CPU, ENVELOPE, FACTS, MANIFEST, SIM, STATUS, check
from golden import hold_one
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.commands.devices import diff
from xpusetup.run.manifest import describe_machine
from xpusetup.run.root import Root
from xpusetup.run.workspace import Where
from xpusetup.ui import screens
from xpusetup.ui.console import Terminal
from xpusetup.verify.outcomes import VerificationRecord, compare, make_proof, parse_proof, render_table


def proof(document: dict[str, Any]) -> VerificationRecord:
    return parse_proof(json.dumps(document), "x.json")


def files(folder: Path, *documents: dict[str, Any]) -> list[str]:
    paths = [folder / f"{number}.json" for number in range(len(documents))]
    for path, document in zip(paths, documents, strict=True):
        path.write_text(json.dumps(document))
    return [str(path) for path in paths]


def test_every_form_holds_the_same() -> None:
    plain = proof(ARC)
    assert proof({"schema": 1, "command": "verify", "ok": False, "result": ARC}) == plain
    named = proof(MANIFEST)
    assert (named.profile, named.machine) == ("torch-2.14", "Ubuntu 24.04.3 LTS · Linux 6.14.0-33-generic · x86_64")
    assert named.checks == plain.checks
    assert proof(STATUS).machine == "Debian 12 · Linux 6.18 · x86_64"


def test_golden_table() -> None:
    hold_one("results/table.md", render_table([proof(ENVELOPE), proof(MANIFEST), proof(STATUS)]))


def test_golden_several_go_to_stdout_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = diff(Where(), files(tmp_path, ENVELOPE, MANIFEST, STATUS))
    assert (result.command, result.code, result.data.here) == ("status diff", 0, False)
    screens.show_result(result, verbose=False)
    hold_one("results/table.md", capsys.readouterr().out)


def test_a_long_name_of_a_check_has_a_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`api.accelerator.current_accelerator✓ ok` was one word."""
    name = "api.accelerator.current_accelerator"
    build(tmp_path, monkeypatch, MANIFEST)
    (other,) = files(tmp_path, STATUS)
    text = Path(other).read_text()
    assert '"amp.dtype"' in text
    Path(other).write_text(text.replace('"amp.dtype"', f'"{name}"'))
    console = Terminal(width=120, no_color=True, force_terminal=False, file=StringIO(), highlight=False, soft_wrap=True)
    screens.show_data(console, diff(Where(), (other,)).data, verbose=False)
    assert isinstance(console.file, StringIO)
    lines = console.file.getvalue().splitlines()
    assert any(line.startswith(f" {name}   not among its checks") for line in lines), lines


@pytest.mark.parametrize("verbose", [False, True])
def test_golden_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, verbose: bool) -> None:
    build(tmp_path, monkeypatch, MANIFEST)
    result = diff(Where(), files(tmp_path, STATUS))
    console = Terminal(width=100, no_color=True, force_terminal=False, file=StringIO(), highlight=False, soft_wrap=True)
    screens.show_data(console, result.data, verbose=verbose)
    assert isinstance(console.file, StringIO)
    hold_one(f"results/two{'-verbose' if verbose else ''}.txt", console.file.getvalue())


def build(folder: Path, monkeypatch: pytest.MonkeyPatch, manifest: dict[str, Any]) -> None:
    """Let a folder be the root of what is built, with this manifest."""
    (folder / "manifest.json").write_text(json.dumps(manifest))
    workspace = SimpleNamespace(profile=SimpleNamespace(name=manifest["profile"]))
    monkeypatch.setattr("xpusetup.commands.devices.open_built", lambda _where, **_words: workspace)
    monkeypatch.setattr("xpusetup.commands.devices.find_built", lambda _here: SimpleNamespace(root=Root(folder)))


def test_a_build_that_was_never_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path, monkeypatch, {"profile": "sim"})
    with pytest.raises(NotReadyError, match=f"sim in {tmp_path} was never verified"):
        diff(Where(), files(tmp_path, STATUS))


@pytest.mark.parametrize(
    ("level", "verdict", "mark"),
    [
        ("ok", None, "ok"),
        ("info", None, "ok"),
        ("warn", None, "ok"),
        ("fail", None, "wrong"),
        ("crash", None, "wrong"),
        ("skip", None, "not run"),
        ("skip", "ok", "not run"),
        ("skip", "absent", "absent"),
        ("fail", "unsupported", "unsupported"),
        ("skip", "unsupported", "unsupported"),
        ("fail", "absent", "absent"),
        ("info", "something new", "ok"),
        ("something new", None, "not run"),
    ],
)
def test_marks(level: str, verdict: str | None, mark: str) -> None:
    found = proof({**CPU, "checks": [check("amp.dtype", level, "x", verdict)]})
    assert found.checks["amp.dtype"].mark == mark


def test_rows_say_what_one_of_them_does_not_have() -> None:
    rows = {row.id: row for row in compare([proof(CPU), proof(SIM)])}
    assert rows["suite.fp64"].marks == ["ok", None]
    assert [row.id for row in rows.values() if row.same] == ["device.available"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not JSON", "x.json is not JSON"),
        ("[]", "x.json holds no verification"),
        ("{}", "x.json holds no verification"),
        ('{"schema": 1, "ok": false, "error": {"message": "no"}}', "x.json holds no verification"),
        ('{"checks": {}, "device": "cpu"}', "x.json holds no verification"),
        ('{"result": [], "checks": 1}', "x.json holds no verification"),
    ],
)
def test_what_is_no_result(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_proof(text, "x.json")


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(UsageError, match=r"there is no file none\.json"):
        diff(Where(), ["none.json", "other.json"])


def test_odd_contents_are_left_out() -> None:
    found = make_proof({"device": "cpu", "devices": [1], "checks": [None, {"level": "ok"}, {"id": "a", "level": "ok"}]})
    assert found is not None
    assert (list(found.checks), found.name, found.verified) == (["a"], "", None)


def test_machines() -> None:
    assert describe_machine({}) == ""
    assert describe_machine(FACTS).startswith("Ubuntu 24.04.3 LTS · ")
