"""The order in which components are built: after what they name, else as the profile lists them."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from xpusetup.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.profile import Component, SourceComponent, WheelComponent


def make_order(components: Sequence[Component]) -> tuple[SourceComponent | WheelComponent, ...]:
    """Sort components so that each follows what it comes after; skipped ones fall out."""
    present = {part.name: part for part in components if part.kind != "skip"}
    graph = {name: [other for other in part.after if other in present] for name, part in present.items()}
    try:
        names = tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise UsageError(_cycle_text(error), fix="take one of these names out of an `after` list") from error
    return tuple(present[name] for name in names)


def _cycle_text(error: CycleError) -> str:
    return "the components wait for each other: " + " -> ".join(error.args[1])
