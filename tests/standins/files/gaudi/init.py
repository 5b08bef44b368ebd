"""The package of the bridge."""

import importlib


def __autoload() -> None:
    """Entry point of the group torch.backends."""
    importlib.import_module("habana_frameworks.torch")
