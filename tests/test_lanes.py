"""Which steps may start: pure, on plans of a few letters and on those that ship."""

from __future__ import annotations

import pytest

from data.targets import TARGETS, plan_for
from xpusetup.base.model import Need, Step
from xpusetup.plan.lanes import exclude, lane_of, make_startable


def step(name: str, *needs: Need, after: str = "", locks: tuple[str, ...] = ()) -> Step:
    return Step(id=name, title=name, run=(("true",),), needs=needs, after=tuple(after), locks=locks)


VENV = step("v", locks=("venv",))
PINS = step("p", "network", after="v", locks=("venv",))
FETCH = step("f", "network")
BUILD = step("b", "compiler", after="pf")
NEXT = step("g", "network")
RUNTIME = step("r", "network", after="v", locks=("venv",))
PLAN = (VENV, PINS, FETCH, BUILD, NEXT)


def started(steps: tuple[Step, ...], done: str = "", running: str = "") -> str:
    return "".join(one.id for one in make_startable(steps, done=set(done), running=set(running)))


@pytest.mark.parametrize(
    ("done", "running", "starts"),
    [
        ("", "", "v"),  # f could start, and lets p go first: that is ready in a moment
        ("", "v", ""),
        ("f", "v", ""),
        ("v", "", "p"),
        ("v", "p", ""),  # one download at a time
        ("vp", "", "f"),
        ("vpf", "", "bg"),  # the next download hides behind the build
        ("vpf", "b", "g"),
        ("vpf", "g", "b"),
        ("vpfb", "g", ""),
        ("vpfbg", "", ""),
    ],
)
def test_what_may_start(done: str, running: str, starts: str) -> None:
    assert started(PLAN, done, running) == starts


@pytest.mark.parametrize(
    ("one", "other", "excluded"),
    [
        (VENV, BUILD, True),  # one lane
        (PINS, FETCH, True),
        (VENV, FETCH, False),
        (VENV, PINS, True),  # one lock
        (BUILD, FETCH, False),
        (BUILD, RUNTIME, True),  # a compiler looks into the environment that is being changed
        (step("i"), RUNTIME, False),
        (step("x", "compiler"), step("y", "network", locks=("other",)), False),
    ],
)
def test_what_excludes_what(one: Step, other: Step, excluded: bool) -> None:
    assert exclude(one, other) is excluded
    assert exclude(other, one) is excluded


def test_a_later_step_of_the_plan_does_not_overtake_in_its_lane() -> None:
    assert started((FETCH, NEXT)) == "f"
    assert started((NEXT, FETCH)) == "g"


def test_a_download_does_not_wait_for_one_behind_a_compile_or_a_fetch() -> None:
    later = step("l", "network", after="b")
    assert started((BUILD, later, NEXT), "pf", "b") == "g"
    assert started((FETCH, later, step("w", after="f")), "", "f") == ""
    assert started((step("i", after="b"), step("l", "network", after="i"), NEXT), "", "") == "g"
    assert started((step("i"), step("l", "network", after="i"), NEXT), "", "i") == ""


@pytest.mark.parametrize("name", TARGETS)
def test_every_plan_ends_and_never_holds_a_lane_or_lock_twice(name: str) -> None:
    """Ending the oldest or the newest step first, every step of a shipped plan gets its turn."""
    for oldest in (0, -1):
        steps, done, running = plan_for(name).steps, set[str](), list[str]()
        while len(done) < len(steps):
            running += [one.id for one in make_startable(steps, done=done, running=running)]
            at_work = [one for one in steps if one.id in running]
            lanes = [lane_of(one) for one in at_work]
            locks = [lock for one in at_work for lock in one.locks]
            assert at_work, done
            assert (len(set(lanes)), len(set(locks))) == (len(lanes), len(locks))
            assert all(set(one.after) <= done for one in at_work)
            done.add(running.pop(oldest))


def test_a_release_hides_a_download_behind_its_build() -> None:
    steps = plan_for("torch-2.5").steps
    done = {"venv", "requirements", "torch.fetch", "torch.configure"}
    found = [one.id for one in make_startable(steps, done=done, running=())]
    assert found == ["torch.build", "triton.fetch"]
