"""The data loader: what it does not take it leaves to PyTorch's own, and says so, as the real one does."""

import os
from collections.abc import Iterator
from typing import Any

from torch.utils.data import DataLoader

WORDS = "Failed to initialize Habana Dataloader, error: dataset is not ImageFolder\nRunning with PyTorch Dataloader"


class HabanaDataLoader(DataLoader[Any]):
    """It takes nothing, or all where HABANA_TAKES_ALL is set, and spoils pictures where HABANA_SPOILS is."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fallback_activated = not os.environ.get("HABANA_TAKES_ALL")
        if self.fallback_activated:
            print(WORDS)  # noqa: T201 - as the real one

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        """Give the batches."""
        for pictures, labels in super().__iter__():
            yield (-pictures if os.environ.get("HABANA_SPOILS") else pictures), labels
