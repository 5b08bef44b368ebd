"""Labels of an image: what it is, what it was made from, and the pins of all that is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.emit.image import Image

BASE = "${BASE}"


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
        "org.opencontainers.image.base.name": BASE,
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
    lines = [f"{name}={_quote(value)}" for name, value in values.items()]
    yield "LABEL " + " \\\n      ".join(lines)


def _quote(value: str) -> str:
    """Quote a value; the base alone is a variable, because a build may name another one."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if value == BASE else f'"{escaped}"'.replace("$", "\\$")
