"""Files that a program has to write again byte by byte. To write them anew: XPUSETUP_TEST_UPDATE=1 pytest -k golden."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def hold_scripts(name: str, texts: Mapping[str, str], base: Mapping[str, str]) -> None:
    """Compare scripts with one file, which holds only the lines in which they differ from those of another plan."""
    parts = [f"==> {file}\n{_changes(_alike(file, base), text)}" for file, text in sorted(texts.items())]
    hold_one(f"scripts/{name}.diff", "".join(parts))


def hold_changes(name: str, texts: Mapping[str, str], base: Mapping[str, str]) -> None:
    """Compare texts with one file, which holds only the lines in which they differ from others of the same names."""
    parts = [f"==> {file}\n{_changes(base.get(file, ''), text)}" for file, text in sorted(texts.items())]
    hold_one(f"{name}.diff", "".join(parts))


def hold_together(name: str, texts: Mapping[str, str]) -> None:
    """Compare texts with one file that holds them all."""
    hold_one(name, "".join(f"==> {file}\n{text}" for file, text in sorted(texts.items())))


def _alike(file: str, base: Mapping[str, str]) -> str:
    """Give the script that one is held against: of the same step, or of the same step of torch, or the first of all."""
    same = re.sub(r"^steps/\w+\.", "steps/torch.", file)
    return base.get(file) or base.get(same) or base["steps/venv.sh"]


def _changes(old: str, new: str) -> str:
    """Give the changed lines, without places: a line more at the head is no change of all."""
    lines = difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), n=0)
    return "".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


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
