"""The device file that Transformers and diffusers read: which device, and how it is seeded, emptied and counted."""

from __future__ import annotations

NAME = "xpusetup_device.py"
"""One dot, no folder: the suites import it by this text up to `.py`."""
TEXT = """\
import torch

DEVICE_NAME = "{device}"

_module = getattr(torch, DEVICE_NAME)
MANUAL_SEED_FN = getattr(_module, "manual_seed", torch.manual_seed)
EMPTY_CACHE_FN = getattr(_module, "empty_cache", None)
DEVICE_COUNT_FN = getattr(_module, "device_count", lambda: 1)
"""


def make_spec(device: str) -> tuple[str, str]:
    """Give its name and text."""
    return NAME, TEXT.format(device=device)
