"""Says which byte code is not what its source compiles to. It runs nothing of either.

Usage: python judge_code.py FILE   (a script of its own: it is started, by the Python whose byte code it is)

A line of FILE is the path of a .pyc, a tab and that of its source; printed is the path of each that Python would take
and that its source does not explain. What Python itself passes over (another magic number, another date of the
source) it compiles anew, so that is none. Code is compared as code: the same source gives the same instructions,
constants and names, but not always the same bytes.
"""

from __future__ import annotations

import importlib.util
import marshal
import sys
from pathlib import Path

HEADER = 16
UNCHECKED, CHECKED = 0b01, 0b11


def main() -> None:
    """Read the list, and print what is odd."""
    for line in Path(sys.argv[1]).read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        code, _, source = line.partition("\t")
        try:
            if is_odd(Path(code), Path(source)):
                print(code, flush=True)  # noqa: T201 - its answer
        except (OSError, ValueError, EOFError, TypeError, AttributeError, SyntaxError, RecursionError, MemoryError):
            print(code, flush=True)  # noqa: T201 - same


def is_odd(path: Path, source: Path) -> bool:
    """Say whether Python would run this byte code, and it is not that of its source."""
    data, text = path.read_bytes(), source.read_bytes()
    if data[:4] != importlib.util.MAGIC_NUMBER or not is_taken(data, text, source):
        return False
    found = marshal.loads(data[HEADER:])  # noqa: S302 - read, and never run
    word = path.name.rpartition(".opt-")[2].removesuffix(".pyc")
    level = int(word) if ".opt-" in path.name and word.isdigit() else 0
    own = compile(text, found.co_filename, "exec", dont_inherit=True, optimize=level)
    return bool(own != found)


def is_taken(data: bytes, text: bytes, source: Path) -> bool:
    """Say whether the head of byte code fits its source, as PEP 552 has it."""
    flags = int.from_bytes(data[4:8], "little")
    if flags & UNCHECKED:
        return flags != CHECKED or data[8:HEADER] == importlib.util.source_hash(text)
    seen = source.stat()
    stamp = (int(seen.st_mtime) & 0xFFFFFFFF, seen.st_size & 0xFFFFFFFF)
    return stamp == (int.from_bytes(data[8:12], "little"), int.from_bytes(data[12:HEADER], "little"))


if __name__ == "__main__":
    main()
