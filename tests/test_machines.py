"""Whole machines, as `doctor --save` writes them: the root cause, the way, and both screens of each."""

from __future__ import annotations

from functools import cache
from io import StringIO
from typing import TYPE_CHECKING, get_args

import pytest

from data.ailing import MACHINES
from data.diagnosis import diagnose
from data.outcomes import OUTCOMES, Outcome
from data.saved import KEPT, machine_file, text_of
from golden import hold, hold_one
from xpusetup.base.document import read_json_as
from xpusetup.commands.doctor import DoctorOptions, examine_machine
from xpusetup.commands.prompt import prompt_of_machine
from xpusetup.commands.recommend import way_of
from xpusetup.commands.setup import SetupOptions, prepare_setup, show_setup
from xpusetup.doctor.registry import about_machine
from xpusetup.machine.facts import Facts, Section
from xpusetup.recommend.solve import MENDS
from xpusetup.run.workspace import Where
from xpusetup.ui.console import Terminal
from xpusetup.ui.doctor import brief_doctor, show_doctor
from xpusetup.ui.recommend import show_way
from xpusetup.ui.setup import show_setup as show_setup_screen

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from xpusetup.commands.doctor import Diagnosis
    from xpusetup.commands.setup import SetupResult

NAMES = sorted(OUTCOMES)
SOMETIMES = {"torch", "tree"}
"""Sections that a machine may have nothing of."""


@cache
def doctor(name: str) -> Diagnosis:
    return diagnose(Where(profile=OUTCOMES[name].asked), DoctorOptions(facts=(str(machine_file(name)),)))


def stops_of(data: Diagnosis) -> list[str]:
    """Return what stops the goals that the way takes."""
    goals = (
        ("run",) if data.way.route in ("wheel", "image", "none") and data.stops.get("run") is not None else data.stops
    )
    return [cause for goal in goals for cause in data.stops[goal]]


def screen(show: Callable[..., None], data: object, *, verbose: bool = False, width: int = 100) -> str:
    console = Terminal(
        width=width, no_color=True, force_terminal=False, file=StringIO(), highlight=False, soft_wrap=True
    )
    show(console, data, verbose=verbose)
    assert isinstance(console.file, StringIO)
    return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())


def screen_of_setup(data: SetupResult) -> str:
    return screen(show_setup_screen, data)


def test_machines_that_are_kept_are_what_their_parts_make() -> None:
    hold("../machines", {f"{name}.json": text_of(name) for name in ("b580-ubuntu-24.04", "cuda-torch")})


def test_every_machine_has_an_outcome_and_screens() -> None:
    assert set(MACHINES) == set(OUTCOMES)
    assert len(MACHINES) >= 40
    assert {path.stem for path in (KEPT.parent / "golden/machines").iterdir()} == {*SHOWN}


def test_a_machine_was_looked_at_as_a_whole() -> None:
    for name in NAMES:
        facts = read_json_as(Facts, machine_file(name).read_text())
        missing = {section for section in get_args(Section) if getattr(facts, section) is None}
        assert missing <= SOMETIMES, name
        assert ("torch" in missing) == ("torch" in facts.notes), name


@pytest.mark.parametrize("name", NAMES)
def test_causes_and_way(name: str) -> None:
    data, wanted = doctor(name), OUTCOMES[name]
    way = data.way
    stops = {goal: tuple(causes) for goal, causes in data.stops.items()}
    assert stops == {"run": wanted.run} | ({} if wanted.build is None else {"build": wanted.build})
    assert (way.route, way.profile) == wanted.way
    usual = "is here and holds code for" if wanted.kept else "published wheels of torch-"
    assert (wanted.why or usual) in way.why
    assert any("nothing to install" in step.title for step in way.steps) == wanted.kept
    levels = {finding.id: finding.level for finding in data.findings}
    assert {levels.get(each) for each in wanted.told} <= {"info", "warn"}
    assert "crash" not in levels.values()
    mended = [each for step in way.steps for each in step.mends]
    if way.route != "none" and way.collected:  # one that was asked for and is no release has commands alone
        assert {cause: mended.count(cause) for cause in wanted.run} == dict.fromkeys(wanted.run, 1)


