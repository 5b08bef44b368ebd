"""The one envelope in which results and errors leave."""

from __future__ import annotations

import json

import pytest

from xpusetup.base.errors import (
    InterruptedRunError,
    NoDeviceError,
    NotReadyError,
    UsageError,
    WorkFailedError,
    XpuError,
)
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
        "error": {"message": "what", "fix": "how", "code": code},
    }


@pytest.mark.parametrize(("fix", "text"), [("", "what"), ("how", "what\n  how")])
def test_an_error_as_text(fix: str, text: str) -> None:
    assert str(XpuError("what", fix=fix)) == text
