"""XPU for an installed torch, with real programs: git, the compiler and linker, and a Python that loads the package."""

from __future__ import annotations

import importlib
import subprocess
import sys
import types
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from data.addon_trees import write_trees
from test_xpu_addon import packed
from xpusetup.base.errors import NotReadyError
from xpusetup.base.model import Request
from xpusetup.commands import try_change
from xpusetup.config.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

change: Any = importlib.import_module("helperlib.addon.change")
generate: Any = importlib.import_module("helperlib.addon.generate")
graph: Any = importlib.import_module("helperlib.addon.graph")
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


SOURCES = {
    "src/scale.h": "#define SCALE 2\n",
    "src/scaled.cpp": '#include "scale.h"\nint scaled(int x) { return x * SCALE; }\n',
    "src/shifted.cpp": "int shifted(int x) { return x + 1; }\n",
    "src/unused.h": "",
}
MAIN = '#include <cstdio>\nint scaled(int), shifted(int);\nint main() { printf("%d %d", scaled(5), shifted(5)); }\n'


def test_a_change_compiles_what_includes_it_and_going_back_gives_the_first_result(tmp_path: Path) -> None:
    trees, work = (tmp_path / "theirs", tmp_path / "mine"), tmp_path / "work"
    for name, text in SOURCES.items():
        for tree in trees:
            generate.keep(tree / name, text)
    generate.keep(tmp_path / "main.cpp", MAIN)
    generate.keep(trees[1] / "src/scale.h", "#define SCALE 3\n")
    lines = [graph.RULES.format(work=work, host="g++", kernels="g++")]
    lines += [f"build {work}/{name}.o: kernels {work}/ops/src/{name}.cpp\n" for name in ("scaled", "shifted")]
    generate.keep(work / "build.ninja", "".join(lines))

    def compute(tree: Path) -> tuple[str, list[str]]:
        copy = change.compare(tree, work / "ops")
        copy.sync()
        code, compiled = change.run_ninja(("ninja", "-C", str(work), "-j1"), copy)
        assert code == 0
        objects = (str(work / f"{name}.o") for name in ("scaled", "shifted"))
        subprocess.run(("g++", str(tmp_path / "main.cpp"), *objects, "-o", str(work / "main")), check=True)
        done = subprocess.run((work / "main",), capture_output=True, text=True, check=True)
        return done.stdout, sorted(each.removeprefix(f"{tmp_path}/") for each in compiled)

    assert compute(trees[0]) == ("10 6", ["theirs/src/scaled.cpp", "theirs/src/shifted.cpp"])
    assert compute(trees[1]) == ("15 6", ["mine/src/scaled.cpp"])
    assert compute(trees[1]) == ("15 6", [])
    assert compute(trees[0]) == ("10 6", ["theirs/src/scaled.cpp"])
    generate.keep(trees[1] / "src/unused.h", "int unused;\n")
    assert change._included(work, change.compare(trees[1], work / "ops"))
    generate.keep(trees[1] / "src/scale.h", SOURCES["src/scale.h"])
    assert not change._included(work, change.compare(trees[1], work / "ops"))
    generate.keep(trees[1] / "src/scaled.cpp", "int scaled(int x) { return wrong; }\n")
    copy = change.compare(trees[1], work / "ops")
    copy.sync()
    assert change.run_ninja(("ninja", "-C", str(work), "-j1"), copy)[0] == 1


def test_a_commit_and_a_pull_request_are_the_pinned_tree_with_what_they_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    served = tmp_path / "served"
    served.mkdir()

    def git(*words: str) -> str:
        named = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
        done = subprocess.run(("git", "-C", served, *named, *words), capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(**files: str) -> str:
        for name, text in files.items():
            (served / name).write_text(text)
        git("add", ".")
        git("commit", "-qm", "x")
        return git("rev-parse", "HEAD")

    git("init", "-q")
    commit(a="a\n" * 9, b="b\n" * 9, c="c\n", d="d\n")
    git("checkout", "-qb", "release")
    pin = commit(d="of the release\n")
    git("checkout", "-q", "main")
    main = commit(c="main\n")
    own = commit(a="a\n" * 8 + "changed\n")
    clash = commit(d="on main\n")
    git("checkout", "-qb", "work", main)
    commit(b="b\n" * 8 + "first\n")
    git("update-ref", "refs/pull/7/head", commit(b="b\n" * 8 + "second\n"))
    git("checkout", "-qb", "backport", pin)
    git("update-ref", "refs/pull/8/head", commit(c="backported\n"))
    git("checkout", "-q", "main")
    monkeypatch.setattr(try_change, "_address", lambda _: str(served))
    place = types.SimpleNamespace(root=tmp_path / "root", settings=Settings())

    def tree(what: str, **sources: str) -> tuple[str, ...]:
        found = try_change._find_tree(place, Request(sources=tuple(sources.items())), what, pin)  # type: ignore[arg-type]
        return tuple((found / name).read_text().splitlines()[-1] for name in "abcd")

    assert tree(own) == ("changed", "b", "c", "of the release")
    assert tree("pr/7") == ("a", "second", "c", "of the release")
    assert tree("pr/8") == ("a", "b", "backported", "of the release")
    own_tree = Request(sources=(("torch-xpu-ops", str(served)),))
    assert (try_change._find_tree(place, own_tree, own[:10], pin) / "a").read_text().endswith("changed\n")  # type: ignore[arg-type]
    assert try_change._find_tree(place, Request(), str(served), pin) == served  # type: ignore[arg-type]
    with pytest.raises(NotReadyError, match=f"{clash} does not fit torch-xpu-ops at {pin[:12]}"):
        tree(clash)


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
