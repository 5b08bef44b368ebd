"""The training examples of PyTorch's Intel GPU guide."""

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

from helperlib.checks.models import NOTE, judge_dtypes, make_case, move_case, refuse_dtype, watch_dtypes
from helperlib.verify.bench import Absent, BenchCheck, BenchOutcome, DeviceBench, compare, run_measured

# Training, and whether a model learns: the same ResNet-50 as for inference, its loss step by step against float64.


RATE = 1e-3
"""The guide's. At a rate of 0.01 the loss of a random ResNet-50 rises."""
STEPS, MOST_TRIES = 3, 12
BATCH, SIDE = 4, 64
LOSS_LIMIT, LOSS_LIMIT_AMP = 1e-3, 2e-2
"""Relative, at each step. Steps amplify rounding: 1e-8, 1e-6 and 1e-4 were seen in float32, 3e-3 with AMP."""
GRADIENT_LIMIT = 2e-2
"""Relative norm: a ReLU whose input is all but 0 falls to either side, so float32 gives 2e-3 on CPUs."""
LEARNT, MOST_EPOCHS = 0.05, 100


class Trained(NamedTuple):
    """The loss before each step, whether that step was taken, and the first gradients of all weights in one row."""

    losses: list[float]
    taken: list[bool]
    gradient: Any = None


def make_batch(torch: Any) -> tuple[Any, Any]:
    torch.default_generator.manual_seed(51)
    return torch.rand(BATCH, 3, SIDE, SIDE), torch.arange(BATCH) * 7


def make_optimizer(torch: Any, model: Any) -> Any:
    return torch.optim.SGD(model.parameters(), lr=RATE, momentum=0.9)


def train(torch: Any, model: Any, batch: Any, labels: Any, taken: Sequence[bool]) -> Trained:
    """Train without autocast, leaving out the same steps that a gradient scaler left out elsewhere."""
    optimizer, losses, gradient = make_optimizer(torch, model), [], None
    for take in taken:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(batch), labels)
        loss.backward()
        losses.append(float(loss.detach().cpu()))
        if gradient is None:
            gradient = torch.cat([one.grad.detach().cpu().flatten() for one in model.parameters()])
        if take:
            optimizer.step()
    return Trained(losses, list(taken), gradient)


