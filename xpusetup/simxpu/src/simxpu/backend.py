"""The module `torch.simxpu`: what is expected of a device, mostly torch.accelerator's own functions."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.accelerator import (
    current_device_index,
    current_stream,
    device_index,
    empty_cache,
    get_memory_info,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_stats,
    reset_peak_memory_stats,
    set_device_index,
    set_stream,
    synchronize,
)

from simxpu import _C

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from torch.types import Device

__all__ = [
    "DeviceProperties",
    "current_device",
    "current_stream",
    "default_generators",
    "device",
    "device_count",
    "empty_cache",
    "get_amp_supported_dtype",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "is_available",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "set_device",
    "set_rng_state",
    "set_stream",
    "stream",
    "synchronize",
]

current_device = current_device_index
device_count = _C.device_count
mem_get_info = get_memory_info
set_device = set_device_index
default_generators = (_C.default_generator(),)


class device(device_index):  # noqa: N801, PyTorch's name
    """`with torch.simxpu.device(0)`, where PyTorch itself also gives names and torch.device objects."""

    def __init__(self, device: Device) -> None:
        super().__init__(device if device is None or isinstance(device, int) else torch.device(device).index)


@dataclass(frozen=True)
class DeviceProperties:
    name: str
    total_memory: int


def is_available() -> bool:
    return device_count() > 0


def stream(stream: torch.Stream | None) -> AbstractContextManager[object]:
    """`with torch.simxpu.stream(...)`, where a stream is its own context by now."""
    return nullcontext() if stream is None else stream


def is_initialized() -> bool:
    return True


def get_device_properties(device: Device = None) -> DeviceProperties:
    _, total = get_memory_info(device)
    return DeviceProperties(name="simxpu (simulated, host memory)", total_memory=total)


def get_device_name(device: Device = None) -> str:
    return get_device_properties(device).name


def get_amp_supported_dtype() -> list[torch.dtype]:
    return [torch.bfloat16, torch.float16]


def manual_seed(seed: int) -> None:
    default_generators[0].manual_seed(seed)


manual_seed_all = manual_seed  # there is one device


def get_rng_state(device: Device = None) -> torch.Tensor:  # noqa: ARG001, PyTorch passes the device
    return default_generators[0].get_state()


def set_rng_state(state: torch.Tensor, device: Device = None) -> None:  # noqa: ARG001, PyTorch passes the device
    default_generators[0].set_state(state)


_initialized = True
"""There is nothing to start; gradient checkpointing restores the random numbers only of a device that says so."""


def _is_in_bad_fork() -> bool:
    return False  # host memory survives a fork


torch.utils.rename_privateuse1_backend("simxpu")
torch._register_device_module("simxpu", sys.modules[__name__])  # noqa: SLF001, PyTorch's documented way
torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
if torch.distributed.is_available():
    from simxpu import collectives

    collectives.register()
