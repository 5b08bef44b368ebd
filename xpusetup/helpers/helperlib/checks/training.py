"""What training is made of: gradients, optimisers, checkpointing, autocast."""

import copy
import importlib
import importlib.util
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from helperlib.verify.bench import AMP_LIMIT, DEEP_LIMIT, Absent, BenchCheck, DeviceBench, DeviceCase, by_cases, fact

# What training needs beside its operators: optimisers in all their forms, checkpointing, placement.


OPTIMIZERS: dict[str, dict[str, Any]] = {
    "SGD": {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.01, "nesterov": True},
    "Adam": {"lr": 0.01, "amsgrad": True},
    "AdamW": {"lr": 0.01, "weight_decay": 0.1},
    "Adagrad": {"lr": 0.05},
    "RMSprop": {"lr": 0.01, "momentum": 0.5},
}
FUSED = ("SGD", "Adam", "AdamW")
"""The others have no fused form, or one for the CPU alone."""
STEPS = 4


def train(torch: Any, model: Any, batch: Any, name: str, **options: Any) -> tuple[Any, ...]:
    """Give the parameters after a few steps with clipped gradients."""
    optimizer = getattr(torch.optim, name)(model.parameters(), **OPTIMIZERS[name], **options)
    for _ in range(STEPS):
        optimizer.zero_grad()
        (model(batch) - batch[:, :5]).square().mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
    return tuple(one.detach() for one in model.parameters())


@by_cases
def check_optimizers(bench: DeviceBench) -> Iterator[DeviceCase]:
    torch, nn = bench.torch, bench.torch.nn
    model, batch = nn.Sequential(nn.Linear(9, 17), nn.Tanh(), nn.Linear(17, 5)), torch.randn(32, 9)

    def ours(name: str, form: str) -> Any:
        options = {"foreach": form == "foreach", **({"fused": True} if form == "fused" else {})}
        try:
            return train(torch, copy.deepcopy(model).to(bench.device), batch.to(bench.device), name, **options)
        except RuntimeError as error:
            if "supported devices" in str(error):  # how PyTorch says that it has no fused form for this device
                raise NotImplementedError(str(error)) from error
            raise

    def right(name: str) -> Any:
        return train(torch, copy.deepcopy(model).double(), batch.double(), name, foreach=False)

    for name in OPTIMIZERS:
        for form in ("plain", "foreach", *(("fused",) if name in FUSED else ())):
            yield DeviceCase(f"{name} {form}", partial(ours, name, form), partial(right, name), DEEP_LIMIT)


@by_cases
def check_checkpointing(bench: DeviceBench) -> Iterator[DeviceCase]:
    """Compute a part of the model again in the backward pass: other random numbers then give wrong gradients."""
    torch, nn = bench.torch, bench.torch.nn
    model = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Dropout(0.3), nn.Linear(64, 32)).to(bench.device)
    batch = torch.randn(24, 32).to(bench.device)

    def gradients(run: Callable[..., Any], *, kind: str = "none") -> Any:
        torch.manual_seed(5)
        model.zero_grad()
        leaf = batch.clone().requires_grad_()
        with torch.autocast(bench.name, dtype=torch.bfloat16, enabled=kind == "autocast"):
            result = run(leaf)
        torch.rand(100, device=bench.device)  # other numbers were drawn before the part is computed again
        result.float().square().sum().backward()
        return leaf.grad.cpu(), *(one.grad.cpu().clone() for one in model.parameters())

    def again(leaf: Any, *, reentrant: bool) -> Any:
        return torch.utils.checkpoint.checkpoint(model, leaf, use_reentrant=reentrant)

    for kind in ("none", "autocast"):
        for reentrant in (False, True):
            yield DeviceCase(
                f"{'reentrant' if reentrant else 'not reentrant'}, dropout{', autocast' if kind == 'autocast' else ''}",
                partial(gradients, partial(again, reentrant=reentrant), kind=kind),
                partial(gradients, model, kind=kind),
                DEEP_LIMIT,
            )


@by_cases
def check_placement(bench: DeviceBench) -> Iterator[DeviceCase]:
    """Place a model as `device_map="auto"` does, by the memory that accelerate finds."""
    if importlib.util.find_spec("accelerate") is None:
        raise Absent("accelerate is not installed here")
    accelerate: Any = importlib.import_module("accelerate")
    torch, nn = bench.torch, bench.torch.nn
    model, batch = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)), torch.randn(4, 64)
    right = copy.deepcopy(model).double()
    memory = {"cpu": 1 << 30} if bench.name == "cpu" else accelerate.utils.get_max_memory()
    if bench.name != "cpu" and set(memory) <= {"cpu", "disk"}:
        raise NotImplementedError(
            f"accelerate {accelerate.__version__} finds no memory of {bench.name}: all on the CPU"
        )
    device_map = accelerate.infer_auto_device_map(model, max_memory=memory)
    placed = accelerate.dispatch_model(model, device_map=device_map)
    kinds = sorted({one.device.type for one in placed.parameters()})
    yield fact("where its parameters are", lambda: kinds, [bench.name])
    # Accelerate moves inputs where it spread a model over several places, and leaves them where one was enough.
    sent = batch.to(next(placed.parameters()).device)
    yield DeviceCase("what it computes", lambda: placed(sent), lambda: right(batch.double()), DEEP_LIMIT)


