"""What steps say that they found."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pytest

from xpusetup.base.model import parse_summary

if TYPE_CHECKING:
    from pathlib import Path

output: Any = importlib.import_module("helperlib.output")
check_configure: Any = importlib.import_module("check_configure")
fetch_source: Any = importlib.import_module("fetch_source")
git_gather: Any = importlib.import_module("helperlib.git.gather")
git_tree: Any = importlib.import_module("helperlib.git.tree")
inspect_wheel: Any = importlib.import_module("inspect_wheel")
verify_device: Any = importlib.import_module("verify_device")


def test_what_a_helper_says_is_what_people_see(capsys: pytest.CaptureFixture[str]) -> None:
    output.say_summary("v2.5.1 a8d6afb", "", "412 MiB", "Größe")
    said = capsys.readouterr().out
    assert said == "= v2.5.1 a8d6afb | 412 MiB | Gr\\xf6\\xdfe\n"
    assert parse_summary(said) == "v2.5.1 a8d6afb · 412 MiB · Gr\\xf6\\xdfe"


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (412 << 20, "412 MiB"),
        (9_771_050_598, "9.1 GiB"),
        (1 << 45, "32 TiB"),
    ],
)
def test_sizes(size: int, text: str) -> None:
    assert output.render_size(size) == text


@pytest.mark.parametrize(
    ("number", "noun", "text"), [(1, "library", "1 library"), (2, "library", "2 libraries"), (0, "check", "0 checks")]
)
def test_counts(number: int, noun: str, text: str) -> None:
    assert output.count(number, noun) == text


@pytest.mark.parametrize(
    ("cache", "arch", "told"),
    [
        ({"USE_XPU": "ON", "GLIBCXX_USE_CXX11_ABI": "1"}, "pvc", ["XPU on", "C++11 ABI", "pvc"]),
        ({"USE_XPU": "1", "_GLIBCXX_USE_CXX11_ABI": "0"}, "", ["XPU on", "old C++ ABI", ""]),
        ({"USE_XPU": "OFF"}, "pvc", ["XPU off", "", ""]),
        ({}, "", ["XPU off", "", ""]),
    ],
)
def test_configure(cache: dict[str, str], arch: str, told: list[str]) -> None:
    assert check_configure.describe(cache, arch) == told


def gathered(tree: Path, submodules: int, *shared: int) -> list[Any]:
    root = git_tree.TreeRepository(address="https://h/r", rev="a" * 40, folder=tree / ".git", tree=tree)
    return [git_gather.GatheredRepository(root, size) for size in (*shared, *[0] * (submodules + 1 - len(shared)))]


def test_a_tree(tmp_path: Path) -> None:
    tree = tmp_path / "torch"
    for module in ("", "modules/third_party/a/", "modules/third_party/a/modules/b/"):
        folder = tree / ".git" / module
        (folder / "objects/pack").mkdir(parents=True)
        (folder / "HEAD").touch()
        (folder / "objects/pack/x.pack").write_bytes(b"x" * 1024)
    (tree / ".git/logs").mkdir()
    (tree / ".git/logs/HEAD").touch()
    assert fetch_source.describe(gathered(tree, 2)) == ["3.0 KiB", "2 submodules"]
    assert fetch_source.describe(gathered(tree, 2, 0, 1024)) == [
        "3.0 KiB, 1.0 KiB of it from the store",
        "2 submodules",
    ]
    assert fetch_source.describe(gathered(tree, 1, 1024, 2048)) == ["3.0 KiB from the store", "1 submodule"]
    inner = tree / "third_party/torch-xpu-ops"
    assert not fetch_source.lies_in_another(inner)
    (tree / ".git" / fetch_source.MARK).touch()
    assert fetch_source.lies_in_another(inner)
    assert not fetch_source.lies_in_another(tree)


def test_a_tree_of_loose_objects_has_no_size(tmp_path: Path) -> None:
    (tmp_path / ".git/objects").mkdir(parents=True)
    assert fetch_source.describe(gathered(tmp_path, 0)) == ["", ""]


def document(*levels: str, libraries: int = 0, devices: tuple[str, ...] = ()) -> dict[str, Any]:
    checks = [{"level": level} for level in levels]
    return {"checks": checks, "libraries": [{}] * libraries, "devices": [{"name": name} for name in devices]}


def test_inspected_and_verified() -> None:
    assert inspect_wheel.summarise(document("ok", "ok", libraries=1)) == ("1 library", "2 checks")
    assert inspect_wheel.summarise(document("ok", "fail", libraries=14)) == ("14 libraries", "1 of 2 checks failed")
    assert verify_device.summarise(document("ok", devices=("Max 1100", "other"))) == ("1 check", "Max 1100")
    assert verify_device.summarise(document("crash", "skip")) == ("1 of 2 checks failed",)
