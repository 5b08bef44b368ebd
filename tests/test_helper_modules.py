"""The helpers' shape: entry scripts flat, libraries in folders, and all that an entry needs travels with it."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from data.profiles import shipped
from helper_modules import HELPERS, LIBRARY, closure, closure_files, imported, is_entry, modules, started
from test_layers import cycle_of
from xpusetup.run.root import clear_drafts, helper_files, open_root

if TYPE_CHECKING:
    from pathlib import Path

MOST = 125
"""Eighty when they were put into folders, fourteen of features that came since, twenty-two of the SYCL compiler, and
nine of XPU beside a torch."""
PLUGINS = {"fallback_plugin"}
"""Entries that pytest is told by name."""
FOREIGN = {"pip", "pytest", "torch", "triton"}
"""What the environments of the helpers may have; anything else is asked for by importlib, where it may be absent."""


def has_main(name: str) -> bool:
    return "__main__" in modules()[name].read_text()


def test_there_are_few() -> None:
    assert len(list(HELPERS.rglob("*.py"))) <= MOST


def test_entries_lie_flat_and_libraries_in_folders() -> None:
    assert [name for name in modules() if is_entry(name) != (has_main(name) or name in PLUGINS)] == []


def test_a_library_imports_no_entry() -> None:
    libraries = [name for name in modules() if not is_entry(name)]
    assert [(name, each) for name in libraries for each in imported(name) if is_entry(each)] == []


def test_every_library_is_imported() -> None:
    used = {each for name in modules() for each in imported(name)} | {LIBRARY}
    assert [name for name in modules() if not is_entry(name) and name not in used] == []


def test_no_helper_imports_itself_on_the_way() -> None:
    assert cycle_of({name: set(imported(name)) for name in modules()}) == []


def test_what_a_helper_imports_is_there() -> None:
    tops: dict[str, str] = {}
    for name, path in modules().items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                tops |= {alias.name.split(".")[0]: name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                tops[node.module.split(".")[0]] = name
    known = {each.split(".")[0] for each in modules()} | FOREIGN | set(sys.stdlib_module_names)
    assert {each: name for each, name in tops.items() if each not in known} == {}


def test_no_entry_hides_a_module_of_python() -> None:
    assert {name for name in modules() if "." not in name} & (set(sys.stdlib_module_names) | FOREIGN) == set()


def test_a_closure_has_what_is_imported_and_what_is_started() -> None:
    assert {"device_checks", "collective_rank", "helperlib", "helperlib.checks.resnet"} <= closure("verify_device")
    assert started("verify_device") == {"device_checks"}
    assert "helperlib.git.process" not in closure("verify_device")
    assert HELPERS / "helperlib/fallbacks/messages.json" in closure_files("collect_fallbacks")
    assert "helperlib.suites.plugin" in closure("run_suite")


def test_all_that_an_entry_needs_travels() -> None:
    travels = helper_files(shipped("sim"))
    needed = {path for name in modules() if is_entry(name) for path in closure_files(name)}
    assert [path for path in needed if f"helpers/{path.relative_to(HELPERS)}" not in travels] == []


def test_half_written_helpers_of_a_killed_run_go(tmp_path: Path) -> None:
    root = open_root(tmp_path / "root")
    kept, draft = root / "helpers/helperlib/git/store.py", root / "helpers/helperlib/git/.store.py.abcd1234"
    kept.parent.mkdir(parents=True)
    for path in (kept, draft):
        path.touch()
    clear_drafts(root)
    assert (kept.exists(), draft.exists()) == (True, False)
