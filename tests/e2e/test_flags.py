"""Flags that somebody asks for, through a real build: they reach the compiler; the folder stays out of the wheel."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest

from e2e.support import SOURCE, make_tiny, xpusetup

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.e2e
STRICT = '#ifndef ASKED\n#error "not asked for"\n#endif\n'


@pytest.mark.long
def test_flags_come_behind_ours(tmp_path: Path) -> None:
    tiny = make_tiny(tmp_path, tiny_c=STRICT + SOURCE)
    root = tmp_path / "root"
    assert xpusetup("build", *tiny.options(root), env={**tiny.env, "CPPFLAGS": "-DASKED -g"}).code == 1
    told = ("--verify", "off", "--set", "tiny.CPPFLAGS=-DASKED -g")
    said = xpusetup("build", *tiny.options(root), *told, env=tiny.env)
    assert said.code == 0, said.err
    (wheel,) = (root / "wheels").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (library,) = (archive.read(name) for name in archive.namelist() if name.endswith(".so"))
    assert b".debug_info" in library
    assert str(root).encode() not in library
