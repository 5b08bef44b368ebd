"""Which libraries of a wheel its own Python code opens by name: torchaudio opens one before it imports another.

Read from syntax alone. What counts are texts that reach the argument of a function that opens libraries: of ctypes, of
torch, or one of the wheel that hands its own argument to such a function. A part that is only known at run time
stands for anything (`f"libtorio_ffmpeg{version}"`).
"""

from __future__ import annotations

import ast
import re
import zipfile
from posixpath import basename
from typing import TYPE_CHECKING, NamedTuple

from wheel_contents import Opened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    Function = ast.FunctionDef | ast.AsyncFunctionDef

LOADERS = frozenset({"CDLL", "PyDLL", "LoadLibrary", "load_library", "dlopen"})
DEPTH = 3
"""How often a function may hand what it was given on to another one of the wheel."""
ANYTHING = "\0"
FILLED = re.compile(r"%[sdr]|\{[^{}]*\}")
ENDING = re.compile(r"\.so(\.\d+)*$")
TELLING = 3
"""So many letters a name has to have beside `lib`."""


class Scope(NamedTuple):
    """A module or function: its parameters, calls, and what its names may hold."""

    name: str
    parameters: frozenset[str]
    calls: tuple[tuple[str, tuple[ast.expr, ...]], ...]
    values: dict[str, list[ast.expr]]


def find_opened(path: Path) -> tuple[Opened, ...]:
    """Give the names of libraries that a wheel's Python code opens, and in which file."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".py")]
        return find_in(names, archive.read)


def find_in(names: Iterable[str], read: Callable[[str], bytes]) -> tuple[Opened, ...]:
    """Give what files of Python code open; those in which no such function is called are not parsed."""
    loaders: frozenset[str] = LOADERS
    scopes: dict[str, list[Scope]] = {}
    names = list(names)
    for _ in range(DEPTH):
        words = re.compile(rb"\b(?:%s)\b" % b"|".join(sorted(name.encode() for name in loaders)))
        for name in names:
            if name not in scopes and words.search(text := read(name)):
                scopes[name] = _parse(text)
        more = {one.name for found in scopes.values() for one in found if _hands_on(one, loaders)}
        if more <= loaders:
            break
        loaders |= more
    opened = {Opened(name, text) for name, found in scopes.items() for one in found for text in _texts(one, loaders)}
    return tuple(sorted(opened))


def _parse(text: bytes) -> list[Scope]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    inner = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return [_scope("", frozenset(), tree), *(_scope(one.name, _parameters(one), one) for one in inner)]


def _parameters(function: Function) -> frozenset[str]:
    arguments = function.args
    return frozenset(one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)) - {"self"}


def _scope(name: str, parameters: frozenset[str], top: ast.AST) -> Scope:
    calls: list[tuple[str, tuple[ast.expr, ...]]] = []
    values: dict[str, list[ast.expr]] = {}
    for node in _own(top):
        if isinstance(node, ast.Call):
            given = (*node.args, *(word.value for word in node.keywords))
            calls.append((_called(node.func), given))
        for target, value in _assigned(node):
            values.setdefault(target, []).append(value)
    return Scope(name, parameters, tuple(calls), values)


def _own(top: ast.AST) -> Iterator[ast.AST]:
    """Walk through a scope without the functions in it, which are scopes of their own."""
    for child in ast.iter_child_nodes(top):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield child
            yield from _own(child)


def _called(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign):
        pairs: list[tuple[ast.expr, ast.expr | None]] = [(target, node.value) for target in node.targets]
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
        pairs = [(node.target, node.value)]
    elif isinstance(node, (ast.For, ast.comprehension)):
        pairs = [(node.target, node.iter)]
    else:
        return
    yield from ((target.id, value) for target, value in pairs if isinstance(target, ast.Name) and value is not None)


def _reaching(scope: Scope, loaders: frozenset[str]) -> Iterator[ast.expr]:
    """Give the expressions that the argument of a loader may come from, through the scope's own names."""
    waiting = [argument for name, given in scope.calls if name in loaders for argument in given]
    seen: set[str] = set()
    while waiting:
        expression = waiting.pop()
        yield expression
        for name in {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)} - seen:
            seen.add(name)
            waiting += scope.values.get(name, [])


def _hands_on(scope: Scope, loaders: frozenset[str]) -> bool:
    """Say whether a function gives what it is given to a loader."""
    if not scope.name or scope.name.startswith("__"):
        return False
    used = (node for expression in _reaching(scope, loaders) for node in ast.walk(expression))
    return any(isinstance(node, ast.Name) and node.id in scope.parameters for node in used)


def _texts(scope: Scope, loaders: frozenset[str]) -> set[str]:
    found = {text for expression in _reaching(scope, loaders) for text in _spelled(expression)}
    return {name for text in found if _telling(name := basename(text))}


def _spelled(node: ast.AST) -> Iterator[str]:
    """Give the texts in an expression."""
    yield _whole(node)
    if not isinstance(node, (ast.Constant, ast.JoinedStr)):
        for child in ast.iter_child_nodes(node):
            yield from _spelled(child)


def _whole(node: ast.AST) -> str:
    """Give an expression as one text, with NUL for what is not known; empty where it is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return FILLED.sub(ANYTHING, node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else ANYTHING for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (_whole(node.left) or ANYTHING) + (_whole(node.right) or ANYTHING)
    return ""


def _telling(name: str) -> bool:
    plain = ENDING.sub("", name.replace("*", "")).replace(ANYTHING, "").removeprefix("lib")
    return sum(char.isalnum() for char in plain) >= TELLING


def opens(pattern: str, library: str) -> bool:
    """Say whether a text names a library: its file, or that without what follows the first dot."""
    wanted = ".*".join(map(re.escape, re.split(f"[{ANYTHING}*]", pattern)))
    return any(re.fullmatch(wanted, name) for name in (library, library.partition(".")[0]))
