"""What training needs beside its operators: optimisers in all their forms, checkpointing, placement."""

from __future__ import annotations

import copy
import importlib
import importlib.util
from functools import partial
from typing import TYPE_CHECKING, Any

from device_bench import DEEP_LIMIT, Absent, Bench, Check, Outcome
from device_cases import Case, fact, run_cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


def check_optimizers(bench: Bench) -> Outcome:
    return run_cases(bench, optimizer_cases(bench))


def optimizer_cases(bench: Bench) -> Iterator[Case]:
    torch, nn = bench.torch, bench.torch.nn
    model, batch = nn.Sequential(nn.Linear(9, 17), nn.Tanh(), nn.Linear(17, 5)), torch.randn(32, 9)

    def ours(name: str, form: str) -> Any:
        options = {"foreach": form == "foreach", "fused": True} if form == "fused" else {"foreach": form == "foreach"}
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
            yield Case(f"{name} {form}", partial(ours, name, form), partial(right, name), DEEP_LIMIT)


def check_checkpointing(bench: Bench) -> Outcome:
    """Compute a part of the model again in the backward pass: other random numbers then give wrong gradients."""
    return run_cases(bench, checkpointing_cases(bench))


def checkpointing_cases(bench: Bench) -> Iterator[Case]:
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
            yield Case(
                f"{'reentrant' if reentrant else 'not reentrant'}, dropout{', autocast' if kind == 'autocast' else ''}",
                partial(gradients, partial(again, reentrant=reentrant), kind=kind),
                partial(gradients, model, kind=kind),
                DEEP_LIMIT,
            )


def check_placement(bench: Bench) -> Outcome:
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
    cases = [
        fact("where its parameters are", lambda: kinds, [bench.name]),
        Case("what it computes", lambda: placed(batch), lambda: right(batch.double()), DEEP_LIMIT),
    ]
    return run_cases(bench, cases)


CHECKS = (
    Check("training.optimisers", "optimisers, foreach and fused", check_optimizers, "smoke"),
    Check("training.checkpointing", "gradient checkpointing", check_checkpointing, "smoke"),
    Check("training.placement", "accelerate's device_map", check_placement, "smoke"),
)
