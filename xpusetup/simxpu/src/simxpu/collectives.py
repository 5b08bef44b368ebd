"""Collectives of simxpu: by way of the host, where gloo does them. Gloo itself refuses the type of the device."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _create_work_from_future

from simxpu.faults import has_fault

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta

NAME = "simccl"


def finish(result: Any) -> Any:
    """Give the handle of work that is done; DistributedDataParallel takes its result from the future."""
    future: Any = torch.futures.Future()
    future.set_result(result)
    return _create_work_from_future(future)


def copy_back(tensors: Sequence[torch.Tensor], hosts: Sequence[torch.Tensor]) -> None:
    for tensor, host in zip(tensors, hosts, strict=True):
        tensor.copy_(host)


class HostGroup(dist.ProcessGroup):
    """A process group whose members hold their tensors on simxpu. Each call returns when its work is done."""

    def __init__(self, store: dist.Store, rank: int, size: int, timeout: timedelta) -> None:
        super().__init__(rank, size)
        self.gloo = dist.ProcessGroupGloo(store, rank, size, timeout)

    def getBackendName(self) -> str:  # noqa: N802, PyTorch's name
        return NAME

    def allreduce(self, tensors: list[torch.Tensor], options: Any = None) -> Any:
        if has_fault("collective-hang") and self.rank() == 1:
            threading.Event().wait()
        hosts = [tensor.cpu() for tensor in tensors]
        self.gloo.allreduce(hosts, options or dist.AllreduceOptions()).wait()
        copy_back(tensors, hosts)
        return finish(tensors)

    def broadcast(self, tensors: list[torch.Tensor], options: Any = None) -> Any:
        hosts = [tensor.cpu() for tensor in tensors]
        self.gloo.broadcast(hosts, options or dist.BroadcastOptions()).wait()
        copy_back(tensors, hosts)
        return finish(tensors)

    def allgather(self, outputs: list[list[torch.Tensor]], inputs: list[torch.Tensor], _options: Any = None) -> Any:
        hosts = [[torch.empty_like(one, device="cpu") for one in each] for each in outputs]
        self.gloo.allgather(hosts, [tensor.cpu() for tensor in inputs]).wait()
        for each, found in zip(outputs, hosts, strict=True):
            copy_back(each, found)
        return finish(outputs)

    def barrier(self, opts: Any = None) -> Any:  # noqa: ARG002, PyTorch names it in its call
        self.gloo.barrier().wait()
        return finish([])


def register() -> None:
    """Make it the back end of torch.distributed for tensors on simxpu."""
    dist.Backend.register_backend(NAME, HostGroup, devices=["simxpu"])
