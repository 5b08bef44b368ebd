"""Results as values: texts changed in one pass, JSON made at one place, a screen for each type."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, get_args, get_origin

import pytest

from golden import hold_one
from json_schemas import RESULTS, render_page, render_schema, types_of
from xpusetup import commands
from xpusetup.base.document import map_texts, to_json
from xpusetup.commands.profiles import make_schema
from xpusetup.commands.result import Result, complete_result
from xpusetup.ui.screens import find_screen, show_result

SILENT = {"CommandRun", "StepLog"}
"""Told while the command was at work."""


@dataclass(frozen=True)
class Inner:
    text: str
    from_: int


@dataclass(frozen=True)
class Outer:
    inner: tuple[Inner, ...]
    more: dict[str, list[str | None]]


VALUE = Outer((Inner("a", 1),), {"k": ["b", None]})


def test_json() -> None:
    assert to_json(VALUE) == {"inner": [{"text": "a", "from": 1}], "more": {"k": ["b", None]}}
    assert to_json(Path("/x")) == "/x"
    with pytest.raises(TypeError, match="no form of set"):
        to_json({"a": {1}})


def test_texts_are_changed_where_they_stand() -> None:
    seen = []

    def change(text: str, names: tuple[str, ...]) -> str:
        seen.append((text, names))
        return text.upper()

    assert map_texts(VALUE, change) == Outer((Inner("A", 1),), {"K": ["B", None]})
    assert seen == [("a", ("inner", "text")), ("k", ("more",)), ("b", ("more", "k"))]


def results() -> dict[str, type]:
    """Give the types of what commands return, by name."""
    modules = [import_module(f"xpusetup.commands.{each.name}") for each in iter_modules(commands.__path__)]
    functions = [each for module in modules for _, each in inspect.getmembers(module, inspect.isfunction)]
    told = {each.__annotations__.get("return") for each in functions} - {"Result[T]"}
    names = {name: each for module in modules for name, each in vars(module).items() if isinstance(each, type)}
    known = {**names, "Any": Any}
    read = [eval(str(each), known) if str(each).startswith("Result[") else each for each in told]  # noqa: S307 - our own words
    found = [each for each in read if get_origin(each) is Result]
    types = [each for returned in found for kind in get_args(returned) for each in get_args(kind) or (kind,)]
    return {each.__name__: each for each in types if isinstance(each, type)}


def test_each_result_has_a_screen_that_takes_it() -> None:
    assert {name for name, kind in results().items() if find_screen(kind) is None} == SILENT


def test_the_schema_is_in_the_docs() -> None:
    hold_one("../../docs/json-schema.json", render_schema())
    hold_one("../../docs/json.md", render_page())


def test_each_result_is_in_the_schema() -> None:
    assert {kind.__name__ for command in RESULTS for kind in types_of(command)} >= set(results())


def test_a_schema_is_printed_as_editors_read_it(capsys: pytest.CaptureFixture[str]) -> None:
    """A type that is a dict stays itself where its commands are completed: by it its screen is found."""
    result = make_schema()
    show_result(replace(result, data=complete_result(result.data, {})), verbose=False)
    assert json.loads(capsys.readouterr().out)["title"] == "xpusetup profile"
