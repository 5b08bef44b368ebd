"""What every helper hands out: files that appear whole or not at all, the summary of a step, and why it failed."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

# Files that appear whole or not at all: written under another name beside their own, and renamed.


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give the name under which to write a file; it gets its own when that went well, and else nothing of it stays.

    A pipe, a terminal and what else lies in /dev and /proc is written into and never replaced.
    """
    if path.exists() and (not path.is_file() or str(path.absolute()).startswith(("/dev/", "/proc/"))):
        yield path
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield draft
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    with whole(path) as draft:
        draft.write_text(text, encoding="utf-8")


def write_json(path: Path, document: object, indent: int | None = 2) -> None:
    write_text(path, json.dumps(document, indent=indent) + "\n")


# The line with which a step says what it found: it begins with "= ", and whoever runs the step shows it.


UNIT = 1024
FEW = 10
"""Below this a size is told with one decimal."""
UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def say_summary(*facts: str) -> None:
    """Print facts as a step's last word, in ASCII whatever the terminal can show; empty ones are left out."""
    text = " | ".join(fact for fact in facts if fact)
    print(f"= {text}".encode("ascii", "backslashreplace").decode(), flush=True)


def render_size(size: float) -> str:
    """Give a size in bytes as people say it: 412 MiB, 9.1 GiB."""
    power = 0
    while size >= UNIT and power < len(UNITS) - 1:
        size, power = size / UNIT, power + 1
    return f"{size:.1f} {UNITS[power]}" if power and size < FEW else f"{size:.0f} {UNITS[power]}"


def count(number: int, noun: str) -> str:
    """Give a number with its noun: 1 library, 2 libraries, 3 patches."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


NOT_READY = 3
"""The exit code where this machine or environment is not as it has to be."""


def fail(message: str, fix: str, code: int = 1) -> NoReturn:
    """Say on stderr what happened and what mends it, and end; below both, behind four blanks, a command of xpusetup."""
    sys.stderr.write(f"xpusetup: {message}\n  {fix}\n")
    raise SystemExit(code)


LONGEST = 300
"""Characters of an error that are passed on."""


def words_of(error: BaseException) -> str:
    """Give an error and what it came from, the innermost last."""
    texts = []
    here: BaseException | None = error
    while here is not None:
        texts.append(f"{type(here).__name__}: {' '.join(str(here).split())}"[:LONGEST])
        here = here.__cause__ or here.__context__
    return "; because ".join(texts)


def end_of(error: BaseException) -> str:
    """Give an error of a compiler by its last line, which says what is wrong; those before it show where."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
    return f"{type(error).__name__}: {lines[-1][:LONGEST]}"
