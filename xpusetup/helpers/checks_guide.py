"""What is left of PyTorch's Intel GPU guide: its own model and data, and how fast the device is at it.

Both are for level full: the one fetches 270 MB where torchvision is installed, the other takes its time.
"""

from __future__ import annotations

import copy
import importlib
import signal
import statistics
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from checks_model_training import make_optimizer
from checks_models import NOTE, SIZE, make_case
from device_bench import Absent, Bench, Check, Outcome, describe_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FETCHING = 180
"""Seconds for 98 MB of weights and 171 MB of pictures, which stay in torch.hub's folder."""
PICTURES, BATCH, CLASSES = 128, 32, 10
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of ImageNet's channels, on which the weights were trained."""
APART = 0.025
"""How far accuracies may be apart: that is three of 128 pictures, more than rounding changes."""
AT_LEAST, REPEATS = 1.0, 5
"""Seconds and repetitions that a measurement of speed has at least."""
FEW, MANY, FAST = 4, 32, 200.0
"""Images of a batch; how many a second make a device one for the larger batch."""


class Guide(NamedTuple):
    """The guide's model in eval mode; pictures and labels to learn from, then those to be asked about."""

    model: Any
    known: tuple[Any, Any]
    asked: tuple[Any, Any]


@contextmanager
def limit_time(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in whatever takes longer, were it a server that sends a byte a second."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"not within {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def import_vision() -> Any:
    try:
        return importlib.import_module("torchvision")
    except ImportError as error:
        raise Absent("torchvision is not installed: the guide's own model and data are left out") from error
    except RuntimeError as error:  # one that was built against another torch
        raise Absent(f"torchvision cannot be imported: {describe_error(error)}") from error


def take_pictures(torch: Any, data: Any) -> tuple[Any, Any]:
    """Give the first pictures of a data set as the model wants them, and their labels."""
    pictures = torch.from_numpy(data.data[:PICTURES]).permute(0, 3, 1, 2) / 255
    mean, deviation = (torch.tensor(one).view(3, 1, 1) for one in (MEAN, DEVIATION))
    return (pictures - mean) / deviation, torch.tensor(data.targets[:PICTURES])


def fetch_guide(bench: Bench) -> Guide:
    """Get the guide's weights and data, from torch.hub's folder where they are there already."""
    vision, torch = import_vision(), bench.torch
    folder = Path(torch.hub.get_dir(), "cifar10")
    try:
        with limit_time(FETCHING):
            model = vision.models.resnet50(weights="DEFAULT", progress=False).eval()
            known, asked = (vision.datasets.CIFAR10(str(folder), train=train, download=True) for train in (True, False))
    except (OSError, RuntimeError) as error:  # no network, not in time, other bytes than were published
        raise Absent(f"the guide's weights and data cannot be had: {describe_error(error)}") from error
    return Guide(model, take_pictures(torch, known), take_pictures(torch, asked))


def look_at(torch: Any, model: Any, pictures: Any, device: str) -> Any:
    """Give what the model says of each picture, at the guide's size."""
    grow = partial(torch.nn.functional.interpolate, size=(SIZE, SIZE), mode="bilinear")
    with torch.no_grad():
        return torch.cat([model(grow(part.to(device))) for part in pictures.split(BATCH)])


def learn(torch: Any, features: Any, labels: Any) -> Any:
    """Train a linear classifier on the features, on the device where they are."""
    torch.default_generator.manual_seed(52)
    layer = torch.nn.Linear(features.shape[1], CLASSES).to(features.device)
    optimizer = torch.optim.Adam(layer.parameters(), lr=1e-3)
    for _ in range(100):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(layer(features), labels).backward()
        optimizer.step()
    return layer


def find_accuracy(torch: Any, guide: Guide, device: str) -> float:
    """Give the share of pictures that the model knows once its last layer has learnt CIFAR-10's classes."""
    model = copy.deepcopy(guide.model)
    model.fc = torch.nn.Identity()
    model = model.to(device)
    features, asked = (look_at(torch, model, pictures, device) for pictures, _ in (guide.known, guide.asked))
    layer = learn(torch, features, guide.known[1].to(device))
    right = layer(asked).argmax(-1).cpu() == guide.asked[1]
    return float(right.double().mean())


def check_guide(bench: Bench) -> Outcome:
    guide, torch = fetch_guide(bench), bench.torch
    ours, cpu = (find_accuracy(torch, guide, device) for device in (bench.device, "cpu"))
    seen = f"accuracy {ours:.1%}, on the CPU {cpu:.1%} ({PICTURES} pictures of CIFAR-10, published weights)"
    return Outcome("ok" if abs(ours - cpu) <= APART else "fail", seen, f"{APART:.1%} apart")


def find_rate(bench: Bench, run: Callable[[], Any], images: int) -> float:
    """Give images a second: the median of some runs, after one that does not count."""
    seconds: list[float] = []
    run()
    bench.synchronize()
    while len(seconds) < REPEATS or sum(seconds) < AT_LEAST:
        began = time.perf_counter()
        run()
        bench.synchronize()
        seconds.append(time.perf_counter() - began)
    return images / statistics.median(seconds)


def make_work(bench: Bench, images: int, dtype: str) -> dict[str, Callable[[], Any]]:
    """Give what is measured: ResNet-50 at the guide's size, for inference and for training, under autocast or not."""
    torch = bench.torch
    model, labels = copy.deepcopy(make_case(torch).model).to(bench.device), torch.arange(images).to(bench.device)
    batch, optimizer = torch.rand(images, 3, SIZE, SIZE).to(bench.device), make_optimizer(torch, model)

    def forward() -> Any:
        with torch.autocast(bench.name, dtype=torch.bfloat16, enabled=dtype == "bfloat16"):
            return torch.nn.functional.cross_entropy(model(batch), labels)

    def infer() -> None:
        model.eval()
        with torch.no_grad():
            forward()

    def train() -> None:
        model.train()
        optimizer.zero_grad()
        forward().backward()
        optimizer.step()

    return {f"inference {dtype}": infer, f"training {dtype}": train}


def measure_throughput(bench: Bench) -> tuple[int, dict[str, float]]:
    """Give the images of a batch, and images a second by what is done with them."""
    slow = find_rate(bench, make_work(bench, FEW, "float32")["inference float32"], FEW) < FAST
    images = FEW if slow else MANY
    work = {**make_work(bench, images, "float32"), **make_work(bench, images, "bfloat16")}
    return images, {name: round(find_rate(bench, run, images), 2) for name, run in work.items()}


def check_throughput(bench: Bench) -> Outcome:
    images, rates = measure_throughput(bench)
    shown = ", ".join(f"{name} {rate:.3g}" for name, rate in rates.items())
    return Outcome("info", f"images/s: {shown} (batch {images}, {SIZE}x{SIZE}, {NOTE})", facts={"images_per_s": rates})


CHECKS = (
    Check("models.guide", "the guide's model and data", check_guide, "full"),
    Check("models.throughput", "ResNet-50 images a second", check_throughput, "full"),
)
