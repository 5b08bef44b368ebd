"""Optimisers on a device against the CPU, with the options that PyTorch describes them by."""

from __future__ import annotations

from typing import Any

import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_optimizers import optim_db, optims
from torch.testing._internal.common_utils import TestCase

NAMES = ("Adadelta", "Adagrad", "Adam", "AdamW", "NAdam", "RMSprop", "SGD")
CHOSEN = [one for one in optim_db if one.optim_cls.__name__ in NAMES]
STEPS, LOOSE = 5, 1e-4


def train(kind: Any, options: dict[str, Any], device: str) -> list[torch.Tensor]:
    """Take some steps of a small regression and give where they end."""
    draw = torch.Generator().manual_seed(20)
    weights = torch.randn(8, 4, generator=draw).to(device).requires_grad_()
    inputs, wanted = (torch.randn(16, size, generator=draw).to(device) for size in (8, 4))
    options = {name: value.to(device) if isinstance(value, torch.Tensor) else value for name, value in options.items()}
    optimiser = kind([weights], **options)
    for _ in range(STEPS):
        optimiser.zero_grad()
        torch.nn.functional.mse_loss(inputs @ weights, wanted).backward()
        optimiser.step()
    return [weights.detach().cpu()]


class TestOptimisers(TestCase):
    @optims(CHOSEN, dtypes=[torch.float32])
    def test_as_on_the_cpu(self, device: str, dtype: torch.dtype, optim_info: Any) -> None:  # noqa: ARG002 - its caller names them
        """Every combination of options ends where it ends on the CPU."""
        for given in optim_info.optim_inputs_func(device="cpu"):
            options = dict(given.kwargs)
            here, there = (train(optim_info.optim_cls, options, place) for place in (device, "cpu"))
            self.assertEqual(here, there, rtol=LOOSE, atol=LOOSE, msg=str(given))


instantiate_device_type_tests(TestOptimisers, globals(), allow_xpu=True)
