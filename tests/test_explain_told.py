"""What a log tells around an error and elsewhere: which cause it is, for which place, and whether it ended well."""

from __future__ import annotations

import re
from typing import Any

import pytest

from logs import HERE, SMALLEST, explained, ids, signatures
from xpusetup.base.command import Command
from xpusetup.base.values import parse_toml
from xpusetup.explain.blocks import make_blocks
from xpusetup.explain.boxes import without_boxes
from xpusetup.explain.evidence import KEPT, LogEnds, fill_names
from xpusetup.explain.explanation import LogLine, explain
from xpusetup.explain.finder import Refinement, Signature, make_regex, parse_signatures
from xpusetup.explain.place import find_systems, fit_commands
from xpusetup.ui.explain import LONGEST, shorten

CASES: dict[str, list[dict[str, Any]]] = parse_toml((HERE / "told.toml").read_text(encoding="utf-8"))
WITH = [(known, each) for known in signatures() for each in known.when]


def name(case: dict[str, Any]) -> str:
    return str(case["about"])


@pytest.mark.parametrize("case", CASES["told"], ids=name)
def test_what_a_log_tells(case: dict[str, Any]) -> None:
    found = explained(case["log"].strip("\n"))
    told = found.describe()
    best = told.causes[0]
    said = "\n".join((best.cause, best.fix, *best.commands))
    assert best.id == case.get("id", best.id), ids(found)
    assert case.get("line", "") in best.text
    assert case.get("cause", "") in best.cause
    assert case.get("fix", "") in best.fix
    assert case.get("command", "") in "\n".join(best.commands)
    assert case.get("decided", "") in (best.decided.text if best.decided else "")
    assert "never" not in case or case["never"] not in said
    assert case.get("likely", best.likely) == best.likely
    assert all(any(each in near.text for near in told.beside) for each in case.get("beside", []))
    assert "beside" in case or best.likely or not told.beside


@pytest.mark.parametrize("case", CASES["unknown"], ids=name)
def test_what_no_class_knows(case: dict[str, Any]) -> None:
    found = explained(case["log"].strip("\n"))
    assert ids(found) == []
    assert found.first_error
    assert case["line"] in found.first_error.text
    assert all(any(each in near.text for near in found.describe().beside) for each in case.get("beside", []))


def test_every_pattern_is_one() -> None:
    """They are compiled when a log needs them: a wrong one would end `explain` there."""
    classes = [(each.patterns, (each.never, each.beside, each.unless)) for each in signatures()]
    refinements = [(each.patterns, (each.beside, each.unless)) for _, each in WITH]
    for patterns, others in (*classes, *refinements):
        assert not any(make_regex(pattern).search("") for pattern in patterns)
        for text in others:
            make_regex(text)


def test_a_refinement_can_be_said() -> None:
    """Every name in its sentences is one that each of its patterns, or the class itself, finds."""
    unsaid = [(known.id, missing) for known, each in WITH if (missing := unfound_names(known, each))]
    assert unsaid == []


def unfound_names(known: Signature, each: Refinement) -> set[str]:
    """Give the names in what a refinement says that nothing finds; a command may use what the class only may find."""
    groups = [set(make_regex(pattern).groupindex) for pattern in each.patterns]
    named = [set(make_regex(pattern).groupindex) for pattern in known.patterns]
    always = set.intersection(*groups) if groups else set()
    sentences = set(re.findall(r"<([a-z_]+)>", each.cause + each.fix))
    commands = set(re.findall(r"<([a-z_]+)>", "\n".join(each.commands))) - {"build", "env"}
    sure = always | (set.intersection(*named) if named else set())
    return (sentences - sure) | (commands - always - set().union(*named))


def test_a_refinement_that_always_holds_is_refused() -> None:
    with pytest.raises(ValueError, match="holds always"):
        Refinement(cause="so")
    with pytest.raises(ValueError, match="no other cause"):
        Refinement(patterns=["x"])


def test_the_first_refinement_that_holds_is_taken() -> None:
    plain, when, _cats = SMALLEST.partition("[[signature.when]]\n")
    text = f"""{plain}{when}
patterns = ['seen (?P<what>\\w+)']
unless = 'not here'
cause = "it was <what>"

[[signature.when]]
patterns = ['seen']
cause = "second"
fix = "do <what>"
"""
    known = parse_signatures(text)
    first = explain([b"seen cats\nboom\n"], known).describe().causes[0]
    assert (first.cause, first.fix, first.decided) == ("it was cats", "look", LogLine(1, "seen cats"))
    second = explain([b"boom\nseen cats\nnot here\n"], known).describe().causes[0]
    assert (second.cause, second.decided) == ("second", LogLine(2, "seen cats"))
    assert explain([b"boom\n"], known).describe().causes[0].decided is None


