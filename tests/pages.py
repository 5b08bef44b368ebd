"""The code blocks of README and the pages, read as Markdown is, and how each is marked.

A block that is not marked is run by e2e/test_blocks.py. Before any other stands a comment, which no page shows:
`not run: REASON`, `run by: TEST` for one that another test copies, `read as: settings` for a file of that kind.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKOUT = Path(__file__).parents[1]
PAGES = (CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").rglob("*.md")))
MARK = re.compile(r"<!-- (not run|run by|read as): (\S.*?) -->\s*")
SAYS = re.compile(r"(?:^|\s+)#\s.*$")
"""What stands behind a command: words about it, a comment for the shell that the line is copied to."""


@dataclass(frozen=True)
class Block:
    """A code block. `kind` is how it is marked, empty where it is not; `why` what the mark says beside that."""

    page: str
    line: int
    text: str
    kind: str
    why: str

    @property
    def where(self) -> str:
        """Where it stands."""
        return f"{self.page}:{self.line}"

    def commands(self) -> Iterator[str]:
        """Give its lines without the words about them."""
        for line in self.text.splitlines():
            if text := SAYS.sub("", line.removeprefix("$ ").strip()):
                yield text


def blocks(page: Path) -> Iterator[Block]:
    """Give the code blocks of a page, fenced and indented ones."""
    yield from read_blocks(page.read_text(), str(page.relative_to(CHECKOUT)))


def read_blocks(text: str, page: str) -> Iterator[Block]:
    """Give the code blocks of a text; a mark counts for the block that comes right after it."""
    mark = None
    for token in MarkdownIt().parse(text):
        if token.type in ("fence", "code_block"):
            line = (token.map or [0])[0] + 1
            yield Block(page, line, token.content, mark[1] if mark else "", mark[2] if mark else "")
        mark = MARK.fullmatch(token.content) if token.type == "html_block" else None


ALL = [block for page in PAGES for block in blocks(page)]
