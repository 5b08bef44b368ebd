"""Modules of torch.nn on a device against the CPU, on the inputs that PyTorch describes them by."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from test_operators import host_arguments, move
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_modules import module_db, modules
from torch.testing._internal.common_utils import TestCase

LISTED = """
BatchNorm2d Bilinear Conv1d Conv2d ConvTranspose2d CrossEntropyLoss Embedding GELU GRU GroupNorm LSTM LayerNorm Linear
MSELoss MaxPool2d MultiheadAttention NLLLoss ReLU SiLU Softmax TransformerEncoderLayer
"""
NAMES = frozenset(LISTED.split())
CHOSEN = [one for one in module_db if one.module_cls.__name__ in NAMES]
LOOSE = 1e-4


class TestModules(TestCase):
    @modules(CHOSEN, allowed_dtypes=(torch.float32,))
    def test_as_on_the_cpu(self, device: str, dtype: torch.dtype, module_info: Any, training: bool) -> None:
        """A module gives what a copy of it gives on the CPU, for every input."""
        for given in module_info.module_inputs_func(
            module_info, device=device, dtype=dtype, requires_grad=False, training=training
        ):
            if given.forward_input is None:
                continue
            made = given.constructor_input
            module = module_info.module_cls(*made.args, **made.kwargs).to(device, dtype)
            module.eval()  # dropout draws other numbers on each device
            host = deepcopy(module).cpu()
            args, kwargs = given.forward_input.args, given.forward_input.kwargs
            there = host(*(move(one) for one in args), **host_arguments(kwargs))
            self.assertEqual(move(module(*args, **kwargs)), move(there), rtol=LOOSE, atol=LOOSE)


instantiate_device_type_tests(TestModules, globals(), allow_xpu=True)
