"""The line that a person would point at, in logs that real tools wrote of failures which no class needs to know."""

from __future__ import annotations

from typing import Any

import pytest

from logs import HERE, explained, ids, signatures
from xpusetup.base.errors import UsageError
from xpusetup.base.values import parse_toml
from xpusetup.explain.blocks import find_coding
from xpusetup.explain.codes import COMMON
from xpusetup.explain.finder import Signature, parse_signatures
from xpusetup.system.files import package_texts

FAILURES: list[dict[str, Any]] = parse_toml((HERE / "failures.toml").read_text(encoding="utf-8"))["failure"]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure["what"])
def test_the_line_of_a_real_failure(failure: dict[str, Any]) -> None:
    found = explained(failure["log"].strip("\n"))
    shown = found.causes[0].text if found.causes else found.first_error and found.first_error.text
    assert failure["line"] in (shown or "")


def test_there_are_enough_of_them() -> None:
    assert len(FAILURES) >= 60


WARNED = """\
WARNING:app:fancy is not there; going on without
Traceback (most recent call last):
  File "a.py", line 5, in <module>
    import fancy
ModuleNotFoundError: No module named 'fancy'
INFO:app:loading
"""


def test_an_exception_that_was_only_warned_of_stands_behind_what_ended_it() -> None:
    last = "Traceback (most recent call last):\n  File \"a.py\", line 9, in <module>\n    run()\nKeyError: 'b'\n"
    found = explained(WARNED + last)
    assert (ids(found), found.first_error and found.first_error.text) == ([], "KeyError: 'b'")


def test_it_is_shown_where_nothing_else_is_wrong() -> None:
    """The program may have ended there: what a logger calls a warning is its own affair."""
    assert ids(explained(WARNED)) == ["import.no_module"]


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("chunk", [1, 7, 4096])
def test_what_powershell_writes(coding: str, chunk: int) -> None:
    log = "Building\r\nRuntimeError: No XPU devices are available.\r\nEnde: Größe\r\n".encode(coding)
    found = explained(log, chunk)
    assert ids(found) == ["rt.no_devices"]
    assert found.causes[0].line == 2


@pytest.mark.parametrize("first", [b"", b"plain text that is long enough", bytes(64), b"\x00\x01" * 3])
def test_what_is_not_utf_16_is_left_alone(first: bytes) -> None:
    assert find_coding(first) is None


def _results() -> dict[str, dict[str, int]]:
    known: dict[str, dict[str, int]] = parse_toml(package_texts("data/signatures"))["results"]
    return known


def _owner(name: str) -> Signature:
    return next(signature for signature in signatures() if name in signature.results)


@pytest.mark.parametrize("name", sorted({name for numbers in _results().values() for name in numbers}))
def test_every_result_of_a_driver_is_known_by_name_and_number(name: str) -> None:
    expected, numbers = _owner(name).id, {api: known[name] for api, known in _results().items() if name in known}
    forms = {
        "ze": ("Error: ZE_RESULT_ERROR_{name}", "RuntimeError: Triton Error [ZE]: 0x{number:x}", "zeInit {number:x}",
               "zesInit failed with code {number}."),
        "ur": ("level_zero backend failed with error: {number} (UR_RESULT_ERROR_{name})",
               "level_zero backend failed with error: {number}"),
        "cl": ("clFinish failed: CL_{name} ({number})", "OpenCL error {number}",
               "Native API failed. Native API returns: {number} (PI_ERROR_{name})"),
    }  # fmt: skip
    for api, number in numbers.items():
        for form in forms[api] if number < COMMON else forms[api][:1]:
            line = form.format(name=name, number=number)
            assert expected in ids(explained(f"a\n{line}\nb\n")), line


@pytest.mark.parametrize(
    "line",
    [
        "x.cpp:12: error: 70000001 is too big",
        "copied 2013265921 bytes",
        "error: 2013265921 rows expected",
        "RuntimeError: returned 0x78000001f",
        "loss = -5 after 20 steps",
    ],
)
def test_a_number_alone_is_no_result(line: str) -> None:
    assert ids(explained(f"a\n{line}\nb\n")) == []


def test_a_result_that_nothing_has_is_refused() -> None:
    text = package_texts("data/signatures").replace('"DEVICE_LOST",', '"DEVICE_LOSST",', 1)
    with pytest.raises(UsageError, match="results that nothing has") as caught:
        parse_signatures(text)
    assert "DEVICE_LOSST" in str(caught.value)
