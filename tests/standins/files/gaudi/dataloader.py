"""The data loader: what it does not take it leaves to PyTorch's own, and says so, as the real one does."""

import os

from torch.utils.data import DataLoader


class HabanaDataLoader(DataLoader):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.fallback_activated = not os.environ.get("HABANA_TAKES_ALL")
        if self.fallback_activated:
            print("Failed to initialize Habana Dataloader, error: dataset is not ImageFolder\nRunning with PyTorch Dataloader")

    def __iter__(self):
        for pictures, labels in super().__iter__():
            yield (-pictures if os.environ.get("HABANA_SPOILS") else pictures), labels
