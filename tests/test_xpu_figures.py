"""What the real XPU build tells of itself, from made-up events of two attempts."""

from __future__ import annotations

from typing import Any

from real.torch_figures import Attempt
from real.xpu_figures import make_figures, render_figures

BEGUN, GONE_ON = 1000.0, 9000.0


def events(began: float, *, of: int, to: int) -> list[dict[str, Any]]:
    """Make the events of a compile in which ninja has `of` edges to do and comes to `to`, one in ten seconds."""
    step = {"step": "torch.build", "title": "torch"}
    lines = [
        {"kind": "output", "time": began + 10 * n, "count": n, "total": of, "text": "", **step}
        for n in range(1, to + 1)
    ]
    return [{"kind": "start", "time": began, **step}, *lines]


def figures() -> dict[str, Any]:
    runs = [Attempt("torch.1", None, BEGUN), Attempt("torch.2", 0, GONE_ON, GONE_ON + 700, processor=900)]
    rest = [Attempt("all.1", 0, 20000.0, 20060.0, processor=50)]
    told: dict[str, list[list[dict[str, Any]]]] = {
        "torch": [events(BEGUN, of=100, to=40), events(GONE_ON, of=61, to=61)],
        "all": [[]],
    }
    inspected = {"size": 2 * 10**8, "checks": [{"id": "wheel.xpu", "level": "warn", "seen": "no device code"}]}
    stages = {
        "use": {"answer": {"available": False}, "noop": 0.4},
        "offline": {"seconds": 300.0, "asked": False, "differs": {"torch": ["torch/version.py"], "torchvision": []}},
        "inner": {"product": [52.0, 51.0], "alone": [50.5, 50.0], "ratio": 1.02},
    }
    return make_figures({"torch": runs, "all": rest}, told, {"torch": inspected}, stages)


def test_attempts_count_together() -> None:
    made = figures()
    assert made["builds"]["torch"] == {
        "attempts": 2,
        "wall": 400 + 700,
        "processor": 900.0,
        "steps": {"torch.build": 400.0 + 610.0},
    }
    assert made["ninja"]["edges"] == 100
    assert made["ninja"]["lost"] == [{"done": 40, "total": 100, "again": 1}]


def test_the_text_says_what_is_wrong_with_a_wheel() -> None:
    text = render_figures(figures())
    for line in (
        "- torch: 18 min 20 s in 2 attempts, 15 min 00 s of processors, 100 edges",
        "- wheel of torch: 200.0 MB",
        "- torch: wheel.xpu: warn: no device code",
        "- the shell form from a bundle, without a network: 5 min 00 s, it never asked for the network",
        "- other bytes there in torch: torch/version.py",
        "- one kernel edited: 51.0 s by the product, 50.0 s by PyTorch's own build: 1.02",
    ):
        assert line in text
