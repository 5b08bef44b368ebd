"""Which step belongs to which part of an image: the order of a plan, cut where layers can stand beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xpusetup.plan.patches import FOLDER as PATCHES
from xpusetup.values import PACKAGED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from xpusetup.emit.image import Image
    from xpusetup.model import Step
    from xpusetup.profile import SourceComponent


@dataclass(frozen=True, kw_only=True)
class Built:
    """The steps of the build side. `packaged` are folders of helpers that hold a component's source or patches."""

    environment: tuple[Step, ...]
    sources: Mapping[str, tuple[Step, ...]]
    packaged: Mapping[str, tuple[str, ...]]
    components: Mapping[str, tuple[Step, ...]]
    rest: tuple[Step, ...]

    @property
    def all(self) -> tuple[Step, ...]:
        """All of them, in the order of the plan as far as it matters."""
        parts = (self.environment, *self.sources.values(), *self.components.values(), self.rest)
        return tuple(step for part in parts for step in part)


def split_stages(image: Image) -> Built:
    """Cut a plan: what fetches a tree waits for nothing; what needs a device cannot run while an image is built.

    Where nothing is compiled, one part is all there is.
    """
    steps = tuple(step for step in image.plan.steps if "device" not in step.needs)
    if image.order.origin == "wheels":
        return Built(environment=(), sources={}, packaged={}, components={}, rest=steps)
    sources = {step.component: (step,) for step in steps if step.component and not step.after}
    placed = {step.id for part in sources.values() for step in part}
    named = list(dict.fromkeys(step.component for step in steps if step.component))
    left = [step for step in steps if step.id not in placed]
    first = next(number for number, step in enumerate(left) if step.component)
    last = max(number for number, step in enumerate(left) if step.component)
    return Built(
        environment=tuple(left[:first]),
        sources=sources,
        packaged=_packaged(image),
        components={name: tuple(step for step in left if step.component == name) for name in named},
        rest=tuple(left[last + 1 :]),
    )


def _packaged(image: Image) -> dict[str, tuple[str, ...]]:
    return {part.name: tuple(_folders(part)) for part in image.profile.components if part.kind == "source"}


def _folders(part: SourceComponent) -> Iterator[str]:
    if part.repo.startswith(PACKAGED):
        yield part.repo.removeprefix(PACKAGED)
    if part.patches or any(item.patches for item in part.vendored):
        yield PATCHES.rpartition("/")[2]
