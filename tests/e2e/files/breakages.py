"""Break the simulated accelerator in one way at a time, and print what the check that should notice says.

Run by the python of an environment that holds torch and simxpu, with the folder of the helpers as argument.
"""

from __future__ import annotations

import ctypes
import json
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import torch
from torch.utils._pytree import tree_map

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

DEVICE: Any = torch.simxpu
ATEN: Any = torch.ops.aten
NOTHING = object()
"""What the wrong form of an operator without a result gives; None is one that works in place."""


def alias(value: Any) -> Any:
    """Give a tensor of the CPU in the same memory: the device's memory is the host's."""
    if not isinstance(value, torch.Tensor) or value.device.type == "cpu":
        return torch.device("cpu") if isinstance(value, torch.device) else value
    storage = value.untyped_storage()
    if not storage.nbytes():
        return torch.empty_strided(value.size(), value.stride(), dtype=value.dtype)
    memory = (ctypes.c_char * storage.nbytes()).from_address(storage.data_ptr())
    found = torch.frombuffer(memory, dtype=value.dtype).as_strided(value.size(), value.stride(), value.storage_offset())
    return found.conj() if value.is_conj() else found


def send(value: Any) -> Any:
    return value.to("simxpu") if isinstance(value, torch.Tensor) else value


@contextmanager
def kernel(name: str, wrong: Callable[..., Any], key: str = "PrivateUse1") -> Iterator[None]:
    """Let an operator of the device compute something else, on aliases of its arguments."""

    def run(*args: Any, **kwargs: Any) -> Any:
        found = wrong(*tree_map(alias, args), **tree_map(alias, kwargs))
        if found is NOTHING:
            return None
        return args[0] if found is None else tree_map(send, found)

    with torch.library._scoped_library("aten", "IMPL") as library:
        library.impl(name, run, key)
        yield


@contextmanager
def raw_kernel(name: str, wrong: Any, key: str) -> Iterator[None]:
    with torch.library._scoped_library("aten", "IMPL") as library:
        library.impl(name, wrong, key)
        yield


def copy_without(*what: str) -> AbstractContextManager[None]:
    """Copy, and forget strides or the conjugate bit, as kernels do that copy bytes."""

    def copy(source: torch.Tensor, target: torch.Tensor, _: bool = False) -> torch.Tensor:
        ours, theirs = alias(source), alias(target)
        if "strides" in what and ours.storage_offset() + ours.numel() <= ours.untyped_storage().nbytes() // max(
            1, ours.itemsize
        ):
            ours = ours.as_strided(ours.size(), torch.empty(ours.size()).stride(), ours.storage_offset())
        if "conj" in what and ours.is_conj():
            ours = ours.conj()
        theirs.copy_(ours)
        return target

    return raw_kernel("_copy_from", copy, "PrivateUse1")


def fill_all_but_one(x: Any, value: Any) -> None:
    ours = x.flatten() if x.is_contiguous() else x
    ours[:-1] = value


def add_without_alpha(x: Any, y: Any, **_: Any) -> None:
    x.add_(y)


def scatter_of_nothing(x: Any, dim: int, index: Any, value: Any) -> Any:
    return x.scatter(dim, index, value) if index.numel() else torch.full_like(x, 77)


def sum_by_float(x: Any, dims: Any, keepdim: bool = False, dtype: Any = None) -> Any:
    right = x.sum(dims or None, keepdim, dtype=dtype)
    return right if x.is_floating_point() or x.is_complex() else right.double().float().to(right.dtype)


def sum_in_half(x: Any, dims: Any, keepdim: bool = False, dtype: Any = None) -> Any:
    right = x.sum(dims or None, keepdim, dtype=dtype)
    return right.clamp(max=2048) if x.dtype == torch.float16 and not dims else right


def lose_updates(x: Any, indices: Any, values: Any, accumulate: bool = False, *_: Any) -> None:
    """Let threads that meet at one element overwrite each other."""
    places = tuple(indices)
    x.copy_(x.index_put(places, x[places] + values if accumulate else values))


def sort_unstably(x: Any, *, stable: bool | None, dim: int = -1, descending: bool = False) -> Any:
    if not stable:
        return x.sort(dim=dim, descending=descending)
    values, places = x.flip(dim).sort(dim=dim, stable=True, descending=descending)
    return values, x.shape[dim] - 1 - places


def attend_to_all(q: Any, k: Any, v: Any, mask: Any = None, *_: Any, **how: Any) -> Any:
    """Leave out that no query may look at what comes after it."""
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, mask, **how)


def run_late(x: Any, y: Any) -> Any:
    """Answer at once, and compute afterwards: what a queue does that nobody waits for."""
    sent = send(torch.zeros(x.shape[0], y.shape[1]))
    target, right = alias(sent), alias(x) @ alias(y)

    def finish(_: Any) -> None:
        time.sleep(0.3)
        target.copy_(right)

    threading.Thread(target=finish, args=(sent,)).start()  # whose memory lives as long
    return sent


class EarlyEvent(torch.Event):  # type: ignore[misc]
    """An event that is never done."""

    def query(self) -> bool:
        return False


class StoppedClock(torch.Event):  # type: ignore[misc]
    def elapsed_time(self, _: Any) -> float:
        return 0.0


def event(kind: type[torch.Event]) -> AbstractContextManager[Any]:
    return patch.object(DEVICE, "Event", lambda **how: kind(device="simxpu", **how), create=True)


