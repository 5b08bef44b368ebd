"""Reads a Dockerfile as BuildKit does: directives, continued lines, here-documents, then instructions.

After moby/buildkit, frontend/dockerfile/parser: directives stand at the top alone, and the first line that is none
ends them; a comment between continued lines is left out; RUN, COPY and ADD may begin here-documents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

DIRECTIVE = re.compile(r"#\s*([A-Za-z][A-Za-z0-9]*)\s*=\s*(.+?)\s*")
CONTINUED = re.compile(r"\\[ \t]*$")
HEREDOC = re.compile(r"<<-?\s*[\"']?([A-Za-z_][A-Za-z0-9_.]*)")
INSTRUCTIONS = {"ARG", "FROM", "WORKDIR", "ADD", "COPY", "RUN", "ENV", "LABEL", "USER", "ENTRYPOINT", "CMD"}
"""All that we write."""


@dataclass(frozen=True)
class Read:
    """What a builder sees."""

    directives: tuple[tuple[str, str], ...]
    instructions: tuple[tuple[str, str], ...]
    documents: tuple[str, ...]


def read_dockerfile(text: str) -> Read:
    lines = text.split("\n")
    directives = []
    for line in lines:
        found = DIRECTIVE.fullmatch(line)
        if found is None:
            break
        directives.append((found[1].lower(), found[2]))
    instructions, documents, whole = [], [], ""
    for line in lines:
        if line.lstrip().startswith("#") or not line.strip():
            continue
        whole += CONTINUED.sub("", line)
        if CONTINUED.search(line):
            continue
        word, _, rest = whole.strip().partition(" ")
        instructions.append((word.upper(), rest.strip()))
        documents += HEREDOC.findall(rest) if word.upper() in {"RUN", "COPY", "ADD"} else []
        whole = ""
    return Read(tuple(directives), tuple(instructions), tuple(documents))


def read_labels(rest: str) -> dict[str, str]:
    """Read NAME="VALUE" pairs as BuildKit's shell words: a backslash keeps what follows it, `$` begins a variable."""
    found, place = {}, 0
    pair = re.compile(r'\s*([A-Za-z0-9.]+)="((?:[^"\\]|\\.)*)"')
    while match := pair.match(rest, place):
        assert re.search(r"(?<!\\)(?:\\\\)*\$", match[2]) is None or match[2] == "${BASE}", match[0]
        found[match[1]] = re.sub(r"\\(.)", r"\1", match[2])
        place = match.end()
    assert not rest[place:].strip(), rest[place:]
    return found
