"""What people see, as text at a width of 100 and without colour."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest

from data import screens
from data.machines import LAPTOP, WORKSTATION, machine
from data.well import CARD, KERNEL, LADDER, REPORT, TORCH, USERLAND, WELL
from golden import hold_one
from xpusetup.base.document import to_text
from xpusetup.base.errors import NotReadyError, UsageError, XpuError
from xpusetup.base.model import Event
from xpusetup.base.text import render_duration
from xpusetup.commands.doctor import Comparison, DoctorOptions, examine_machine, list_checks
from xpusetup.commands.profiles import list_profiles, show_profile
from xpusetup.commands.result import Result
from xpusetup.run import preflight
from xpusetup.run.workspace import Where, open_workspace
from xpusetup.ui import live
from xpusetup.ui import screens as show
from xpusetup.ui.console import Terminal

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console


LOST = {
    **WELL,
    "hardware": {"gpus": [{**CARD, "driver": None}], "nodes": []},
    "kernel": {**KERNEL, "release": "6.8.0-31-generic", "claims": {"e20b": []}},
    "userland": {**USERLAND, "level_zero": {**LADDER, "init": 0x78000001, "devices": []}},
    "torch": {**TORCH, "report": {**REPORT, "available": False, "count": 0, "devices": []}},
}


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch) -> Console:
    """Give the product's console, with its own settings, but for where it writes."""
    wide = Terminal(
        width=100, no_color=True, force_terminal=False, file=StringIO(), highlight=False, soft_wrap=True, _environ={}
    )
    for module in (show, live):
        monkeypatch.setattr(module, "make_console", lambda **_words: wide)
    return wide


def text_of(console: Console) -> str:
    assert isinstance(console.file, StringIO)
    return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())


