"""What leads on from each result: whole commands that the program takes, with the options of the run."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import test_machines
from data import screens
from data.ailing import MACHINES
from data.diagnosis import diagnose
from data.outcomes import OUTCOMES
from data.saved import machine_file
from golden import hold_one
from json_schemas import RESULTS, types_of
from logs import signatures
from test_advice import parse
from xpusetup.base.document import read_as
from xpusetup.commands.doctor import DoctorOptions
from xpusetup.commands.explain import explain
from xpusetup.commands.next_commands import NextCommand, find_lines, list_next
from xpusetup.commands.recommend import way_of
from xpusetup.explain.explanation import fill_commands
from xpusetup.machine.facts import Facts
from xpusetup.run.workspace import Where

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from xpusetup.base.command import Command

AT_AN_END = {
    *(
        "Bisection",
        "CacheSize",
        "MadeToolkit",
        "CheckList",
        "CommandRun",
        "Comparison",
        "DeviceCheckList",
        "DeviceTable",
    ),
    *(
        "FallbackTables",
        "FitResult",
        "GeneratedCode",
        "ProfileList",
        "ProfileSchema",
    ),
    *(
        "Prompt",
        "PrunedCache",
        "Self",
        "ShellEnvironment",
        "ShownProfile",
        "Skill",
        "StepLog",
        "SuiteResult",
        "TriedChange",
        "UpstreamReport",
    ),
    *("SignedWheels", "TrustedFiles", "WheelVerification", "WrittenReport"),
    "Removed",  # a program that follows must not come to a deletion
}
"""Results that answer a question, and after which the asker knows what to do."""
KINDS = {kind for command in RESULTS for kind in types_of(command)}
SHOWN = {name: each for name, each in sorted(vars(screens).items()) if type(each) in KINDS}


IN_CAPITALS = {
    *("CAT", "CFLAGS", "CMDLINE", "COMPOSITE", "CONSTRAINT", "CXX", "CXXFLAGS", "DETAIL", "GPG", "HEAD", "HOURS"),
    *("HTTP", "LDFLAGS", "LIB", "OFF", "PUB", "RHEL", "TMPDIR", "VGA"),
}
"""Words in the commands of signatures that stand for themselves."""


def lines(found: Iterable[NextCommand]) -> list[str]:
    return [shlex.join(each.argv) for each in found]


def check(found: Iterable[NextCommand]) -> None:
    """Look that each says what it does, and that the program takes what is for it."""
    for each in found:
        assert each.title, each
        assert each.argv[0], each
        if each.argv[0] == "xpusetup":
            parse(shlex.join(each.argv).replace(" -- python ", " -- python3 "))


def signature_commands() -> Iterator[Command]:
    """Give the commands of each failure as they are told where nothing in the log fills them in."""
    for each in signatures():
        ways = (*(one.commands for one in each.on.values()), *(one.commands for one in each.when))
        for told in (each.commands, *ways):
            yield from fill_commands(told, {})


def test_a_command_that_a_person_has_to_complete_is_none() -> None:
    """`python -m pip index versions NAME` was told as what comes next, with NAME as it stands."""
    known = re.compile(r"(?<![\w$-])[A-Z]{3,}(?!\w)")
    left = {word for line in signature_commands() if not line.gaps for word in known.findall(line)}
    assert left <= IN_CAPITALS, "a word that stands for another is written as <WORD>, else it belongs to IN_CAPITALS"
    commands = fill_commands(["pip index versions <NAME>", "<build> --jobs 2", "pip check"], {})
    cause = replace(screens.EXPLAINED.causes[0], commands=commands)
    found = list_next(replace(screens.EXPLAINED, causes=[cause]), {})
    assert [each.argv for each in found] == [["pip", "check"]]


def test_what_pip_is_asked_for_is_asked_of_that_of_the_build(tmp_path: Path) -> None:
    """Debian has no `pip` and no `python` on PATH; `pip config list` was told as what comes next there."""
    log = tmp_path / "a b/logs/requirements.log"
    log.parent.mkdir(parents=True)
    log.write_text("ERROR: No matching distribution found for ninja==1.13.0\n")
    assert not any("bin/python" in each for each in lines(list_next(explain(str(log)).data, {})))
    (tmp_path / "a b/profile.lock.json").write_text('{"schema": 1, "named": "sim", "profile": {}}')
    assert lines(list_next(explain(str(log)).data, {}))[0] == "pip config list"
    python = tmp_path / "a b/venv/bin/python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert lines(list_next(explain(str(log)).data, {}))[0] == f"{shlex.quote(str(python))} -m pip config list"


def test_each_type_of_result_leads_on_or_is_known_to_be_an_end() -> None:
    assert {kind.__name__ for kind in KINDS if find_lines(kind) is None} == AT_AN_END


@pytest.mark.parametrize("name", SHOWN)
def test_the_program_takes_them(name: str) -> None:
    check(list_next(SHOWN[name], {}))


def test_they_are_as_they_were() -> None:
    told = {name: list_next(each, {}) for name, each in SHOWN.items()}
    text = "".join(
        f"{name}\n" + "".join(f"  {one.title}: {shlex.join(one.argv)}\n    why: {one.why}\n" for one in found) + "\n"
        for name, found in told.items()
        if found
    )
    hold_one("next.txt", text)


def test_the_options_of_the_run_come_along() -> None:
    found = list_next(screens.PLAN, {"--profile": ["torch-2.5"], "--root": ["/my builds/x"]})
    assert [each.argv for each in found] == [["xpusetup", "build", "--root", "/my builds/x", "torch-2.5"]]


@pytest.mark.parametrize(
    ("line", "argv"),
    [
        ("sudo apt-get install -y libze1", ["sudo", "apt-get", "install", "-y", "libze1"]),
        ("unset A B", ["bash", "-c", "unset A B"]),
        ("A=b pip install .", ["bash", "-c", "A=b pip install ."]),
        ("sudo modprobe a && sudo modprobe b", ["bash", "-c", "sudo modprobe a && sudo modprobe b"]),
        ("python -c 'import a; print(a)'", ["python", "-c", "import a; print(a)"]),
    ],
)
def test_what_only_a_shell_understands_is_given_to_one(line: str, argv: list[str]) -> None:
    assert [each.argv for each in list_next(replace(screens.EMIT, start=line), {})] == [argv]


@pytest.mark.parametrize("name", test_machines.SHOWN)
def test_from_a_saved_machine_at_most_eight_commands_lead_on(name: str) -> None:
    """None where no command leads to a device here: the way says why, and `route` is none."""
    told = diagnose(Where(profile=OUTCOMES[name].asked), DoctorOptions(facts=(str(machine_file(name)),)))
    way = way_of(read_as(Facts, MACHINES[name])).data
    for data, route in ((told, told.way.route), (way, way.way.route if way.way else "")):
        found = list_next(data, {})
        check(found)
        assert len(found) <= 8
        assert found or route == "none", found
