"""Downloads that a Python file names: requests that its own code makes, and programs that it starts to fetch."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xpusetup.bundles.cmake import fetching_words

if TYPE_CHECKING:
    from collections.abc import Iterator

REQUESTS = {
    *("urllib.request.urlopen", "urllib.request.urlretrieve", "request.urlopen", "request.urlretrieve"),
    *("urlopen", "urlretrieve", "requests.get", "requests.request", "httpx.get", "httpx.stream", "wget.download"),
}
STARTS = {"run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput", "system", "popen"}
SHOWN = 80


def scan_python(text: str) -> Iterator[tuple[int, str, str]]:
    """Give line, how, and what for each call that may download; nothing for what is no Python of today."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    known = _constants(tree)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
        name = ast.unparse(call.func)
        if name in REQUESTS:
            yield call.lineno, name, _address(call, known)
        elif name.rpartition(".")[2] in STARTS and call.args and (what := fetching_words(_words(call.args[0], known))):
            yield call.lineno, name, what


def _constants(tree: ast.Module) -> dict[str, str]:
    """Give the names that the file sets to a text."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            found.update({name.id: node.value.value for name in node.targets if isinstance(name, ast.Name)})
    return found


def _address(call: ast.Call, known: dict[str, str]) -> str:
    """Give what is asked for: the text where it is one, else the expression."""
    given = [*call.args, *(word.value for word in call.keywords if word.arg == "url")]
    if not given:
        return ""
    texts = [
        node.value for node in ast.walk(given[0]) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    texts += [known[node.id] for node in ast.walk(given[0]) if isinstance(node, ast.Name) and node.id in known]
    return next((text for text in texts if "://" in text), ast.unparse(given[0])[:SHOWN])


def _words(node: ast.expr, known: dict[str, str]) -> list[str]:
    """Give the words of a command as far as they can be read: those of a list, or of a line for the shell."""
    if isinstance(node, ast.List | ast.Tuple):
        return [word for item in node.elts for word in _words(item, known)[:1] or [""]]
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "?" for part in node.values).split()
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.split()
    return known[node.id].split() if isinstance(node, ast.Name) and node.id in known else []
