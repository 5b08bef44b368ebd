"""Files that a program has to write again byte by byte. To write them anew: XPUSETUP_TEST_UPDATE=1 pytest -k golden."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

HERE = Path(__file__).parent


def hold(folder: str, texts: dict[str, str]) -> None:
    """Compare texts with the files of a folder, by name below it; a file too many is a difference too."""
    base = HERE / folder
    if os.environ.get("XPUSETUP_TEST_UPDATE"):
        _write(base, texts)
    there = {str(path.relative_to(base)): path.read_text() for path in base.rglob("*") if path.is_file()}
    wrong = [_difference(name, there.get(name, ""), texts.get(name, "")) for name in sorted({*there, *texts})]
    text = "".join(wrong)
    assert not text, f"below tests/golden/{folder}; XPUSETUP_TEST_UPDATE=1 writes it anew\n{text}"


def hold_one(name: str, text: str) -> None:
    """Compare one text with one file."""
    path = HERE / name
    if os.environ.get("XPUSETUP_TEST_UPDATE"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    wrong = _difference(name, path.read_text() if path.exists() else "", text)
    assert not wrong, f"tests/golden/{name}; XPUSETUP_TEST_UPDATE=1 writes it anew\n{wrong}"


def _difference(name: str, old: str, new: str) -> str:
    lines = difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), name, name, n=1)
    return "".join(lines)


def _write(base: Path, texts: dict[str, str]) -> None:
    for path in base.rglob("*"):
        if path.is_file() and str(path.relative_to(base)) not in texts:
            path.unlink()
    for name, text in texts.items():
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
