"""What is left of a file system, in words and numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from xpusetup.base.errors import NotReadyError
from xpusetup.base.text import render_size
from xpusetup.system import files
from xpusetup.system.files import FreeSpace, read_free_space, read_free_spaces


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 KiB"), (512, "0.5 KiB"), (4096, "4 KiB"), (3 << 19, "1.5 MiB"), (1 << 20, "1 MiB"), (5 << 40, "5120 GiB")],
)
def test_sizes(size: int, text: str) -> None:
    assert render_size(size) == text


def test_what_is_full() -> None:
    ample = FreeSpace(path="/a", free=1 << 30, total=1 << 31, files=None)
    assert not ample.full
    assert str(ample) == "/a has 1 GiB of 2 GiB left"
    assert FreeSpace(path="/a", free=0, total=1, files=5).full
    assert str(FreeSpace(path="/a", free=1 << 30, total=1 << 31, files=0)) == "/a takes no more files"
    assert not FreeSpace(path="/proc", free=0, total=0, files=None).full


def test_a_place_that_is_yet_to_be_made(tmp_path: Path) -> None:
    room = read_free_space(tmp_path / "a/b")
    assert room is not None
    assert Path(room.path).is_mount()
    assert 0 < room.free < room.total
    assert [each.path for each in read_free_spaces([tmp_path, tmp_path / "c"])] == [room.path]


def test_a_line_is_added_whole_or_not_at_all() -> None:
    """Nothing can be written to /dev/full."""
    with pytest.raises(NotReadyError, match="cannot write /dev/full: No space left on device"):
        files.append_line(Path("/dev/full"), "text")
