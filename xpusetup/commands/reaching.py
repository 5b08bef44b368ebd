"""Which steps asked for the network and had none: read from their logs, once a build has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xpusetup.bundles.reach import find_attempt
from xpusetup.effects.logs import read_lines

if TYPE_CHECKING:
    from xpusetup.bundles.contents import Bundle
    from xpusetup.effects.root import Root
    from xpusetup.effects.runner import Outcome
    from xpusetup.model import Plan


def describe_attempts(root: Root, plan: Plan, outcome: Outcome, bundle: Bundle | None) -> list[dict[str, Any]]:
    """Give the steps that ran now, have no network and asked for it, and what of their source may have.

    From a bundle that is every step. Elsewhere a network may have answered: what git asked for is told all the same,
    and refusals in a log only where its step failed, because a name that is not found may be that of this machine.
    """
    networked = {step.id for step in plan.steps if "network" in step.needs} if bundle is None else set()
    told = []
    for step in outcome.ran:
        heard = bundle is not None or step == outcome.failed
        attempt = None if step in networked else find_attempt(step, read_lines(root.log(step)), heard=heard)
        if attempt:
            component = step.partition(".")[0]
            places = bundle.downloads if bundle else []
            told.append(attempt.document([item for item in places if item.file.startswith(f"{component}/")]))
    return told
