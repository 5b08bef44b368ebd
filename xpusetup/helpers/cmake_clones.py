"""Reads from a CMake file of a tree what it clones by itself: the GIT_TAG of an ExternalProject, a name or a commit."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WORDS = re.compile(
    r"\#\[(?P<comment>=*)\[.*?\](?P=comment)\]|\#[^\n]*"
    r'|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bracket>[()])|(?P<word>[^\s()#"]+)',
    re.DOTALL,
)
CLONING = {"externalproject_add", "fetchcontent_declare", "fetchcontent_populate"}
VARIABLE = re.compile(r"\$\{(\w+)\}")


def find_tag(text: str, addresses: Sequence[str]) -> str:
    """Give the tag, branch or commit at which a file clones one of these addresses; empty where it clones none.

    Variables are filled in where the file sets them, to one word or several; any other stays as it is written.
    """
    known: dict[str, str] = {}
    wanted = {plain(address) for address in addresses}
    for name, arguments in commands(text):
        filled = (VARIABLE.sub(lambda found: known.get(found[1], found[0]), word) for word in arguments)
        words = [word for each in filled for word in each.split(";")]
        if name == "set" and words:
            end = next((place for place, word in enumerate(words) if word in {"CACHE", "PARENT_SCOPE"}), len(words))
            known[words[0]] = ";".join(words[1:end])
        elif name in CLONING:
            told = dict(pairwise(words))
            if plain(told.get("GIT_REPOSITORY", "")) in wanted:
                return told.get("GIT_TAG", "")
    return ""


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Give each command of a file: its name in small letters, and its arguments."""
    before, name, depth, arguments = "", "", 0, list[str]()
    for found in WORDS.finditer(text):
        word = found["quoted"] if found["quoted"] is not None else found["word"]
        if found["bracket"] == "(":
            if depth == 0:
                name, arguments = before, []
            depth += 1
        elif found["bracket"] == ")":
            depth = max(0, depth - 1)
            if depth == 0:
                yield name, arguments
        elif word is not None and depth:
            arguments.append(word)
        elif word is not None:
            before = word.lower()


def plain(address: str) -> str:
    """Give an address as it is compared: git takes it with and without its ending, and a host in any letters."""
    return address.rstrip("/").removesuffix(".git").lower()
