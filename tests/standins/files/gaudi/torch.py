"""A torch of a few lines, by the version of the maker's fork: what installs and looks at it needs no more."""

import os
from importlib.metadata import entry_points

__version__ = "@VERSION@"


def compiled_with_cxx11_abi() -> bool:
    """Answer as every PyTorch does since 2.7."""
    return True


if os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") == "1":
    for _entry in entry_points(group="torch.backends"):
        _entry.load()()
