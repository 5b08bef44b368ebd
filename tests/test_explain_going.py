"""Logs that go on after what complains in them, and logs that look alike and failed."""

from __future__ import annotations

from typing import Any

import pytest

from logs import HERE, explained, ids
from xpusetup.base.values import parse_toml

CASES: dict[str, list[dict[str, Any]]] = parse_toml((HERE / "going.toml").read_text(encoding="utf-8"))


def name(case: dict[str, Any]) -> str:
    return str(case["what"])


@pytest.mark.parametrize("case", CASES["good"], ids=name)
def test_what_went_on_is_no_failure(case: dict[str, Any]) -> None:
    """No cause, and no line that is called an error."""
    told = explained(case["log"].strip("\n")).describe()
    assert told.causes == []
    assert told.first_error_line is None or told.first_error_over or told.ended


@pytest.mark.parametrize("case", CASES["failed"], ids=name)
def test_what_failed_keeps_its_line(case: dict[str, Any]) -> None:
    found = explained(case["log"].strip("\n"))
    told = found.describe()
    shown = found.causes[0].text if found.causes else told.first_error
    assert case["line"] in shown, (ids(found), shown)
    assert not told.first_error_over
    assert told.ended is None


def test_a_step_that_failed_is_read_without_that() -> None:
    log = CASES["good"][0]["log"].strip("\n")
    assert explained(log).describe().causes == []
    assert ids(explained(log, failed=True))
