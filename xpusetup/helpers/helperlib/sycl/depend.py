"""The files that a compile includes, as a rule of make: those of both passes."""

from __future__ import annotations

import re
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from helperlib.output import write_text
from helperlib.sycl.diagnose import INSIDE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BLANK = re.compile(r"(?<!\\)\s+")


class Notes(NamedTuple):
    """What a call asks to be noted of included files: where, for which targets, whether system headers count."""

    kind: str = ""
    file: str = ""
    targets: tuple[str, ...] = ()
    phony: bool = False


def parse_notes(words: Sequence[str], stage: str) -> Notes:
    """Read the words that begin with -M; `stage` is -M or -MM where nothing is compiled."""
    kind = {"-M": "-MD", "-MM": "-MMD"}.get(stage, "")
    file, targets, phony, left = "", [], False, list(words)
    while left:
        word = left.pop(0)
        if word in {"-MD", "-MMD"}:
            kind = word
        elif word == "-MP":
            phony = True
        elif word.startswith(("-MF", "-MT", "-MQ")):
            value = word[3:] or left.pop(0)
            if word.startswith("-MF"):
                file = value
            else:
                targets.append(_escape(value) if word.startswith("-MQ") else value)
    return Notes(kind, file, tuple(targets), phony)


def read_rule(text: str) -> list[str]:
    """Give the files that a rule names behind its first colon."""
    _, _, files = text.replace("\\\n", " ").partition(": ")
    return [
        re.sub(r"\\([ #])", r"\1", each).replace("$$", "$") for each in BLANK.split(files.split("\n", 1)[0]) if each
    ]


def join_files(passes: Sequence[Iterable[str]], home: Path, own: Path) -> list[str]:
    """Give the files of both passes, each once: those inside the library by the toolkit's, without our own."""
    named = (INSIDE.sub(lambda found: normpath(f"{home}{found[1]}"), each) for files in passes for each in files)
    files = dict.fromkeys(each for each in named if not each.startswith(f"{own}/"))
    seen: dict[str, str] = {}
    for each in files:
        seen.setdefault(normpath(each), each)
    return list(seen.values())


def write_rule(notes: Notes, out: str, files: Sequence[str]) -> str:
    """Give the rule with one file a line, as clang writes it: torch-xpu-ops' make2cmake.cmake reads no other."""
    targets = " ".join(notes.targets or (_escape(out),))
    rule = " \\\n  ".join([f"{targets}:", *map(_escape, files)]) + "\n"
    return rule + "".join(f"\n{_escape(each)}:\n" for each in files[1:] if notes.phony)


def keep_rule(notes: Notes, out: str, files: Sequence[str]) -> None:
    """Write the rule to where it belongs."""
    write_text(Path(notes.file or str(Path(out).with_suffix(".d"))), write_rule(notes, out, files))


def _escape(name: str) -> str:
    return re.sub(r"([ #])", r"\\\1", name.replace("$", "$$"))
