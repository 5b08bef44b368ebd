"""What a tree clones by itself, read from its CMake files: by the step that fetches it, and by a lock, alike."""

from __future__ import annotations

import importlib
from argparse import Namespace
from typing import TYPE_CHECKING, Any

import pytest

from xpusetup.config.cmake import find_tag

if TYPE_CHECKING:
    from pathlib import Path

clones: Any = importlib.import_module("helperlib.git.tree")
fetch_source: Any = importlib.import_module("fetch_source")
git_process: Any = importlib.import_module("helperlib.git.process")
ADDRESSES = ["https://github.com/uxlfoundation/oneDNN", "https://github.com/oneapi-src/oneDNN"]
REV = "1716509706ed075cde61781d00aaf3784ad5a840"
TAGGED = """# the shape of 2.7: an empty prefix, comments between the arguments, another owner
if(USE_XPU)
  set(DNNL_MAKE_COMMAND "cmake" "--build" ".")
  ExternalProject_Add(xpu_mkldnn_proj
    GIT_REPOSITORY https://github.com/oneapi-src/oneDNN
    GIT_TAG v3.7.1
    PREFIX ${XPU_MKLDNN_DIR_PREFIX}
    BUILD_IN_SOURCE 0
    CMAKE_ARGS -DCMAKE_C_COMPILER=icx  # GIT_TAG v0
    -DDNNL_DPCPP_HOST_COMPILER=${DNNL_HOST_COMPILER} # Use (the) same
    -G ${CMAKE_GENERATOR}
    INSTALL_COMMAND ""
  )
endif()
"""
COMMITTED = f"""# the shape of main: a commit, below an else, with a quoted prefix
if(EXISTS "${{_lib}}" AND IS_DIRECTORY "${{_dir}}/include")
  add_custom_target(xpu_mkldnn_proj)
else()
  include(ProcessorCount)
  ExternalProject_Add(xpu_mkldnn_proj
    GIT_REPOSITORY https://github.com/uxlfoundation/oneDNN
    GIT_TAG {REV}
    PREFIX "${{_xpu_mkldnn_prefix}}"
    CMAKE_ARGS -DDNNL_CPU_RUNTIME=NONE)
endif()
"""
IN_A_VARIABLE = """
SET(MKLDNN_XPU_GIT_TAG "v3.10.2" CACHE STRING "which oneDNN")
set(REPO https://GitHub.com/uxlfoundation/oneDNN.git)
externalproject_add(xpu_mkldnn_proj GIT_TAG ${MKLDNN_XPU_GIT_TAG} GIT_REPOSITORY ${REPO})
"""
IN_A_LIST = """
set(_source GIT_REPOSITORY https://github.com/uxlfoundation/oneDNN
  GIT_TAG v3.9.1)  # handed on as it is
ExternalProject_Add(p ${_source} PREFIX "")
"""
FROM_ELSEWHERE = (
    "ExternalProject_Add(p GIT_REPOSITORY https://github.com/uxlfoundation/oneDNN GIT_TAG ${TAG_OF_PARENT})\n"
)
A_BRANCH = "ExternalProject_Add(p GIT_REPOSITORY https://github.com/uxlfoundation/oneDNN GIT_TAG yixin/sdpa_ukernel)\n"
IN_THE_TREE = "ExternalProject_Add(xpu_mkldnn_proj SOURCE_DIR ${MKLDNN_ROOT} PREFIX ${XPU_MKLDNN_DIR_PREFIX})\n"
ANOTHER = "ExternalProject_Add(nccl GIT_REPOSITORY https://github.com/NVIDIA/nccl GIT_TAG v2.21)\n"
COMMENTED = f"#[[\n{COMMITTED}]]\n# ExternalProject_Add(p GIT_REPOSITORY {ADDRESSES[0]} GIT_TAG v1)\n{TAGGED}"
UNTAGGED = "ExternalProject_Add(p GIT_REPOSITORY https://github.com/uxlfoundation/oneDNN PREFIX x)\n"


