"""The pairs of real wheels and torches: what they have to hold, how an import is judged, and the page made of them."""

from __future__ import annotations

from typing import Any

import pytest

from real.fits import MARK, PAGE, Pair, judge_import, place_numbers, read_pairs, read_table, render_numbers


def test_the_answers_are_the_truth() -> None:
    decided = [one for one in read_pairs() if one.truth != "undecided"]
    assert [one for one in decided if one.answer in ("fits", "python_alone") and not one.agrees] == []
    assert sum(one.agrees for one in decided) >= 0.99 * len(decided)
    assert min(sum(one.answer == answer for one in decided) for answer in ("fits", "does_not_fit")) >= 60


def test_each_pair_is_of_the_table() -> None:
    torches, beside, wheels = read_table()
    pairs = read_pairs()
    assert {one.torch for one in pairs} <= set(torches)
    assert {one.wheel for one in pairs} <= {wheel.file for wheel in wheels}
    assert len({(one.torch, one.wheel) for one in pairs}) == len(pairs)
    assert "torch" not in beside


def test_the_page_has_the_numbers() -> None:
    numbers = render_numbers(read_pairs())
    page = PAGE.read_text()
    assert page.count(MARK) == 2
    assert place_numbers(page, numbers) == page


def told(**words: Any) -> dict[str, Any]:
    return {"error": "", "kind": "", "tried": [], "loaded": [], "opened": {}, **words}


@pytest.mark.parametrize(
    ("words", "truth"),
    [
        ({"tried": ["a.so", "b.so"], "loaded": ["b.so"]}, "fits"),
        ({"tried": ["a.so"], "loaded": ["of_others.so"]}, "python_alone"),
        ({"error": "No module", "kind": "ModuleNotFoundError", "tried": ["a.so"]}, "does_not_fit"),
        ({"error": "undefined symbol", "kind": "ImportError", "tried": ["a.so"], "loaded": ["a.so"]}, "does_not_fit"),
        ({"error": "No module named 'x'", "kind": "ModuleNotFoundError"}, "undecided"),
        ({"error": "No module", "kind": "ModuleNotFoundError", "opened": {"a.so": ""}}, "fits"),
        ({"error": "No module", "kind": "ModuleNotFoundError", "tried": ["a.so"], "loaded": ["a.so"]}, "fits"),
        ({"opened": {"a.so": "", "b.so": "undefined symbol"}}, "undecided"),
        ({"opened": {"a.so": "undefined symbol"}}, "python_alone"),
        ({"error": "No module", "kind": "ModuleNotFoundError", "opened": {"a.so": "gone"}}, "does_not_fit"),
        ({}, "fits"),
        ({"torch": "ImportError"}, "undecided"),
        ({"died": "ended with -11"}, "does_not_fit"),
    ],
)
def test_what_an_import_proves(words: dict[str, Any], truth: str) -> None:
    assert judge_import(told(**words))[0] == truth


@pytest.mark.parametrize(
    ("truth", "answer", "agrees"),
    [
        ("python_alone", "python_alone", True),
        ("python_alone", "does_not_fit", True),
        ("python_alone", "fits", False),
        ("does_not_fit", "python_alone", False),
        ("fits", "python_alone", False),
    ],
)
def test_a_package_that_works_in_python_alone(truth: Any, answer: Any, *, agrees: bool) -> None:
    """Its import works, and its compiled part does not load: a plain *fits* says too much of it."""
    one = Pair(torch="2.9.0", wheel="a-1-py3-none-any.whl", truth=truth, how="import", answer=answer, reason="why")
    assert one.agrees is agrees


def test_what_differs_is_in_the_numbers() -> None:
    pairs = [
        Pair(torch="2.9.0", wheel="a-1-py3-none-any.whl", truth="fits", how="import", answer="unknown", reason="why"),
        Pair(torch="2.9.0", wheel="b-1-py3-none-any.whl", truth="undecided", how="x", answer="fits", reason="y"),
    ]
    text = render_numbers(pairs)
    assert "2 pairs of 2 wheels and 1 torches" in text
    assert "| 2.9.0 | a-1 | import | unknown: why |" in text
    assert "b-1" not in text
