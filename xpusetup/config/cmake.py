"""Downloads that a CMake file names: FetchContent, ExternalProject, CPM, file(DOWNLOAD), and programs that fetch."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


TOKEN = re.compile(
    r"\#\[(?P<comment>=*)\[.*?\](?P=comment)\]|\#[^\n]*"
    r"|\[(?P<raw>=*)\[(?P<inside>.*?)\](?P=raw)\]"
    r'|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bracket>[()])|(?P<word>[^\s()#"]+)',
    re.DOTALL,
)
DECLARING = {
    "fetchcontent_declare": "FetchContent",
    "fetchcontent_populate": "FetchContent",
    "externalproject_add": "ExternalProject",
    "cpmaddpackage": "CPM",
}
ADDRESSED = ("GIT_REPOSITORY", "URL", "GITHUB_REPOSITORY", "GITLAB_REPOSITORY", "SVN_REPOSITORY", "HG_REPOSITORY")
STARTING = {"execute_process", "add_custom_command", "add_custom_target"}
FETCHING = {
    "git": {"clone", "fetch", "pull", "submodule"},
    "pip": {"install", "download", "wheel"},
    "pip3": {"install", "download", "wheel"},
    "curl": set(),
    "wget": set(),
}
VARIABLE = re.compile(r"\$\{(\w+)\}")


class Command(NamedTuple):
    """One command of a file: its name in small letters, the line it begins at, its arguments."""

    name: str
    line: int
    arguments: list[str]


def scan_cmake(text: str) -> Iterator[tuple[int, str, str]]:
    """Give line, how, and what for each place that may download. Variables are filled in where the file sets them."""
    known: dict[str, str] = {}
    for command in _commands(text):
        arguments = [_fill(word, known) for word in command.arguments]
        if command.name == "set" and len(arguments) > 1:
            known[arguments[0]] = arguments[1]
        elif command.name in DECLARING and (what := _address(arguments)):
            yield command.line, DECLARING[command.name], what
        elif command.name == "file" and arguments[:1] == ["DOWNLOAD"] and len(arguments) > 1:
            yield command.line, "file(DOWNLOAD)", arguments[1]
        elif command.name in STARTING and (what := fetching_words(arguments)):
            yield command.line, command.name, what


def find_tag(text: str, addresses: Sequence[str]) -> str:
    """Give the tag, branch or commit at which a file clones one of these addresses; empty where it clones none.

    helpers/helperlib/git/tree.py reads the same in a step, which imports nothing of ours; a test holds them together.
    """
    known: dict[str, str] = {}
    wanted = {_plain(address) for address in addresses}
    for command in _commands(text):
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


def _commands(text: str) -> Iterator[Command]:
    """Give the commands of a file; what stands in no brackets is none."""
    before: tuple[str, int] = ("", 0)
    name, line, depth, arguments = "", 0, 0, list[str]()
    for found in TOKEN.finditer(text):
        word = next((found[kind] for kind in ("inside", "quoted", "word") if found[kind] is not None), None)
        if found["bracket"] == "(":
            if depth == 0:
                (name, line), arguments = before, []
            depth += 1
        elif found["bracket"] == ")":
            depth = max(0, depth - 1)
            if depth == 0 and name:
                yield Command(name, line, arguments)
        elif word is not None and depth:
            arguments.append(word)
        elif word is not None:
            before = (word.lower(), text.count("\n", 0, found.start()) + 1)


def _fill(word: str, known: dict[str, str]) -> str:
    return VARIABLE.sub(lambda found: known.get(found[1], found[0]), word)


def _address(arguments: Sequence[str]) -> str:
    """Give where a declaration points; empty where its sources lie in the tree."""
    pairs = pairwise(arguments)
    named = next((value for key, value in pairs if key in ADDRESSED), "")
    return named or next((word for word in arguments[:1] if re.match(r"(gh|gl|bb):|https?://", word)), "")


def fetching_words(words: Sequence[str]) -> str:
    """Give the address in the words of a command that fetches, else its verb; empty for other commands."""
    names = [_program(word) for word in words]
    for place, name in enumerate(names):
        verbs = FETCHING.get(name)
        if verbs is None:
            continue
        verb = next((word for word in names[place + 1 :] if word in verbs), "")
        if verb or not verbs:
            return next((word for word in words[place:] if "://" in word), f"{name} {verb}".rstrip())
    return ""


def _program(word: str) -> str:
    """Give the name of a program that is written as a path or as the variable that holds it."""
    variable = VARIABLE.fullmatch(word)
    name = variable[1].lower().removesuffix("_executable").removesuffix("_command") if variable else word
    return name.rpartition("/")[2]