STEPS_OF_AUDIO = [step for step in screens.STEPS if step.startswith("audio.")]
LEFT_OUT = [step for step in screens.STEPS if step.partition(".")[0] in {"torch", "vision"}]
RESULTS: list[tuple[str, Any, bool]] = [
    ("build-done", screens.BUILT, False),
    ("build-done-verbose", screens.BUILT, True),
    ("build-done-again", replace(screens.BUILT, repeated=True), False),
    ("build-not-verified", replace(screens.BUILT, verified=None), False),
    ("build-nothing-to-do", replace(screens.BUILT, ran=[], skipped=screens.STEPS), False),
    (
        "build-until",
        replace(screens.BUILT, until="torch.configure", left=screens.STEPS[4:], wheels=[], verified=None),
        False,
    ),
    ("build-until-a-wheel", replace(screens.BUILT, left=screens.STEPS[-3:], verified=None), False),
    (
        "build-only",
        replace(screens.BUILT, ran=STEPS_OF_AUDIO, only=["audio"], left=LEFT_OUT, verified=None, proof=None),
        False,
    ),
    ("build-target", replace(screens.BUILT, wheels=[], verified=None, target=screens.TARGET), False),
    ("build-editable", replace(screens.BUILT, wheels=[], editable={"torch": "/home/me/pytorch"}), False),
    ("status-no-wheel", replace(screens.HALF, wheels=[], made_by="build"), False),
    ("status-half", replace(screens.HALF, failed="wheels.install"), False),
    (
        "status-newer",
        replace(screens.STATUS, newer={"torch": "/home/me/pytorch"}, fix="xpusetup build --name dev"),
        False,
    ),
    ("status-interrupted", replace(screens.HALF, interrupted=["torch.install"], older=["torch"]), False),
    ("status-at-work", replace(screens.HALF, at_work=["wheels.install"]), False),
    ("status-failed-verification", replace(screens.STATUS, damaged={}, verified=False, proof=screens.FAILING), False),
    ("status-verify-off", replace(screens.STATUS, damaged={}, verified=None, not_verified="off"), False),
    ("build-not-verified-yet", replace(screens.BUILT, verified=None, not_verified=""), False),
    ("build-failed", screens.FAILED, False),
    (
        "build-failed-compile",
        replace(screens.FAILED, failure=replace(screens.KILLED_FAILURE, compiler=screens.SYNTAX)),
        False,
    ),
    (
        "build-failed-compile-once",
        replace(
            screens.FAILED,
            failure=replace(
                screens.UNKNOWN_FAILURE, compiler=screens.SYNTAX, first_error=screens.SYNTAX[0].rpartition("/")[2]
            ),
        ),
        False,
    ),
    ("verify-part", replace(screens.VERIFY, checks=screens.VERIFY.checks[:3], verified=True, whole=False), False),
    ("build-failed-known", replace(screens.FAILED, failure=screens.KILLED_FAILURE), False),
    ("explain", screens.EXPLAINED, False),
    ("explain-verbose", screens.EXPLAINED, True),
    ("explain-unknown", screens.UNEXPLAINED, False),
    ("explain-well", screens.WELL, False),
    ("explain-went-on", screens.WENT_ON, False),
    ("explain-unsure", screens.UNSURE, False),
    ("explain-nothing", replace(screens.UNEXPLAINED, first_error_line=None), True),
    ("build-failed-full", replace(screens.FAILED, failure=screens.FULL_FAILURE), False),
    ("build-failed-silently", replace(screens.FAILED, failure=screens.UNKNOWN_FAILURE), False),
    ("build-failed-said", replace(screens.FAILED, failure=screens.SAID_FAILURE), False),
    ("explain-said", replace(screens.UNEXPLAINED, said=screens.SAID), False),
    ("plan", screens.PLAN, False),
    (
        "plan-of-a-part",
        replace(screens.PLAN, estimate=replace(screens.GUESSED, expected=replace(screens.EXPECTED, whole=False))),
        False,
    ),
    ("plan-guessed", replace(screens.PLAN, estimate=screens.GUESSED), False),
    ("plan-guessed-verbose", replace(screens.PLAN, steps=screens.PLAN.steps[:1], estimate=screens.GUESSED), True),
    ("plan-unknown", replace(screens.PLAN, estimate=screens.UNKNOWN), False),
    ("plan-done", replace(screens.PLAN, steps=screens.PLAN.steps[:4]), False),
    ("plan-not-ready", replace(screens.PLAN, missing=["oneapi.compiler", "cc.gcc"]), False),
    ("profiles-lock", screens.LOCKED, False),
    ("profiles-lock-file", replace(screens.LOCKED, file="mine.toml", notes=[]), False),
    ("profiles-lock-hashes", replace(screens.LOCKED, file="mine.toml", revs={}, components=[]), False),
    ("profiles-new", screens.NEW_PROFILE, False),
    ("profiles-trust", screens.TRUSTED, False),
    ("plan-locked", replace(screens.PLAN, notes=screens.LOCKED.notes), False),
    ("plan-explain", replace(screens.PLAN, explain=True), False),
    ("plan-verbose", replace(screens.PLAN, steps=screens.PLAN.steps[3:5]), True),
    ("verify-wrong-numbers", screens.WRONG, False),
    ("verify-list", screens.LISTED, False),
    ("verify-failing", screens.VERIFY, True),
    ("verify", replace(screens.VERIFY, checks=screens.VERIFY.checks[:3], verified=True), False),
    ("status-damaged", screens.STATUS, False),
    ("status", replace(screens.STATUS, damaged={}, sources={}), False),
    ("status-replaced", replace(screens.STATUS, replaced=screens.REPLACED, made_by="install"), False),
    ("list", screens.SEVERAL, False),
    ("list-verbose", screens.SEVERAL, True),
    ("list-empty", replace(screens.SEVERAL, builds=[]), False),
    ("overview-builds", screens.OVERVIEW, False),
    ("install-offer", screens.OFFERED, False),
    ("install-offer-all", replace(screens.OFFERED, trouble="no Intel GPU on the PCI bus", unread=["torch"]), True),
    ("install-offer-unknown", replace(screens.OFFERED, wheels=[], why="this pip cannot be asked"), False),
    ("install-declined", replace(screens.OFFERED, declined=True), False),
    ("install-done", screens.INSTALLED, False),
    ("install-not-verified", replace(screens.INSTALLED, verified=None, orphans=[]), True),
    ("install-failed", screens.INSTALL_FAILED, False),
    ("env", screens.ENV, False),
    ("setup-site", screens.SITE, False),
    ("emit", screens.EMIT, True),
    ("emit-image", screens.EMIT_IMAGE, False),
    ("bundle-create", screens.BUNDLE, False),
    ("verify-wheel", screens.WHEEL, False),
    ("verify-wheel-verbose", screens.WHEEL, True),
    ("fits", screens.FITS, False),
    ("fits-verbose", screens.FITS, True),
    ("cache-size", screens.CACHE, False),
    ("cache-size-verbose", screens.CACHE, True),
    ("cache-prune", screens.PRUNED, False),
    ("bundle-create-verbose", replace(screens.BUNDLE, installer=None, revs={}), True),
    ("bundle-verify", screens.WHOLE_BUNDLE, False),
    (
        "bundle-verify-lacking",
        replace(screens.WHOLE_BUNDLE, missing=screens.LACKING, toolkit="dpclang", installer=None),
        False,
    ),
    ("build-airgap", replace(screens.BUILT, reached_out=screens.REACHED_OUT), False),
    ("rebuild", screens.REBUILT, False),
    ("rebuild-same", screens.REBUILT_SAME, False),
    ("rebuild-failed", screens.REBUILD_FAILED, False),
    ("bisect", screens.BISECTED, False),
    ("bisect-nightlies", replace(screens.BISECTED, nightlies=screens.NIGHTLIES, inside=None), True),
    ("bisect-verbose", screens.BISECTED, True),
    ("try", screens.TRIED, False),
    ("report", screens.REPORTED, False),
    ("build-airgap-failed", replace(screens.FAILED, reached_out=screens.REACHED_OUT[:1]), False),
]


