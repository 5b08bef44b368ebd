"""A project keeps its torch: edits of its files, and how they are taken back."""
