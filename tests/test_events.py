"""Events and what is read from ninja's lines."""

from __future__ import annotations

import json

import pytest

from xpusetup.base.model import Event, parse_progress, parse_summary


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("[1/7561] Building CXX object x.o", (1, 7561)),
        ("[7561/7561] Linking", (7561, 7561)),
        ("[3/4]", (3, 4)),
        ("  [3/4] x", (3, 4)),  # as pip shows it
        ("[3/4", (0, 0)),
        ("[a/b] x", (0, 0)),
        ("[ 50%] Building", (0, 0)),
        ("see [1/2]", (0, 0)),
        ("", (0, 0)),
    ],
)
def test_progress(line: str, found: tuple[int, int]) -> None:
    assert parse_progress(line) == found


def test_a_document_says_only_what_it_knows() -> None:
    assert Event(kind="start", time=5.0, step="venv").document() == {"kind": "start", "time": 5.0, "step": "venv"}
    full = Event(
        kind="end", time=5.0, step="a", title="t", text="x", state="ran", seconds=1.5, count=1, total=2, jobs=3
    )
    assert list(full.document()) == [
        "kind",
        "time",
        "step",
        "title",
        "text",
        "state",
        "seconds",
        "count",
        "total",
        "jobs",
    ]
    assert json.loads(json.dumps(full.document())) == full.document()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("= v2.5.1 a8d6afb | 412 MiB | 38 submodules", "v2.5.1 a8d6afb · 412 MiB · 38 submodules"),
        ("= pvc,bmg", "pvc,bmg"),
        ("= one, two|three", "one, two|three"),
        ("== a heading ==", ""),
        (" = indented", ""),
        ("a = b", ""),
        ("=", ""),
    ],
)
def test_summaries(line: str, found: str) -> None:
    assert parse_summary(line) == found