@pytest.mark.parametrize(("name", "data", "verbose"), RESULTS)
def test_golden_results(console: Console, name: str, data: Any, verbose: bool) -> None:
    show.show_data(console, data, verbose=verbose)
    hold_one(f"screens/{name}.txt", text_of(console))


@pytest.mark.parametrize(("data", "verbose"), [(screens.BUILT, True), (replace(screens.BUILT, ran=[]), False)])
def test_all_is_said_again_where_it_is_asked_for(console: Console, data: Any, verbose: bool) -> None:
    """A build with nothing to do answers how to use what is there."""
    show.show_data(console, replace(data, repeated=True), verbose=verbose)
    told = text_of(console)
    console.file = StringIO()
    show.show_data(console, data, verbose=verbose)
    assert told == text_of(console)
    assert "another venv:" in told


@pytest.mark.parametrize(
    ("command", "data", "line"),
    [
        ("build", screens.BUILT, " ✓ verified on Data Center GPU Max 1100: 14 checks · 3 wheels"),
        (
            "build",
            replace(screens.BUILT, verified=None),
            " ! built, not verified: no device was computed on · 3 wheels",
        ),
        ("build", replace(screens.BUILT, left=screens.STEPS[-3:]), " ! not finished: 3 steps to come ("),
        ("build", replace(screens.BUILT, target=screens.TARGET), " ✓ "),
        ("install", screens.INSTALLED, " ✓ verified"),
        ("verify", replace(screens.VERIFY, verified=True), " ✓ verified on "),
        ("bundle create", screens.BUNDLE, " ✓ "),
        ("bundle verify", screens.WHOLE_BUNDLE, " ✓ "),
        ("bisect", screens.BISECTED, " ✓ "),
        ("try", replace(screens.TRIED, replaced=[]), " ✓ torch-xpu-ops=pr/1234: 2 sources compiled, nothing"),
        ("report", screens.REPORTED, " ✓ "),
        ("cache prune", replace(screens.PRUNED, busy=[]), " ✓ "),
        ("profiles lock", replace(screens.LOCKED, file="mine.toml"), " ✓ mine.toml"),
        ("profiles new", screens.NEW_PROFILE, " ✓ mine.toml"),
        ("emit", screens.EMIT, " ✓ "),
        ("verify-wheel", screens.WHEEL, " ✓ "),
    ],
)
def test_with_quiet_work_that_went_well_is_a_line(
    console: Console, command: str, data: dict[str, Any], line: str
) -> None:
    show.show_result(Result(command, data), quiet=True, verbose=False)
    said = text_of(console)
    assert (said.count("\n"), said[: len(line)]) == (1, line)
    if command in ("build", "install", "verify"):
        assert len(said) <= 81


def test_with_quiet_what_warns_and_what_failed_is_said(console: Console) -> None:
    reached = replace(screens.BUILT, reached_out=screens.REACHED_OUT)
    show.show_result(Result("build", reached), quiet=True, verbose=False)
    assert " ! torch.build asked for " in text_of(console)
    show.show_result(Result("build", screens.FAILED, code=1), quiet=True, verbose=False)
    assert " failed after " in text_of(console)
    show.show_result(Result("plan", screens.PLAN), quiet=True, verbose=False)
    assert "torch.build" in text_of(console)


def doctor(tmp_path: Path, facts: dict[str, Any], profile: str, **asked: Any) -> Any:
    path = tmp_path / "facts.json"
    path.write_text(to_text(machine(facts)))
    return examine_machine(Where(profile=profile), DoctorOptions(facts=(str(path),), **asked)).data


@pytest.mark.parametrize(
    ("name", "facts", "profile", "verbose"),
    [
        ("doctor-neither-gpu-nor-oneapi-verbose", LAPTOP, "torch-2.14", True),
        ("doctor-well", WORKSTATION, "torch-2.14", False),
        ("doctor-sim", LAPTOP, "sim", False),
        ("doctor-lost-card", LOST, "torch-2.14", True),
    ],
)
def test_golden_doctor(
    console: Console, tmp_path: Path, name: str, facts: dict[str, Any], profile: str, verbose: bool
) -> None:
    show.show_data(console, doctor(tmp_path, facts, profile), verbose=verbose)
    hold_one(f"screens/{name}.txt", text_of(console))