@pytest.mark.parametrize("read", [find_tag, clones.find_tag], ids=["lock", "step"])
@pytest.mark.parametrize(
    ("text", "named"),
    [
        (TAGGED, "v3.7.1"),
        (COMMITTED, REV),
        (IN_A_VARIABLE, "v3.10.2"),
        (IN_A_LIST, "v3.9.1"),
        (FROM_ELSEWHERE, "${TAG_OF_PARENT}"),
        (A_BRANCH, "yixin/sdpa_ukernel"),
        (IN_THE_TREE, ""),
        (ANOTHER, ""),
        (ANOTHER + COMMITTED, REV),
        (COMMENTED, "v3.7.1"),
        (UNTAGGED, ""),
        (f"{REV}\n", REV),
        (f"{REV} and more\n", ""),
        ("", ""),
        ('set(x "never closed)\nExternalProject_Add(', ""),
        ("ExternalProject_Add((((", ""),
    ],
)
def test_what_a_file_clones(read: Any, text: str, named: str) -> None:
    assert read(text, ADDRESSES) == named


def follow(tmp_path: Path, text: str, **more: Any) -> tuple[str, str]:
    """Let a fetch of v3.12.3 follow a tree's file; the tag and the commit that are fetched then."""
    (tmp_path / "FindMKLDNN.cmake").write_text(text)
    told = {"repo": ADDRESSES[0], "rev": "a" * 40, "tag": "v3.12.3", "confidence": "likely", "keep": False}
    options = Namespace(
        pin_file=tmp_path / "FindMKLDNN.cmake", clones=ADDRESSES, into=tmp_path / "t", **{**told, **more}
    )
    fetch_source.follow_file(options)
    assert options.pin_file is None
    return options.tag, options.rev


@pytest.mark.parametrize(
    ("text", "tag", "rev"),
    [
        (TAGGED, "v3.7.1", ""),
        (TAGGED.replace("v3.7.1", "v3.12.3"), "v3.12.3", "a" * 40),
        (COMMITTED, "", REV),
        (f"{REV}\n", "", REV),
        (A_BRANCH, "yixin/sdpa_ukernel", ""),
        (FROM_ELSEWHERE, "v3.12.3", "a" * 40),
        (IN_THE_TREE, "v3.12.3", "a" * 40),
    ],
)
def test_the_trees_own_file_rules_over_a_likely_pin(tmp_path: Path, text: str, tag: str, rev: str) -> None:
    assert follow(tmp_path, text) == (tag, rev)


def test_it_does_not_rule_over_a_confirmed_one_unless_the_tree_is_the_users_own(tmp_path: Path) -> None:
    for text in (TAGGED, COMMITTED):
        with pytest.raises(git_process.FetchError, match=r"and the profile pins a+ .confirmed.: someone moved it"):
            follow(tmp_path, text, confidence="confirmed")
    assert follow(tmp_path, TAGGED, confidence="confirmed", keep=True) == ("v3.7.1", "")
    assert follow(tmp_path, COMMITTED, confidence="confirmed", rev=REV) == ("", REV)


@pytest.mark.parametrize(
    ("version", "old"),
    [
        ("git version 2.30.2", True),
        ("git version 1.8.3.1", True),
        ("git version 2.31.0", False),
        ("git version 2.39.5 (Apple Git-154)", False),
        ("git version 3.0", False),
        ("", False),
    ],
)
def test_a_git_that_could_not_be_led_is_refused_before_anything_compiles(version: str, old: bool) -> None:
    class Answering:
        def ask(self, *_words: str) -> str:
            return version

    if old:
        with pytest.raises(git_process.FetchError, match="takes no settings from variables"):
            fetch_source.refuse_old(Answering())
    else:
        fetch_source.refuse_old(Answering())
