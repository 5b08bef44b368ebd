"""A log read for what PyTorch says of operators that run on the CPU, whatever stands before or after it in the line."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple

from xpusetup.fallbacks.known import SPACE
from xpusetup.values import Strict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Kind = Literal["announced", "once", "refused", "forced", "mixed", "native"]
LONGEST = 4096
"""More characters than any message has; so many are read twice where a log is cut into pieces."""
BLOCK = 1 << 20
"""A word of so many bytes is no word, and is cut."""
WORDS = ("operator", "Operator", "fallback")


class Message(NamedTuple):
    """What was said of an operator ("" where none was named), and of which backend, in lower case."""

    kind: str
    operator: str
    backend: str


class Pattern(Strict):
    """One wording, as helpers/fallback_messages.json explains it."""

    kind: Kind
    pattern: str
    examples: list[str]
    note: str
    source: str

    @property
    def regex(self) -> re.Pattern[str]:
        """The pattern with any white space where it has a space."""
        return re.compile(re.sub(r" (\??)", lambda found: r"\s*" if found[1] else r"\s+", self.pattern))


class _PatternFile(Strict):
    about: str
    messages: list[Pattern]


def parse_patterns(text: str) -> tuple[Pattern, ...]:
    """Read helpers/fallback_messages.json."""
    return tuple(_PatternFile.model_validate(json.loads(text)).messages)


def scan(chunks: Iterable[bytes], patterns: tuple[Pattern, ...]) -> Counter[Message]:
    """Count each message of a log that comes in pieces of any size."""
    kinds = [(one.kind, one.regex) for one in patterns]
    found: Counter[Message] = Counter()
    for text, end in _overlapping(chunks):
        if any(word in text for word in WORDS):
            found.update(
                _message(kind, match) for kind, regex in kinds for match in regex.finditer(text) if match.start() < end
            )
    return found


def _overlapping(chunks: Iterable[bytes]) -> Iterator[tuple[str, int]]:
    """Give pieces of text and where the next one begins: a message belongs to the piece in which it begins."""
    rest = b""
    for chunk in chunks:
        data = rest + chunk
        limit = max(0, len(data) - LONGEST)
        cut = max(data.rfind(b" ", 0, limit), data.rfind(b"\n", 0, limit)) + 1  # never within an operator's name
        cut = cut or (limit if limit > BLOCK else 0)
        if cut:
            yield data.decode("latin-1"), cut
        rest = data[cut:]
    yield rest.decode("latin-1"), len(rest)


def _message(kind: str, match: re.Match[str]) -> Message:
    groups = match.groupdict()
    return Message(kind, whole_name(groups.get("operator") or ""), (groups.get("backend") or "").lower())


def whole_name(operator: str) -> str:
    """Give an operator's name with its name space."""
    return operator if "::" in operator or not operator else SPACE + operator
