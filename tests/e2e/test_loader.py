"""The model of the dynamic loader beside the real one: small libraries for every rule, opened by a real process."""

from __future__ import annotations

import importlib
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

elf_file: Any = importlib.import_module("helperlib.elf.file")
elf_loader: Any = importlib.import_module("helperlib.elf.loader")

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("loader")]
OPENER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
static int tell(struct dl_phdr_info *one, size_t size, void *data) { return printf("%s\\n", one->dlpi_name) < 0; }
int main(int count, char **names) {
  for (int number = 1; number < count; number++)
    if (!dlopen(names[number], RTLD_NOW)) fprintf(stderr, "%s\\n", dlerror());
  return dl_iterate_phdr(tell, 0);
}
"""
AUXILIARY, RUNPATH = 0x7FFFFFFD, 29
ARM = 183


@dataclass
class Stage:
    """A folder of libraries, a program, and what it is to open with which LD_LIBRARY_PATH."""

    folder: Path
    variable: list[str] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)

    def library(self, name: str, *needs: str, soname: str = "", **words: Any) -> str:
        """Link a library, which needs others by their paths here. `rpath` is the old kind, `runpath` the new one."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        own = f"-Wl,-soname,{soname or path.name}" if soname != "none" else "-DNONE"
        self._link("-shared", "-fPIC", own, *self._linked(needs, **words), "-x", "c", os.devnull, "-o", str(path))
        return str(path)

    def program(self, *needs: str, **words: Any) -> str:
        (self.folder / "opener.c").write_text(OPENER)
        self._link("opener.c", "-o", "opener", *self._linked(needs, **words), "-ldl")
        return str(self.folder / "opener")

    def _linked(self, needs: tuple[str, ...], *, rpath: str = "", runpath: str = "", more: str = "") -> list[str]:
        kind = "-Wl,--disable-new-dtags" if rpath else "-Wl,--enable-new-dtags"
        search = [f"-Wl,-rpath,{rpath or runpath}"] if rpath or runpath else []
        lax = ["-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", "-Wl,-rpath-link,/nowhere"]
        after = ["-x", "none", *needs] if needs else []
        return [kind, *search, *lax, *([more] if more else []), *after]

    def _link(self, *words: str) -> None:
        done = subprocess.run(("gcc", *words), cwd=self.folder, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def real(self) -> list[str]:
        """Give what a real process loads of this folder, in order."""
        env = {"LD_LIBRARY_PATH": ":".join(self.variable)} if self.variable else {}
        run = (str(self.folder / "opener"), *self.opened)
        done = subprocess.run(run, env=env, cwd=self.folder, check=False, capture_output=True, text=True)
        assert done.returncode == 0 or "cannot open shared object" in done.stderr, done.stderr
        return self._own(done.stdout.splitlines())

    def modelled(self) -> list[str]:
        """Give what the model loads of it."""
        disk = elf_loader.FileReader()
        process = elf_loader.Process(disk.places(":".join(self.variable)))
        process.start(disk.look(str(self.folder / "opener")))
        for name in self.opened:
            trial = process.fork()
            if trial.open(name, by=trial.order[0]) is not None and not trial.missing:  # else the loader takes all back
                process = trial
        return self._own([one.library.path for one in process.order[1:]])

    def _own(self, paths: list[str]) -> list[str]:
        whole = (os.path.normpath(self.folder / path) for path in paths if "/" in path)
        return [path for path in whole if path.startswith(f"{self.folder}/") and path != f"{self.folder}/opener"]


def runpath(stage: Stage) -> None:
    stage.program(stage.library("a/liba.so"), runpath="$ORIGIN/a")


def rpath(stage: Stage) -> None:
    stage.program(stage.library("a/liba.so"), rpath="${ORIGIN}/a")


def variable_before_runpath(stage: Stage) -> None:
    stage.library("b/liba.so")
    stage.program(stage.library("a/liba.so"), runpath="$ORIGIN/a")
    stage.variable = [f"{stage.folder}/none", f"{stage.folder}/b"]


def rpath_before_variable(stage: Stage) -> None:
    stage.library("b/liba.so")
    stage.program(stage.library("a/liba.so"), rpath="$ORIGIN/a")
    stage.variable = [f"{stage.folder}/b"]


def order_of_the_variable(stage: Stage) -> None:
    stage.program(stage.library("a/liba.so"))
    stage.library("b/liba.so")
    stage.variable = [f"{stage.folder}/b", f"{stage.folder}/a"]


def rpath_of_what_loaded_it(stage: Stage) -> None:
    inner = stage.library("deep/libc_.so")
    middle = stage.library("a/libb.so", inner)
    stage.program(stage.library("a/liba.so", middle, rpath="$ORIGIN:$ORIGIN/../deep"), runpath="$ORIGIN/a")


def rpath_of_the_program(stage: Stage) -> None:
    inner = stage.library("deep/libc_.so")
    stage.library("a/liba.so", inner)
    stage.program(rpath="$ORIGIN/deep")
    stage.opened = [f"{stage.folder}/a/liba.so"]


def runpath_is_not_handed_on(stage: Stage) -> None:
    inner = stage.library("deep/libc_.so")
    middle = stage.library("a/libb.so", inner)
    stage.library("a/liba.so", middle, runpath="$ORIGIN:$ORIGIN/../deep")
    stage.program(runpath="$ORIGIN/deep")
    stage.opened = [f"{stage.folder}/a/libb.so"]


def own_runpath_shuts_out_the_rpath_of_others(stage: Stage) -> None:
    inner = stage.library("deep/libc_.so")
    stage.library("other/libc_.so")
    stage.library("a/liba.so", inner, runpath="$ORIGIN/../other")
    stage.program(rpath="$ORIGIN/deep")
    stage.opened = [f"{stage.folder}/a/liba.so"]


def runpath_beside_rpath(stage: Stage) -> None:
    stage.library("new/libb.so")
    inner = stage.library("old/libb.so")
    outer = stage.library("a/liba.so", inner, rpath="$ORIGIN/../old", more="-Wl,-f,$ORIGIN/../new")
    change_tag(Path(outer), AUXILIARY, RUNPATH)
    stage.program()
    stage.opened = [outer]


def soname_of_what_is_loaded(stage: Stage) -> None:
    stage.library("a/first.so", soname="libx.so.1")
    second = stage.library("b/libx.so.1")
    stage.library("a/needs.so", second, runpath="$ORIGIN/../b")
    stage.program()
    stage.opened = [f"{stage.folder}/a/first.so", f"{stage.folder}/a/needs.so"]


def soname_of_what_comes_later(stage: Stage) -> None:
    first = stage.library("a/libx.so.1")
    second = stage.library("b/libx.so.1")
    left = stage.library("a/libleft.so", first, runpath="$ORIGIN")
    right = stage.library("b/libright.so", second, runpath="$ORIGIN")
    stage.program(left, right, runpath="$ORIGIN/a:$ORIGIN/b")


def other_major(stage: Stage) -> None:
    old, new = stage.library("a/libx.so.8"), stage.library("a/libx.so.9")
    stage.program(stage.library("a/libold.so", old), stage.library("a/libnew.so", new), rpath="$ORIGIN/a")


def one_file_with_two_names(stage: Stage) -> None:
    path = stage.library("a/liba.so", soname="none")
    (stage.folder / "a/again.so").symlink_to("liba.so")
    stage.program()
    stage.opened = [path, f"{stage.folder}/a/again.so"]


def two_copies_without_soname(stage: Stage) -> None:
    stage.program()
    stage.opened = [stage.library("a/liba.so", soname="none"), stage.library("b/liba.so", soname="none")]


def level_by_level(stage: Stage) -> None:
    deep = stage.library("a/libdeep.so")
    left, right = stage.library("a/libleft.so", deep), stage.library("a/libright.so")
    stage.program(left, right, rpath="$ORIGIN/a")


def for_another_machine(stage: Stage) -> None:
    content = bytearray(Path(stage.library("b/liba.so")).read_bytes())
    content[18:20] = ARM.to_bytes(2, "little")
    (stage.folder / "b/liba.so").write_bytes(content)
    stage.program(stage.library("a/liba.so"), runpath="$ORIGIN/b:$ORIGIN/a")


def name_with_a_slash(stage: Stage) -> None:
    stage.library("a/libx.so", soname="none")
    stage.library("a/liba.so", "./a/libx.so")
    stage.program()
    stage.opened = [f"{stage.folder}/a/liba.so"]


def opened_by_name(stage: Stage) -> None:
    stage.library("a/liba.so")
    stage.program(runpath="$ORIGIN/a")
    stage.opened = ["liba.so", "libm.so.6"]


def opened_and_not_there(stage: Stage) -> None:
    stage.library("a/liba.so")
    stage.program()
    stage.opened = ["liba.so", f"{stage.folder}/none.so"]


RULES: tuple[Callable[[Stage], None], ...] = (
    runpath,
    rpath,
    variable_before_runpath,
    rpath_before_variable,
    order_of_the_variable,
    rpath_of_what_loaded_it,
    rpath_of_the_program,
    runpath_is_not_handed_on,
    own_runpath_shuts_out_the_rpath_of_others,
    runpath_beside_rpath,
    soname_of_what_is_loaded,
    soname_of_what_comes_later,
    other_major,
    one_file_with_two_names,
    two_copies_without_soname,
    level_by_level,
    for_another_machine,
    name_with_a_slash,
    opened_by_name,
    opened_and_not_there,
)
NOTHING = {"runpath_is_not_handed_on", "opened_and_not_there"}
"""Rules by which nothing is loaded."""


def change_tag(path: Path, old: int, new: int) -> None:
    """Rename an entry of the dynamic segment: no linker of today writes a RUNPATH and an RPATH into one file."""
    content = bytearray(path.read_bytes())
    segment = next(one for one in elf_file.Elf(bytes(content)).segments if one.kind == elf_file.DYNAMIC)
    for place in range(segment.offset, segment.offset + segment.size, 16):
        if int.from_bytes(content[place : place + 8], "little") == old:
            content[place : place + 8] = new.to_bytes(8, "little")
            path.write_bytes(content)
            return
    pytest.fail(f"{path} has no entry {old}")


@pytest.mark.parametrize("rule", RULES, ids=[rule.__name__ for rule in RULES])
def test_the_model_loads_what_the_loader_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: Callable[[Stage], None]
) -> None:
    monkeypatch.chdir(tmp_path)
    stage = Stage(tmp_path)
    rule(stage)
    real = stage.real()
    assert stage.modelled() == real
    assert bool(real) != (rule.__name__ in NOTHING), "the rule was not put to the test"


def test_the_cache_holds_what_ldconfig_says() -> None:
    said = subprocess.run(("/sbin/ldconfig", "-p"), check=True, capture_output=True, text=True).stdout
    lines = [line.split() for line in said.splitlines()[1:] if "=>" in line and "x86-64" in line]
    cache = elf_loader.read_cache(elf_loader.CACHE)
    assert {(words[0], words[-1]) for words in lines} == {
        (name, path) for name, paths in cache.items() for path in paths
    }
