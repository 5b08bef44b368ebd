"""Tensors of a device on disk and from a DataLoader: what is saved comes back, wherever it is loaded to."""

from __future__ import annotations

import copy
import io
import logging
import pickle
import tempfile
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

from device_bench import Absent, Bench, Check, Outcome
from device_cases import Case, fact, run_cases

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = ("float32", "float16", "bfloat16", "int64", "uint8", "bool", "complex64")


def check_saving(bench: Bench) -> Outcome:
    return run_cases(bench, saving_cases(bench))


def save_and_load(torch: Any, value: Any, **how: Any) -> Any:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    buffer.seek(0)
    return torch.load(buffer, weights_only=True, **how)


def saving_cases(bench: Bench) -> Iterator[Case]:
    torch, device = bench.torch, bench.device
    for name in KINDS:
        yield from kind_cases(bench, name, (torch.arange(60) % 7).view(12, 5).to(getattr(torch, name)))
    x = torch.randn(6, 8)
    there = x.to(device)
    yield fact("device of what is loaded", lambda: str(save_and_load(torch, there).device), device)
    yield fact("device of what is mapped", lambda: str(save_and_load(torch, x, map_location=device).device), device)
    yield Case("every second column", lambda: save_and_load(torch, x.to(device)[:, ::2]), lambda: x[:, ::2])
    yield fact("two views of one memory", lambda: loaded_views_are_one(torch, x.to(device)), right=True)
    yield Case("a model and its optimiser", lambda: resume(bench, device), lambda: resume(bench, "cpu"), 1e-5)


def kind_cases(bench: Bench, name: str, x: Any) -> Iterator[Case]:
    torch, device = bench.torch, bench.device
    yield fact(f"{name} to where it was", lambda: save_and_load(torch, x.to(device)), x)
    yield fact(f"{name} to the CPU", lambda: save_and_load(torch, x.to(device), map_location="cpu"), x)
    yield fact(f"{name} from the CPU", lambda: save_and_load(torch, x, map_location=device), x)
    yield fact(f"{name} pickled", lambda: pickle.loads(pickle.dumps(x.to(device))), x)  # noqa: S301, ours
    yield fact(f"{name} copied deeply", lambda: copy.deepcopy(x.to(device)), x)


def loaded_views_are_one(torch: Any, x: Any) -> bool:
    first, second = save_and_load(torch, (x, x[1:3]))
    first.zero_()
    return not bool(second.cpu().any())


def resume(bench: Bench, device: str) -> Any:
    """Train two steps, save all, load it into another model, and train it one step more."""
    torch, nn = bench.torch, bench.torch.nn
    torch.default_generator.manual_seed(3)
    start, batch = nn.Linear(8, 4), torch.randn(16, 8).to(device)
    first = copy.deepcopy(start).to(device)
    optimizer = torch.optim.Adam(first.parameters(), lr=0.05)
    for _ in range(2):
        step(first, optimizer, batch)
    saved = save_and_load(torch, {"model": first.state_dict(), "optimizer": optimizer.state_dict()}, map_location="cpu")
    second = nn.Linear(8, 4).to(device)
    again = torch.optim.Adam(second.parameters(), lr=0.05)
    second.load_state_dict(saved["model"])
    again.load_state_dict(saved["optimizer"])
    step(second, again, batch)
    return second.weight.detach()


def step(model: Any, optimizer: Any, batch: Any) -> None:
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    optimizer.step()


def check_checkpoint(bench: Bench) -> Outcome:
    torch = bench.torch
    if not torch.distributed.is_available():
        raise Absent("torch.distributed: this torch was built without it")
    model = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.BatchNorm1d(5))
    right = {name: one.clone() for name, one in model.state_dict().items()}
    places = {"cpu": "on the CPU", bench.device: f"on {bench.device}"}
    with tempfile.TemporaryDirectory() as folder:
        loaded = {place: write_and_read(torch, model.to(bench.device), folder, place) for place in places}

    def cases() -> Iterator[Case]:
        for place, words in places.items():
            for name, expected in right.items():
                yield fact(f"{name} {words}", partial(loaded[place].get, name), expected)
            devices = {str(one.device) for one in loaded[place].values()}
            yield fact(f"devices {words}", partial(set, devices), {place})

    return run_cases(bench, cases())


def write_and_read(torch: Any, model: Any, folder: str, place: str) -> dict[str, Any]:
    """Save a model's state by torch.distributed.checkpoint and load it to a place. One process needs no group."""
    from torch.distributed import checkpoint  # noqa: PLC0415, half a second

    empty = {name: torch.zeros_like(one, device=place) for name, one in model.state_dict().items()}
    previous = logging.root.manager.disable
    logging.disable()  # it prints tracebacks of what it raises
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it is not distributed is the point
            checkpoint.save(model.state_dict(), checkpoint_id=folder)
            checkpoint.load(empty, checkpoint_id=folder)
    except checkpoint.CheckpointException as error:
        raise next(iter(error.failures.values()))[0] from None  # what happened, in its only process
    finally:
        logging.disable(previous)
    return empty


def check_loader(bench: Bench) -> Outcome:
    return run_cases(bench, loader_cases(bench))


def loader_cases(bench: Bench) -> Iterator[Case]:
    torch, data = bench.torch, bench.torch.utils.data
    images, labels = torch.randn(50, 3, 8, 8), torch.arange(50)
    dataset = data.TensorDataset(images, labels)

    def load(workers: int, *, pin: bool) -> Any:
        batches = list(data.DataLoader(dataset, batch_size=8, num_workers=workers, pin_memory=pin))
        sent = [[one.to(bench.device, non_blocking=pin) for one in batch] for batch in batches]
        bench.synchronize()
        return tuple(torch.cat([one[i] for one in sent]) for i in range(2))

    def pinned() -> bool:
        return all(one.is_pinned() for batch in data.DataLoader(dataset, 25, pin_memory=True) for one in batch)

    pinning = (False,) if bench.name == "cpu" else (False, True)
    for workers in (0, 2):
        for pin in pinning:
            name = f"{workers} workers{', pinned' if pin else ''}"
            yield fact(name, partial(load, workers, pin=pin), (images, labels))
    if True in pinning:
        yield fact("its batches are pinned", pinned, right=True)


CHECKS = (
    Check("storage.save", "save and load", check_saving, "smoke"),
    Check("storage.checkpoint", "distributed checkpoint", check_checkpoint, "smoke"),
    Check("storage.loader", "DataLoader", check_loader, "smoke"),
)
