"""When a step is done: keys, stamps, and the state of a plan's steps."""

from __future__ import annotations

from typing import Any

import pytest

from xpusetup.base.model import Step
from xpusetup.run.keys import NO_DEVICE, Made, RootState, Stamp, Status, make_inputs, make_statuses, parse_stamp, sha256

SHA = sha256("")


def key(**changes: Any) -> str:
    given: dict[str, Any] = {"root": "/r", "script": "text", "after": [], "identities": [], **changes}
    return sha256(make_inputs(**given))


def test_key_is_the_hash_of_what_step_sh_prints() -> None:
    stamp = Stamp("k1", (Made("aa", 1, "2.5", "/r/x"),))
    lines = (
        f"xpusetup 1\nroot /r\nscript {sha256('text')}\nafter venv {sha256('k1' + chr(10) + 'aa' + chr(10))}\n/g++ 1\n"
    )
    assert key(after=[("venv", stamp)], identities=["/g++ 1"]) == sha256(lines)


@pytest.mark.parametrize(
    "changes",
    [
        {"root": "/other"},
        {"script": "text "},
        {"after": [("venv", Stamp("k", ()))]},
        {"after": [("other", Stamp("k", ()))]},
        {"after": [("venv", Stamp("k", (Made("aa", 1, "0", "/x"),)))]},
        {"identities": ["gcc 12"]},
        {"identities": ["gcc 13"]},
        {"identities": ["gcc 12", "icpx"]},
    ],
)
def test_every_input_is_in_the_key(changes: dict[str, Any]) -> None:
    assert key(**changes) != key()
    assert key(**changes) == key(**changes)


def test_size_and_time_of_what_was_made_are_not_in_the_key() -> None:
    stamps = [
        Stamp("k", (Made("aa", size, changed, path),)) for size, changed, path in ((1, "1", "/a"), (2, "2", "/b"))
    ]
    assert stamps[0].result == stamps[1].result


@pytest.mark.parametrize(
    ("text", "stamp"),
    [
        ("k\n", Stamp("k", ())),
        ("k\nsha 12 5.000000001 6.0 7 /a/b\n", Stamp("k", (Made("sha", 12, "5.000000001", "/a/b", "6.0", 7),))),
        ("k\nsha 12 5.0 6.0 7 /a b/c\n", Stamp("k", (Made("sha", 12, "5.0", "/a b/c", "6.0", 7),))),
        ("", None),
        ("\n", None),
        ("\nsha 12 5.0 /a\n", None),
        ("k\nsha 12\n", None),
        ("k\nsha twelve 5.0 /a\n", None),
        ("k\nsha 12 5.0 /a\nsha", None),
        ("k\n\n", None),
        ("\0\0\0\n\0", None),
    ],
)
def test_parse_stamp(text: str, stamp: Stamp | None) -> None:
    assert parse_stamp(text) == stamp


STEPS = (
    Step(id="a", title="", run=()),
    Step(id="b", title="", run=(), after=("a",), needs=("compiler", "network")),
    Step(id="c", title="", run=(), after=("b",)),
)
SCRIPTS = {step.id: f"script of {step.id}" for step in STEPS}


def stamps_of(made: str = "aa", gcc: str = "gcc 12") -> dict[str, Stamp]:
    """Give the stamps of a run of the three steps."""
    found: dict[str, Stamp] = {}
    for step in STEPS:
        identities = [gcc] if "compiler" in step.needs else []
        after = [(name, found[name]) for name in step.after]
        found[step.id] = Stamp(
            key(script=SCRIPTS[step.id], after=after, identities=identities), (Made(made, 1, "0", f"/r/{step.id}"),)
        )
    return found


def states(**changes: Any) -> list[tuple[str, str]]:
    given: dict[str, Any] = {
        "root": "/r",
        "scripts": SCRIPTS,
        "stamps": stamps_of(),
        "identities": {"compiler": "gcc 12"},
        "damaged": {},
        **changes,
    }
    return [(status.state, status.why) for status in make_statuses(STEPS, RootState(**given))]


DONE = ("done", "")
TODO = ("todo", "")
CHANGED = ("stale", "what it depends on changed")
MINE = stamps_of()


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, [DONE, DONE, DONE]),
        ({"stamps": {}}, [TODO, TODO, TODO]),
        ({"stamps": {"a": MINE["a"]}}, [DONE, TODO, TODO]),
        ({"stamps": {"b": MINE["b"], "c": MINE["c"]}}, [TODO, ("stale", "after a"), ("stale", "after b")]),
        ({"stamps": {"a": MINE["a"], "c": MINE["c"]}}, [DONE, TODO, ("stale", "after b")]),
        ({"root": "/moved"}, [CHANGED, ("stale", "after a"), ("stale", "after b")]),
        ({"scripts": {**SCRIPTS, "b": "new"}}, [DONE, CHANGED, ("stale", "after b")]),
        ({"scripts": {**SCRIPTS, "c": "new"}}, [DONE, DONE, CHANGED]),
        ({"identities": {"compiler": "gcc 13"}}, [DONE, CHANGED, ("stale", "after b")]),
        ({"identities": {}}, [DONE, CHANGED, ("stale", "after b")]),
        ({"damaged": {"c": "x is missing"}}, [DONE, DONE, ("stale", "x is missing")]),
        (
            {"damaged": {"a": "x is missing", "b": "y"}},
            [("stale", "x is missing"), ("stale", "after a"), ("stale", "after b")],
        ),
        ({"stamps": {**MINE, "a": Stamp(MINE["a"].key, ())}}, [DONE, CHANGED, ("stale", "after b")]),
        ({"stamps": {**MINE, "b": Stamp("garbage", ())}}, [DONE, CHANGED, ("stale", "after b")]),
    ],
)
def test_statuses(changes: dict[str, Any], wanted: list[tuple[str, str]]) -> None:
    assert states(**changes) == wanted


def test_the_same_result_stops_there() -> None:
    again = Stamp(MINE["a"].key, (Made("aa", 9, "9", "/r/a"),))
    assert states(stamps={**MINE, "a": again}) == [DONE, DONE, DONE]


def test_no_steps() -> None:
    assert make_statuses((), RootState("/r", {}, {}, {}, {})) == ()
    assert Status("a", "todo").why == ""
    assert len(SHA) == 64


def test_no_device_counts_as_done_until_the_machine_changes() -> None:
    """A step that found no device is not tried again for nothing, and is never stamped."""
    stamps = {name: stamp for name, stamp in MINE.items() if name != "c"}
    absent = {"c": MINE["c"].key}
    assert states(stamps=stamps, absent=absent) == [DONE, DONE, ("done", NO_DEVICE)]
    assert states(stamps=stamps, absent={"c": "of another build"}) == [DONE, DONE, TODO]
    assert states(stamps=stamps, absent=absent, identities={}) == [DONE, CHANGED, TODO]
