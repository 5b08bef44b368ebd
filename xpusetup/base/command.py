"""The commands that advice gives, and sentences in which they stand.

Both are texts, which screens and JSON show as they are. What completes, runs or offers a command reads the type:
nothing looks for one in a sentence.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Self

SHELL = re.compile(r"[|&;<>$`~*]|^(?:source|unset|export|cd|eval|\.) |^\w+=")
"""What only a shell understands; such a line is given to one whole."""
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
IN_PROSE = re.compile(r"<(xpusetup [^<>]+)>")
"""A command in the prose of a table."""


class Command(str):
    """A command, as the line that a person copies and that a shell takes.

    `why`: why it is to be run. `gaps`: the words in it that a person has to replace; no program runs such a line, and
    screens say so below it; the whole line where it is an example. `again`: an option with its value: it is the command
    line of this very run with these, and until that is put there it says so in words.
    """

    __slots__ = ("again", "gaps", "why")
    why: str
    gaps: tuple[str, ...]
    again: tuple[str, ...]

    def __new__(cls, line: str, why: str = "", *, gaps: tuple[str, ...] = (), again: tuple[str, ...] = ()) -> Self:
        made = super().__new__(cls, line)
        known = line if isinstance(line, Command) else None
        made.why = why or (known.why if known else "")
        made.gaps = gaps or (known.gaps if known else ())
        made.again = again or (known.again if known else ())
        return made

    def like(self, line: str) -> Command:
        """Give another line for the same purpose."""
        return Command(line, self.why, gaps=self.gaps, again=self.again)

    @property
    def argv(self) -> list[str]:
        """The words that run it. Raises ValueError for a quote that does not end."""
        return ["bash", "-c", str(self)] if SHELL.search(QUOTED.sub("", self)) else shlex.split(self)


class Advice(str):
    """A text with commands in it: its parts, of which each is prose or a Command."""

    __slots__ = ("parts",)
    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> Self:
        """Join parts; those of another advice become its own."""
        made = super().__new__(cls, "".join(parts))
        made.parts = tuple(each for part in parts for each in (part.parts if isinstance(part, Advice) else (part,)))
        return made

    @classmethod
    def read(cls, text: str) -> Advice:
        """Read the prose of a table, in which `<xpusetup ...>` is a command."""
        return cls(*(Command(part) if number % 2 else part for number, part in enumerate(IN_PROSE.split(text))))

    @classmethod
    def lines(cls, texts: Iterable[str], between: str = "\n") -> Advice:
        """Put each text on a line of its own."""
        return cls(*[part for text in texts for part in (between, text)][1:])


def has_command(text: str) -> bool:
    """Say whether an advice names a command."""
    return any(isinstance(part, Command) for part in Advice(text).parts)


MEANT = {"ENV": "ENV (the folder of the environment)"}
"""Gaps whose word does not say what goes there."""


def name_gaps(commands: Iterable[str]) -> str:
    """Say what of commands has to be replaced before they are run; empty where they run as they are."""
    found = (gap for each in commands if isinstance(each, Command) for gap in each.gaps if gap != each)
    words = [MEANT.get(gap, gap) for gap in dict.fromkeys(found)]
    return f"Replace {' and '.join(words)} before you run it." if words else ""


def whole_lines(text: str) -> Iterator[Command]:
    """Give the commands of a text that have a line for themselves."""
    parts = ("\n", *filter(None, Advice(text).parts), "\n")
    for before, part, after in zip(parts, parts[1:], parts[2:], strict=False):
        if isinstance(part, Command) and before.rstrip(" ").endswith("\n") and after.startswith("\n"):
            yield part
