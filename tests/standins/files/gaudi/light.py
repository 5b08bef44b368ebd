"""The bridge on a machine without a card: it says what mode it was imported in, and that there is no device."""

import os
import sys
import types

import torch

with open(os.environ.get("HABANA_SEEN", os.devnull), "a") as stream:
    stream.write(f"{os.environ.get('PT_HPU_LAZY_MODE')} {os.environ.get('GC_KERNEL_PATH')}\n")
torch.hpu = types.SimpleNamespace(is_available=lambda: False, device_count=lambda: 0)
sys.modules["torch.hpu"] = torch.hpu
