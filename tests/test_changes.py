"""Which input of a step changed."""

from __future__ import annotations

import pytest

from xpusetup.run.keys import Stamp, find_changes, make_inputs, summarise

SCRIPT = """#!/usr/bin/env bash
# torch.build: torch
export USE_XCCL=0
export CFLAGS='-O2 -g'
cd "$ROOT"/src
run python \\
  setup.py bdist_wheel
finish
"""


def inputs(script: str = SCRIPT, *, root: str = "/r", after: str = "a", tools: tuple[str, ...] = ("/g++ 12",)) -> str:
    return make_inputs(root=root, script=script, after=[("venv", Stamp(after, ()))], identities=tools)


def changes(script: str = SCRIPT, **others: object) -> tuple[str, ...]:
    before = f"{inputs()}\n{SCRIPT}"
    return find_changes(before, inputs(script, **others), script)  # type: ignore[arg-type]


def test_nothing_kept_says_nothing() -> None:
    assert find_changes("", inputs(), SCRIPT) == ()
    assert summarise(()) == "what it depends on changed"


def test_nothing_changed() -> None:
    assert changes() == ()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("USE_XCCL=0", "USE_XCCL=1", ("env USE_XCCL 0 → 1",)),
        ("export USE_XCCL=0\n", "", ("env USE_XCCL 0 → unset",)),
        ("export USE_XCCL=0\n", "export USE_XCCL=0\nexport USE_MPI=1\n", ("env USE_MPI unset → 1",)),
        ("# torch.build: torch", "# torch.build: torch, by another title", ()),
        (
            "setup.py bdist_wheel",
            "setup.py sdist",
            ("no longer: run python setup.py bdist_wheel", "now: run python setup.py sdist"),
        ),
        (
            "USE_XCCL=0\nexport CFLAGS='-O2 -g'",
            "USE_XCCL=1\nexport CFLAGS=-O3",
            ("env CFLAGS '-O2 -g' → -O3", "env USE_XCCL 0 → 1"),
        ),
    ],
)
def test_what_changed_in_the_script(old: str, new: str, said: tuple[str, ...]) -> None:
    assert changes(SCRIPT.replace(old, new)) == said


def test_what_changed_around_it() -> None:
    assert changes(root="/other") == ("root /r → /other",)
    assert changes(after="b") == ("another result of venv",)
    assert changes(tools=("/g++ 13",)) == ("tools: /g++ 12 → /g++ 13",)
    assert changes(tools=("/g++ 12", "/icpx 5 1")) == ("tools: /g++ 12 → /g++ 12, /icpx 5 1",)


def test_what_it_comes_after() -> None:
    before = f"{inputs()}\n{SCRIPT}"
    now = make_inputs(root="/r", script=SCRIPT, after=[("torch.install", Stamp("a", ()))], identities=["/g++ 12"])
    assert find_changes(before, now, SCRIPT) == ("it no longer comes after venv", "it now comes after torch.install")


def test_long_values_are_cut() -> None:
    (said,) = changes(SCRIPT.replace("USE_XCCL=0", f"USE_XCCL={'1' * 200}"))
    assert len(said) < 100
    assert said.endswith("…")


def test_a_summary_counts_what_it_leaves_out() -> None:
    assert summarise(("env A 0 → 1",)) == "env A 0 → 1"
    assert summarise(("env A 0 → 1", "now: x", "now: y")) == "env A 0 → 1 and 2 more changes"
    assert summarise(("no longer: x", "another result of a.fetch")) == "another result of a.fetch and 1 more change"
    assert summarise(("no longer: NEEDS=network", "now: NEEDS=''")) == "its script changed (plan --explain shows how)"
    comes = ("it no longer comes after a.inspect", "it now comes after a.build", "now: y")
    assert summarise(comes) == "its script changed (plan --explain shows how)"
    assert summarise(("now: x",)) == "now: x"
