"""Wheels that upstream published pass the inspector; the same wheel, spoiled in one way, does not.

A few small ones: `make e2e-published-wheels` takes all.
"""

from __future__ import annotations

import base64
import hashlib
import os
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

from real.published_wheels import fetch, find_difference, inspect, read_table

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("published_wheels")]
WHEELS = {f"{wheel.name} {wheel.version}": wheel for wheel in read_table() if "x86_64" in wheel.file}
FEW = ("torchaudio 2.6.0", "torchaudio 2.11.0", "torchvision 0.21.0", "torchvision 0.29.1", "torchcodec 0.2.1")
EXTENSION = "torchaudio/_extension/__init__.py"
OPENS = b'_load_lib("libtorchaudio")'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("published")


@pytest.mark.parametrize("name", FEW)
def test_it_is_as_the_table_says(folder: Path, name: str) -> None:
    wheel = WHEELS[name]
    assert find_difference(wheel, inspect(fetch(wheel, folder, os.environ), os.environ)) == ""


def respell(wheel: Path, into: Path, old: bytes, new: bytes) -> Path:
    """Write a wheel anew with another text in one of its files, and a RECORD that is right again."""
    into.mkdir()
    path = into / wheel.name
    with ZipFile(wheel) as source, ZipFile(path, "w") as made:
        text = source.read(EXTENSION)
        assert old in text
        changed = text.replace(old, new)
        before, after = (base64.urlsafe_b64encode(hashlib.sha256(one).digest()).rstrip(b"=") for one in (text, changed))
        for name in source.namelist():
            content = changed if name == EXTENSION else source.read(name)
            made.writestr(name, content.replace(before, after) if name.endswith("/RECORD") else content)
    return path


@pytest.mark.parametrize(
    ("new", "fails"),
    [(OPENS, []), (b"pass", ["rpath"]), (b'_load_lib("libtorchaudio_sox")', ["rpath"])],
    ids=["as it was", "opens nothing", "opens another"],
)
def test_a_spoiled_torchaudio_fails(folder: Path, tmp_path: Path, new: bytes, fails: list[str]) -> None:
    """Its Python opens libtorchaudio.so before _torchaudio.so is imported, which finds it by no search path."""
    wheel = fetch(WHEELS["torchaudio 2.6.0"], folder, os.environ)
    assert inspect(respell(wheel, tmp_path / "made", OPENS, new), os.environ)["fail"] == fails
