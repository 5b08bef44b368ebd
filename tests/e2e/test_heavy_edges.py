"""Pools of ninja, by real CMake and ninja: a tree that links device code as torch-xpu-ops does, odd commands beside."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from e2e.support import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("heavy")]
PROJECT = r"""
cmake_minimum_required(VERSION 3.18)
project(pools C)
macro(SYCL_LINK_DEVICE_OBJECTS output)
  add_custom_command(
    OUTPUT ${output}
    COMMAND sh ${CMAKE_SOURCE_DIR}/work.sh link ${output}
    COMMENT "Building SYCL device link file ${output}")
endmacro()
foreach(number RANGE 1 6)
  SYCL_LINK_DEVICE_OBJECTS(${CMAKE_BINARY_DIR}/device${number}.o)
  add_custom_command(OUTPUT other${number} COMMAND sh ${CMAKE_SOURCE_DIR}/work.sh other other${number})
  list(APPEND all ${CMAKE_BINARY_DIR}/device${number}.o ${CMAKE_CURRENT_BINARY_DIR}/other${number})
endforeach()
add_custom_command(
  OUTPUT odd
  COMMAND ${CMAKE_COMMAND} -E echo "" "a;b" "$<IF:$<CONFIG:Debug>,x;y,z>" "]]" [[${not}]] "\\\"quoted\"" > odd
  DEPENDS work.sh VERBATIM COMMENT "")
add_custom_target(everything ALL DEPENDS ${all} odd)
add_library(one SHARED one.c)
add_custom_command(TARGET one POST_BUILD COMMAND ${CMAKE_COMMAND} -E echo linked "" VERBATIM)
"""
WORK = 'echo "+ $1" >> events; sleep 0.3; echo "- $1" >> events; echo > "$2"\n'
POOL = "  pool = xpusetup_heavy\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(PROJECT)
    (folder / "work.sh").write_text(WORK)
    (folder / "one.c").write_text("int one(void) { return 1; }\n")
    return folder


def configure(tree: Path, to: Path, **more: str) -> Path:
    """Configure with the file that our builds hand to CMake."""
    assert shutil.which("cmake"), "apt-get install cmake"
    assert shutil.which("ninja"), "apt-get install ninja-build"
    heavy = CHECKOUT / "xpusetup/helpers/heavy_edges.cmake"
    words = ("cmake", "-S", str(tree), "-B", str(to), "-G", "Ninja", f"-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES={heavy}")
    subprocess.run(words, check=True, capture_output=True, env={"PATH": os.environ["PATH"], **more})
    return to


def most_links(build: Path) -> int:
    """Build with six jobs, and give how many device links ran at a time."""
    subprocess.run(("ninja", "-C", str(build), "-j", "6"), check=True, capture_output=True)
    now = most = 0
    for line in (build / "events").read_text().splitlines():
        if line.endswith(" link"):
            now += 1 if line.startswith("+") else -1
            most = max(most, now)
    return most


def test_device_links_stay_in_their_pool(tree: Path, tmp_path: Path) -> None:
    assert most_links(configure(tree, tmp_path / "free")) > 2
    assert most_links(configure(tree, tmp_path / "held", MAX_JOBS="6")) == 2


def test_nothing_else_is_changed(tree: Path, tmp_path: Path) -> None:
    """The graph is the same but for the pools: on six device links and one library."""
    build = tmp_path / "build"
    free = (configure(tree, build) / "build.ninja").read_text()
    shutil.rmtree(build)
    held = (configure(tree, build, MAX_JOBS="6") / "build.ninja").read_text()
    assert held.count(POOL) == 7
    assert held.replace(POOL, "") == free
    assert re.search(r"pool xpusetup_heavy\n  depth = 2\n", (build / "CMakeFiles/rules.ninja").read_text())
