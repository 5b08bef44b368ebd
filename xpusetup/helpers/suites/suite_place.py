"""Where a suite runs: a tree of links to its files with the device file in it; and the torch that has to stay."""

from __future__ import annotations

import hashlib
import os
import re
from importlib.metadata import distributions
from pathlib import Path

from installed import canonical

GUARDED = re.compile(r"(torch|torchvision|torchaudio|triton|triton-xpu|pytorch-triton(-.+)?|torch-.+)")


def link_tree(source: Path, work: Path, entries: list[str]) -> None:
    """Make folders as those of the source, whose files are links: what Python and the tests add goes there.

    pytest puts it on Python's path: `entries` keep what must not be imported from there out of it.
    """
    work.mkdir(parents=True, exist_ok=True)
    for path in [one for one in work.rglob("*") if one.is_symlink()]:
        path.unlink()
    for folder, below, files in os.walk(source):
        here = Path(folder)
        names = [*files, *(name for name in below if (here / name).is_symlink())]
        below[:] = [name for name in below if not name.startswith(".") and here / name != work.parent]
        if here == source and entries:
            below[:] = [name for name in below if name in entries]
            names = [name for name in names if name in entries]
        place = work / here.relative_to(source)
        place.mkdir(exist_ok=True)
        for name in names:
            if not (place / name).exists():
                (place / name).symlink_to(here / name)


def write_spec(work: Path, name: str, text: str) -> None:
    """Write the device file. It has to be a bare name in the working directory: a path of any kind is not found."""
    (work / name).write_text(text, encoding="utf-8")


def look_at_torch() -> dict[str, str]:
    """Give torch and what belongs to it, each with its version and a hash of its list of files."""
    found: dict[str, str] = {}
    for one in distributions():
        name = canonical(one.metadata["Name"] or "")
        if GUARDED.fullmatch(name):  # of two, the first is the one that is imported
            listed = one.read_text("RECORD") or ""
            found.setdefault(name, f"{one.version} {hashlib.sha256(listed.encode()).hexdigest()[:12]}")
    return found
