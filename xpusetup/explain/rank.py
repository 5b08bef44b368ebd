"""What a log says, from all that was seen in it: the first decisive cause before what follows from it.

Errors come before warnings, and a warning is a cause only where there is no error that it does not explain. A line that
only points at another ("build stopped") is a cause only where the log holds nothing else.
"""

from __future__ import annotations

import shlex
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xpusetup.explain.scan import COUNTED, Match, Seen, Telling, scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from xpusetup.explain.signatures import Signature

BUILD = "xpusetup build"


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why it failed: causes, best first; the first line that tells of an error; how many errors come later."""

    causes: tuple[Match, ...]
    first_error: Telling | None
    later: int
    lines: int

    def _above(self, match: Match) -> str | None:
        """Give the cause of which this one is a consequence, the first in their order."""
        above = _ancestors(match.signature.id, {cause.signature.id: cause for cause in self.causes})
        return next((cause.signature.id for cause in self.causes if cause.signature.id in above), None)

    def document(self, build: str = BUILD) -> dict[str, Any]:
        """Give it as JSON values. `build`: the command that builds, for what is offered to paste."""
        first = self.first_error
        return {
            "causes": [cause_document(match, self._above(match), build) for match in self.causes],
            "first_error_line": first.line if first else None,
            "first_error": first.text if first else "",
            "context": [{"line": line, "text": text} for line, text in first.context] if first else [],
            "later_errors": self.later,
            "later_errors_more": self.later >= COUNTED - 1,
            "lines": self.lines,
        }


def cause_document(match: Match, caused_by: str | None, build: str) -> dict[str, Any]:
    """Give one cause as JSON values."""
    known = match.signature
    return {
        "id": known.id,
        "phase": known.phase,
        "level": match.level,
        "line": match.line,
        "text": match.text,
        "cause": known.cause,
        "fix": known.fix,
        "commands": [_fill(command, match, build) for command in known.commands],
        "source": known.source,
        "confidence": known.confidence,
        "caused_by": caused_by,
    }


def _fill(command: str, match: Match, build: str) -> str:
    """Put what a log names into a command, ready for a shell; what it does not name stays to be filled in."""
    found = match.signature.search(match.text)
    for name, text in (found.groupdict() if found else {}).items():
        command = command.replace(f"<{name}>", shlex.quote(text) if text else name.upper())
    return command.replace("<build>", build)


def explain(chunks: Iterable[bytes], signatures: Sequence[Signature]) -> Explanation:
    """Explain a log that comes in chunks of bytes of any size."""
    seen = scan(chunks, signatures)
    first = find_first(seen)
    causes = rank(seen)
    start = causes[0].line if causes else first.line if first else 0
    later = len(seen.errors) - bisect_right(seen.errors, start) if start else 0
    return Explanation(causes=causes, first_error=first, later=later, lines=seen.lines)


def find_first(seen: Seen) -> Telling | None:
    """Choose the line that tells most: in ninja's first FAILED block, else the first that says what is wrong."""
    return seen.strong_after_failed or seen.strong or seen.weak


def rank(seen: Seen) -> tuple[Match, ...]:
    """Order what was matched, and leave out what is no cause."""
    matches = seen.matches
    ancestors = {name: _ancestors(name, matches) for name in matches}
    errors = {name for name, match in matches.items() if match.level == "error"}
    pointers = {name for name, match in matches.items() if match.level == "pointer"}
    explaining = {ancestor for name in errors | pointers for ancestor in ancestors[name]} - pointers
    causes = errors | explaining
    if not causes and (seen.strong is None or _points(seen, pointers)):
        causes = pointers
    if not causes and seen.strong is None:
        causes = {name for name, match in matches.items() if match.level == "warning"}

    def order(name: str) -> tuple[bool, int, str]:
        return bool(ancestors[name] & causes), matches[name].line, name

    return tuple(matches[name] for name in sorted(causes, key=order))


def _points(seen: Seen, pointers: set[str]) -> bool:
    """Say whether the first error is itself a line that only points."""
    return seen.strong is not None and seen.strong.line in {seen.matches[name].line for name in pointers}


def _ancestors(name: str, matches: Mapping[str, Match]) -> set[str]:
    """Give the failures in a log of which this one is a consequence, however far."""
    found: set[str] = set()
    wanted = [name]
    while wanted:
        for above in matches[wanted.pop()].signature.follows:
            if above in matches and above not in found and above != name:
                found.add(above)
                wanted.append(above)
    return found
