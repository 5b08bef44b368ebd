"""What programs ask of a device's module, and the device's own class of data loaders."""

import contextlib
import importlib
import io
import tempfile
import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from helperlib.output import render_size
from helperlib.verify.bench import (
    LACKING,
    Absent,
    BenchCheck,
    BenchOutcome,
    DeviceBench,
    compare,
    describe_error,
    judge,
)

# Functions that a release of PyTorch lacked for Intel GPUs: since which one they are there, and what they do here.
#
# A row is added by a line in ROWS. A function that does nothing useful counts as little as one that is missing.


ACCELERATOR = "accelerator."
BLOCK = 1 << 20


class ApiRow(NamedTuple):
    """An API of the device's module or of torch.accelerator, the release that brought it, and where that is said.

    `ask` is given the function and says what it found; it raises ValueError where that is wrong.
    """

    name: str
    since: str
    source: str
    ask: Callable[[DeviceBench, Any], str]


def ask_counter(bench: DeviceBench, counter: Any) -> str:
    before = counter()
    block = bench.torch.ones(BLOCK, dtype=bench.torch.uint8, device=bench.device)
    counted = counter()
    del block
    if not isinstance(counted, int) or counted < max(BLOCK, before):
        raise ValueError(f"{counted} bytes with a tensor of {BLOCK}, {before} before")
    return f"{render_size(counted)} with a tensor of {render_size(BLOCK)}"


def ask_statistics(bench: DeviceBench, statistics: Any) -> str:
    block = bench.torch.ones(BLOCK, dtype=bench.torch.uint8, device=bench.device)
    found = statistics()
    del block
    if not any(isinstance(value, int) and value >= BLOCK for value in found.values()):
        raise ValueError(f"none of {len(found)} numbers counts a tensor of {render_size(BLOCK)}")
    return f"{len(found)} numbers"


def ask_reset(bench: DeviceBench, reset: Any) -> str:
    block = bench.torch.ones(BLOCK, dtype=bench.torch.uint8, device=bench.device)
    high = bench.find_peak()
    del block
    reset()
    low = bench.find_peak() or 0
    if high is None or low > high - BLOCK:
        raise ValueError(f"the peak was {high} bytes before and is {low} after")
    return f"the peak fell from {render_size(high)} to {render_size(low)}"


def ask_memory(_: DeviceBench, tell: Any) -> str:
    free, total = tell()
    if not 0 < free <= total:
        raise ValueError(f"{free} of {total} bytes are free")
    return f"{render_size(free)} of {render_size(total)} free"


def ask_checkpoint(bench: DeviceBench, checkpoint: Any) -> str:
    """Compare gradients with and without, through dropout: the random numbers have to be the same the second time."""
    torch = bench.torch
    layers = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Dropout(0.5), torch.nn.Linear(32, 4))
    layers, batch = layers.to(bench.device), torch.randn(8, 16)

    def find_gradient(run: Callable[[Any], Any]) -> Any:
        torch.manual_seed(7)
        sent = batch.to(bench.device).requires_grad_()
        run(sent).square().sum().backward()
        return sent.grad

    plain = find_gradient(layers)
    kinds = {f"use_reentrant={kind}": partial(checkpoint, layers, use_reentrant=kind) for kind in (True, False)}
    found = judge([compare(name, find_gradient(run), plain, 1e-6) for name, run in kinds.items()])
    if found.level != "ok":
        raise ValueError(f"gradients with and without: {found.seen}")
    return "gradients as without, dropout included"


def ask_name(bench: DeviceBench, current: Any) -> str:
    got = str(current())
    if not got.startswith(bench.name):
        raise ValueError(f"{got} instead of {bench.name}")
    return got


def ask_count(bench: DeviceBench, count: Any) -> str:
    if count() != bench.module.device_count():
        raise ValueError(f"{count()}, torch.{bench.name} counts {bench.module.device_count()}")
    return str(count())


def ask_true(_: DeviceBench, function: Any) -> str:
    if function() is not True:
        raise ValueError(str(function()))
    return "True"


