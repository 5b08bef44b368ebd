"""What the real XPU build tells of itself, as figures and as a text: pure functions of events and results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from real.torch_figures import (
    Document,
    count_lost,
    lasted,
    make_guesses,
    make_marks,
    minutes,
    render_guesses,
    step_seconds,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from real.torch_figures import Attempt

STEPS = ("torch.configure", "torch.build", "torch.inspect", "vision.build", "audio.build")


def make_figures(
    attempts: Mapping[str, Sequence[Attempt]],
    events: Mapping[str, Sequence[Sequence[Document]]],
    inspected: Mapping[str, Document],
    stages: Mapping[str, Document],
) -> Document:
    """Give all figures; `attempts` and `events` are by build: torch alone, then all of the profile."""
    builds = {
        name: {
            "attempts": len(runs),
            "wall": round(sum(map(lasted, runs, events[name])), 1),
            "processor": round(sum(one.processor for one in runs), 1),
            "steps": step_seconds(events[name]),
        }
        for name, runs in attempts.items()
    }
    torch = events["torch"]
    wheels = {
        name: {
            "size": document["size"],
            "found": {check["id"]: [check["level"], check["seen"]] for check in document["checks"]},
        }
        for name, document in inspected.items()
    }
    edges = {"edges": make_marks(torch)[1], "lost": count_lost(torch), "guesses": make_guesses(torch)}
    return {"builds": builds, "ninja": edges, "wheels": wheels, **stages}


def render_figures(figures: Document) -> str:
    """Give the figures in Markdown."""
    torch = figures["builds"]["torch"]
    taken = {name: seconds for build in figures["builds"].values() for name, seconds in build["steps"].items()}
    unsound = [
        f"- {name}: {check}: {level}: {seen}"
        for name, wheel in figures["wheels"].items()
        for check, (level, seen) in wheel["found"].items()
        if level in {"warn", "fail"}
    ]
    used, offline, inner = figures["use"], figures["offline"], figures["inner"]
    wall, edges = minutes(torch["wall"]), figures["ninja"]["edges"]
    asked = "it asked for the network" if offline["asked"] else "it never asked for the network"
    best = (min(inner["product"]), min(inner["alone"]))
    lines = [
        f"- torch: {wall} in {torch['attempts']} attempts, {minutes(torch['processor'])} of processors, {edges} edges",
        *(f"- {name}: {minutes(taken[name])}" for name in STEPS if name in taken),
        *(f"- wheel of {name}: {wheel['size'] / 1e6:.1f} MB" for name, wheel in figures["wheels"].items()),
        *unsound,
        f"- torch.xpu: {used['answer']}",
        f"- a build after that: {used['noop']:.2f} s, nothing ran",
        f"- the shell form from a bundle, without a network: {minutes(offline['seconds'])}, {asked}",
        *(f"- other bytes there in {name}: {', '.join(files)}" for name, files in offline["differs"].items() if files),
        "- one kernel edited: {} s by the product, {} s by PyTorch's own build: {}".format(*best, inner["ratio"]),
    ]
    return "\n".join([*lines, "", *render_guesses(figures["ninja"]["guesses"])]) + "\n"
