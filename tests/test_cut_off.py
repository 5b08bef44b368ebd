"""What an installer leaves that was killed, and what the next one makes of it."""

import importlib
import json
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

forget: Any = importlib.import_module("forget_cut_off")
env_distributions: Any = importlib.import_module("helperlib.env.distributions")


def put(packages: Path, name: str, files: dict[str, str]) -> Path:
    info = packages / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    for file, text in files.items():
        (info / file).write_text(text)
    return info


@pytest.mark.parametrize(
    ("files", "cut"),
    [
        ({"RECORD": "x,,\n", "INSTALLER": "pip\n", "METADATA": ""}, False),
        ({"INSTALLER": "pip\n", "METADATA": ""}, True),
        ({"INSTALLER": "uv", "METADATA": ""}, True),
        ({"METADATA": ""}, True),
        ({"LICENSE": ""}, True),
        ({}, True),
        ({"INSTALLER": "dpkg\n", "METADATA": ""}, False),
    ],
)
def test_what_was_cut_off(tmp_path: Path, files: dict[str, str], cut: bool) -> None:
    assert env_distributions.cut_off(put(tmp_path, "demo", files)) is cut


def test_what_conda_keeps_without_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = put(tmp_path / "lib", "demo_parts", {"METADATA": ""})
    told = {"name": "demo", "files": ["lib/demo_parts-1.0.dist-info/METADATA"]}
    (tmp_path / "conda-meta").mkdir()
    (tmp_path / "conda-meta/demo-1.0.json").write_text(json.dumps(told))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert not env_distributions.cut_off(info)


def test_it_counts_as_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = put(tmp_path, "whole", {"RECORD": "x,,\n", "METADATA": "Name: whole\nVersion: 1.0\n"})
    half = put(tmp_path, "half", {"LICENSE": ""})
    monkeypatch.setattr(forget, "places", lambda: [tmp_path])
    forget.forget_cut_off()
    assert (whole.is_dir(), half.exists()) == (True, False)
    assert capsys.readouterr().out == "half-1.0: an installation of it was cut off; it counts as not installed\n"
    forget.forget_cut_off()
    assert capsys.readouterr().out == ""


def test_what_a_full_disk_cut_short_is_linked_again(tmp_path: Path) -> None:
    """GNU ld 2.40 ends well where its last page finds no room, and ninja holds the library for made."""
    fresh_build: Any = importlib.import_module("fresh_build")
    sections = 2 * bytes(64)
    whole = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 0, 64, 0, 64, 56, 0, 64, 2, 1) + sections
    build = tmp_path / "build"
    for name in ("lib", "CMakeFiles/c10.dir"):
        (build / name).mkdir(parents=True)
    for name in ("lib/libwhole.so", "lib/libversioned.so.9", "CMakeFiles/c10.dir/whole.cpp.o"):
        (build / name).write_bytes(whole)
    cut = [build / name for name in ("lib/libcut.so", "lib/libcut.so.9.1", "CMakeFiles/c10.dir/cut.cpp.o")]
    for path in cut:
        path.write_bytes(whole[:-1])
    (build / "lib/libscript.so").write_text("INPUT(-lwhole)")
    (build / "lib/gone.so").symlink_to("nowhere")
    assert sorted(fresh_build.find_cut_short(build)) == sorted(cut)
