"""Distributions read from a folder of packages, and what is no longer as it was left."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from xpusetup.run.guard import list_versions, read_changes, read_distributions
from xpusetup.run.keys import Made, Stamp
from xpusetup.system.files import hash_file

if TYPE_CHECKING:
    from pathlib import Path


def put(packages: Path, name: str, version: str, *, record: str = "files\n", **files: str) -> Path:
    info = packages / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    needs = files.pop("requires", "")
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}"
    for file, text in {"METADATA": metadata, "RECORD": record, **files}.items():
        (info / file).write_text(text)
    return info


def guarded(packages: Path, *infos: Path) -> dict[str, Any]:
    kept = []
    for info in infos:
        name, version = info.name.removesuffix(".dist-info").split("-", 1)
        record = info / "RECORD"
        seen = record.stat()
        times = {"size": seen.st_size, "changed": seen.st_mtime_ns}
        one = {"name": name.replace("_", "-"), "version": version, "record": str(record), "sha256": hash_file(record)}
        kept.append({**one, **times})
    return {"packages": str(packages), "distributions": kept, "conflicts": []}


def changes(document: dict[str, Any], *stamps: Stamp) -> list[tuple[str, str | None, str | None]]:
    found = read_changes(document, stamps)
    assert found is not None
    return [(each.name, each.was, each.now) for each in found[1]]


def test_versions_and_what_stands_behind_them(tmp_path: Path) -> None:
    info = put(tmp_path, "Triton_XPU", "3.8.0", INSTALLER="uv\n", REQUESTED="", requires="Requires-Dist: numpy>=2\n")
    put(tmp_path, "~orch", "2.9.0")
    os.utime(info, (77, 77))
    assert list_versions(tmp_path) == {"triton-xpu": "3.8.0"}
    (one,) = read_distributions(tmp_path)
    assert (one.name, one.version, one.requires) == ("Triton_XPU", "3.8.0", ("numpy>=2",))
    assert (one.installer, one.requested, one.installed) == ("uv", True, 77)


def test_a_folder_without_metadata_is_no_distribution(tmp_path: Path) -> None:
    (put(tmp_path, "torch", "2.9.0") / "METADATA").unlink()
    assert read_distributions(tmp_path) == ()


def test_nothing_changed(tmp_path: Path) -> None:
    info = put(tmp_path, "torch", "2.14.1+xpu")
    document = guarded(tmp_path, info)
    assert changes(document) == []
    os.utime(info / "RECORD", (1, 1))
    assert changes(document) == []


def test_another_version_and_another_build(tmp_path: Path) -> None:
    torch, triton = put(tmp_path, "torch", "2.14.1+xpu"), put(tmp_path, "triton_xpu", "3.8.0")
    document = guarded(tmp_path, torch, triton)
    torch.rename(tmp_path / "torch-2.9.0.dist-info")
    (triton / "RECORD").write_text("other files\n")
    assert changes(document) == [("torch", "2.14.1+xpu", "2.9.0"), ("triton-xpu", "3.8.0", "3.8.0")]


@pytest.mark.parametrize("intact", [True, False])
def test_what_a_finished_step_left_there_is_ours(tmp_path: Path, intact: bool) -> None:
    old = put(tmp_path, "torch", "2.14.1+xpu")
    document = guarded(tmp_path, old)
    old.rename(tmp_path / "torch-2.15.0+xpu.dist-info")
    record = tmp_path / "torch-2.15.0+xpu.dist-info/RECORD"
    stamp = Stamp("key", (Made(hash_file(record) if intact else "0", 1, "1", str(record)),))
    assert changes(document, stamp) == ([] if intact else [("torch", "2.14.1+xpu", "2.15.0+xpu")])


@pytest.mark.parametrize("document", [{}, {"packages": "/no/such", "distributions": [], "conflicts": []}])
def test_where_nothing_is_guarded(document: dict[str, Any]) -> None:
    assert read_changes(document, ()) is None
