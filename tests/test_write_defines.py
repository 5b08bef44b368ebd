"""How CMake is told where vendored sources lie, in both ways of building."""

from __future__ import annotations

import importlib
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from data.profiles import shipped
from data.targets import NEW, NEW_KIT
from xpusetup.base.model import Layout, Request, Step
from xpusetup.plan.steps import make_plan

if TYPE_CHECKING:
    from pathlib import Path

write_defines: Any = importlib.import_module("write_defines")

INCLUDES = "CMAKE_PROJECT_TOP_LEVEL_INCLUDES"
HEAVY = "@ROOT@/helpers/heavy_edges.cmake"
DEFINE = "FETCHCONTENT_SOURCE_DIR_REPO-SYCL-TLA=@ROOT@/src/torch/third_party/sycl-tla"


def steps_of(profile: str) -> dict[str, Step]:
    target = replace(NEW, toolkit=replace(NEW_KIT, version="2025.3"))
    return {step.id: step for step in make_plan(shipped(profile), Request(), target, Layout()).steps}


def write(path: Path, monkeypatch: pytest.MonkeyPatch, *defines: str) -> None:
    words = [word for define in defines for word in ("--define", define)]
    monkeypatch.setattr(sys, "argv", ["write_defines.py", *words, "--into", str(path)])
    write_defines.main()


def test_a_file_of_cache_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "torch.cmake"
    write(path, monkeypatch, "A-B=/a/b", "C=/c")
    lines = path.read_text().splitlines()
    assert [line.partition(" CACHE ")[0] for line in lines] == ['set(A-B "/a/b"', 'set(C "/c"']
    assert all(line.endswith(" FORCE)") for line in lines)


def test_what_is_there_keeps_its_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "torch.cmake"
    write(path, monkeypatch, "A=/a")
    before = path.stat()
    write(path, monkeypatch, "A=/a")
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    write(path, monkeypatch, "A=/b")
    assert '"/b"' in path.read_text()


@pytest.mark.parametrize("definition", ["", "A", "A=", "=/a"])
def test_no_definition(definition: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit):
        write(tmp_path / "torch.cmake", monkeypatch, definition)
    assert not (tmp_path / "torch.cmake").exists()


@pytest.mark.parametrize("step", ["torch.configure", "torch.build"])
def test_setup_py_reads_a_file_and_the_new_front_end_an_option(step: str) -> None:
    old, new = steps_of("torch-2.13")[step], steps_of("torch-2.14")[step]
    assert any(argv[1].endswith("write_defines.py") and DEFINE in argv for argv in old.run if len(argv) > 1)
    assert dict(old.env)[INCLUDES] == f"@ROOT@/src/torch.cmake;{HEAVY}"
    assert any(f"-Ccmake.define.{DEFINE}" in argv for argv in new.run)
    assert any(f"-Ccmake.define.{INCLUDES}={HEAVY}" in argv for argv in new.run)
    assert INCLUDES not in dict(new.env)


def test_a_setup_py_that_calls_cmake_by_itself_reads_a_toolchain_file() -> None:
    """Arguments of such a setup.py are its own: only what CMake itself reads from the environment reaches it."""
    step = steps_of("openreg-2.13")["openreg.build"]
    assert any(argv[-3:] == ("USE_TEST=OFF", "--into", "@ROOT@/src/openreg.cmake") for argv in step.run)
    assert dict(step.env)["CMAKE_TOOLCHAIN_FILE"] == "@ROOT@/src/openreg.cmake"
    assert "CMAKE_TOOLCHAIN_FILE" not in dict(steps_of("torch-2.13")["torch.build"].env)


def test_without_vendored_sources_only_the_pools_are_told() -> None:
    assert dict(steps_of("torch-2.9")["torch.build"].env)[INCLUDES] == HEAVY
    assert INCLUDES not in dict(steps_of("torch-2.9")["vision.build"].env)
