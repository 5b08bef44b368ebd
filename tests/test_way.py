"""The shortest way on machines of the world: route, release, steps and screens, and why others are refused."""

from __future__ import annotations

import shlex
from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING, Any, get_args

import pytest

from data.machines import machine
from data.places import PLACES
from data.profiles import SHIPPED, shipped
from data.saved import machine_file
from golden import hold_one
from xpusetup.base.document import read_as, to_table
from xpusetup.base.model import Goal
from xpusetup.commands.next_commands import list_next
from xpusetup.commands.recommend import way_of
from xpusetup.commands.setup import SetupOptions, SetupPlan, prepare_setup, show_setup
from xpusetup.config.settings import Settings
from xpusetup.machine.facts import Facts
from xpusetup.machine.platforms import Route
from xpusetup.recommend.machine import known
from xpusetup.recommend.setup import make_setup, with_lists
from xpusetup.recommend.solve import choose_release, make_way, releases
from xpusetup.ui import screens
from xpusetup.ui.console import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from xpusetup.commands.result import AnyResult
    from xpusetup.recommend.answer import Way

PROFILES = [shipped(name) for name in SHIPPED]


def way(name: str, asked: str = "") -> Way:
    return make_way(PLACES[name], PROFILES, known(), asked=asked)


def refusals(name: str) -> dict[str, tuple[bool, str]]:
    return {each.profile: (each.firm, each.why) for each in way(name).refusals}


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    def shown(result: AnyResult, *, verbose: bool = False) -> str:
        console = Terminal(
            width=100, no_color=True, force_terminal=False, file=StringIO(), highlight=False, soft_wrap=True
        )
        monkeypatch.setattr(screens, "make_console", lambda **_words: console)
        screens.show_result(result, verbose=verbose)
        assert isinstance(console.file, StringIO)
        return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())

    return shown


SHOWN = (
    *("b580-new", "b580-healthy", "max1550-sles-15", "no-gpu-debian-12", "gaudi2", "wsl2", "b580-closed"),
    "coffee-lake",
)
"""Places whose screens are kept whole; of all of them the route, the release and the commands."""


@pytest.mark.parametrize("name", SHOWN)
def test_golden_bare(name: str, screen: Callable[[AnyResult], str]) -> None:
    hold_one(f"way/{name}.txt", screen(way_of(PLACES[name])))


def test_every_way() -> None:
    rows = []
    for name in PLACES:
        result = way_of(PLACES[name])
        assert result.code == 0
        found = result.data.way
        assert found
        rows.append(f"{name}: {found.route} {found.profile}\n")
        rows += [f"    {command}\n" for step in found.steps for command in step.commands]
    hold_one("way/all.txt", "".join(rows))


@pytest.mark.parametrize("goal", ["run", "build"])
@pytest.mark.parametrize("name", PLACES)
def test_lists_are_read_before_a_package_is_installed(name: str, goal: Goal) -> None:
    """A container and a new machine have none: apt-get install fails there before apt-get update."""
    profile = shipped(way(name).profile or "torch-2.14")
    setup = with_lists(make_setup(PLACES[name], profile, known(), goal=goal))
    argvs = [argv[:2] for task in setup.tasks for argv in task.step.run]
    if ("apt-get", "install") in argvs:
        assert ("apt-get", "update") in argvs[: argvs.index(("apt-get", "install"))]


def prepared(name: str, goal: Goal) -> SetupPlan:
    profile = shipped(way(name).profile or "torch-2.14")
    setup = with_lists(make_setup(PLACES[name], profile, known(), goal=goal))
    again = f"xpusetup setup --for {goal}"
    return SetupPlan(facts=PLACES[name], profile=profile, goal=goal, setup=setup, named=profile.name, options=again)


@pytest.mark.parametrize("goal", ["run", "build"])
@pytest.mark.parametrize("name", SHOWN)
def test_golden_setup(name: str, goal: Goal, screen: Callable[[AnyResult], str]) -> None:
    hold_one(f"setup/{name}-{goal}.txt", screen(show_setup(prepared(name, goal))))


