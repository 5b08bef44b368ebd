"""The bridge on a machine without a card: it says what mode it was imported in, and that there is no device."""

import os
import types
from pathlib import Path

import torch

SEEN = ("PT_HPU_LAZY_MODE", "GC_KERNEL_PATH")

if "HABANA_SEEN" in os.environ:
    with Path(os.environ["HABANA_SEEN"]).open("a") as stream:
        stream.write(" ".join(str(os.environ.get(name)) for name in SEEN) + "\n")
torch.hpu = types.SimpleNamespace(is_available=lambda: False, device_count=lambda: 0)  # type: ignore[attr-defined]
