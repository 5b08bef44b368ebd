"""What the facts hold of an environment's libraries, and what is noted where the look failed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from xpusetup.base.document import to_table
from xpusetup.machine import probe_torch
from xpusetup.system.files import Sysroot
from xpusetup.system.process import ProcessOutput

if TYPE_CHECKING:
    from collections.abc import Sequence

HIDES = {
    "kind": "symbol",
    "level": "fail",
    "library": "/venv/lib/libsycl.so.9",
    "names": ["urDeviceWaitExp"],
    "count": 1,
    "first": "/old/libur_loader.so.0",
    "has": "/venv/lib/libur_loader.so.0",
    "owners": {"library": "intel-sycl-rt 2026.1.0"},
}


def look(monkeypatch: pytest.MonkeyPatch, output: ProcessOutput) -> tuple[list[str], dict[str, str], Any]:
    """Give the command line, the notes and the conflicts."""
    notes: dict[str, str] = {}
    lines: list[str] = []

    def run(argv: Sequence[str], **_words: object) -> ProcessOutput:
        lines.extend(argv)
        return output

    monkeypatch.setattr(probe_torch, "run_process", run)
    places = [Path("/venv/lib/python3.12/site-packages")]
    return lines, notes, probe_torch.probe_conflicts(Path("/venv"), places, Sysroot("/slash"), notes)


def test_conflicts_are_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    told = json.dumps({"prefix": "/venv", "looked": 9, "conflicts": [HIDES]})
    line, notes, conflicts = look(monkeypatch, ProcessOutput(0, told, ""))
    assert [to_table(one) for one in conflicts] == [HIDES]
    assert notes == {}
    assert line[-6:] == [
        *("--prefix", "/venv", "--place", "/venv/lib/python3.12/site-packages", "--sysroot", "/slash"),
    ]


def test_no_more_are_kept_than_help(monkeypatch: pytest.MonkeyPatch) -> None:
    told = json.dumps({"prefix": "/venv", "looked": 9, "conflicts": [HIDES] * 99})
    assert len(look(monkeypatch, ProcessOutput(0, told, ""))[2]) == probe_torch.MOST


@pytest.mark.parametrize(
    ("output", "note"),
    [
        (ProcessOutput(None, "", "", "it took longer than 60 s"), "it took longer than 60 s"),
        (ProcessOutput(1, "", "Traceback\nOSError: gone\n"), "OSError: gone"),
        (ProcessOutput(0, "", ""), "it says nothing"),
        (ProcessOutput(0, '{"conflicts": [{"kind": "of tomorrow"}]}', ""), "validation error"),
    ],
)
def test_what_was_not_seen_is_no_conflict(monkeypatch: pytest.MonkeyPatch, output: ProcessOutput, note: str) -> None:
    _, notes, conflicts = look(monkeypatch, output)
    assert conflicts is None
    assert note in notes["torch.conflicts"]
