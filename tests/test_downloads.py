"""What source files say that they may download: CMake, setup files, and what only looks like it."""

from __future__ import annotations

import pytest

from xpusetup.bundle.contents import Download, is_scanned, order_downloads, scan_file

FETCHCONTENT = """
include(FetchContent)
# FetchContent_Declare(commented URL https://commented.invalid/x.zip)
#[[ FetchContent_Declare(also URL https://also.invalid/x.zip) ]]
set(TLA_REPO "https://git.invalid/sycl-tla.git")
FetchContent_Declare(
    repo-sycl-tla
    GIT_REPOSITORY ${TLA_REPO}
    GIT_TAG        v0.9
)
FetchContent_Declare(local SOURCE_DIR ${CMAKE_SOURCE_DIR}/third_party/local)
FetchContent_MakeAvailable(repo-sycl-tla)
message(STATUS "FetchContent_Declare(in a text URL https://text.invalid/)")
"""
EXTERNAL = """
ExternalProject_Add(psimd
  GIT_REPOSITORY https://git.invalid/psimd.git
  GIT_TAG master
  SOURCE_DIR "${CONFU_DEPENDENCIES_SOURCE_DIR}/psimd")
ExternalProject_Add(nccl_external SOURCE_DIR ${PROJECT_SOURCE_DIR}/third_party/nccl BUILD_COMMAND make)
file(DOWNLOAD "https://files.invalid/six-1.16.tar.gz" ${TO} EXPECTED_HASH SHA256=00)
file(READ version.txt VERSION)
CPMAddPackage("gh:fmtlib/fmt#7.1.3")
CPMAddPackage(NAME boost URL https://files.invalid/boost.tar.xz)
"""
PROCESSES = """
find_package(Git)
set(XPU_URL https://git.invalid/torch-xpu-ops.git)
execute_process(
  COMMAND ${GIT_EXECUTABLE} clone --quiet ${XPU_URL} ${DIR}
  RESULT_VARIABLE RESULT)
execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse HEAD OUTPUT_VARIABLE HEAD)
execute_process(COMMAND git submodule update --init)
add_custom_command(OUTPUT m COMMAND wget https://files.invalid/m.bin)
execute_process(COMMAND ${Python_EXECUTABLE} -m pip install jinja2)
execute_process(COMMAND ${CMAKE_COMMAND} -E echo "git clone")
"""
BROKEN = (
    'FetchContent_Declare(a URL https://a.invalid/a.zip)\nset(x "never closed)\nfile(DOWNLOAD https://b.invalid) )) ('
)
SETUP = '''
import subprocess, urllib.request
from urllib.request import urlopen
URL = "https://llvm.invalid/llvm-builds/"
# urlopen("https://commented.invalid")
def get(name):
    """urlopen("https://documented.invalid")"""
    with urlopen(URL + name) as answer:
        return answer.read()
urllib.request.urlretrieve(url=f"https://files.invalid/{name}", filename=name)
subprocess.check_call(["git", "submodule", "update", "--init", "--recursive"])
subprocess.check_output(["git", "rev-parse", "HEAD"])
subprocess.run("curl -L https://files.invalid/tool | tar x", shell=True)
subprocess.run([sys.executable, "-m", "pip", "install", "numpy"])
os.system("wget https://files.invalid/data")
config.get("https://not.invalid/a-request")
requests.get(URL, timeout=5)
'''


def found(name: str, text: str) -> list[tuple[int, str, str]]:
    return [(item.line, item.how, item.what) for item in scan_file(name, text)]


def test_fetchcontent() -> None:
    """Comments, texts and sources that lie in the tree are none; a variable of the same file is filled in."""
    assert found("CMakeLists.txt", FETCHCONTENT) == [(6, "FetchContent", "https://git.invalid/sycl-tla.git")]


def test_external_projects_files_and_packages() -> None:
    assert found("cmake/External/x.cmake", EXTERNAL) == [
        (2, "ExternalProject", "https://git.invalid/psimd.git"),
        (7, "file(DOWNLOAD)", "https://files.invalid/six-1.16.tar.gz"),
        (9, "CPM", "gh:fmtlib/fmt#7.1.3"),
        (10, "CPM", "https://files.invalid/boost.tar.xz"),
    ]


def test_programs_that_cmake_starts() -> None:
    assert found("x.cmake", PROCESSES) == [
        (4, "execute_process", "https://git.invalid/torch-xpu-ops.git"),
        (8, "execute_process", "git submodule"),
        (9, "add_custom_command", "https://files.invalid/m.bin"),
        (10, "execute_process", "pip install"),
    ]


def test_setup_files() -> None:
    assert found("setup.py", SETUP) == [
        (8, "urlopen", "https://llvm.invalid/llvm-builds/"),
        (10, "urllib.request.urlretrieve", "https://files.invalid/"),
        (11, "subprocess.check_call", "git submodule"),
        (13, "subprocess.run", "https://files.invalid/tool"),
        (14, "subprocess.run", "pip install"),
        (15, "os.system", "https://files.invalid/data"),
        (17, "requests.get", "https://llvm.invalid/llvm-builds/"),
    ]


@pytest.mark.parametrize("text", ["def (:", "\0", "(" * 5000, 'print "old"'], ids=["half", "nul", "deep", "old"])
def test_what_is_no_python_says_nothing(text: str) -> None:
    assert found("setup.py", text) == []


def test_a_broken_cmake_file_is_read_as_far_as_it_goes() -> None:
    assert found("CMakeLists.txt", BROKEN)[0] == (1, "FetchContent", "https://a.invalid/a.zip")


def test_the_llvm_that_triton_names() -> None:
    rev = "1188b1ff7b956cb65d8ddda5f1e56c432f1a57c7"
    assert found("cmake/llvm-hash.txt", f"{rev}\n") == [(1, "LLVM of Triton", rev)]
    assert found("cmake/llvm-info.json", '{"llvm": "none yet"}') == []


@pytest.mark.parametrize(
    ("name", "scanned"),
    [
        ("CMakeLists.txt", True),
        ("third_party/x/CMakeLists.txt", True),
        ("cmake/External/nccl.cmake", True),
        ("setup.py", True),
        ("tools/setup_helpers/cmake.py", True),
        ("setup_triton.py", True),
        ("torch/utils/data.py", False),
        ("docs/CMakeLists.txt.md", False),
        ("cmake/llvm-hash.txt", True),
        ("requirements.txt", False),
    ],
)
def test_which_files_are_read(name: str, scanned: bool) -> None:
    assert is_scanned(name) is scanned


def test_the_tree_itself_comes_first() -> None:
    deep, top = (
        Download(file=file, line=line, how="x", what="y")
        for file, line in (("a/b/c.cmake", 1), ("a/CMakeLists.txt", 9))
    )
    assert order_downloads([deep, top, deep]) == [top, deep]
