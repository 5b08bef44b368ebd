"""What is ten times as long costs ten times as much, not a hundred: counted, where a clock would only guess."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from data.profiles import SMALL
from data.targets import SIM
from xpusetup.base.model import Layout, Request
from xpusetup.base.text import Redactor
from xpusetup.commands.explain import known_signatures
from xpusetup.config.load import parse_profile
from xpusetup.emit.script import fetching
from xpusetup.explain.explanation import explain
from xpusetup.explain.finder import Signature
from xpusetup.plan.context import patches_of
from xpusetup.plan.steps import make_plan

if TYPE_CHECKING:
    import re

    from xpusetup.base.model import Patch
    from xpusetup.config.profile import Profile

HIDE = Redactor(user="jane", host="cave", home="/home/jane")
LENGTH = 40_000
SECONDS = 5.0
"""One of these took 51 s; now each takes less than half a second of an idle machine."""


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "a-",
        "a.",
        "a+",
        "token",
        "eyJ-",
        "eyJaaaaaaaaaa-",
        "eyJaaaaaaaaaaa.",
        "http",
        "a://",
        ":",
        "ab:",
        "1.",
        "?a",
        "bearer ",
        " ",
        "-",
        "/home/",
        "ghp_",
        "@",
        "secret ",
        "a://@",
        "\x1b[",
        "&token",
    ],
)
def test_a_long_line_is_redacted_at_once(piece: str) -> None:
    began = time.process_time()
    HIDE.text((piece * LENGTH)[:LENGTH])
    HIDE.text(f"a://{piece * LENGTH}"[:LENGTH])
    assert time.process_time() - began < SECONDS


def test_lines_that_are_alike_are_not_looked_at_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """400,000 lines of errors took 67 s."""
    looked = []
    search = Signature.search

    def count(self: Signature, text: str) -> re.Match[str] | None:
        looked.append(self.id)
        return search(self, text)

    monkeypatch.setattr(Signature, "search", count)
    lines = (f"CMake Error at a.cmake:{number} (message):\n".encode() for number in range(10_000))
    told = explain((b"".join(part) for part in zip(*[lines] * 100, strict=True)), known_signatures())
    assert told.lines == 10_000
    assert len(looked) < 2_600 * len(set(looked))  # each at each line would be 10,000


def test_what_comes_after_lines_that_are_alike_is_found() -> None:
    lines = [b"CMake Error at a.cmake:1 (message):\n"] * 3000
    lines.append(b"/usr/bin/ld: final link failed: No space left on device\n")
    (cause, *_others) = explain(iter([b"".join(lines)]), known_signatures()).causes
    assert (cause.signature.id, cause.line) == ("compile.disk_full", 3001)


def test_a_plan_of_many_components(monkeypatch: pytest.MonkeyPatch) -> None:
    """1,500 components took 17 s: the patches of all were gathered anew for each."""
    gathered = []

    def gather(profile: Profile, request: Request) -> tuple[Patch, ...]:
        gathered.append(profile.name)
        return patches_of(profile, request)

    monkeypatch.setattr("xpusetup.plan.context.patches_of", gather)
    head, mark, parts = SMALL.partition("[[components]]")
    part = (mark + parts).split("\n[[components]]")[0]
    named = (part.replace('"first"', f'"c{number}"') for number in range(200))
    profile = parse_profile("\n".join([head, *named]), "many.toml")
    plan = make_plan(profile, Request(), replace(SIM, accelerator="cpu"), Layout())
    assert len(gathered) == 1
    assert len(fetching(plan.steps)) == 202  # the environment, its requirements, and every tree


def test_one_long_path_costs_what_half_of_it_does() -> None:
    """Patterns try each place of what is kept of a line, which is no more than tells something."""

    def seconds(times: int) -> float:
        start = time.process_time()
        explain(iter([b"/" + b"ab/" * times + b": No module named pip\n"]), known_signatures())
        return time.process_time() - start

    seconds(100)
    assert seconds(60_000) < 3 * max(seconds(30_000), 0.2)
