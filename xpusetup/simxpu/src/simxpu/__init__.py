"""simxpu, a simulated accelerator: importing this package registers the device with PyTorch."""

from __future__ import annotations

from simxpu import faults

# Before anything can go wrong for another reason: a misspelt fault would pass every check of a healthy device.
faults.check_name()


def _autoload() -> None:
    """Entry point of group torch.backends: `import torch` loads this package, which is all there is to do."""
    faults.break_autoload()


# After _autoload: where the user imports simxpu first, this line imports torch, which asks for _autoload.
from simxpu import backend  # noqa: E402, F401