# Which operators autocast lowers and which it keeps, where it begins and ends, and the numbers that come out.


LOWERED: dict[str, Callable[..., Any]] = {
    "linear": lambda torch, x: torch.nn.functional.linear(x, x),
    "matmul": lambda _, x: x @ x,
    "bmm": lambda torch, x: torch.bmm(x[None], x[None]),
    "addmm": lambda torch, x: torch.addmm(x, x, x),
    "baddbmm": lambda torch, x: torch.baddbmm(x[None], x[None], x[None]),
    "conv1d": lambda torch, x: torch.nn.functional.conv1d(x[None], x[:8, :, None]),
    "conv2d": lambda torch, x: torch.nn.functional.conv2d(x[None, None], x[None, None, :3, :3]),
}
KEPT: dict[str, Callable[..., Any]] = {
    "mse_loss": lambda torch, x: torch.nn.functional.mse_loss(x, x + 1),
    "cdist": lambda torch, x: torch.cdist(x, x * 0.5 + 1),
}
KEPT_BY_DEVICES: dict[str, Callable[..., Any]] = {
    "exp": lambda _, x: x.exp(),
    "log": lambda _, x: (x.abs() + 1).log(),
    "softmax": lambda _, x: x.softmax(1),
    "log_softmax": lambda _, x: x.log_softmax(1),
}
"""On the CPU these stay as they come."""


@by_cases
def check_lists(bench: DeviceBench) -> Iterator[DeviceCase]:
    yield from dtype_cases(bench)
    yield from scope_cases(bench)


def dtype_cases(bench: DeviceBench) -> Iterator[DeviceCase]:
    torch, x = bench.torch, bench.torch.randn(16, 16)
    kept = {**KEPT, **({} if bench.name == "cpu" else KEPT_BY_DEVICES)}

    def lowered(run: Callable[..., Any], kind: Any, low: Any) -> Any:
        with torch.autocast(bench.name, dtype=low):
            return run(torch, x.to(bench.device, kind))

    def dtype_of(run: Callable[..., Any], kind: Any, low: Any) -> Any:
        return lowered(run, kind, low).dtype

    for low in (torch.bfloat16, torch.float16):
        for name, run in LOWERED.items():
            yield fact(f"{name} to {low}", partial(dtype_of, run, torch.float32, low), low)
        for name, run in kept.items():
            yield fact(f"{name} of {low}", partial(dtype_of, run, low, low), torch.float32)
    for name, run in LOWERED.items():
        ours = partial(lowered, run, torch.float32, torch.bfloat16)
        yield DeviceCase(f"numbers of {name}", ours, partial(run, torch, x.double()), AMP_LIMIT)


def scope_cases(bench: DeviceBench) -> Iterator[DeviceCase]:
    """Give where autocast begins and ends, and that gradients keep the dtype of their parameters."""
    torch = bench.torch
    x = torch.randn(16, 16).to(bench.device)

    def kinds() -> list[Any]:
        with torch.autocast(bench.name, dtype=torch.bfloat16):
            inside = (x @ x).dtype
            with torch.autocast(bench.name, enabled=False):
                nested = (x @ x).dtype
            after = (x @ x).dtype
        return [inside, nested, after, (x @ x).dtype]

    def gradient() -> Any:
        layer = torch.nn.Linear(16, 4).to(bench.device)
        with torch.autocast(bench.name, dtype=torch.bfloat16):
            loss = layer(x).sum()
        loss.backward()
        return layer.weight.grad.dtype

    low, full = torch.bfloat16, torch.float32
    yield fact("in, off within, in again, out", kinds, [low, full, low, full])
    yield fact("dtype of gradients", gradient, full)


CHECKS = (
    BenchCheck("training.optimisers", "optimisers, foreach and fused", check_optimizers, "smoke"),
    BenchCheck("training.checkpointing", "gradient checkpointing", check_checkpointing, "smoke"),
    BenchCheck("training.placement", "accelerate's device_map", check_placement, "smoke"),
    BenchCheck("amp.lists", "what autocast lowers and keeps", check_lists, "smoke"),
)
