"""Imports packages of a wheel in this process and says what came of it as a line of JSON: `fits` has to foretell it.

Run by the interpreter that has torch: `python fit_import.py TREE NAME...`, where TREE is the wheel, unpacked.
Libraries are bound at once (RTLD_NOW). `tried` are the wheel's libraries that its own code opened, `loaded` those that
the process holds afterwards, `opened` says of each that nobody opened whether it can be opened.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any


def main(tree: str, names: list[str]) -> dict[str, Any]:
    tried: list[str] = []

    def hear(event: str, words: tuple[Any, ...]) -> None:
        if event == "ctypes.dlopen" or (event == "import" and words[1]):
            name = str(words[0] if event == "ctypes.dlopen" else words[1])
            if name.startswith(tree) and ".so" in name:
                tried.append(os.path.relpath(name, tree))

    sys.setdlopenflags(os.RTLD_NOW | os.RTLD_LOCAL)
    try:
        importlib.import_module("torch")
    except Exception as error:  # noqa: BLE001 - whatever a package does when it is imported
        return {"torch": repr(error)[:300]}
    sys.path.insert(0, tree)
    sys.addaudithook(hear)
    told = next((failed for name in names if (failed := _import(name))), {"error": "", "kind": ""})
    held = {
        line.split(maxsplit=5)[5].strip() for line in Path("/proc/self/maps").read_text().splitlines() if tree in line
    }
    loaded = sorted(os.path.relpath(each, tree) for each in held if ".so" in each)
    return {**told, "tried": sorted(set(tried)), "loaded": loaded, "opened": _open_rest(tree, tried, loaded)}


def _import(name: str) -> dict[str, Any]:
    """Import a package; empty where that went well."""
    try:
        importlib.import_module(name)
    except BaseException as error:  # noqa: BLE001 - whatever a package does when it is imported
        return {"error": str(error)[:400], "kind": type(error).__name__}
    return {}


def _open_rest(tree: str, tried: list[str], loaded: list[str]) -> dict[str, str]:
    """Open what nobody opened, where nobody opened anything."""
    paths = [] if tried else [path for path in sorted(Path(tree).rglob("*.so*")) if ".libs/" not in str(path)]
    names = {os.path.relpath(path, tree): path for path in paths}
    return {name: _open(path) for name, path in names.items() if name not in loaded}


def _open(path: Path) -> str:
    try:
        ctypes.CDLL(str(path), os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as error:
        return str(error)[:300]
    return ""


if __name__ == "__main__":
    del sys.path[0]  # the folder of this file, where `triton` is no Triton
    sys.stdout.write("\n" + json.dumps(main(os.path.realpath(sys.argv[1]), sys.argv[2:])) + "\n")
