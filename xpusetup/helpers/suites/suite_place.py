"""Where a suite runs: a folder of links to its tree with the device file in it; and the torch that has to stay."""

from __future__ import annotations

import re
from importlib.metadata import distributions
from typing import TYPE_CHECKING

from guard_environment import digest
from installed import canonical

if TYPE_CHECKING:
    from pathlib import Path

GUARDED = re.compile(r"(torch|torchvision|torchaudio|triton|triton-xpu|pytorch-triton(-.+)?|torch-.+)")


def link_tree(source: Path, work: Path, entries: list[str]) -> None:
    """Make a folder whose entries are those of the source: a device file beside them leaves the source as it is.

    pytest puts it on Python's path: `entries` keep what must not be imported from there out of it.
    """
    work.mkdir(parents=True, exist_ok=True)
    names = {path.name for path in source.iterdir() if not entries or path.name in entries}
    for path in work.iterdir():
        if path.is_symlink() and (path.name not in names or path.readlink() != source / path.name):
            path.unlink()
    for name in sorted(names):
        if not (work / name).is_symlink():
            (work / name).symlink_to(source / name)


def write_spec(work: Path, name: str, text: str) -> None:
    """Write the device file. It has to be a bare name in the working directory: a path of any kind is not found."""
    (work / name).write_text(text, encoding="utf-8")


def look_at_torch() -> dict[str, str]:
    """Give torch and what belongs to it, each with its version and a hash of its list of files."""
    found = {}
    for one in distributions():
        name = canonical(one.metadata["Name"] or "")
        if GUARDED.fullmatch(name):
            record = one.locate_file(f"{one.metadata['Name'].replace('-', '_')}-{one.version}.dist-info/RECORD")
            path = record if hasattr(record, "exists") and record.exists() else None
            found.setdefault(name, f"{one.version} {digest(path)[:12] if path else ''}".strip())  # type: ignore[arg-type]
    return found