SHOWN = (
    *("b580-ubuntu-24.04", "b580-kernel-6.8", "b580-without-oneapi", "max1550-sles-15", "two-sycl-runtimes"),
    *("render-group-missing", "cpu-torch", "offline", "wsl2-without-dxg", "gaudi2-without-module"),
    *("no-gpu-debian-12", "disk-full"),
)
"""Machines of each kind of answer: their screens are kept whole, and what holds for all is asked of them alone.
OUTCOMES holds the causes and the way of all."""


@pytest.mark.parametrize("name", SHOWN)
def test_the_exit_code_follows_the_way(name: str) -> None:
    """What a build lacks is no fault of a machine whose way needs none; it is told, and after what matters."""
    stops, route = doctor(name).stops, doctor(name).way.route
    code = examine_machine(Where(profile=OUTCOMES[name].asked), DoctorOptions(facts=(str(machine_file(name)),))).code
    amiss = stops["run"] if route in ("wheel", "image") else [*stops["run"], *stops.get("build", ())]
    assert code == (1 if amiss else 0)
    if route in ("wheel", "image"):
        assert next(iter(stops)) == "run"
    for goal in stops:
        asked = DoctorOptions(goal=goal, facts=(str(machine_file(name)),))
        assert examine_machine(Where(profile=OUTCOMES[name].asked), asked).code == (1 if stops[goal] else 0)


@pytest.mark.parametrize("goal", ["run", "build"])
@pytest.mark.parametrize("name", SHOWN)
def test_setup_says_that_nothing_is_missing_only_where_nothing_is(name: str, goal: str) -> None:
    options = SetupOptions(profile=OUTCOMES[name].asked, goal=goal, facts=str(machine_file(name)))
    prepared = prepare_setup(options)
    data = show_setup(prepared).data
    mended = {check for row in (*data.commands, *data.notes) for check in MENDS.get(getattr(row, "id", ""), ())}
    asked = DoctorOptions(goal=goal, facts=(str(machine_file(name)),), only=about_machine())
    amiss = set(diagnose(Where(profile=prepared.named), asked).stops[goal])
    told = {row.id for row in data.left}
    if goal == "run":
        assert amiss - told - mended <= {check for note in prepared.setup.notes for check in MENDS.get(note.id, ())}
    assert not amiss or data.commands or data.notes or told
    if goal == "run" and OUTCOMES[name].kept and prepared.named == OUTCOMES[name].way[1]:  # doctor says the same
        assert data.follows == doctor(name).way.commands[-1]
    assert ("nothing is missing" in screen_of_setup(data)) == (not (data.commands or data.notes or told))


def test_what_was_saved_is_said(tmp_path: Path) -> None:
    name, file = NAMES[0], tmp_path / "facts.json"
    result = examine_machine(Where(), DoctorOptions(facts=(str(machine_file(name)),), save=str(file)))
    assert f"what was seen is in {file}, without names" in screen(show_doctor, result.data)
    assert read_json_as(Facts, file.read_text())


@pytest.mark.parametrize("name", SHOWN)
def test_both_commands_lead_the_same_way(name: str) -> None:
    if OUTCOMES[name].asked:
        return
    facts = read_json_as(Facts, machine_file(name).read_text())
    assert way_of(facts).data.way == doctor(name).way


@pytest.mark.parametrize("name", SHOWN)
def test_golden_screens(name: str) -> None:
    facts = read_json_as(Facts, machine_file(name).read_text())
    text = screen(show_doctor, doctor(name)) + "\n" + "-" * 100 + "\n" + screen(show_way, way_of(facts).data)
    hold_one(f"machines/{name}.txt", text)


@pytest.mark.parametrize(
    ("only", "verdict"),
    [
        (("git.present",), "✓ This check holds"),
        (("kmd.force_probe",), "✗ This check fails"),
        (("cc.gcc", "git.present"), "✓ These checks hold"),
        (("git.present", "kmd.force_probe"), "✗ 1 of 2 checks: a fault"),
        (("hpu.modules",), "· Nothing to check here"),
    ],
)
def test_checks_that_alone_were_asked_for_say_nothing_of_the_machine(only: tuple[str, ...], verdict: str) -> None:
    """A kernel and a driver were advised below "Nothing is wrong"."""
    asked = DoctorOptions(facts=(str(machine_file("b580-kernel-6.8")),), only=only)
    text = screen(show_doctor, diagnose(Where(), asked))
    assert text.splitlines()[1] == f" {verdict}"
    assert "setup --apply" not in text
    assert "xpusetup install" not in text