def ask_context(bench: DeviceBench, context: Any) -> str:
    with context(0):
        placed = str(bench.torch.ones(1, device=bench.name).device)
    if placed != f"{bench.name}:0":
        raise ValueError(f"a tensor is made on {placed}")
    return placed


def ask_anything(_: DeviceBench, function: Any) -> str:
    got = function()
    return "works" if got is None else textwrap.shorten(str(got), 60, placeholder=" ...")


def ask_first(_: DeviceBench, function: Any) -> str:
    function(0)
    return "works"


MEMORY, DISPATCH = "pytorch/pytorch#127929", "pytorch/pytorch#130599"
DOCS = "docs.pytorch.org, torch.accelerator of each release"
ROWS = (
    ApiRow("memory_allocated", "2.5", MEMORY, ask_counter),
    ApiRow("max_memory_allocated", "2.5", MEMORY, ask_counter),
    ApiRow("memory_reserved", "2.5", MEMORY, ask_counter),
    ApiRow("max_memory_reserved", "2.5", MEMORY, ask_counter),
    ApiRow("memory_stats", "2.5", MEMORY, ask_statistics),
    ApiRow("reset_peak_memory_stats", "2.5", MEMORY, ask_reset),
    ApiRow("gradient_checkpointing", "2.5", "pytorch/pytorch#128478", ask_checkpoint),
    ApiRow("mem_get_info", "2.6", DISPATCH, ask_memory),
    ApiRow("accelerator.current_accelerator", "2.6", DOCS, ask_name),
    ApiRow("accelerator.is_available", "2.6", DOCS, ask_true),
    ApiRow("accelerator.device_count", "2.6", DOCS, ask_count),
    ApiRow("accelerator.current_device_index", "2.6", DOCS, ask_anything),
    ApiRow("accelerator.set_device_index", "2.6", DOCS, ask_first),
    ApiRow("accelerator.current_stream", "2.6", DOCS, ask_anything),
    ApiRow("accelerator.synchronize", "2.6", DOCS, ask_anything),
    ApiRow("accelerator.device_index", "2.8", DOCS, ask_context),
    ApiRow("accelerator.memory_allocated", "2.9", "pytorch/pytorch#152932", ask_counter),
    ApiRow("accelerator.memory_stats", "2.9", "pytorch/pytorch#152932", ask_statistics),
    ApiRow("accelerator.reset_peak_memory_stats", "2.9", "pytorch/pytorch#152932", ask_reset),
    ApiRow("accelerator.empty_cache", "2.9", "pytorch/pytorch#152932", ask_anything),
    ApiRow("accelerator.get_memory_info", "2.10", "pytorch/pytorch#156812", ask_memory),
    # The release is not known; 2.13 has it.
    ApiRow("accelerator.get_device_capability", "2.13", "pytorch/pytorch#165631", ask_anything),
)


def find_function(bench: DeviceBench, row: ApiRow) -> Any:
    """Give the function of a row. Raises Absent where there is none."""
    torch = bench.torch
    if row.name == "gradient_checkpointing":
        from torch.utils.checkpoint import checkpoint  # noqa: PLC0415 - torch is what is being checked

        return checkpoint
    if bench.name == "cpu":
        raise Absent("only accelerators have it")
    owner: Any = bench.module
    if row.name.startswith(ACCELERATOR):
        owner = getattr(torch, "accelerator", None)
        current = owner.current_accelerator() if owner else None
        if owner and (current is None or current.type != bench.name):
            raise Absent(f"torch.accelerator means {current}, not {bench.name}")
    function = getattr(owner, row.name.removeprefix(ACCELERATOR), None)
    if function is None:
        raise Absent(f"it is not there; Intel GPUs have it since torch {row.since}", row.since)
    return function


def check_row(row: ApiRow, bench: DeviceBench) -> BenchOutcome:
    function = find_function(bench, row)
    try:
        seen = row.ask(bench, function)
    except ValueError as error:
        return BenchOutcome("fail", f"{error} ({row.source})", f"since torch {row.since}")
    except RuntimeError as error:
        if LACKING not in str(error):
            raise
        raise Absent(f"{describe_error(error)}; Intel GPUs have it since torch {row.since}", row.since) from error
    return BenchOutcome("ok", f"{seen}; since torch {row.since}")