@pytest.mark.parametrize("goal", ["run", "build"])
def test_every_setup(goal: Goal) -> None:
    """The tasks by their ids with their commands, and the ids of what is only said."""
    rows = []
    for name in PLACES:
        setup = prepared(name, goal).setup
        rows.append(f"{name}: {' '.join(note.id for note in setup.notes)}".rstrip() + "\n")
        for task in setup.tasks:
            rows += [f"    {task.step.id}: {shlex.join(argv)}\n" for argv in task.step.run]
    hold_one(f"setup/all-{goal}.txt", "".join(rows))


@pytest.mark.parametrize(
    ("name", "route", "profile"),
    [
        ("b580-new", "wheel", "torch-2.14"),
        ("b580-healthy", "wheel", "torch-2.14"),
        ("a770-ubuntu-22.04", "wheel", "torch-2.14"),
        ("lunar-lake", "wheel", "torch-2.14"),
        ("max1550-sles-15", "wheel", "torch-2.12"),
        ("max1550-ubuntu-22.04", "wheel", "torch-2.12"),
        ("wsl2", "wheel", "torch-2.14"),
        ("b580-python-3.9", "wheel", "torch-2.14"),
        ("arm", "build", "torch-2.14"),
        ("gaudi2", "image", ""),
        ("ascend", "wheel", ""),
        ("tiger-lake", "wheel", "torch-2.14"),
        ("coffee-lake", "none", "torch-2.14"),
        ("no-gpu-debian-12", "none", "torch-2.14"),
    ],
)
def test_route(name: str, route: str, profile: str) -> None:
    found = way(name)
    assert (found.route, found.profile) == (route, profile)


def test_a_new_b580_needs_a_kernel_then_its_driver_then_wheels() -> None:
    steps = way("b580-new").steps
    assert [step.commands for step in steps] == [
        ("sudo apt-get update", "sudo apt-get install -y linux-generic-hwe-24.04"),
        ("xpusetup setup --apply",),
        ("xpusetup install",),
    ]
    assert [step.then for step in steps] == ["restart", "", ""]
    assert [step.commands for step in way("b580-healthy").steps] == [("xpusetup install",)]


def test_releases_without_code_for_a_b580_are_not_advised() -> None:
    found = refusals("b580-healthy")
    assert set(found) == {"torch-2.4", "torch-2.5", "torch-2.6"}
    assert not any(firm for firm, _ in found.values())
    assert "no bmg in its targets (pvc, xe-lpg, ats-m150): kernels are compiled for Arc B580" in found["torch-2.5"][1]
    assert "torch-2.7" not in found
    assert all(refusal.source for refusal in way("b580-healthy").refusals)


@pytest.mark.parametrize(
    ("name", "asked", "profile", "why"),
    [
        ("b580-healthy", "torch-2.9", "torch-2.9", "published wheels"),
        ("b580-healthy", "torch-2.5", "torch-2.5", "torch-2.5 is not advised: no bmg in its targets"),
        ("max1550-sles-15", "torch-2.14", "torch-2.14", "published wheels"),
        ("max1550-sles-15", "torch-2.4", "torch-2.4", "no wheels of torch-2.4 are published"),
        ("no-gpu-debian-12", "torch-2.10", "torch-2.10", "no accelerator"),
        ("b580-healthy", "sim", "torch-2.14", "published wheels"),
    ],
)
def test_a_release_that_was_named(name: str, asked: str, profile: str, why: str) -> None:
    found = way(name, asked)
    assert found.profile == profile
    assert why in found.why
    if found.route != "none":
        assert found.commands[-1].endswith(f" {profile}"), "settings that name another must not lead astray"