@pytest.mark.parametrize("name", ["cuda-torch", "cpu-torch"])
def test_a_torch_for_something_else_has_one_answer(name: str) -> None:
    """The way installed into another environment than the one that was blamed, and -v had pip do it."""
    data = doctor(name)
    found = next(each for each in data.findings if each.id == "torch.is_xpu_build")
    assert data.way.commands == found.fix.commands
    assert data.way.commands[-1].startswith("xpusetup install --into /")


def test_what_only_a_build_needs_is_no_fault() -> None:
    data = doctor("b580-without-oneapi")
    text = screen(show_doctor, data)
    assert text.splitlines()[1] == " ✓ Ready for PyTorch"
    assert "builds need more: --for build" in text
    assert "✗" not in screen(show_doctor, data, verbose=True)
    assert brief_doctor(data).endswith("Ready for PyTorch")
    assert not brief_doctor(doctor("b580-kernel-6.8"))
    asked = DoctorOptions(facts=(str(machine_file("b580-without-oneapi")),))
    prompt = prompt_of_machine(Where(), asked).data.prompt
    assert "SYCL compiler (needed only for source builds): no icpx" in prompt


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_stands_first_and_the_screen_is_short(name: str) -> None:
    """The verdict is one line; at 80 columns a healthy machine takes 25 lines, an ill one 35."""
    data = doctor(name)
    blank, verdict, below, *_ = lines = screen(show_doctor, data, width=80).splitlines()
    assert (blank, verdict[0]) == ("", " ")
    assert not below or data.way.route == "none"
    matter = stops_of(data)
    assert verdict[1] == "✗" if matter else verdict[1] in "✓!"
    assert len(lines) <= (25 if verdict[1] == "✓" else 35), "\n".join(lines)
    hold_all_is_shown(data)


def hold_all_is_shown(data: Diagnosis) -> None:
    """Every check and, where it is amiss, all that mends it is shown by -v; what stops the way without it too."""
    whole = " ".join(screen(show_doctor, data, verbose=True).split())
    short = " ".join(screen(show_doctor, data).split())
    for finding in data.findings:
        assert f"{finding.title}: " in whole
        assert " ".join(finding.why.split()) in whole
        if finding.level in ("fail", "warn"):
            for command in finding.fix.commands:
                assert " ".join(command.split()) in whole
    steps = {name for step in data.way.steps for name in step.mends}
    for cause in stops_of(data):
        finding = next(each for each in data.findings if each.id == cause)
        assert " ".join(finding.seen.splitlines()[0].split()) in short
        assert cause in steps or all(" ".join(line.split()) in short for line in finding.fix.commands)


def test_every_cause_of_the_table_is_said_in_full() -> None:
    """Nothing that stops a machine is left without words on what to do."""
    for name in NAMES:
        findings = {each.id: each for each in doctor(name).findings}
        for cause in {*(OUTCOMES[name].build or ()), *OUTCOMES[name].run}:
            assert findings[cause].why, (name, cause)
            assert findings[cause].fix.say or findings[cause].fix.commands, (name, cause)


@pytest.mark.parametrize(("name", "helps"), [("b580-small-bar", False), ("a770-small-bar", True)])
def test_advice_is_about_the_card_that_is_here(name: str, *, helps: bool) -> None:
    """Only Alchemist has i915 for a driver where the BAR is small; the owner of a B580 was told of it too."""
    assert ("i915" in next(each.fix.say for each in doctor(name).findings if each.id == "hw.small_bar")) == helps


def test_a_well_machine_has_no_cause() -> None:
    assert OUTCOMES["b580-ubuntu-24.04"] == Outcome(way=("wheel", "torch-2.14"), kept=True)