def without(name: str) -> AbstractContextManager[Any]:
    @contextmanager
    def removed() -> Iterator[None]:
        kept = getattr(DEVICE, name)
        delattr(DEVICE, name)
        try:
            yield
        finally:
            setattr(DEVICE, name, kept)

    return removed()


GELU = torch.nn.functional.gelu
BREAKAGES: tuple[tuple[str, str, Callable[[], AbstractContextManager[Any]]], ...] = (
    ("tensors.factories", "full", lambda: kernel("fill_.Scalar", fill_all_but_one)),
    ("tensors.copies", "transposed", lambda: copy_without("strides")),
    ("tensors.in_place", "add_", lambda: kernel("add_.Tensor", add_without_alpha)),
    ("tensors.views", "unfold", lambda: kernel("unfold", lambda *a: ATEN.unfold(*a).clone())),
    ("tensors.edges", "scatter of nothing", lambda: kernel("scatter.value", scatter_of_nothing)),
    ("tensors.integers", "sum", lambda: kernel("sum.dim_IntList", sum_by_float)),
    ("tensors.complex", "conjugate", lambda: copy_without("conj")),
    ("kernels.reductions", "20000 ones", lambda: kernel("sum.dim_IntList", sum_in_half)),
    ("kernels.elementwise", "gelu", lambda: kernel("gelu", lambda x, **_: GELU(x, approximate="tanh"))),
    ("kernels.elementwise", "relu", lambda: kernel("relu", lambda x: x.nan_to_num(0.0).relu())),
    ("kernels.sorting", "stable", lambda: kernel("sort.stable", sort_unstably)),
    ("kernels.float64", "matmul", lambda: kernel("mm", lambda x, y: (x.float() @ y.float()).double())),
    ("kernels.indexing", "nonzero", lambda: kernel("nonzero", lambda x: x.nonzero().flip(0))),
    ("kernels.scatter", "index_put", lambda: kernel("_index_put_impl_", lose_updates)),
    (
        "kernels.attention",
        "mask none",
        lambda: kernel("scaled_dot_product_attention", lambda q, *_, **__: torch.empty_like(q)),
    ),
    ("kernels.attention", "mask causal", lambda: kernel("scaled_dot_product_attention", attend_to_all)),
    ("kernels.quantised", "int8", lambda: kernel("_int_mm", lambda x, y: torch._int_mm(x, y).clamp(-32768, 32767))),
    ("random.seed", "the same seed", lambda: patch.object(DEVICE, "manual_seed_all", lambda _: None)),
    ("random.seed", "drawn again", lambda: kernel("uniform_", lambda x, *_, **__: x.fill_(0.5))),
    ("random.state", "restored", lambda: patch.object(DEVICE, "set_rng_state", lambda *_: None)),
    (
        "random.distributions",
        "randn",
        lambda: kernel("normal_", lambda x, mean=0.0, std=1.0, **_: x.normal_(mean, std * 1.02)),
    ),
    ("memory.counters", "allocated", lambda: patch.object(DEVICE, "memory_allocated", lambda: 0)),
    ("memory.counters", "after it was reset", lambda: patch.object(DEVICE, "reset_peak_memory_stats", lambda: None)),
    ("memory.info", "free of", lambda: patch.object(DEVICE, "mem_get_info", lambda: (17 << 30, 16 << 30))),
    ("memory.pinned", "what was pinned", lambda: patch.object(torch.Tensor, "is_pinned", lambda _: False)),
    ("streams.order", "an event is waited for", lambda: raw_kernel("mm", run_late, "PrivateUse1")),
    ("streams.order", "the device is waited for", lambda: event(EarlyEvent)),
    ("streams.time", "between two events", lambda: event(StoppedClock)),
    (
        "storage.save",
        "device of what is loaded",
        lambda: patch.object(torch.serialization, "default_restore_location", lambda storage, _: storage),
    ),
    ("storage.checkpoint", "stream", lambda: without("stream")),
    (
        "storage.loader",
        "batches are pinned",
        lambda: patch.object(torch.utils.data._utils.pin_memory, "pin_memory", lambda data, _: data),
    ),
    ("training.optimisers", "Adam fused", lambda: kernel("_fused_adam_", lambda *_, **__: NOTHING)),
    ("training.optimisers", "foreach", lambda: kernel("_foreach_addcdiv_.ScalarList", lambda *_: NOTHING)),
    ("training.checkpointing", "dropout", lambda: without("_initialized")),
    ("amp.lists", "bmm", lambda: raw_kernel("bmm", torch.library.fallthrough_kernel, "AutocastPrivateUse1")),
    ("amp.lists", "exp of", lambda: raw_kernel("exp", torch.library.fallthrough_kernel, "AutocastPrivateUse1")),
)


def say(name: str, case: str, outcome: Any) -> None:
    sys.stdout.write(json.dumps([name, case, outcome.level, outcome.seen]) + "\n")


def main(helpers: str) -> None:
    sys.path.insert(0, helpers)
    from device_checks import perform  # type: ignore[import-not-found]  # noqa: PLC0415, found by the line above
    from helperlib.verify.bench import DeviceBench  # type: ignore[import-not-found]  # noqa: PLC0415
    from helperlib.verify.verdicts import SUITE  # type: ignore[import-not-found]  # noqa: PLC0415

    checks = {check.id: check for check in SUITE}
    for name, case, broken in BREAKAGES:
        with broken():
            outcome = perform(checks[name], DeviceBench("simxpu"))
        say(name, case, outcome)
    for name, check in checks.items():
        outcome = perform(check, DeviceBench("simxpu"))
        say(name, "", outcome)


if __name__ == "__main__":
    main(sys.argv[1])
