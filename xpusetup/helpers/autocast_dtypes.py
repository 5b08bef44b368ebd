"""What autocast really lowers: the dtypes that come out of the layers it is for."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from device_bench import Outcome

if TYPE_CHECKING:
    from device_bench import Bench


def watch_dtypes(torch: Any, model: Any) -> Counter[str]:
    """Count, from now on, the dtypes that come out of convolutions and linear layers."""
    kinds: Counter[str] = Counter()

    def note(_layer: Any, _inputs: Any, output: Any) -> None:
        kinds[str(output.dtype).removeprefix("torch.")] += 1

    for layer in model.modules():
        if isinstance(layer, (torch.nn.Conv2d, torch.nn.Linear)):
            layer.register_forward_hook(note)
    return kinds


def refuse_dtype(bench: Bench, dtype: str) -> None:
    """Raise NotImplementedError where the device itself says that its autocast does not have the dtype."""
    tell = getattr(bench.module, "get_amp_supported_dtype", None)
    if tell and getattr(bench.torch, dtype) not in tell():
        raise NotImplementedError(f"autocast to {dtype}: torch.{bench.name} does not list it")


def judge_dtypes(kinds: Counter[str], dtype: str) -> Outcome | None:
    """Give the failure where layers came out in another dtype than autocast's, None where all did in that."""
    others = {kind: number for kind, number in kinds.items() if kind != dtype}
    if kinds and not others:
        return None
    shown = ", ".join(f"{number} in {kind}" for kind, number in sorted(others.items())) or "none ran"
    effect = "autocast misses some" if kinds[dtype] else "autocast has no effect"
    seen = f"of {kinds.total()} results of convolutions and linear layers {shown}: {effect}"
    return Outcome("fail", seen, dtype)
