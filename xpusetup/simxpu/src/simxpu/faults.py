"""How to misbehave on purpose, one fault a process, so that a verifier has something to find.

A new fault is one row here and one `has_fault("name")` where it acts.
"""

from __future__ import annotations

import os

FAULTS = {
    "amp-noop": "autocast has no effect: results stay float32 (csrc/autocast.cpp)",
    "broken-autoload": "the entry point raises, so that `import torch` fails (this file)",
    "collective-hang": "the second rank never returns from all_reduce (collectives.py)",
    "hang": "whoever waits for the device waits for ever (csrc/device.cpp)",
    "missing-op": "softmax and its gradients are not implemented (csrc/kernels.cpp)",
    "nan": "the largest element of each matrix product is not a number (csrc/kernels.cpp)",
    "no-device": "no device is found, and nothing can be allocated (csrc/device.cpp, csrc/allocator.cpp)",
    "oom": "no more than 1 MiB is given at once, whatever is free (csrc/allocator.cpp)",
    "wrong-numbers": "the largest element of each matrix product is 5 % too large (csrc/kernels.cpp)",
}


def has_fault(name: str) -> bool:
    return os.environ.get("SIMXPU_FAULT", "") == name


def check_name() -> None:
    name = os.environ.get("SIMXPU_FAULT", "")
    if name and name not in FAULTS:
        raise ValueError(f"SIMXPU_FAULT={name} is not a fault of simxpu; the faults are: {', '.join(FAULTS)}")


def break_autoload() -> None:
    if has_fault("broken-autoload"):
        raise ImportError("simxpu cannot be loaded (SIMXPU_FAULT=broken-autoload)")
