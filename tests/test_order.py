"""The order of components."""

from __future__ import annotations

import pytest

from xpusetup.base.errors import UsageError
from xpusetup.config.profile import SkippedComponent, WheelComponent, find_cycle, make_order


def wheel(name: str, *after: str) -> WheelComponent:
    return WheelComponent(
        kind="wheel",
        name=name,
        distribution=name,
        version="1.0",
        source="made up",
        confidence="likely",
        after=list(after),
    )


SKIPPED = SkippedComponent(kind="skip", name="left", reason="not needed")


@pytest.mark.parametrize(
    ("parts", "names"),
    [
        ([], []),
        ([wheel("a"), wheel("b"), wheel("c")], ["a", "b", "c"]),
        ([wheel("c"), wheel("a"), wheel("b")], ["c", "a", "b"]),
        ([wheel("a", "b"), wheel("b")], ["b", "a"]),
        ([wheel("vision", "torch"), wheel("torch", "triton"), wheel("triton")], ["triton", "torch", "vision"]),
        ([wheel("a", "b", "c"), wheel("b", "c"), wheel("c")], ["c", "b", "a"]),
        ([wheel("a"), SKIPPED, wheel("b", "left")], ["a", "b"]),
    ],
)
def test_order(parts: list[WheelComponent | SkippedComponent], names: list[str]) -> None:
    assert [part.name for part in make_order(parts)] == names


def test_a_cycle_is_named() -> None:
    with pytest.raises(UsageError) as caught:
        make_order([wheel("a", "b"), wheel("b", "a")])
    assert caught.value.message == "these components wait for each other: a -> b -> a"
    assert caught.value.fix == "take one of these names out of an `after` list"


@pytest.mark.parametrize(
    ("graph", "cycle"),
    [
        ({}, []),
        ({"a": ["b"], "b": []}, []),
        ({"a": ["unknown"]}, []),
        ({"a": ["a"]}, ["a", "a"]),
        ({"a": ["b"], "b": ["c"], "c": ["a"], "d": []}, ["a", "c", "b", "a"]),
    ],
)
def test_find_cycle(graph: dict[str, list[str]], cycle: list[str]) -> None:
    assert find_cycle(graph) == cycle