@pytest.mark.parametrize(
    ("name", "asked", "route", "command"),
    [
        ("no-gpu-debian-12", "sim", "build", "xpusetup build sim"),
        ("no-gpu-debian-12", "cpu-2.13", "build", "xpusetup build cpu-2.13"),
        ("no-gpu-debian-12", "gaudi-1.24.1", "none", "xpusetup build sim"),
        ("no-gpu-debian-12", "", "none", "xpusetup build sim"),
        ("b580-healthy", "sim", "wheel", "xpusetup install torch-2.14"),
    ],
)
def test_what_this_place_builds_and_what_needs_no_accelerator(
    name: str, asked: str, route: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bare command sent a place whose settings name `sim` to build a release of hours for another machine."""
    monkeypatch.setattr("xpusetup.commands.recommend.load_settings", lambda: Settings(profile=asked))
    found = way_of(PLACES[name]).data.way
    assert found is not None
    assert (found.route, found.commands[0].partition(" --root")[0]) == (route, command)


def test_nobody_is_asked_where_a_program_goes_on() -> None:
    """`setup --apply` was told as what comes next, and ends with 2 where no terminal is."""
    facts, profile = PLACES["max1550-sles-15"], shipped("torch-2.12")
    setup = make_setup(facts, profile, known(), goal="build")
    assert setup.tasks
    again = "xpusetup setup torch-2.12"
    told = SetupPlan(facts=facts, profile=profile, goal="build", setup=setup, named=profile.name, options=again)
    data = show_setup(told).data
    for each in (data, replace(data, ran=["setup.kernel"], stopped="restart")):
        (found,) = list_next(each, {})
        assert found.argv[-2:] == ["--apply", "--yes"]


def test_a_release_without_generic_code_is_refused() -> None:
    old = shipped("torch-2.6")
    assert old.arch is not None
    bare = replace(old, arch=replace(old.arch, spirv=False))
    found = make_way(PLACES["b580-healthy"], [bare], known(), asked="torch-2.6")
    assert (found.route, found.refusals[0].firm) == ("none", True)
    assert "nothing runs on Arc B580" in found.refusals[0].why


def test_why_a_max_does_not_take_the_newest() -> None:
    found = refusals("max1550-sles-15")
    assert not found["torch-2.14"][0]
    assert "made with oneAPI 2026.1" in found["torch-2.14"][1]
    assert "torch-2.12" not in found


def test_a_python_that_no_release_takes() -> None:
    steps = way("b580-python-3.9").steps
    assert steps[-2].commands == ("uv python install 3.14",)
    assert "3.9.19" in steps[-2].title


def test_other_distributions_that_are_installed_count() -> None:
    torch = {
        "python": "/usr/bin/python3",
        "prefix": "/usr",
        "kind": "interpreter",
        "distributions": {"transformers": "5.23.0"},
    }
    facts = machine(to_table(PLACES["max1550-sles-15"]), torch=torch)
    found = {each.profile: each.why for each in make_way(facts, PROFILES, known()).refusals}
    assert "transformers 5.23.0 is here" in found["torch-2.5"]


@pytest.mark.parametrize(
    ("name", "release", "why"),
    [
        ("b580-new", "torch-2.14", "the newest that fits Arc B580 (Battlemage)"),
        ("max1550-sles-15", "torch-2.12", "the newest that fits Data Center GPU Max 1550 (Ponte Vecchio)"),
        ("no-gpu-debian-12", "torch-2.14", "the newest release"),
        ("gaudi2", "torch-2.14", "the newest release"),
    ],
)
def test_default_release(name: str, release: str, why: str) -> None:
    assert choose_release(PLACES[name], PROFILES, known()) == (release, why)


def test_a_release_whose_pins_are_not_confirmed_is_taken_where_it_is_named_alone() -> None:
    """It is the newest one, and nothing leads there: no default, no way, no list of what could be built."""
    new = {profile.name for profile in PROFILES if profile.tier == "new"}
    assert new == {"torch-2.15"}
    assert releases(PROFILES)[0].name == "torch-2.15"
    for facts in PLACES.values():
        found = make_way(facts, PROFILES, known())
        assert new.isdisjoint({choose_release(facts, PROFILES, known())[0], found.profile})
        assert "torch-2.15" not in f"{found.why}{found.steps}"
    named = make_way(PLACES["b580-healthy"], PROFILES, known(), asked="torch-2.15")
    assert (named.profile, named.kept) == ("torch-2.15", False)
    assert "the pins of torch-2.15 are not confirmed" in named.why


def test_a_new_release_is_one_whose_run_time_nobody_confirmed() -> None:
    """Once its pins are confirmed it is a current one: the tier and the marks move together."""
    for profile in releases(PROFILES):
        runtime = profile.runtime_requirements
        assert (profile.tier == "new") == (runtime is not None and runtime.confidence == "unconfirmed"), profile.name


def test_no_profile_at_all() -> None:
    assert choose_release(PLACES["b580-new"], [], known()) == ("", "")
    assert make_way(PLACES["b580-new"], [], known()).route == "none"
    assert make_way(PLACES["no-gpu-debian-12"], [], known()).route == "none"


def test_setup_installs_only_what_is_missing() -> None:
    def tasks(name: str, goal: Goal, **sections: Any) -> list[str]:
        facts = machine(to_table(PLACES[name]), **sections)
        return [task.step.id for task in make_setup(facts, shipped("torch-2.14"), known(), goal=goal).tasks]

    assert tasks("b580-healthy", "run") == []
    assert tasks("b580-closed", "run") == ["setup.access"]
    found = [{"root": "/o", "version": "2026.1.0", "compiler": "/o/icpx"}]
    kit = {"found": found, "searched": [], "ocloc": "/usr/bin/ocloc"}
    assert tasks("b580-healthy", "build", toolkits=kit) == []
    assert tasks("b580-healthy", "build", toolkits={**kit, "ocloc": None}) == ["setup.repository", "setup.driver"]
    assert tasks("b580-healthy", "build", toolkits={**kit, "found": []}) == ["setup.oneapi-repository", "setup.oneapi"]
    bare = {"headers": False, "venv": False}
    assert tasks("b580-healthy", "build", tools=[], toolkits=kit, python=bare) == ["setup.toolchain"]


def test_another_accelerator_needs_no_driver_of_intel() -> None:
    setup = make_setup(PLACES["b580-new"], shipped("sim"), known(), goal="build")
    assert [task.step.id for task in setup.tasks] == []


def test_without_root() -> None:
    setup = make_setup(PLACES["b580-new"], shipped("torch-2.14"), known(), goal="build", root=False)
    assert [task.step.needs for task in setup.tasks] == [("network",)]
    assert "2026.1.2.25_offline.sh" in setup.tasks[0].step.run[0][2]
    assert '--install-dir "$HOME/intel/oneapi"' in setup.tasks[0].step.run[1][2]
    old = make_setup(PLACES["b580-new"], shipped("torch-2.5"), known(), goal="build", root=False)
    assert not old.tasks
    assert "No installer of oneAPI 2024.1 is known" in old.notes[-1].say


def test_what_root_alone_can_do_is_said_without_root_too() -> None:
    setup = {
        root: make_setup(PLACES["no-gpu-debian-12"], shipped("torch-2.14"), known(), goal="build", root=root)
        for root in (True, False)
    }
    told = {note.title for note in setup[False].notes}
    assert {note.title for note in setup[True].notes} <= told
    assert {task.step.title for task in setup[True].tasks if task.step.id == "setup.toolchain"} <= told
    assert "Intel's offline compiler (ocloc)" in told


def test_a_card_that_is_not_seen_is_said_and_no_build_proposed() -> None:
    """Somebody whose card was not seen got the packages of oneAPI, and never read that none was found."""
    file = str(machine_file("no-gpu-debian-12"))
    plans = {goal: prepare_setup(SetupOptions(goal=goal, facts=file)) for goal in ("", "build")}
    asked = {goal: show_setup(plan).data for goal, plan in plans.items()}
    assert all(each.no_gpu for each in asked.values())
    assert (asked[""].goal, asked["build"].goal) == ("run", "build")
    assert [goal for goal, each in asked.items() if "oneAPI" in str(each.notes + each.commands)] == ["build"]
    assert [show_setup(plans[goal]).data.other for goal in plans] == [
        "xpusetup setup torch-2.14 --for build",
        "xpusetup setup torch-2.14 --for run",
    ]
    assert not show_setup(prepared("b580-new", "build")).data.no_gpu


@pytest.mark.parametrize("name", ["no-gpu-debian-12", "b580-ubuntu-24.04", "b580-kernel-6.8"])
def test_setup_asks_one_question_whether_the_profile_is_named_or_not(name: str) -> None:
    """The bare one asked what the way needs, and the one with a name what a build needs."""
    file = str(machine_file(name))
    bare, named = (prepare_setup(SetupOptions(profile=profile, facts=file)) for profile in ("", "torch-2.14"))
    assert (bare.goal, named.goal) == ("run", "run")
    only_built = prepare_setup(SetupOptions(profile="sim", facts=file))
    assert (only_built.goal, show_setup(only_built).data.other) == ("build", "")


def test_a_script_for_root_ends_with_what_follows(tmp_path: Path) -> None:
    file = tmp_path / "root.sh"
    show_setup(prepared("b580-new", "run"), out=str(file))
    assert file.read_text().splitlines()[-1].startswith("echo 'restart this machine, then ask again: xpusetup setup")


@pytest.mark.parametrize("name", PLACES)
def test_whatever_was_not_looked_at(name: str) -> None:
    seen = to_table(PLACES[name])
    for section in [key for key in seen if key not in ("schema", "taken", "program", "notes", "said", "shown")]:
        facts = read_as(Facts, {**seen, section: None})
        assert make_way(facts, PROFILES, known()).why
        assert getattr(way_of(facts).data.way, "route", "") in get_args(Route)
        for goal in get_args(Goal):
            make_setup(facts, shipped("torch-2.14"), known(), goal=goal)


def test_nothing_was_looked_at() -> None:
    facts = read_as(Facts, {"schema": 1, "taken": "2026-11-21T08:00:00+00:00"})
    assert way_of(facts).data.machine == "nothing was told of it"
    assert make_setup(facts, shipped("torch-2.14"), known(), goal="build").notes


def test_refusals_with_their_sources(screen: Callable[..., str]) -> None:
    hold_one("way/b580-healthy-verbose.txt", screen(way_of(PLACES["b580-healthy"]), verbose=True))
    hold_one("way/max1550-sles-15-verbose.txt", screen(way_of(PLACES["max1550-sles-15"]), verbose=True))


def test_the_age_of_the_data_is_said_when_it_counts(screen: Callable[..., str]) -> None:
    facts = replace(PLACES["b580-healthy"], taken="2027-06-01T08:00:00+00:00")
    assert "data on GPUs and drivers of 2026-11-21, 192 days before" in screen(way_of(facts))


def test_several_gpus_are_told_whether_the_wheels_let_them_compute_together() -> None:
    """What is known of XCCL in the published wheels: built in, left out, or seen by nobody; nothing for one GPU."""
    one = PLACES["b580-healthy"]
    several = replace(one, hardware=replace(one.hardware, gpus=one.hardware.gpus * 2))

    def why(release: str, facts: Facts) -> str:
        return make_way(facts, PROFILES, known(), asked=release).why

    assert "XCCL" not in why("torch-2.14", one)
    assert "its wheels let 2 GPUs compute together (XCCL, likely)" in why("torch-2.14", several)
    assert "its wheels let 2 GPUs compute together (XCCL, confirmed)" in why("torch-2.13", several)
    assert "its wheels have no XCCL (confirmed): 2 GPUs do not compute together" in why("torch-2.7", several)
    assert "whether its wheels let 2 GPUs compute together (XCCL) nobody saw" in why("torch-2.15", several)


@pytest.mark.parametrize("release", [name for name in SHIPPED if name.startswith("torch-") and name != "torch-2.4"])
def test_what_is_said_of_xccl_goes_with_what_the_wheel_requires(release: str) -> None:
    """A wheel with XCCL requires oneCCL, and one that requires none was built without."""
    profile = shipped(release)
    assert profile.published
    assert profile.runtime_requirements or release == "torch-2.5"
    pins = profile.runtime_requirements.pins if profile.runtime_requirements else []
    told = profile.published.collectives
    assert (told is None) == (release == "torch-2.15")
    assert told is None or told.built == any(pin.startswith("oneccl==") for pin in pins)
