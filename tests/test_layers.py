"""The shape of the program as a test: who imports whom, what few modules alone may touch, and how large things are."""

from __future__ import annotations

import ast
from fnmatch import fnmatch
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parents[1] / "xpusetup"
ORDER = (
    "base",
    "system",
    "config",
    "machine",
    "paste",
    "doctor",
    "recommend",
    "plan",
    "emit",
    "run",
    "explain",
    "verify",
    "report",
    "suites",
    "bundle",
    "adopt",
    "bisect",
    "rebuild",
    "commands",
    "ui",
    "cli",
)
"""The packages; each imports of itself and of those before it."""
STANDALONE = ("helpers", "simxpu")
"""What travels with the steps, and imports nothing of the program."""
LOOSE = {"", "__main__"}
EFFECTS = (
    "system.*",
    "machine.probe*",
    "run.lock",
    "run.runner",
    "run.step_process",
    "bundle.io",
    "bundle.without_network",
)
"""Modules that start processes, reach the network, read clocks and the environment."""
EFFECTS_ONLY = {"subprocess", "time", "psutil", "distro", "socket", "os.environ", "os.getenv", "os.environb"}
SCREENS = ("ui", "ui.*", "cli", "cli.*")
SCREENS_ONLY = {"rich", "typer"}


class Use(NamedTuple):
    module: str
    name: str
    line: int


def sources() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip(".")


def top(module: str) -> str:
    return module.split(".", maxsplit=1)[0]


def imports_of(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every imported name, those of functions and of TYPE_CHECKING blocks included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def touched(tree: ast.AST) -> Iterator[tuple[str, int]]:
    yield from imports_of(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
            yield f"os.{node.attr}", node.lineno


@cache
def uses() -> list[Use]:
    trees = ((module_of(path), ast.parse(path.read_text())) for path in sources())
    return [Use(module, name, line) for module, tree in trees for name, line in touched(tree)]


@cache
def modules() -> frozenset[str]:
    return frozenset(map(module_of, sources()))


def imported(name: str) -> str | None:
    """Give the module of ours that an imported name is, or is taken from; None for what is not ours."""
    if top(name) != "xpusetup":
        return None
    below = name.removeprefix("xpusetup").lstrip(".")
    return below if below in modules() else below.rpartition(".")[0]


def graph() -> dict[str, set[str]]:
    """Which modules each module imports."""
    found: dict[str, set[str]] = {}
    for use in uses():
        other = imported(use.name)
        if other is not None and top(use.module) not in STANDALONE:
            found.setdefault(use.module, set()).add(other)
    return found


def test_the_page_of_the_design_has_the_order() -> None:
    page = (PACKAGE.parent / "docs/design.md").read_text()
    told = page.partition("The order, from below: ")[2].partition(".")[0]
    assert tuple(told.replace("\n", " ").split(", ")) == ORDER


def test_every_module_lies_in_a_package() -> None:
    assert {top(module) for module in modules()} - LOOSE - set(STANDALONE) == set(ORDER)


def test_imports_go_down() -> None:
    level = {"": -1, **{name: number for number, name in enumerate(ORDER)}}
    wrong = [
        f"{module} imports {other}"
        for module, others in graph().items()
        for other in others
        if level.get(top(other), 99) > level.get(top(module), 99)
    ]
    assert wrong == []


def cycle_of(imports: dict[str, set[str]]) -> list[str]:
    """Give the modules of one cycle; empty where there is none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_imports_itself_on_the_way() -> None:
    """Neither at its top, nor in a function, nor for types alone."""
    assert cycle_of(graph()) == []


def test_a_cycle_is_seen() -> None:
    assert set(cycle_of({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})) == {"a", "b", "c"}


def test_no_two_public_classes_have_one_name() -> None:
    places: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    assert len(places) > 500
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_what_travels_stands_alone() -> None:
    wrong = [use for use in uses() if top(use.module) in STANDALONE and use.name.startswith("xpusetup")]
    assert wrong == []


def banned(use: Use, names: set[str]) -> bool:
    return use.name.split(".")[0] in names or ".".join(use.name.split(".")[:2]) in names


@pytest.mark.parametrize(("names", "allowed"), [(EFFECTS_ONLY, EFFECTS), (SCREENS_ONLY, SCREENS)])
def test_who_may_touch_the_world(names: set[str], allowed: tuple[str, ...]) -> None:
    places = (*allowed, *(f"{name}.*" for name in STANDALONE))
    wrong = [use for use in uses() if banned(use, names) and not any(fnmatch(use.module, each) for each in places)]
    assert wrong == []


@pytest.mark.parametrize("place", EFFECTS)
def test_no_permission_is_left_over(place: str) -> None:
    assert [use for use in uses() if fnmatch(use.module, place) and banned(use, EFFECTS_ONLY)] != []


def test_the_scan_sees_what_it_looks_for() -> None:
    code = "import os\ndef f():\n    import subprocess\n    return os.environ\nfrom os import getenv\n"
    found = [name for name, _ in touched(ast.parse(code))]
    assert [name for name in found if banned(Use("x", name, 1), EFFECTS_ONLY)] == [
        "os.getenv",
        "subprocess",
        "os.environ",
    ]


def test_sizes() -> None:
    lengths = {}
    for path in sources():
        text = path.read_text()
        assert len(text.splitlines()) <= 500, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lengths[f"{module_of(path)}.{node.name}"] = (node.end_lineno or 0) - node.lineno + 1
    assert {name: length for name, length in lengths.items() if length > 40} == {}
