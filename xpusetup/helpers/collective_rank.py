"""One rank of the check of collectives, which torchrun or Slurm starts: known results, and a training step.

Events are lines of JSON in a file of its own. An operation that takes too long leaves the stacks of its threads in
another, and ends this process a little later by the kernel's clock, whoever holds the interpreter.
"""

import copy
import faulthandler
import importlib
import json
import math
import os
import platform
import signal
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from helperlib.checks.collectives import choose_backend
from helperlib.verify.bench import DEEP_LIMIT, BenchOutcome, DeviceBench, compare, describe_error, judge

GRACE = 5
"""Seconds after its stacks that a rank lives on, so that the other ones, which began later, leave theirs as well."""
ELEMENTS = 1000
DTYPES = ("float32", "bfloat16")
SLURM = (
    ("RANK", "SLURM_PROCID"),
    ("WORLD_SIZE", "SLURM_NTASKS"),
    ("LOCAL_RANK", "SLURM_LOCALID"),
    ("LOCAL_WORLD_SIZE", "SLURM_NTASKS_PER_NODE"),
)
"""What torchrun tells each rank, and Slurm by other names. Without the last two torch's XCCL takes all ranks for ranks
of one node (ProcessGroupXCCL.cpp of torch-xpu-ops)."""


class Rank(NamedTuple):
    torch: Any
    device: str
    rank: int
    size: int

    def make(self, dtype: str, of: int) -> Any:
        """Make what a rank contributes: small whole numbers, which every dtype holds and adds exactly."""
        numbers = self.torch.arange(ELEMENTS) % 50 + 10 * of
        return numbers.to(getattr(self.torch, dtype)).to(self.device)


def all_reduce(rank: Rank, dtype: str) -> tuple[Any, Any]:
    got = rank.make(dtype, rank.rank)
    rank.torch.distributed.all_reduce(got)
    return got, sum(rank.make(dtype, of).cpu() for of in range(rank.size))


def all_gather(rank: Rank, dtype: str) -> tuple[Any, Any]:
    parts = [rank.torch.zeros_like(rank.make(dtype, 0)) for _ in range(rank.size)]
    rank.torch.distributed.all_gather(parts, rank.make(dtype, rank.rank))
    return rank.torch.stack(parts), rank.torch.stack([rank.make(dtype, of) for of in range(rank.size)])


def broadcast(rank: Rank, dtype: str) -> tuple[Any, Any]:
    got, source = rank.make(dtype, rank.rank), rank.size - 1
    rank.torch.distributed.broadcast(got, source)
    return got, rank.make(dtype, source)


def check_exact(operation: Callable[[Rank, str], tuple[Any, Any]], rank: Rank) -> BenchOutcome:
    """Say in which dtypes the result of an operation is not the known one, which it gives as well."""
    pairs = {dtype: operation(rank, dtype) for dtype in DTYPES}
    wrong = [dtype for dtype, (got, right) in pairs.items() if not rank.torch.equal(got.cpu(), right.cpu())]
    return BenchOutcome("fail" if wrong else "ok", f"wrong in {', '.join(wrong)}" if wrong else "exact")


def step(torch: Any, model: Any, batch: Any, target: Any) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.nn.functional.mse_loss(model(batch), target).backward()
    optimizer.step()


def check_data_parallel(rank: Rank) -> BenchOutcome:
    """Compare a step in which each rank sees its part of a batch with one step of one process that sees all of it."""
    torch, nn = rank.torch, rank.torch.nn
    torch.default_generator.manual_seed(7)  # the same model and data in each rank
    model = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 8))
    batch, target = torch.randn(8 * rank.size, 32), torch.randn(8 * rank.size, 8)
    ours, right = copy.deepcopy(model).to(rank.device), model.double()
    part = [one[rank.rank :: rank.size].to(rank.device) for one in (batch, target)]
    step(torch, nn.parallel.DistributedDataParallel(ours), *part)
    step(torch, right, batch.double(), target.double())
    pairs = zip(ours.named_parameters(), right.parameters(), strict=True)
    return judge([compare(name, one, other, DEEP_LIMIT) for (name, one), other in pairs])


OPERATIONS: dict[str, Callable[[Rank], BenchOutcome]] = {
    "all_reduce": partial(check_exact, all_reduce),
    "all_gather": partial(check_exact, all_gather),
    "broadcast": partial(check_exact, broadcast),
    "a step of DistributedDataParallel": check_data_parallel,
}


def join(order: dict[str, Any]) -> Rank:
    """Import torch, take this rank's device, and meet the other ranks."""
    torch = importlib.import_module("torch")
    if order["module"]:
        importlib.import_module(order["module"])
    device = order["device"]
    if device != "cpu":
        module = getattr(torch, device)
        count = module.device_count()
        if not count:
            raise RuntimeError(f"torch sees no {device} device here")
        index = int(os.environ["LOCAL_RANK"]) % count  # where there are fewer than ranks here, they share them
        module.set_device(index)
        device = f"{device}:{index}"
    backend = order["backend"] or choose_backend(DeviceBench(order["device"], collectives=order["collectives"]))
    torch.distributed.init_process_group(backend, timeout=timedelta(seconds=order["start"]))
    return Rank(torch, device, int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))


def watch(seconds: float, stacks: TextIO) -> None:
    """Bound what comes next: first the stacks, then the end."""
    faulthandler.dump_traceback_later(seconds, file=stacks)
    signal.alarm(math.ceil(seconds) + GRACE)


def run_all(order: dict[str, Any], say: Callable[..., None], stacks: TextIO) -> None:
    say(start="start", node=os.environ.get("SLURMD_NODENAME") or platform.node())
    watch(order["start"], stacks)
    rank = join(order)
    say(backend=rank.torch.distributed.get_backend())
    for name, run in OPERATIONS.items():
        say(start=name)
        watch(order["each"], stacks)
        outcome = run(rank)
        say(done=name, level=outcome.level, seen=outcome.seen)
    say(start="end")
    watch(order["each"], stacks)
    rank.torch.distributed.destroy_process_group()
    say(done="end", level="ok", seen="")


def main(text: str) -> int:
    order = json.loads(text)
    for name, slurm in SLURM:
        os.environ.setdefault(name, os.environ.get(slurm, "1"))
    rank = os.environ["RANK"]
    folder = Path(order["folder"])
    with (folder / f"events.{rank}").open("w") as events, (folder / f"stacks.{rank}").open("w") as stacks:

        def say(**event: Any) -> None:  # the clocks of nodes are one, or nearly
            print(json.dumps({**event, "time": time.time()}), file=events, flush=True)

        faulthandler.enable(stacks)
        try:
            run_all(order, say, stacks)
        except Exception as error:  # noqa: BLE001, whatever a back end throws is a finding
            say(error=describe_error(error))
            return 1
        finally:
            faulthandler.cancel_dump_traceback_later()
            faulthandler.disable()
            signal.alarm(0)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