def train_scaled(bench: DeviceBench, model: Any, batch: Any, labels: Any, scaler: Any) -> Trained:
    """Train with float16 autocast until some steps were taken; a scale that overflows costs a step each."""
    torch, losses, taken = bench.torch, list[float](), list[bool]()
    optimizer = make_optimizer(torch, model)
    while sum(taken) < STEPS - 1 and len(taken) < MOST_TRIES:
        optimizer.zero_grad()
        with torch.autocast(bench.name, dtype=torch.float16):
            loss = torch.nn.functional.cross_entropy(model(batch), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        before = scaler.get_scale()
        scaler.update()
        losses.append(float(loss.detach().cpu()))
        taken.append(scaler.get_scale() >= before)
    return Trained(losses, taken)


def train_right(torch: Any, taken: Sequence[bool]) -> Trained:
    """Give what float64 on the CPU does with the same batch."""
    batch, labels = make_batch(torch)
    return train(torch, copy.deepcopy(make_case(torch).model).double().train(), batch.double(), labels, taken)


def find_distance(ours: Trained, right: Trained) -> float:
    """Give the largest relative difference of two losses of the same step; nan where one is not a number."""
    pairs = zip(ours.losses, right.losses, strict=True)
    found = [abs(one - other) / abs(other) for one, other in pairs]
    return next((one for one in found if one != one), max(found))  # noqa: PLR0124, what nan alone does


def show_losses(ours: Trained, right: Trained, distance: float) -> str:
    shown, meant = (", ".join(f"{loss:.4f}" for loss in one.losses) for one in (ours, right))
    return f"losses {shown}, relative difference {distance:.1e}" + ("" if shown == meant else f" (float64: {meant})")


def check_training(bench: DeviceBench) -> BenchOutcome:
    torch = bench.torch
    model, (batch, labels) = move_case(bench)[0].train(), make_batch(torch)
    sent = batch.to(bench.device), labels.to(bench.device)
    (ours,), cost = run_measured(bench, lambda: train(torch, model, *sent, [True] * STEPS))
    right = train_right(torch, ours.taken)
    distance = find_distance(ours, right)
    gradient = compare("first gradients", ours.gradient, right.gradient, GRADIENT_LIMIT)
    good = distance <= LOSS_LIMIT and gradient.relative <= gradient.limit  # False also for nan
    seen = f"{show_losses(ours, right, distance)}; first gradients {gradient.relative:.1e}; {cost}; {NOTE}"
    return BenchOutcome("ok" if good else "fail", seen, f"losses {LOSS_LIMIT:g}, gradients {GRADIENT_LIMIT:g}")


def find_scaler_trouble(bench: DeviceBench, scaler: Any) -> str:
    """Plant an infinite gradient; say what is wrong where its step is not left out, or nothing."""
    torch = bench.torch
    weight = torch.ones(4, device=bench.device, requires_grad=True)
    optimizer, before = torch.optim.SGD([weight], lr=1.0), scaler.get_scale()
    scaler.scale((weight * float("inf")).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    if weight.detach().cpu().tolist() != [1.0] * 4:
        return "the scaler took a step with an infinite gradient"
    return "" if scaler.get_scale() < before else f"the scale stays {before:g} after an infinite gradient"


def judge_scaled(bench: DeviceBench, ours: Trained, scaler: Any) -> tuple[bool, str]:
    """Say whether losses and scaler did what they should, and what was seen of them."""
    skipped, scale = ours.taken.count(False), scaler.get_scale()
    if not any(ours.taken):
        return False, f"all {skipped} steps were skipped, down to a scale of {scale:g}"
    right = train_right(bench.torch, ours.taken)
    distance, trouble = find_distance(ours, right), find_scaler_trouble(bench, scaler)
    told = f"{show_losses(ours, right, distance)}; scale {scale:g}, {skipped} of {len(ours.taken)} steps skipped"
    return distance <= LOSS_LIMIT_AMP and not trouble, f"{trouble}; {told}" if trouble else told


def check_training_amp(bench: DeviceBench) -> BenchOutcome:
    refuse_dtype(bench, "float16")
    torch = bench.torch
    maker = getattr(torch.amp, "GradScaler", None)
    if maker is None:
        raise Absent("torch.amp.GradScaler, since 2.3")
    scaler = maker(bench.name)  # as the guide does, with torch's own first scale
    model, (batch, labels) = move_case(bench)[0].train(), make_batch(torch)
    kinds = watch_dtypes(torch, model)
    sent = batch.to(bench.device), labels.to(bench.device)
    (ours,), cost = run_measured(bench, lambda: train_scaled(bench, model, *sent, scaler))
    good, seen = judge_scaled(bench, ours, scaler)
    limit = f"losses {LOSS_LIMIT_AMP:g}, a step with an infinite gradient skipped"
    return judge_dtypes(kinds, "float16") or BenchOutcome("ok" if good else "fail", f"{seen}; {cost}; {NOTE}", limit)


def check_learning(bench: DeviceBench) -> BenchOutcome:
    """Look whether a model far larger than its one batch comes to know it by heart."""
    torch, nn = bench.torch, bench.torch.nn
    first = (nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2))
    model = nn.Sequential(*first, nn.Flatten(), nn.Linear(16 * 64, 64), nn.ReLU(), nn.Linear(64, 10))
    batch, labels = torch.rand(32, 3, 16, 16), torch.randint(10, (32,))
    model, batch, labels = (one.to(bench.device) for one in (model, batch, labels))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses: list[float] = []
    while len(losses) < MOST_EPOCHS and not (losses and losses[-1] < LEARNT):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(batch), labels)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach().cpu()))
    known = int((model.eval()(batch).argmax(-1) == labels).sum().cpu())
    good = losses[-1] < LEARNT and known == len(labels)
    seen = f"loss {losses[0]:.2f} to {losses[-1]:.3f} in {len(losses)} steps, {known} of {len(labels)} labels known"
    return BenchOutcome("ok" if good else "fail", f"{seen}; {NOTE}", f"loss below {LEARNT:g}, all labels known")


CHECKS = (
    BenchCheck("models.train_fp32", "ResNet-50 training fp32", check_training, "smoke"),
    BenchCheck("models.train_amp_fp16", "ResNet-50 training AMP fp16", check_training_amp, "smoke"),
    BenchCheck("models.learns", "learns one batch", check_learning, "smoke"),
)
