"""The one envelope in which results and errors leave."""

from __future__ import annotations

import json
import shlex

import pytest

from xpusetup.base.command import Advice, Command
from xpusetup.base.errors import (
    InterruptedRunError,
    NoDeviceError,
    NotReadyError,
    UsageError,
    WorkFailedError,
    XpuError,
)
from xpusetup.commands.next_commands import list_after
from xpusetup.commands.result import Result, make_document, make_error_document


@pytest.mark.parametrize(("code", "ok"), [(0, True), (1, False)])
def test_result(code: int, ok: bool) -> None:
    document = json.loads(make_document(Result("plan", {"steps": []}, code)))
    assert document == {"schema": 1, "command": "plan", "ok": ok, "result": {"steps": [], "next": []}}
    assert list(document) == ["schema", "command", "ok", "result"]


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (XpuError, 1),
        (WorkFailedError, 1),
        (UsageError, 2),
        (NotReadyError, 3),
        (NoDeviceError, 4),
        (InterruptedRunError, 130),
    ],
)
def test_error(kind: type[XpuError], code: int) -> None:
    document = json.loads(make_error_document("build", kind("what", fix="how")))
    assert list(document) == ["schema", "command", "ok", "error"]
    assert document == {
        "schema": 1,
        "command": "build",
        "ok": False,
        "error": {"message": "what", "fix": "how", "code": code, "next": []},
    }


@pytest.mark.parametrize(
    ("fix", "follows", "lines"),
    [
        ("how", "", []),
        (Command("xpusetup remove --root /b --yes"), "", ["xpusetup remove --profile sim --root /b --yes"]),
        ("xpusetup remove --root /b --yes", "", []),
        (Command("xpusetup remove --name NAME", gaps=("X",)), "", []),
        (Advice("in /b there is: x; name it: ", Command("xpusetup remove --name x")), "", []),
        ("xpusetup explain build.log, or another one", "", []),
        (Command("xpusetup run -- python -c '1; 2'"), "", ["xpusetup run sim -- python -c '1; 2'"]),
        (
            Advice.lines(["# g++", Command("sudo apt-get install g++"), Command("xpusetup status")], "\n  "),
            "",
            ["xpusetup status sim"],
        ),
        ("sudo apt-get install g++", "xpusetup setup --for build", ["xpusetup setup sim --for build"]),
    ],
)
def test_what_leads_on_from_an_error(fix: str, follows: str, lines: list[str]) -> None:
    """Commands that have a line for themselves; prose, and a word that stands for another, are for people."""
    error = NotReadyError("no g++\nmore", fix=fix, follows=follows)
    found = list_after(error, {"--profile": ["sim"]})
    assert [shlex.join(each.argv) for each in found] == lines
    assert {each.why for each in found} <= {"no g++"}
    document = json.loads(make_error_document("build", error, found))
    assert [each["argv"] for each in document["error"]["next"]] == [each.argv for each in found]


@pytest.mark.parametrize(("fix", "text"), [("", "what"), ("how", "what\n  how")])
def test_an_error_as_text(fix: str, text: str) -> None:
    assert str(XpuError("what", fix=fix)) == text
