"""The report as a document: what the page draws, and what programs read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from xpusetup.outcomes import describe_machine
from xpusetup.report.ninja import average_jobs
from xpusetup.report.timeline import Scale, thin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xpusetup.report.ninja import Edge
    from xpusetup.report.timeline import Span

LONGEST = 40
POINTS = 400


@dataclass(frozen=True, kw_only=True)
class Material:
    """What lies in a root. `edges` by step, `memory` as moments with bytes in use, `sizes` of the wheels by path."""

    root: str
    manifest: Mapping[str, Any]
    spans: tuple[Span, ...]
    edges: Mapping[str, tuple[Edge, ...]]
    memory: Sequence[tuple[float, float]]
    memory_total: int | None
    sizes: Mapping[str, int]


def make_report(material: Material) -> dict[str, Any]:
    """Give the report."""
    manifest, spans = material.manifest, material.spans
    began, ended = min(span.began for span in spans), max(span.ended for span in spans)
    pieces = Scale(spans).share(POINTS)
    edges = [(step, edge) for step, found in material.edges.items() for edge in found]
    return {
        "profile": manifest.get("profile", ""),
        "root": material.root,
        "made_by": manifest.get("made_by", "build"),
        "machine": describe_machine(manifest.get("facts") or {}),
        "target": manifest.get("target") or {},
        "began": began,
        "ended": ended,
        "failed": manifest.get("failed"),
        "verified": manifest.get("verified"),
        "verification": manifest.get("verification"),
        "steps": [asdict(span) for span in spans],
        "compiles": {"count": len(edges), "seconds": round(sum(edge.seconds for _, edge in edges), 1)},
        "longest": [_describe_edge(step, edge) for step, edge in _longest(edges)],
        "jobs": [one for piece in pieces for one in average_jobs([edge for _, edge in edges], *piece)],
        "memory": [one for piece in pieces for one in thin(material.memory, *piece)],
        "memory_total": material.memory_total,
        "wheels": [{**wheel, "bytes": material.sizes.get(wheel["path"])} for wheel in manifest.get("wheels", [])],
        "pins": manifest.get("pins", []),
        "own": manifest.get("own", {}),
    }


def _longest(edges: Sequence[tuple[str, Edge]]) -> list[tuple[str, Edge]]:
    return sorted(edges, key=lambda one: -one[1].seconds)[:LONGEST]


def _describe_edge(step: str, edge: Edge) -> dict[str, Any]:
    return {"step": step, "output": edge.output, "seconds": round(edge.seconds, 2)}
