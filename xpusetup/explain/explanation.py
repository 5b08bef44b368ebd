"""What a log says, from all that was seen in it: the first decisive cause before what follows from it.

Errors come before warnings, and a warning is a cause only where there is no error that it does not explain. A line
that only points at another ("build stopped") is a cause only where the log holds nothing else.
"""

from __future__ import annotations

import re
import shlex
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xpusetup.explain.finder import Advice
from xpusetup.explain.scan import COUNTED, scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from xpusetup.explain.finder import Signature, System
    from xpusetup.explain.news import Known
    from xpusetup.explain.scan import Match, ScanResult, Telling


BUILD = "xpusetup build"
PLACE = re.compile(r"<(build|[a-z_]+)>")
HINTED = 40
"""How far above a line that only points at a failure the reason may stand."""


@dataclass(frozen=True)
class LogLine:
    """A line of a log: its number from 1, and its text."""

    line: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Why something failed: where the log says so, what mends it, and how sure that is.

    `likely`: the fix is not sure; `caused_by`: the cause of which this one is a consequence.
    """

    id: str
    phase: str
    level: str
    line: int
    text: str
    cause: str
    fix: str
    likely: bool
    commands: list[str]
    source: str
    confidence: str
    caused_by: str | None


@dataclass(frozen=True, kw_only=True)
class ExplainedLog:
    """What a log says: causes, best first; the first line that tells of an error, and whether it surely does."""

    causes: list[Cause]
    first_error_line: int | None
    first_error: str
    first_error_sure: bool
    context: list[LogLine]
    later_errors: int
    later_errors_more: bool
    lines: int
    last: list[LogLine]


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why it failed: causes, best first; the first line that tells of an error; how many errors come later."""

    causes: tuple[Match, ...]
    first_error: Telling | None
    later: int
    lines: int
    tail: tuple[tuple[int, str], ...] = ()

    def _above(self, match: Match) -> str | None:
        """Give the cause of which this one is a consequence, the first in their order."""
        above = _ancestors(match.signature.id, {cause.signature.id: cause for cause in self.causes})
        return next((cause.signature.id for cause in self.causes if cause.signature.id in above), None)

    def describe(self, build: str = BUILD, families: Sequence[str] = ()) -> ExplainedLog:
        """Give what is told of it.

        `build`: the command that builds, for what is offered to paste; `families`: this machine's system, which
        counts where the log says nothing of its own.
        """
        first = self.first_error
        around = [text for _line, text in first.context] if first else []
        system = find_system([*(cause.text for cause in self.causes), *around], families)
        return ExplainedLog(
            causes=[describe_cause(match, self._above(match), build, system) for match in self.causes],
            first_error_line=first.line if first else None,
            first_error=first.text if first else "",
            first_error_sure=bool(first and first.sure),
            context=[LogLine(line, text) for line, text in first.context] if first else [],
            later_errors=self.later,
            later_errors_more=self.later >= COUNTED - 1,
            lines=self.lines,
            last=[LogLine(line, text) for line, text in self.tail],
        )


def describe_cause(match: Match, caused_by: str | None, build: str, system: System | None = None) -> Cause:
    """Give one cause with what to do on that kind of system."""
    known = match.signature
    advice = known.on.get(system, Advice()) if system else Advice()
    commands = fill_commands(advice.commands or known.commands, {"build": build, **_quoted(match.said)})
    return Cause(
        id=known.id,
        phase=known.phase,
        level=match.level,
        line=match.line,
        text=match.text,
        cause=known.cause,
        fix=advice.fix or known.fix,
        likely=known.confidence != "high",
        commands=commands,
        source=known.source,
        confidence=known.confidence,
        caused_by=caused_by,
    )


def fill_commands(commands: Iterable[str], names: Mapping[str, str]) -> list[str]:
    """Put names into commands; where there is none, NAME stands to be filled in."""
    return [PLACE.sub(lambda found: names.get(found[1], found[1].upper()), command) for command in commands]


def _quoted(said: Mapping[str, str]) -> dict[str, str]:
    """Give what a log names as one word for a shell, and never as an option: a log may hold anything."""
    return {name: shlex.quote(value) for name, value in said.items() if not value.startswith("-")}


