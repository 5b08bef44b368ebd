"""What leads on from each result: whole commands that the program takes, with the options of the run."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from data import screens
from data.ailing import MACHINES
from data.diagnosis import diagnose
from data.outcomes import OUTCOMES
from golden import hold_one
from json_schemas import RESULTS, types_of
from test_advice import parse
from xpusetup.commands.doctor import DoctorOptions
from xpusetup.commands.next_commands import FINDERS, NextCommand, list_next
from xpusetup.commands.recommend import way_of
from xpusetup.machine.facts import Facts
from xpusetup.run.workspace import Where

if TYPE_CHECKING:
    from collections.abc import Iterable

AT_AN_END = {
    *("Bisection", "CacheSize", "CheckList", "CommandRun", "Comparison", "DeviceCheckList", "DeviceTable"),
    *(
        "FallbackTables",
        "FitResult",
        "GeneratedCode",
        "LibraryClosure",
        "ProfileList",
        "ProfileSchema",
        "ProofComparison",
    ),
    *("PrunedCache", "Self", "ShellEnvironment", "ShownProfile", "Skill", "StepLog", "SuiteResult", "UpstreamReport"),
    *("SignedWheels", "TrustedFiles", "WheelVerification", "WrittenReport"),
}
"""Results that answer a question, and after which the asker knows what to do."""
SAVED = Path(__file__).parent / "machines"
KINDS = {kind for command in RESULTS for kind in types_of(command)}
SHOWN = {name: each for name, each in sorted(vars(screens).items()) if type(each) in KINDS}


def lines(found: Iterable[NextCommand]) -> list[str]:
    return [shlex.join(each.argv) for each in found]


def check(found: Iterable[NextCommand]) -> None:
    """Look that each says what it does, and that the program takes what is for it."""
    for each in found:
        assert each.title, each
        assert each.argv[0], each
        if each.argv[0] == "xpusetup":
            parse(shlex.join(each.argv).replace(" -- python ", " -- python3 "))


def test_each_type_of_result_leads_on_or_is_known_to_be_an_end() -> None:
    assert {kind.__name__ for kind in KINDS} == set(FINDERS) | AT_AN_END
    assert not set(FINDERS) & AT_AN_END


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
    assert [each.argv for each in found] == [["xpusetup", "build", "--profile", "torch-2.5", "--root", "/my builds/x"]]


@pytest.mark.parametrize(
    ("line", "argv"),
    [
        ("sudo apt-get install -y libze1", ["sudo", "apt-get", "install", "-y", "libze1"]),
        ("unset A B", ["bash", "-c", "unset A B"]),
        ("sudo modprobe a && sudo modprobe b", ["bash", "-c", "sudo modprobe a && sudo modprobe b"]),
        ("python -c 'import a; print(a)'", ["python", "-c", "import a; print(a)"]),
    ],
)
def test_what_only_a_shell_understands_is_given_to_one(line: str, argv: list[str]) -> None:
    assert [each.argv for each in list_next(replace(screens.EMIT, start=line), {})] == [argv]


@pytest.mark.parametrize("name", sorted(OUTCOMES))
def test_from_each_saved_machine_at_most_eight_commands_lead_on(name: str) -> None:
    """None where no command leads to a device here: the way says why, and `route` is none."""
    told = diagnose(Where(profile=OUTCOMES[name].asked), DoctorOptions(facts=(str(SAVED / f"{name}.json"),)))
    way = way_of(Facts.model_validate(MACHINES[name])).data
    for data, route in ((told, told.way.route), (way, way.way.route if way.way else "")):
        found = list_next(data, {})
        check(found)
        assert len(found) <= 8
        assert found or route == "none", found