CHECKS = tuple(BenchCheck(f"api.{row.name}", row.name, partial(check_row, row), "smoke") for row in ROWS)


# Whether data reaches a model through the device's own data loader, and honestly whether that did the work.
#
# Makers' loaders take over for the data sets that their hardware decodes, and leave everything else to torch's own.
# Which of the two it was is told; what comes out has to be the same pictures in the same order.


PICTURES, BATCH, SIZE = 8, 4, 64
SAID = 160
"""Characters that are kept of what a loader says about itself."""


def make_pictures(torch: Any, folder: Path) -> tuple[Any, str]:
    """Give a data set: folders of pictures, which such loaders take, or tensors where torchvision is not there."""
    try:
        image = importlib.import_module("PIL.Image")
        datasets = importlib.import_module("torchvision.datasets")
        transforms = importlib.import_module("torchvision.transforms")
    except (ImportError, RuntimeError):
        labels = torch.arange(PICTURES) // BATCH
        return torch.utils.data.TensorDataset(torch.rand(PICTURES, 3, SIZE, SIZE), labels), "tensors"
    for number in range(PICTURES):
        place = folder / f"class{number // BATCH}"
        place.mkdir(exist_ok=True)
        shade = 20 + 25 * number
        image.new("RGB", (SIZE, SIZE), (shade, shade, shade)).save(place / f"{number}.jpeg")
    steps = transforms.Compose([transforms.Resize((SIZE, SIZE)), transforms.ToTensor()])
    return datasets.ImageFolder(str(folder), transform=steps), "JPEG files"


USES = {
    None: ("info", "whether it was the device's own is not told"),
    True: ("info", "torch's own did the work"),
    False: ("ok", "the device's own did the work"),
}
"""By what the loader tells: which one did the work, as level and text."""


def find_trouble(torch: Any, ours: list[Any], right: list[Any]) -> str:
    """Say what is wrong with the batches, or nothing. Decoders of pictures differ in the last digits, not in more."""
    if len(ours) != len(right):
        return f"{len(ours)} batches instead of {len(right)}"
    for number, (one, other) in enumerate(zip(ours, right, strict=True)):
        if not torch.equal(one[1].cpu().long(), other[1]):
            return f"other labels in batch {number}"
        apart = (one[0].cpu().float() - other[0]).abs().max().item() if one[0].shape == other[0].shape else None
        if apart is None or not apart <= 0.02:
            return f"other pictures in batch {number}: {tuple(one[0].shape)}, by {apart}"
    return ""


def check_loader(bench: DeviceBench) -> BenchOutcome:
    if not bench.loader:
        raise Absent("this device has no data loader of its own")
    torch, (module, _, name) = bench.torch, bench.loader.partition(":")
    try:
        made_by = getattr(importlib.import_module(module), name)
    except ImportError as error:
        why = f"{module} cannot be imported ({describe_error(error)}): torch's own loader is what is used"
        raise Absent(why) from error
    with tempfile.TemporaryDirectory() as folder, io.StringIO() as heard:
        dataset, what = make_pictures(torch, Path(folder))
        right = list(torch.utils.data.DataLoader(dataset, batch_size=BATCH, num_workers=0, drop_last=True))
        with contextlib.redirect_stdout(heard):
            loader = made_by(dataset, batch_size=BATCH, num_workers=0, drop_last=True)
        said = " ".join(heard.getvalue().split())[:SAID]
        trouble = find_trouble(torch, list(loader), right)
    fell_back = getattr(loader, "fallback_activated", None)
    level, use = USES[None if fell_back is None else bool(fell_back)]
    use += f": {said}" if said else ""
    limit = "the batches of torch's own loader"
    if trouble:
        return BenchOutcome("fail", f"{trouble}; {use}", limit)
    return BenchOutcome(level, f"{len(right)} batches of {what}; {use}", limit)


LOADER = (BenchCheck("data.loader", "the device's data loader", check_loader, "smoke"),)
