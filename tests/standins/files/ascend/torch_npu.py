"""torch_npu without a card: it needs what CANN's set_env.sh sets, and finds no device."""

import os
import types

import torch


def _autoload() -> None:
    """Entry point of the group torch.backends."""


if "ASCEND_HOME_PATH" not in os.environ:
    raise ImportError("libhccl.so: cannot open shared object file: No such file or directory")
torch.npu = types.SimpleNamespace(is_available=lambda: False, device_count=lambda: 0)  # type: ignore[attr-defined]
