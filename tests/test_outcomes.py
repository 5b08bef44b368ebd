"""Results side by side: each form in which one is saved, and what a check came to in each."""

from __future__ import annotations

import json
from typing import Any

import pytest

from data.proofs import ARC, CPU, FACTS, MANIFEST, SIM, STATUS, check
from xpusetup.base.errors import UsageError
from xpusetup.run.manifest import describe_machine
from xpusetup.verify.outcomes import VerificationRecord, make_proof, make_table, parse_proof


def proof(document: dict[str, Any]) -> VerificationRecord:
    return parse_proof(json.dumps(document), "x.json")


def test_every_form_holds_the_same() -> None:
    plain = proof(ARC)
    assert proof({"schema": 1, "command": "verify", "ok": False, "result": ARC}) == plain
    named = proof(MANIFEST)
    about = named.about
    assert (about.profile, about.machine) == (
        "torch-2.14",
        "Ubuntu 24.04.3 LTS · Linux 6.14.0-33-generic · x86_64",
    )
    assert named.checks == plain.checks
    assert proof(STATUS).about.machine == "Debian 12 · Linux 6.18 · x86_64"


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
    rows = {row.id: row for row in make_table([proof(CPU), proof(SIM)]).checks}
    assert rows["suite.fp64"].states == ["ok", "not run"]
    assert rows["device.available"].states == ["ok", "ok"]


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


def test_odd_contents_are_left_out() -> None:
    found = make_proof({"device": "cpu", "devices": [1], "checks": [None, {"level": "ok"}, {"id": "a", "level": "ok"}]})
    assert found is not None
    assert (list(found.checks), found.about.name, found.about.verified) == (["a"], "", None)


def test_machines() -> None:
    assert describe_machine({}) == ""
    assert describe_machine(FACTS).startswith("Ubuntu 24.04.3 LTS · ")
