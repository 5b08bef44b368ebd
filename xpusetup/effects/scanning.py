"""Source trees read for what they may download."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.bundles.downloads import is_scanned, order_downloads, scan_file
from xpusetup.effects.files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.bundles.downloads import Download


def scan_tree(tree: Path, name: str) -> list[Download]:
    """Give what a tree may download, its submodules and vendored sources included; files are named below `name`."""
    found = (item for path in _files(tree) for item in scan_file(f"{name}/{path}", read_text(tree / path) or ""))
    return order_downloads(found)


def _files(tree: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted({*folders} - {".git"})
        below = Path(folder).relative_to(tree)
        yield from (str(below / name) for name in sorted(names) if is_scanned(str(below / name)))
