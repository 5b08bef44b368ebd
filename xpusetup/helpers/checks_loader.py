"""Whether data reaches a model through the device's own data loader, and honestly whether that did the work.

Makers' loaders take over for the data sets that their hardware decodes, and leave everything else to torch's own. Which
of the two it was is told; what comes out has to be the same pictures in the same order.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import tempfile
from pathlib import Path
from typing import Any

from device_bench import Absent, Bench, Check, Outcome, describe_error

PICTURES, BATCH, SIZE = 8, 4, 64
SAID = 160
"""Characters that are kept of what a loader says about itself."""


def load_class(name: str) -> Any:
    """Import module:Class. Raises Absent where it is not installed."""
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise Absent(
            f"{module} cannot be imported ({describe_error(error)}): torch's own loader is what is used"
        ) from (error)


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


def make_loader(made_by: Any, dataset: Any) -> tuple[Any, str]:
    """Make a loader, and give what it said meanwhile."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        loader = made_by(dataset, batch_size=BATCH, num_workers=0, drop_last=True)
    return loader, " ".join(said.getvalue().split())[:SAID]


def describe_use(loader: Any, said: str) -> tuple[str, str]:
    """Say which loader did the work, as level and text."""
    fell_back = getattr(loader, "fallback_activated", None)
    words = f": {said}" if said else ""
    if fell_back is None:
        return "info", f"whether it was the device's own is not told{words}"
    return (
        ("info", f"torch's own did the work{words}") if fell_back else ("ok", f"the device's own did the work{words}")
    )


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


def check_loader(bench: Bench) -> Outcome:
    if not bench.loader:
        raise Absent("this device has no data loader of its own")
    torch, made_by = bench.torch, load_class(bench.loader)
    with tempfile.TemporaryDirectory() as folder:
        dataset, what = make_pictures(torch, Path(folder))
        right = list(torch.utils.data.DataLoader(dataset, batch_size=BATCH, num_workers=0, drop_last=True))
        loader, said = make_loader(made_by, dataset)
        trouble = find_trouble(torch, list(loader), right)
    level, use = describe_use(loader, said)
    limit = "the batches of torch's own loader"
    if trouble:
        return Outcome("fail", f"{trouble}; {use}", limit)
    return Outcome(level, f"{len(right)} batches of {what}; {use}", limit)


CHECKS = (Check("data.loader", "the device's data loader", check_loader, "smoke"),)
