"""The order in which components are built: after what they name, else as the profile lists them."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from xpusetup.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xpusetup.profile import Component, SourceComponent, WheelComponent


def make_order(components: Sequence[Component]) -> tuple[SourceComponent | WheelComponent, ...]:
    """Sort components so that each follows what it comes after; skipped ones fall out."""
    present = {part.name: part for part in components if part.kind != "skip"}
    graph = {name: [other for other in part.after if other in present] for name, part in present.items()}
    if cycle := find_cycle(graph):
        message = f"these components wait for each other: {' -> '.join(cycle)}"
        raise UsageError(message, fix="take one of these names out of an `after` list")
    return tuple(present[name] for name in TopologicalSorter(graph).static_order())


def find_needed(components: Sequence[Component], names: Sequence[str]) -> tuple[str, ...]:
    """Give what components build on, however deep, in the order in which it is built; without themselves."""
    after = {part.name: part.after for part in components if part.kind != "skip"}
    found, waiting = set(names), list(names)
    while waiting:
        more = set(after.get(waiting.pop(), ())) & after.keys() - found
        found |= more
        waiting += sorted(more)
    return tuple(part.name for part in make_order(components) if part.name in found - set(names))


def find_cycle(graph: Mapping[str, Sequence[str]]) -> list[str]:
    """Give the names of one cycle, the first of them also at the end; empty where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []
