"""What a long build tells of itself, read from made-up events of two attempts."""

from __future__ import annotations

from typing import Any

from real.torch_figures import (
    Attempt,
    Built,
    count_lost,
    describe_build,
    make_figures,
    make_guesses,
    make_marks,
    make_trace,
    minutes,
    reached,
    render_figures,
    share_done,
    step_seconds,
)

Events = list[dict[str, Any]]


def attempt(began: float, *, of: int, to: int, seconds: float = 10.0) -> Events:
    """Make the events of a step in which ninja has `of` edges to do and comes to `to`, one in so many seconds."""
    start = {"kind": "start", "time": began, "step": "torch.build", "jobs": 2}
    lines = [
        {"kind": "output", "time": began + seconds * n, "step": "torch.build", "count": n, "total": of}
        for n in range(1, to + 1)
    ]
    return [{"kind": "plan", "time": began, "jobs": 2}, start, *lines]


KILLED = attempt(1000.0, of=100, to=40)
RESUMED = attempt(9000.0, of=61, to=61)


def test_reached_is_the_last_count() -> None:
    assert reached(KILLED) == (40, 100)
    assert reached(KILLED[:2]) == (0, 0)
    assert reached(KILLED, "torch.configure") == (0, 0)
    assert reached(attempt(0.0, of=4, to=3)) == (0, 0)


def test_the_share_is_that_of_the_whole() -> None:
    assert share_done([KILLED]) == 0.4
    assert share_done([KILLED, RESUMED[:2]]) == 0  # it has not come to ninja
    assert share_done([KILLED, RESUMED[:13]]) == 0.5


def test_marks_go_on_where_the_attempt_before_ended() -> None:
    marks, whole = make_marks([KILLED, RESUMED])
    assert whole == 100
    assert (marks[-1].time, marks[-1].done) == (40 * 10 + 61 * 10, 100)
    assert [mark.done for mark in marks[40:43]] == [40, 0, 40]  # the start of the second attempt knows nothing yet


def test_a_trace_holds_each_count_once() -> None:
    trace = make_trace([KILLED, RESUMED])
    assert (trace[0], trace[39], trace[-1]) == ((10, 1), (400, 40), (1010, 100))
    assert len(trace) == 100


def test_what_was_lost_by_a_kill() -> None:
    assert count_lost([KILLED, RESUMED]) == [{"done": 40, "total": 100, "again": 1}]
    assert count_lost([RESUMED]) == []


def test_guesses_of_an_even_pace_are_right() -> None:
    (first, *_, last) = guesses = make_guesses([attempt(0.0, of=200, to=200)])
    assert [guess["share"] for guess in guesses] == [0.2, 0.4, 0.6, 0.8]
    assert first["truth"] == 160 * 10
    assert abs(first["left"] / first["truth"] - 1) < 0.02
    assert last["truth"] == 40 * 10


def test_guesses_after_a_kill_begin_anew() -> None:
    at_60 = make_guesses([KILLED, RESUMED])[2]
    assert at_60["truth"] == (100 - 60) * 10
    assert at_60["left"] is not None


def test_seconds_of_a_killed_step_count() -> None:
    assert step_seconds([KILLED, RESUMED]) == {"torch.build": 400.0 + 610.0}


def built(runs: list[Events], cached: tuple[int, int]) -> Built:
    wheel = {"name": "torch", "version": "2.6.0", "sha256": "ab" * 32}
    checks = [{"id": "wheel.abi", "title": "C++ ABI", "level": "ok", "seen": "1"}]
    return Built(
        attempts=[Attempt(f"x.{n}", 0, 0.0, 100.0, 150.0) for n in range(len(runs))],
        events=runs,
        journal=[{"step": "torch.build", "load": [2, 3 << 30, 1 << 30]}],
        result={"cached": {"torch.build": cached}, "wheels": [wheel], "verified": True},
        inspected={"checks": checks, "size": 90_000_000},
        verified={"checks": [*checks, {"level": "info"}, {"level": "ok"}]},
        members={"torch/a": 1, "torch/b": cached[1]},
    )


def test_tables() -> None:
    cold, warm = built([KILLED, RESUMED], (0, 900)), built([attempt(0.0, of=100, to=100, seconds=0.3)], (899, 1))
    machine = {"cpus": 2, "model": "a processor", "memory": 24 << 30, "versions": {"gcc": "14.2.0"}}
    more = {"used": {"version": "2.6.0"}, "noop": 0.4, "prepared": {"a root": 61.2}, "machine": machine}
    figures = make_figures({"cold": cold, "warm": warm}, more)
    seen = figures["builds"]["cold"]
    assert (seen["wall"], seen["processor"], seen["heaviest"]) == (200, 300, 1 << 30)
    text = render_figures(figures)
    assert "| found by ccache | 0 of 900 | 899 of 900 |" in text
    assert "| other bytes than the first in | nothing | `torch/b` |" in text
    assert "- 2 processors (a processor), 24.0 GiB; gcc 14.2.0\n- a root: 1 min 01 s\n" in text
    assert "| memory of a job, for the next build | 1.00 GiB | 1.00 GiB |" in text
    assert "| compile and pack | 16 min 50 s | 30 s |" in text
    assert "| 20% | 13 min 20 s | 13 min 30 s | -1% |" in text
    assert "- killed at 40 of 100 edges; 1 were done again" in text
    assert "| verified | True: {'ok': 2, 'info': 1} | True: {'ok': 2, 'info': 1} |" in text


def test_an_attempt_whose_end_nobody_saw() -> None:
    whole = built([KILLED, RESUMED], (0, 900))
    unseen = Attempt("x.0", None, KILLED[0]["time"], 0.0, 0.0)
    cold = whole._replace(attempts=[unseen, whole.attempts[1]])
    assert describe_build(cold)["wall"] == KILLED[-1]["time"] - KILLED[0]["time"] + 100
    machine = {"cpus": 2, "model": "", "memory": 0, "versions": {}}
    figures = make_figures({"cold": cold}, {"used": {}, "noop": 0.4, "prepared": {}, "machine": machine})
    assert "| processor time | more than 2 min 30 s |" in render_figures(figures)


def test_minutes() -> None:
    assert [minutes(seconds) for seconds in (41.4, 425, 4320)] == ["41 s", "7 min 05 s", "1 h 12 min"]
