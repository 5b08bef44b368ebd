"""Files that appear whole or not at all: written under another name beside their own, and renamed."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give the name under which to write a file; it gets its own when that went well, and else nothing of it stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield draft
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text."""
    with whole(path) as draft:
        draft.write_text(text, encoding="utf-8")


def write_json(path: Path, document: object, indent: int | None = 2) -> None:
    """Write a JSON document."""
    write_text(path, json.dumps(document, indent=indent) + "\n")
