"""The modules of the helpers and what each imports or starts, read from their text."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HELPERS = Path(__file__).parents[1] / "xpusetup/helpers"
LIBRARY = "helperlib"


@cache
def modules() -> dict[str, Path]:
    """Give entry scripts and libraries by the name under which Python knows them; a suite's own tests are neither."""
    files = [*HELPERS.glob("*.py"), *(HELPERS / LIBRARY).rglob("*.py")]
    return {_name_of(path): path for path in sorted(files)}


def _name_of(path: Path) -> str:
    return ".".join(path.relative_to(HELPERS).with_suffix("").parts).removesuffix(".__init__")


def is_entry(name: str) -> bool:
    """Say whether a module lies where steps and the program call it by name."""
    return "." not in name and name != LIBRARY


@cache
def imported(name: str) -> frozenset[str]:
    """Give the modules of the helpers that one imports, in functions and for types too, or by importlib."""
    tree = ast.parse(modules()[name].read_text(encoding="utf-8"))
    return frozenset(_known(tree)) - {name}


def _known(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value:
            found = [node.value]
        else:
            continue
        yield from (each for each in found if each in modules())


def started(name: str) -> set[str]:
    """Give the entry scripts that a module starts in processes of their own."""
    tree = ast.parse(modules()[name].read_text(encoding="utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return {each for each in modules() if is_entry(each) and f"{each}.py" in texts and each != name}


def closure(name: str) -> set[str]:
    """Give all modules that have to lie beside an entry script for it to run."""
    found: set[str] = set()
    todo = {name}
    while todo:
        one = todo.pop()
        found.add(one)
        parents = {LIBRARY} if one.startswith(f"{LIBRARY}.") else set()
        todo |= (imported(one) | started(one) | parents) - found
    return found


def closure_files(name: str) -> list[Path]:
    """Give the files of a closure, with the data that lies beside a module under its name."""
    paths = [modules()[each] for each in sorted(closure(name))]
    return [*paths, *(data for path in paths if (data := path.with_suffix(".json")).exists())]
