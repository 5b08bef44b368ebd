"""The shape of the program as a test: who may import whom, what only effects may touch, and how large things are."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from xpusetup.order import find_cycle

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parents[1] / "xpusetup"
LEVELS = (
    ("", "model", "errors", "events", "facts", "tomltext"),
    (
        "values",
        "profile",
        "hashes",
        "load",
        "order",
        "catalog",
        "devices",
        "ledger",
        "settings",
        "request",
        "refs",
        "requirement_files",
        "gpus",
        "targets",
        "platforms",
        "images",
        "outputs",
        "redact",
        "jobs",
        "amounts",
        "launcher",
        "engines",
    ),
    (
        "plan",
        "checks",
        "explain",
        "fallbacks",
        "changes",
        "keys",
        "aim",
        "lanes",
        "estimate",
        "curve",
        "forecast",
        "search",
        "nightlies",
        "progress",
        "guard",
        "resolve",
        "differ",
        "way",
        "accelerators",
        "extensions",
        "outcomes",
        "device_table",
        "begin",
        "advice",
        "bundles",
        "report",
        "matrix",
        "suites",
        "pairing",
    ),
    ("emit",),
    ("effects",),
    ("commands",),
    ("show", "cli"),
)
LEVEL = {name: level for level, names in enumerate(LEVELS) for name in names}
STANDALONE = ("helpers", "simxpu")
EFFECTS_ONLY = {"subprocess", "time", "git", "psutil", "distro", "socket", "os.environ", "os.getenv", "os.environb"}
SCREEN_ONLY = {"rich", "typer"}


class Use(NamedTuple):
    module: str
    name: str
    line: int


def sources() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip(".")


def top(module: str) -> str:
    """Give a module's first part."""
    return module.split(".", maxsplit=1)[0]


def imports_of(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Give every imported name, those of functions and of TYPE_CHECKING blocks included."""
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


def below(module: str) -> str:
    """Give what of our package an import names: the first part of the module below xpusetup."""
    name = top(module.removeprefix("xpusetup").lstrip("."))
    return name if name in LEVEL or name in STANDALONE else ""


def test_every_module_has_a_level() -> None:
    tops = {top(module_of(path)) for path in sources()} - set(STANDALONE)
    assert tops == set(LEVEL)


def test_imports_go_down() -> None:
    wrong = [
        f"{use.module}:{use.line} imports {use.name}"
        for use in uses()
        if use.name.split(".")[0] == "xpusetup" and top(use.module) not in STANDALONE
        if LEVEL.get(below(use.name), 99) > LEVEL[top(use.module)]
    ]
    assert wrong == []


def modules_named() -> dict[str, set[str]]:
    """Give, for each module of ours, those that it imports, for its types too."""
    ours = {f"xpusetup.{module_of(path)}".rstrip(".") for path in sources()}
    found: dict[str, set[str]] = {}
    for use in uses():
        to = use.name if use.name in ours else use.name.rpartition(".")[0]
        if to in ours - {"xpusetup", f"xpusetup.{use.module}"} and top(use.module) not in STANDALONE:
            found.setdefault(f"xpusetup.{use.module}", set()).add(to)
    return found


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = modules_named()
    assert len(graph["xpusetup.commands.build"]) > 20
    assert find_cycle({name: sorted(named) for name, named in graph.items()}) == []


def test_what_travels_stands_alone() -> None:
    wrong = [use for use in uses() if top(use.module) in STANDALONE and use.name.startswith("xpusetup")]
    assert wrong == []


def banned(use: Use, names: set[str]) -> bool:
    return use.name.split(".")[0] in names or ".".join(use.name.split(".")[:2]) in names


@pytest.mark.parametrize(("names", "allowed"), [(EFFECTS_ONLY, {"effects"}), (SCREEN_ONLY, {"show", "cli"})])
def test_who_may_touch_the_world(names: set[str], allowed: set[str]) -> None:
    places = allowed | set(STANDALONE)
    assert [use for use in uses() if top(use.module) not in places and banned(use, names)] == []


def test_the_scan_sees_what_it_looks_for() -> None:
    code = "import os\ndef f():\n    import subprocess\n    return os.environ\nfrom os import getenv\n"
    found = [name for name, _ in touched(ast.parse(code))]
    assert [name for name in found if banned(Use("x", name, 1), EFFECTS_ONLY)] == [
        "os.getenv",
        "subprocess",
        "os.environ",
    ]


@pytest.mark.parametrize("path", sources(), ids=module_of)
def test_sizes(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 500
    functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    lengths = {node.name: (node.end_lineno or 0) - node.lineno + 1 for node in functions}
    assert {name: length for name, length in lengths.items() if length > 40} == {}