def explain(chunks: Iterable[bytes], signatures: Sequence[Signature], good: Known | None = None) -> Explanation:
    """Explain a log that comes in chunks of bytes of any size; lines that a good log has too tell nothing."""
    seen = scan(chunks, signatures, good)
    first = find_first(seen)
    causes = rank(seen)
    start = causes[0].line if causes else first.line if first else 0
    later = len(seen.errors) - bisect_right(seen.errors, start) if start else 0
    return Explanation(causes=causes, first_error=first, later=later, lines=seen.lines, tail=seen.tail)


def find_first(seen: ScanResult) -> Telling | None:
    """Choose the line that tells most: in ninja's first FAILED block, else the first that says what is wrong."""
    if plain := seen.strong_after_failed or seen.strong or seen.reason or seen.survived:
        return plain
    near = seen.hint and (seen.weak is None or seen.weak.line - HINTED <= seen.hint.line)
    return seen.hint if near else seen.weak


def rank(seen: ScanResult) -> tuple[Match, ...]:
    """Order what was matched, and leave out what is no cause."""
    matches = seen.matches
    ancestors = {name: _ancestors(name, matches) for name in matches}
    errors = {name for name, match in matches.items() if match.level == "error"}
    pointers = {name for name, match in matches.items() if match.level == "pointer"}
    explaining = {ancestor for name in errors | pointers for ancestor in ancestors[name]} - pointers
    causes = errors | explaining
    if not causes and ((seen.strong is None and seen.reason is None) or _points(seen, pointers)):
        causes = pointers
    if not causes and seen.strong is None:
        causes = {name for name, match in matches.items() if match.level == "survived"}
    if not causes and seen.strong is None:
        causes = {name for name, match in matches.items() if match.level == "warning"}

    timed = len({len(matches[name].when) for name in causes}) == 1

    def order(name: str) -> tuple[bool, bool, str, int, str]:
        match = matches[name]
        return match.signature.general, bool(ancestors[name] & causes), match.when if timed else "", match.line, name

    return tuple(matches[name] for name in sorted(causes, key=order))


def _points(seen: ScanResult, pointers: set[str]) -> bool:
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


# On what kind of system a log was written, as far as it tells: advice names that system's tools.


SIGNS: tuple[tuple[System, re.Pattern[str]], ...] = (
    (
        "windows",
        re.compile(r"(?:^|[\s\"'(\[])[A-Za-z]:\\|WinError|\bLNK\d{4}\b|error C\d{4}\b|win_amd64|\.dll\b|\.exe\b"),
    ),
    (
        "fedora",
        re.compile(
            r"\b(?:dnf|yum|rpm)\b|Unable to find a match: |No match for argument: |\.(?:el|fc)\d+\b"
            r"|RHEL|Fedora|CentOS|Rocky",
            re.IGNORECASE,
        ),
    ),
    ("suse", re.compile(r"\bzypper\b|suse|sles", re.IGNORECASE)),
    ("arch", re.compile(r"\bpacman\b|^==> (?:ERROR|WARNING)|-arch\d|PKGBUILD", re.MULTILINE)),
    (
        "debian",
        re.compile(
            r"^(?:E|W|Err:\d+|N): |\b(?:dpkg|apt|apt-get)\b|ubuntu|debian|\.deb\b", re.MULTILINE | re.IGNORECASE
        ),
    ),
)
FAMILIES: dict[str, System] = {
    **dict.fromkeys(("debian", "ubuntu"), "debian"),
    **dict.fromkeys(("fedora", "rhel", "centos"), "fedora"),
    **dict.fromkeys(("suse", "opensuse", "sles"), "suse"),
    "arch": "arch",
}
"""By the names in os-release's ID and ID_LIKE."""


def find_system(texts: Iterable[str], families: Sequence[str] = ()) -> System | None:
    """Say what the lines around a failure tell of the system; where they tell nothing, this machine's families do."""
    text = "\n".join(texts)
    told = next((system for system, sign in SIGNS if sign.search(text)), None)
    return told or next((FAMILIES[name] for name in families if name in FAMILIES), None)
