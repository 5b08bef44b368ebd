"""Labels of an image: what it is, what it was made from, and the pins of all that is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.emit.words import docker_string

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.emit.image import Image

BASE = "${BASE}"
"""The one variable: a build may name another base."""
OF_BASE = "org.opencontainers.image.base.name"


def label_values(image: Image) -> dict[str, str]:
    """Give the labels by name: those that all engines know, then ours."""
    torch = next(
        (part.version for part in image.profile.components if part.kind != "skip" and part.name == "torch"), ""
    )
    kit = image.profile.toolkit.preferred if image.profile.toolkit and image.order.origin == "source" else ""
    found = {
        "org.opencontainers.image.title": image.profile.name,
        "org.opencontainers.image.description": image.profile.summary,
        "org.opencontainers.image.version": torch,
        OF_BASE: BASE,
        "xpusetup.profile": image.profile.name,
        "xpusetup.profile.sha256": image.digest,
        "xpusetup.from": image.order.origin,
        "xpusetup.target": image.order.target,
        "xpusetup.arch": ",".join(image.plan.target.arch),
        "xpusetup.toolkit": kit,
        "xpusetup.pins": " ".join(f"{name}={pin}" for name, pin in image.pins.items()),
    }
    return {name: value for name, value in found.items() if value}


def labels_of(image: Image) -> Iterator[str]:
    """Give them as lines of a Dockerfile."""
    values = label_values(image)
    quoted = {name: docker_string(value) for name, value in values.items()} | {OF_BASE: f'"{BASE}"'}
    lines = [f"{name}={value}" for name, value in quoted.items()]
    yield "LABEL " + " \\\n      ".join(lines)
