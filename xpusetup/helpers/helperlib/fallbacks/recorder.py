"""Sees which operators a device runs by itself and which by a fallback, from what PyTorch's dispatcher knows.

A mode sees each operator below autograd. One that the device leaves to PyTorch to put together from others is taken
apart: its code is called with the mode on, so that the others are seen as well. All of it is PyTorch's private
interface: what is not there is said, not guessed.
"""
# ruff: noqa: SLF001 - see above

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

ROW = re.compile(r"^(?P<fallthrough>fallthrough )?registered at (?P<source>.+?) \[(?P<kind>[\w ]+)\]$")
COMPOSED = ("default backend kernel", "math kernel")
COMPOSITES = ("CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd", "CompositeImplicitAutograd")
"""In the order in which the dispatcher takes them."""
NEEDED = ("_dispatch_dump_table", "_dispatch_has_kernel_for_dispatch_key")
PARALLEL = {"cpu": "CPU", "cuda": "CUDA", "xpu": "XPU", "hpu": "HPU", "mps": "MPS"}


class DispatchRow(NamedTuple):
    """What the dispatcher calls for an operator on this device: the kind of kernel, and the file that registers it."""

    kind: str
    source: str

    @property
    def is_fallback(self) -> bool:
        """Whether it is the device's way to the CPU: its catch-all, or a kernel of the file that holds its list."""
        name = self.source.rsplit("/", 1)[-1].lower()
        return self.kind == "backend fallback" or (self.kind == "kernel" and "fallback" in name)


def why_blind() -> str:
    """Say what this PyTorch lacks for looking into the dispatcher; nothing where it lacks nothing."""
    missing = [name for name in NEEDED if not hasattr(torch._C, name)]
    return f"this PyTorch has no torch._C.{missing[0]}" if missing else ""


@cache
def find_row(operator: str, key: str) -> DispatchRow | None:
    for line in torch._C._dispatch_dump_table(operator).splitlines():
        name, _, rest = line.partition(": ")
        found = ROW.match(rest)
        if name == key and found and not found["fallthrough"]:
            return DispatchRow(found["kind"], found["source"])
    return None


@cache
def find_composite(operator: str) -> str | None:
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return next((key for key in COMPOSITES if has(operator, key)), None)


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, list | tuple):
        for one in value:
            yield from leaves(one)
    else:
        yield value


def touches(device: str, *values: Any) -> bool:
    for one in leaves(values):
        place = one.device if isinstance(one, torch.Tensor) else one
        if isinstance(place, torch.device) and place.type == device:
            return True
    return False


class Recorder(TorchDispatchMode):  # type: ignore[misc]
    """Counts the operators that touch a device. `unseen`: those of which it cannot tell what they call."""

    def __init__(self, device: str) -> None:
        super().__init__()
        ask = getattr(torch._C, "_dispatch_key_for_device", None)
        self.key = str(ask(device)) if ask else PARALLEL.get(device, "PrivateUse1")
        self.device, self.blind = device, why_blind()
        self.calls: dict[str, int] = {}
        self.unseen: set[str] = set()
        self.inside: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs, name = with_tensors(func, args), kwargs or {}, func.name()
        row = self.row(name)
        composed = row is not None and row.kind in COMPOSED and find_composite(name) is not None
        if composed and touches(self.device, args, kwargs):
            if name not in self.inside and hasattr(func, "_op_dk"):
                return self.take_apart(func, args, kwargs)
            aliases = [one.alias_info for one in func._schema.returns]
            if not any(alias is not None and not alias.is_write for alias in aliases):  # it is no view
                self.unseen.add(name)
        result = func(*args, **kwargs)
        if touches(self.device, args, kwargs, result):
            self.calls[name] = self.calls.get(name, 0) + 1
        return result

    def take_apart(self, func: Any, args: Any, kwargs: Any) -> Any:
        name = func.name()
        key = getattr(torch._C.DispatchKey, find_composite(name) or "")
        self.inside.add(name)  # such as detach, which calls itself
        try:
            with self:
                return func._op_dk(key, *args, **kwargs)
        finally:
            self.inside.discard(name)

    def row(self, name: str) -> DispatchRow | None:
        return None if self.blind else find_row(name, self.key)


def with_tensors(func: Any, args: Any) -> list[Any]:
    """Make tensors again of what a mode is given as numbers; not every operator takes those in their place."""
    wanted = [str(one.type) for one in func._schema.arguments]
    return [
        torch.tensor(value) if kind == "Tensor" and isinstance(value, int | float | complex) else value
        for value, kind in zip(args, wanted, strict=False)
    ]