def test_golden_differences(console: Console, tmp_path: Path) -> None:
    names = [f"node{number:02d}" for number in range(12)]
    for name in names:
        facts = LOST if name == "node07" else WELL
        (tmp_path / f"{name}.json").write_text(to_text(machine(facts)))
    files = tuple(str(tmp_path / f"{name}.json") for name in names)
    result = examine_machine(Where(profile="torch-2.14"), DoctorOptions(facts=files, goal="run"))
    assert result.code == 1
    assert isinstance(result.data, Comparison)
    assert result.data.machines == names
    show.show_data(console, result.data, verbose=False)
    hold_one("screens/doctor-differs.txt", text_of(console))


def test_machines_of_one_name_go_by_their_files(tmp_path: Path) -> None:
    files = [tmp_path / place / "facts.json" for place in ("a", "b")]
    for file in files:
        file.parent.mkdir()
        file.write_text(to_text(machine(WELL)))
    result = examine_machine(Where(profile="torch-2.14"), DoctorOptions(facts=tuple(map(str, files))))
    assert isinstance(result.data, Comparison)
    assert (result.code, result.data.differs, result.data.machines) == (0, [], [str(file) for file in files])


def test_golden_lists(console: Console) -> None:
    for name, result in (
        ("profiles-list", list_profiles()),
        ("profiles-show", show_profile("torch-2.14")),
        ("doctor-list", list_checks()),
    ):
        console.file = StringIO()
        show.show_data(console, result.data, verbose=False)
        hold_one(f"screens/{name}.txt", text_of(console))


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("error", UsageError("there is no profile 'sin'; did you mean sim?", fix="xpusetup profiles list")),
        ("error-bare", XpuError("[red]not markup[/]")),
        ("error-lines", UsageError("x.toml: a: is missing\nx.toml: b: is missing", fix="first\n  second")),
    ],
)
def test_golden_errors(console: Console, name: str, error: XpuError) -> None:
    show.show_error(error)
    hold_one(f"screens/{name}.txt", text_of(console))


def test_golden_gate(console: Console) -> None:
    with pytest.raises(NotReadyError) as caught:
        preflight.gate(open_workspace(Where(profile="torch-2.5")), machine(LAPTOP, tools=[]))
    show.show_error(caught.value)
    hold_one("screens/error-not-ready.txt", text_of(console))


def events() -> list[Event]:
    target = f"torch-2.5 · oneAPI 2024.1.4 · pvc · 14 jobs · {screens.ROOT}"
    step = {"step": "torch.build", "title": "torch 2.5.1+xpu from source"}
    return [
        Event(kind="plan", time=1, text=target, total=16),
        Event(kind="note", time=1, text="not passed on, because steps start clean: CFLAGS [-O3]"),
        Event(kind="end", time=1, step="venv", title="Python 3.11 environment", state="done"),
        Event(kind="start", time=1, text="after torch.fetch", step="torch.configure", title="configure torch"),
        Event(kind="end", time=9, step="torch.configure", title="configure torch", state="ran", seconds=51),
        Event(kind="start", time=9, text="", **step),  # type: ignore[arg-type]
        Event(kind="output", time=10, text="+ python setup.py bdist_wheel", **step),  # type: ignore[arg-type]
        Event(kind="output", time=11, text="[2/9] Building [x].o", count=2, total=9, **step),  # type: ignore[arg-type]
        Event(kind="end", time=99, state="failed", seconds=3731, **step),  # type: ignore[arg-type]
        Event(kind="end", time=99, step="verify.smoke", title="numbers on xpu", state="no-device", seconds=3),
        Event(kind="end", time=99, step="vision.build", title="torchvision", state="interrupted"),
    ]


@pytest.mark.parametrize("verbose", [False, True])
def test_golden_build_as_it_runs(console: Console, verbose: bool) -> None:
    with live.BuildView(json=False, verbose=verbose) as view:
        for event in events():
            view.observe(event)
    hold_one(f"screens/build-lines{'-verbose' if verbose else ''}.txt", text_of(console))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (0.4, "0 s"), (9.6, "10 s"), (59.6, "1:00"), (72, "1:12"), (3600, "1:00:00"), (9667, "2:41:07")],
)
def test_durations(seconds: float, text: str) -> None:
    assert render_duration(seconds) == text
