"""XPU for an installed torch, with real programs: git, the compiler and linker, and a Python that loads the package."""

from __future__ import annotations

import importlib
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from data.addon_trees import write_trees
from test_xpu_addon import packed

if TYPE_CHECKING:
    from pathlib import Path

installed: Any = importlib.import_module("helperlib.addon.installed")
source: Any = importlib.import_module("helperlib.addon.source")
pytestmark = pytest.mark.e2e


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    return write_trees(tmp_path)


def test_another_commit_than_the_pin_is_refused_and_commits_on_top_are_not(trees: Path) -> None:
    def git(*words: str) -> str:
        named = ("-c", "user.name=a", "-c", "user.email=a@b")
        done = subprocess.run(("git", "-C", trees / "ops", *named, *words), capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "pin")
    with pytest.raises(installed.AddonError, match="does not have the commit aaaa"):
        source.read_trees(trees / "torch", trees / "ops")
    (trees / "torch/third_party/xpu.txt").write_text(git("rev-parse", "HEAD"))
    git("commit", "-qm", "own", "--allow-empty")
    assert source.read_trees(trees / "torch", trees / "ops").release == "2.6.0"


def test_the_largest_group_is_rounded_down_to_a_power_of_two(tmp_path: Path) -> None:
    path, program = tmp_path / "a.h", tmp_path / "a"
    path.write_text("return k.get_info<::sycl::info::kernel_device_specific::work_group_size>(dev);")
    text = source.edit(path, source.PROCESSOR_HEADERS["comm/DeviceProperties.h"], tmp_path / "b.h").read_text()
    body = text.replace("k.get_info<::sycl::info::kernel_device_specific::work_group_size>(dev)", "given")
    main = (
        f"#include <cstdint>\n#include <cstdio>\n#include <initializer_list>\nint64_t f(int64_t given) {{ {body} }}\n"
    )
    main += 'int main() { for (int64_t n : {1, 8192, 6592, 5936, 4944}) printf("%d ", int(f(n))); }\n'
    (tmp_path / "a.cpp").write_text(main)
    subprocess.run(("g++", str(tmp_path / "a.cpp"), "-o", str(program)), check=True)
    assert subprocess.run((program,), capture_output=True, text=True, check=True).stdout == "1 8192 4096 4096 4096 "


@pytest.mark.parametrize("words", [("-Wl,-z,lazy",), ("-Wl,-z,now",), ("-Wl,-Bsymbolic",), ("-fno-plt",)])
def test_a_look_up_that_is_not_called_by_the_table_is_seen(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "a.c").write_text("int look(void) { return 1; }\nint ask(void) { return look(); }\n")
    library = tmp_path / "liba.so"
    subprocess.run(("gcc", "-O0", "-fPIC", "-shared", *words, str(tmp_path / "a.c"), "-o", str(library)), check=True)
    assert installed.calls_by_table(library, "look") == (words[0] in {"-Wl,-z,lazy", "-Wl,-z,now"})
    assert not installed.calls_by_table(library, "ask")
    assert not installed.calls_by_table(tmp_path / "a.c", "look")


LOADING = """
import sys, types, warnings
torch = types.ModuleType("torch")
torch.__version__, torch.__file__ = {version!r}, "/t/__init__.py"
torch.version = types.SimpleNamespace(git_version={git!r})
torch._C = types.SimpleNamespace(_has_xpu={xpu})
sys.modules["torch"] = torch
sys.path.insert(0, {folder!r})
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    import xpusetup_torch_xpu
    xpusetup_torch_xpu.load()
print([str(each.message) for each in heard], torch._C._has_xpu, "xpusetup_torch_xpu._bindings" in sys.modules)
"""


@pytest.mark.parametrize(
    ("version", "git", "xpu", "said"),
    [
        ("2.6.0+xpu", "b" * 40, True, "torch 2.6.0+xpu has XPU of its own"),
        ("2.6.0+cpu", "b" * 40, False, "it was built for torch 2.6.0+cu124, and this is 2.6.0+cpu"),
        ("2.6.0+cu124", "c" * 40, False, "it was built for torch 2.6.0+cu124"),
        ("2.6.0+cu124", "b" * 40, False, "invalid ELF header|file too short"),
    ],
)
def test_what_is_in_the_way_is_a_warning_and_torch_stays(
    tmp_path: Path, version: str, git: str, xpu: bool, said: str
) -> None:
    with zipfile.ZipFile(packed(tmp_path)) as archive:
        archive.extractall(tmp_path / "site")
    code = LOADING.format(version=version, git=git, xpu=xpu, folder=str(tmp_path / "site"))
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith(f"] {xpu} False"), done.stdout
    assert any(word in done.stdout for word in said.split("|")), done.stdout
