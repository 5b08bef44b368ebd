"""What a command imports before it does anything: modules cost more of a short command than its work does."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from xpusetup.base.verbs import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterator

TOP = Path(__file__).parents[1]
HEAVY = {"asyncio", "concurrent", "distro", "jinja2", "psutil", "rich.progress", "rich.table", "rich.live"}
"""What no short command needs before it knows that it does."""
MACHINE = ("xpusetup.doctor", "xpusetup.machine.facts", "xpusetup.machine.probe", "xpusetup.recommend")
"""What looks at a machine and judges it: a build that is done does neither."""
ELSEWHERE = ("xpusetup.bundle", "xpusetup.explain", "xpusetup.report", "xpusetup.suites", "xpusetup.verify")
PATHS = {
    "cli": ("xpusetup.commands", "xpusetup.ui", "xpusetup.run", "xpusetup.config", "pydantic", "rich"),
    "commands.build": (*MACHINE, *ELSEWHERE, "xpusetup.commands.profiles", "pydantic"),
    "commands.plan": (*MACHINE, *ELSEWHERE, "xpusetup.commands.profiles", "pydantic"),
    "commands.status": (*MACHINE, *ELSEWHERE, "xpusetup.run.runner", "pydantic"),
    "commands.doctor": (
        *ELSEWHERE,
        "xpusetup.machine.probe",
        "xpusetup.run.runner",
        "xpusetup.run.manifest",
        "pydantic",
    ),
}


def at_once(body: list[ast.stmt]) -> Iterator[str]:
    """Give what a module imports when it is imported: not in functions, and not for types alone."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ClassDef | ast.Try) or (isinstance(node, ast.If) and not is_for_types(node)):
            yield from at_once(node.body)


def is_for_types(node: ast.If) -> bool:
    return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def file_of(module: str) -> Path | None:
    path = TOP / module.replace(".", "/")
    return next((each for each in (path.with_suffix(".py"), path / "__init__.py") if each.is_file()), None)


@cache
def closure(module: str) -> frozenset[str]:
    """Give the names that importing a module imports, ours with all that they import."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = file_of(name) if name.startswith("xpusetup") else None
        if path is None and name.startswith("xpusetup."):
            name = name.rpartition(".")[0]
            path = file_of(name)
        if name in found:
            continue
        found.add(name)
        waiting += at_once(ast.parse(path.read_text()).body) if path else ()
    return frozenset(found)


def below(name: str, other: str) -> bool:
    """Say whether a name is another, or something of it; machine.probe stands for machine.probe_system too."""
    return name == other or name.startswith((f"{other}.", f"{other}_"))


@pytest.mark.parametrize("module", PATHS)
def test_a_short_command_imports_little(module: str) -> None:
    unwanted = (*HEAVY, *PATHS[module])
    assert [name for name in closure(f"xpusetup.{module}") for other in unwanted if below(name, other)] == []


def test_what_is_imported_is_seen() -> None:
    assert "xpusetup.machine.facts" in closure("xpusetup.commands.doctor")
    assert "pydantic.BaseModel" in closure("xpusetup.verify.provenance")


@pytest.mark.parametrize("verb", sorted({name.partition(" ")[0] for name in COMMANDS}))
def test_every_module_of_commands_is_imported_by_its_own_command_alone(verb: str) -> None:
    module = f"xpusetup.cli.{verb}"
    assert module not in closure("xpusetup.cli")
    assert not [name for name in closure(module) if below(name, "xpusetup.commands")]
