"""Logs whose error has many causes, or none that is known, and that tell of the machine which it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from logs import HERE
from xpusetup.base.values import parse_toml
from xpusetup.commands.explain import explain

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.commands.explain import ExplainResult

UNINITIALIZED = "terminate called: zeInit failed with ZE_RESULT_ERROR_UNINITIALIZED (0x78000001)"
METEOR = "00:02.0 VGA compatible controller [0300]: Intel Corporation Meteor Lake-P [Intel Arc Graphics] [8086:7d55]"
OLD_SYSTEM = f"""$ cat /etc/os-release
PRETTY_NAME="Ubuntu 20.04.6 LTS"
ID=ubuntu
VERSION_ID="20.04"
$ lspci -nn | grep VGA
{METEOR}
$ ./probe
{UNINITIALIZED}
"""
GOOD: list[dict[str, Any]] = parse_toml((HERE / "good.toml").read_text(encoding="utf-8"))["good"]


def told(folder: Path, text: str) -> ExplainResult:
    log = folder / "run.log"
    log.write_text(text, encoding="utf-8")
    return explain(str(log)).data


def test_an_error_of_many_causes_is_told_by_system_and_gpu(tmp_path: Path) -> None:
    first, second, *_ = told(tmp_path, OLD_SYSTEM).causes
    assert (first.id, first.phase, first.likely) == ("sys.older_than_gpu", "machine", True)
    assert first.cause.startswith("Ubuntu 20.04")
    assert (first.line, first.text) == (second.line, UNINITIALIZED)
    assert second.id == "ze.uninitialized"


def test_an_error_in_the_middle_of_a_long_log_is_told_too(tmp_path: Path) -> None:
    """Of a long log the first and last part are kept, and not the error's own line."""
    frames = "  #7 0x00007f21 in frame ()\n" * 10_000
    result = told(
        tmp_path, OLD_SYSTEM.replace(UNINITIALIZED, f"{frames}{UNINITIALIZED}\n{frames}Aborted (core dumped)")
    )
    assert [each.id for each in result.causes][:2] == ["sys.older_than_gpu", "ze.uninitialized"]
    assert result.causes[0].text == UNINITIALIZED


def test_a_cause_that_is_known_stands_alone(tmp_path: Path) -> None:
    lines = [line for line in OLD_SYSTEM.splitlines() if line != UNINITIALIZED]
    log = "\n".join([*lines, "ModuleNotFoundError: No module named 'pkg_resources'"])
    assert all(each.phase != "machine" for each in told(tmp_path, log).causes)


def test_what_does_not_tell_of_the_machine_leaves_the_error_alone(tmp_path: Path) -> None:
    assert told(tmp_path, UNINITIALIZED).causes[0].id == "ze.uninitialized"


@pytest.mark.parametrize("part", range(8))
def test_no_machine_of_a_log_of_success_fails(part: int, tmp_path: Path) -> None:
    for log in GOOD[part::8]:
        assert [each.id for each in told(tmp_path, log["log"]).causes if each.phase == "machine"] == [], log
