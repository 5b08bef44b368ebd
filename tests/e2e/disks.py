"""File systems of a few bytes or megabytes, for tests of what happens where one is full."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILLER = ".filler"


@dataclass(frozen=True)
class Disk:
    """A file system of its own."""

    path: Path

    def resize(self, size: str) -> None:
        """Make it as large as `size` says."""
        subprocess.run(("mount", "-o", f"remount,size={size}", str(self.path)), check=True)

    @contextmanager
    def leaving(self, left: int) -> Iterator[None]:
        """Fill it up to so many bytes, and make room again."""
        status = os.statvfs(self.path)
        filler = self.path / FILLER
        try:
            with filler.open("wb") as stream:
                os.posix_fallocate(stream.fileno(), 0, status.f_bavail * status.f_frsize - left)
            yield
        finally:
            filler.unlink()


@contextmanager
def make_disk(folder: Path, size: str) -> Iterator[Disk]:
    """Mount one at a folder; a test that cannot, for want of the right to, is skipped."""
    folder.mkdir(exist_ok=True)
    command = ("mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder))
    if shutil.which("mount") is None or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield Disk(folder)
    finally:
        subprocess.run(("umount", "--lazy", str(folder)), check=True)
