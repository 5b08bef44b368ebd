"""What a CMake file clones: the commands of a file, with the variables that it sets, and running nothing of it."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

TOKEN = re.compile(
    r"\#\[(?P<comment>=*)\[.*?\](?P=comment)\]|\#[^\n]*"
    r"|\[(?P<raw>=*)\[(?P<inside>.*?)\](?P=raw)\]"
    r'|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bracket>[()])|(?P<word>[^\s()#"]+)',
    re.DOTALL,
)
COMMIT = re.compile(r"[0-9a-f]{40}")
DECLARING = {"fetchcontent_declare", "fetchcontent_populate", "externalproject_add", "cpmaddpackage"}
VARIABLE = re.compile(r"\$\{(\w+)\}")


class CmakeCommand(NamedTuple):
    """One command of a file: its name in small letters, and its arguments."""

    name: str
    arguments: list[str]


def find_tag(text: str, addresses: Sequence[str]) -> str:
    """Give the tag, branch or commit at which a file clones one of these addresses; empty where it clones none.

    A file that holds a commit and nothing else names that: CMake's `file(READ ...)` has it from there.
    helpers/helperlib/git/tree.py reads the same in a step, which imports nothing of ours; a test holds them together.
    """
    if COMMIT.fullmatch(text.strip()):
        return text.strip()
    known: dict[str, str] = {}
    wanted = {_plain(address) for address in addresses}
    for command in commands_of(text):
        words = [word for each in command.arguments for word in _fill(each, known).split(";")]
        if command.name == "set" and words:
            end = next((place for place, word in enumerate(words) if word in {"CACHE", "PARENT_SCOPE"}), len(words))
            known[words[0]] = ";".join(words[1:end])
        elif command.name in DECLARING:
            told = dict(pairwise(words))
            if _plain(told.get("GIT_REPOSITORY", "")) in wanted:
                return told.get("GIT_TAG", "")
    return ""


def _plain(address: str) -> str:
    return address.rstrip("/").removesuffix(".git").lower()


def commands_of(text: str) -> Iterator[CmakeCommand]:
    """Give the commands of a file; what stands in no brackets is none."""
    before, name, depth, arguments = "", "", 0, list[str]()
    for found in TOKEN.finditer(text):
        word = next((found[kind] for kind in ("inside", "quoted", "word") if found[kind] is not None), None)
        if found["bracket"] == "(":
            if depth == 0:
                name, arguments = before, []
            depth += 1
        elif found["bracket"] == ")":
            depth = max(0, depth - 1)
            if depth == 0 and name:
                yield CmakeCommand(name, arguments)
        elif word is not None and depth:
            arguments.append(word)
        elif word is not None:
            before = word.lower()


def _fill(word: str, known: dict[str, str]) -> str:
    return VARIABLE.sub(lambda found: known.get(found[1], found[0]), word)