def test_a_narrower_cause_may_be_surer_than_its_failure() -> None:
    text = SMALLEST.replace('"high"', '"medium"') + 'confidence = "high"\n'
    known = parse_signatures(text)
    plain = explain([b"boom\n"], known).describe().causes[0]
    told = explain([b"it was cats\nboom\n"], known).describe().causes[0]
    assert (plain.likely, plain.confidence, told.likely, told.confidence) == (True, "medium", False, "high")
    less = parse_signatures(text.replace('"high"', '"low"').replace('"medium"', '"high"'))
    told = explain([b"it was cats\nboom\n"], less).describe().causes[0]
    assert (told.likely, told.confidence) == (True, "low")


@pytest.mark.parametrize(
    ("log", "likely"),
    [
        (b"boom: it was cats\n", False),
        (b"it was cats\nboom\n", True),
        (b"error: another thing\n\nboom\n", True),
        (b"boom\n\nerror: another thing\n", False),
    ],
)
def test_what_another_line_decides_is_likely_and_so_is_what_stands_after_another_error(
    log: bytes, likely: bool
) -> None:
    assert explain([log], parse_signatures(SMALLEST)).describe().causes[0].likely is likely


def test_a_log_cannot_spoil_the_sentence_that_names_it() -> None:
    assert fill_names("it was <what>", {"what": "a\x1b[31m\nb"}) == "it was a[31m b"
    assert len(fill_names("<what>", {"what": "x" * 5000})) < 200
    assert fill_names("<cstdint> is missing", {}) == "<cstdint> is missing"


def test_what_is_kept_of_a_long_log() -> None:
    lines = [f"line {number} " + "x" * 90 for number in range(1, 9001)]
    data = ("\n".join(lines) + "\n").encode()
    kept = LogEnds()
    for start in range(0, len(data), 5000):
        kept.add(data[start : start + 5000])
    told = kept.lines(len(lines))
    assert len(told.whole) < 2 * KEPT + 1
    assert all(text.startswith(f"line {number} ") for text, number in zip(told.texts, told.numbers, strict=True))
    assert (told.numbers[0], told.numbers[-1]) == (1, 9000)


@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
def test_what_is_quoted_is_the_same_in_chunks_of_any_size(size: int) -> None:
    data = "\n".join(case["log"] for case in CASES["told"]).encode()
    whole = b"".join(without_boxes([data]))
    assert b"".join(without_boxes(data[start : start + size] for start in range(0, len(data), size))) == whole
    assert whole.count(b"\n") == data.count(b"\n")
    assert b"".join(block.data[block.start : block.end] for block in make_blocks([data])) == whole


def test_commands_for_the_place() -> None:
    lines = ("sudo apt-get install x", "export A=b", "pip list | grep -iE 'sycl|torch'", "ls -l /dev/dri", "sycl-ls")
    commands = [*map(Command, lines)]
    assert fit_commands(commands, ("windows",)) == ["set A=b", 'pip list | findstr /i "sycl torch"', "sycl-ls"]
    assert fit_commands(commands, ("docker", "fedora")) == commands[1:]
    assert fit_commands(commands, ("debian",)) == commands == fit_commands(commands, ())


@pytest.mark.parametrize(
    ("log", "systems"),
    [
        ("(base) C:\\work>python x.py", ("windows",)),
        ("PS D:\\a> pip list", ("windows",)),
        ("root@0123456789ab:/# apt-get update", ("docker", "debian")),
        ("Linux n 5.15.153.1-microsoft-standard-WSL2\nVERSION=Ubuntu 24.04", ("wsl", "debian")),
        ("[ann@r9 ~]$ sudo dnf install x", ("fedora",)),
        ("6.17.1-arch1-1", ("arch",)),
        ("nothing", ()),
    ],
)
def test_the_place_by_what_the_whole_log_tells(log: str, systems: tuple[str, ...]) -> None:
    assert find_systems([], log) == systems


def test_a_long_line_shows_what_complains() -> None:
    line = "starting " + "a part " * 100 + "and then error -1001 came " + "end " * 5
    shown = shorten(line)
    assert shown.startswith("starting a part")
    assert "error -1001" in shown
    assert len(shown) <= LONGEST + 1
    assert shorten("short error") == "short error"
    assert shorten("error first " + "word " * 200).startswith("error first")


def test_a_line_of_pip_without_a_network_says_why_and_not_where_in_memory() -> None:
    """As pip 23.2.1 prints it: the reason stood behind the address of a connection, or was cut off."""
    error = (
        "NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f82e5f71010>: Failed to"
        " establish a new connection: [Errno 111] Connection refused')"
    )
    tries = "(Retry(total=0, connect=None, read=None, redirect=None, status=None))"
    line = f"WARNING: Retrying {tries} after connection broken by '{error}': /simple/wheel/"
    assert shorten(line) == (
        "WARNING: Retrying [...] after connection broken by 'NewConnectionError('[...]: Failed to establish a new"
        " connection: [Errno 111] Connection refused')': /simple/wheel/"
    )
