"""Operators on a device against the CPU, on the samples that PyTorch describes them by.

The machinery is PyTorch's own: PYTORCH_TESTING_DEVICE_ONLY_FOR chooses the device, as in its own tests.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests, ops
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_utils import TestCase

LISTED = """
abs add addmm all amax any arange argmax bmm cat ceil clamp clone copysign cos cumsum diff div dot einsum eq
erf exp flip floor full gather ge index_add index_put index_select isfinite isnan linspace log log_softmax
logsumexp lt masked_fill masked_select matmul max mean min mm mul ne neg nn.functional.batch_norm
nn.functional.conv2d nn.functional.cross_entropy nn.functional.embedding nn.functional.gelu
nn.functional.interpolate nn.functional.layer_norm nn.functional.linear nn.functional.max_pool2d
nn.functional.mse_loss nn.functional.nll_loss nn.functional.pad nn.functional.relu
nn.functional.scaled_dot_product_attention nn.functional.silu nn.functional.softmax nonzero norm permute pow
prod repeat roll round rsqrt scatter scatter_add sigmoid sign sin sort sqrt squeeze stack std sub sum take
tanh tile topk transpose tril triu unfold unique unsqueeze var view where zeros_like
"""
NAMES = frozenset(LISTED.split())
CHOSEN = [op for op in op_db if op.name in NAMES and not op.variant_test_name]
DTYPES = (torch.float32, torch.int64, torch.bool)
LOOSE = {torch.float32: (1e-4, 1e-4)}
"""Relative and absolute: sums of another order differ, and matrix units may round more than the CPU does."""
MOST = 48
"""Samples of one operator: pooling has thousands of them, which differ in little."""
RANDOM = ("nn.functional.scaled_dot_product_attention",)


def to_cpu(value: Any) -> Any:
    return value.detach().cpu() if isinstance(value, torch.Tensor) else value


def move(value: Any) -> Any:
    """Give a value with every tensor in it on the CPU."""
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        items = [move(one) for one in value]
        return type(value)(items) if type(value) in {list, tuple} else tuple(items)
    if isinstance(value, dict):
        return {name: move(one) for name, one in value.items()}
    return torch.device("cpu") if isinstance(value, torch.device) else to_cpu(value)


def host_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """Give keyword arguments for the CPU: a device may be named by a text, too."""
    return {name: "cpu" if name == "device" else move(value) for name, value in arguments.items()}


class TestOperators(TestCase):
    def compare(self, here: Any, there: Any, dtype: torch.dtype) -> None:
        rtol, atol = LOOSE.get(dtype, (0, 0))
        self.assertEqual(move(here), there, rtol=rtol, atol=atol)

    @ops(CHOSEN, allowed_dtypes=DTYPES)
    def test_as_on_the_cpu(self, device: str, dtype: torch.dtype, op: Any) -> None:
        """The samples give what it gives on the CPU."""
        for sample in islice(op.sample_inputs(device, dtype), MOST):
            if op.name in RANDOM and sample.kwargs.get("dropout_p"):
                continue
            args = (sample.input, *sample.args)
            there = op(*(move(one) for one in args), **host_arguments(sample.kwargs))
            self.compare(op(*args, **sample.kwargs), there, dtype)

    @ops([op for op in CHOSEN if op.supports_autograd], allowed_dtypes=(torch.float32,))
    def test_gradient_as_on_the_cpu(self, device: str, dtype: torch.dtype, op: Any) -> None:
        """So does the gradient of the first input."""
        for sample in islice(op.sample_inputs(device, dtype, requires_grad=True), MOST):
            random = op.name in RANDOM and sample.kwargs.get("dropout_p")
            if random or not isinstance(sample.input, torch.Tensor) or not sample.input.requires_grad:
                continue
            host = to_cpu(sample.input).requires_grad_()
            here = op(sample.input, *sample.args, **sample.kwargs)
            there = op(host, *move(sample.args), **host_arguments(sample.kwargs))
            if isinstance(here, torch.Tensor) and here.requires_grad:
                (mine,) = torch.autograd.grad(here.float().sum(), sample.input, allow_unused=True)
                (other,) = torch.autograd.grad(there.float().sum(), host, allow_unused=True)
                self.compare(mine, other, dtype)


instantiate_device_type_tests(TestOperators, globals(), allow_xpu=True)
