"""Files that a program has to write again byte by byte. To write them anew: XPUSETUP_TEST_UPDATE=1 pytest -k golden."""

from __future__ import annotations

import os
from pathlib import Path

HERE = Path(__file__).parent


def hold(folder: str, texts: dict[str, str]) -> None:
    """Compare texts with the files of a folder, by name below it; a file too many is a difference too."""
    base = HERE / folder
    if os.environ.get("XPUSETUP_TEST_UPDATE"):
        _write(base, texts)
    there = {str(path.relative_to(base)) for path in base.rglob("*") if path.is_file()}
    assert there == set(texts), f"{folder}: XPUSETUP_TEST_UPDATE=1 writes these files anew"
    for name, text in texts.items():
        assert text == (base / name).read_text(), f"{folder}/{name}: XPUSETUP_TEST_UPDATE=1 writes it anew"


def hold_one(name: str, text: str) -> None:
    """Compare one text with one file."""
    path = HERE / name
    if os.environ.get("XPUSETUP_TEST_UPDATE"):
        _write_one(path, text)
    assert path.exists(), f"{name}: XPUSETUP_TEST_UPDATE=1 writes it"
    assert text == path.read_text(), f"{name}: XPUSETUP_TEST_UPDATE=1 writes it anew"


def _write(base: Path, texts: dict[str, str]) -> None:
    for path in base.rglob("*") if base.exists() else ():
        if path.is_file() and str(path.relative_to(base)) not in texts:
            path.unlink()
    for name, text in texts.items():
        _write_one(base / name, text)


def _write_one(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
