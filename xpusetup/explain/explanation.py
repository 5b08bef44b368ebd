"""What a log says, from all that was seen in it: the first decisive cause before what follows from it.

Errors come before warnings, and a warning is a cause only where there is no error that it does not explain. A line
that only points at another ("build stopped") is a cause only where the log holds nothing else.
"""

import re
import shlex
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from xpusetup.base.command import Command
from xpusetup.explain.ending import Ending, find_commands, find_endings, find_quiet
from xpusetup.explain.evidence import Lines, decide, fill_names
from xpusetup.explain.finder import Signature, System, SystemAdvice, make_regex
from xpusetup.explain.place import find_systems, fit_commands
from xpusetup.explain.recovered import find_recovered
from xpusetup.explain.scan import COMPLAINTS, COUNTED, TELLINGS, Match, ScanResult, Telling, read_again, scan
from xpusetup.paste.advice import name_python, python_in
from xpusetup.paste.pytorch import find_environment

BUILD = "xpusetup build"
PLACE = re.compile(r"<(\w+)>")
HINTED = 40
"""How far above a line that only points at a failure the reason may stand."""
BESIDE = 4
"""How many other lines that complain are shown with a cause that is not sure."""
ROUNDS = 3
"""Maximum number of passes over a log. Each pass may find the next place of a failure."""
DIGITS = re.compile(r"\W*\d\w*")


@dataclass(frozen=True)
class LogLine:
    """A line of a log: its number from 1, and its text."""

    line: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Why something failed: where the log says so, what mends it, and how sure that is.

    `likely`: cause and fix are not sure, or the cause is one of several; `caused_by`: the cause of which this one is
    a consequence; `decided`: the line elsewhere in the log that tells which of several causes it is, null where none
    was asked for.
    """

    id: str
    phase: str
    level: str
    line: int
    text: str
    cause: str
    fix: str
    likely: bool
    commands: list[Command]
    source: str
    confidence: str
    caused_by: str | None
    decided: LogLine | None = None


@dataclass(frozen=True, kw_only=True)
class ExplainedLog:
    """What a log says: causes, best first; the first line that tells of an error, and whether it surely does.

    `beside`: other lines near by that complain, where the first cause is not sure or none is known; `ended`: the line
    by which the last command went well, null where none says so; `went_on`: what would be a likely cause, had the log
    not gone on after it to an end that tells of no failure.
    """

    causes: list[Cause]
    first_error_line: int | None
    first_error: str
    first_error_sure: bool
    context: list[LogLine]
    later_errors: int
    later_errors_more: bool
    lines: int
    last: list[LogLine]
    beside: list[LogLine]
    ended: LogLine | None
    went_on: list[Cause]


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why it failed: causes, best first; the first line that tells of an error; how many errors come later."""

    causes: tuple[Match, ...]
    first_error: Telling | None
    later: int
    lines: int
    log: Lines
    tail: tuple[tuple[int, str], ...] = ()
    complaints: tuple[tuple[int, str], ...] = ()
    ended: Ending | None = None
    went_on: tuple[Match, ...] = ()

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
        systems = find_systems([*(cause.text for cause in self.causes), *around], self.log.whole, families)
        home = find_environment(self.log.whole.splitlines())
        told = {"build": build, **_quoted({"env": home} if home else {})}
        causes = [describe_cause(each, self._above(each), told, systems) for each in self.causes]
        python = python_in(self.log.whole)
        causes = [
            replace(each, commands=[row.like(name_python(row, python)) for row in each.commands]) for each in causes
        ]
        if causes and self._is_unexplained(self.causes[0]):
            causes[0] = replace(causes[0], likely=True)
        return ExplainedLog(
            causes=causes,
            first_error_line=first.line if first else None,
            first_error=first.text if first else "",
            first_error_sure=bool(first and first.sure),
            context=[LogLine(line, text) for line, text in first.context] if first else [],
            later_errors=self.later,
            later_errors_more=self.later >= COUNTED - 1,
            lines=self.lines,
            last=[LogLine(line, text) for line, text in self.tail],
            beside=[] if causes and not causes[0].likely else self._beside(),
            went_on=[describe_cause(match, None, told, systems) for match in self.went_on],
            ended=LogLine(self.ended.line, self.ended.text) if self.ended else None,
        )

    def _is_unexplained(self, match: Match) -> bool:
        """Say whether the log's first error stands before a failure, in other words than those that are known."""
        first, known = self.first_error, {DIGITS.sub("0", cause.text) for cause in self.causes}
        before = first is not None and first.sure and first.line < match.line - 1
        return first is not None and before and DIGITS.sub("0", first.text) not in known

    def _beside(self) -> list[LogLine]:
        """Give what else complains near the line that is shown: what was said first above it, then what is nearest."""
        shown = self.causes[0] if self.causes else self.first_error
        if shown is None:
            return []
        told = {cause.line for cause in self.causes}
        if self.first_error and not self.causes:
            told = {line for line, _text in self.first_error.context}
        near: dict[str, tuple[int, str]] = {}
        for line, text in self.complaints:
            if abs(line - shown.line) <= HINTED and line not in told:
                near.setdefault(DIGITS.sub("0", text), (line, text))
        near.pop(DIGITS.sub("0", shown.text), None)
        first = [pair for pair in near.values() if pair[0] < shown.line][: BESIDE // 2]
        left = [pair for pair in near.values() if pair not in first]
        others = sorted(left, key=lambda pair: abs(pair[0] - shown.line))
        return [LogLine(line, text) for line, text in sorted([*first, *others[: BESIDE - len(first)]])]


def describe_cause(
    match: Match, caused_by: str | None, told: Mapping[str, str], systems: Sequence[System] = ()
) -> Cause:
    """Give one cause with what to do on that kind of system; `told` fills the gaps that the log's own words do not."""
    known, decided = match.signature, match.decided
    narrowed = decided.refinement if decided else SystemAdvice()
    advice = next((known.on[system] for system in systems if system in known.on), SystemAdvice())
    names = {**match.said, **(decided.names if decided else {})}
    said = decided.refinement.cause if decided else ""
    commands = narrowed.commands if narrowed.fix or narrowed.commands else advice.commands or known.commands
    return Cause(
        id=known.id,
        phase=known.phase,
        level=match.level,
        line=match.line,
        text=match.text,
        cause=fill_names(said or known.cause, names),
        fix=fill_names(narrowed.fix or advice.fix or known.fix, names),
        likely=match.likely,
        commands=fit_commands(fill_commands(commands, {**told, **_quoted(names)}), systems),
        source=(decided.refinement.source if decided else "") or known.source,
        confidence=match.confidence,
        caused_by=caused_by,
        decided=LogLine(decided.line, decided.text) if decided and decided.line else None,
    )


def fill_commands(lines: Iterable[str], names: Mapping[str, str]) -> list[Command]:
    """Put names into lines of a table; where there is none, NAME stands for what a person has to put there."""
    filled = [(PLACE.sub(lambda gap: names.get(gap[1], gap[1].upper()), line), PLACE.findall(line)) for line in lines]
    return [Command(line, gaps=tuple(gap.upper() for gap in gaps if gap not in names)) for line, gaps in filled]


def _quoted(said: Mapping[str, str]) -> dict[str, str]:
    """Give what a log names as one word for a shell, and never as an option: a log may hold anything."""
    return {name: shlex.quote(value) for name, value in said.items() if not value.startswith("-")}


def explain(chunks: Iterable[bytes], signatures: Sequence[Signature], *, failed: bool = False) -> Explanation:
    """Explain a log that comes in chunks of bytes of any size.

    `failed`: it is known that what wrote it failed, however it ends.
    """
    seen = scan(chunks, signatures)
    log = seen.kept.lines(seen.lines)
    _drop(seen, log)
    endings = [] if failed else forgive_all(seen, log, signatures)
    quiet = find_quiet(log)
    first = find_first(seen)
    _drop(seen, log)
    _decide(seen, log)
    ranked = tuple(_marked_late(rank(seen), seen, log))
    went_on = tuple(match for match in ranked if not failed and _went_on(match, quiet))
    causes = tuple(match for match in ranked if match not in went_on)
    start = causes[0].line if causes else first.line if first else 0
    later = len(seen.errors) - bisect_right(seen.errors, start) if start else 0
    return Explanation(
        causes=causes,
        first_error=first,
        later=later,
        lines=seen.lines,
        tail=seen.tail,
        log=log,
        went_on=() if causes else went_on,
        complaints=tuple(seen.complaints),
        ended=next((ending for ending in endings[-1:] if ending.last), None),
    )


def forgive_all(seen: ScanResult, log: Lines, signatures: Sequence[Signature]) -> list[Ending]:
    """Ask how each part of a log ended, and forget what it complains of that is over.

    Only the first place of each failure is known, so what is kept of the log is read again without what was forgotten:
    the same may have ended it later.
    """
    over = frozenset[int]()
    endings = find_endings(log)
    for _round in range(ROUNDS):
        if not (seen.matches or seen.complaints or seen.errors) or not _all_known(seen):
            break
        more = find_recovered(log, _complaining(seen), _soft(seen))
        endings = find_endings(log, over | more)
        if not more - over:
            break
        over |= more
        read_again(seen, over, signatures)
    closed = _closed(seen, endings)
    if closed and _all_known(seen):
        read_again(seen, over | closed, signatures)
    forgive(seen, endings)
    return endings


def _all_known(seen: ScanResult) -> bool:
    """Say whether every line that complains was kept: of more nobody can say that nothing comes after one."""
    return len(seen.errors) < COUNTED - 1 and len(seen.complaints) < COMPLAINTS


def _closed(seen: ScanResult, endings: Sequence[Ending]) -> set[int]:
    """Give the lines that complain in commands that went well, where others come after them."""
    kept = {match.line for match in seen.matches.values() if _is_kept(match)}
    spans = [(ending.since, _over(ending, soft=False)) for ending in endings if not ending.last]
    found = set[int]()
    for line in _complaining(seen) - kept:
        at = bisect_right(spans, (line - 1, 1 << 62)) - 1
        found |= {line} if at >= 0 and line <= spans[at][1] else set()
    return found


def _complaining(seen: ScanResult) -> set[int]:
    """Give the numbers of all lines that complain."""
    kinds = (getattr(seen, kind) for kind in TELLINGS)
    told = {telling.line for telling in kinds if telling}
    matched = {match.line for match in seen.matches.values()}
    return {*seen.errors, *(line for line, _text in seen.complaints), *told, *matched} | seen.over


def _soft(seen: ScanResult) -> set[int]:
    """Give the numbers of the lines in which a failure is only warned of, and that tell of no error besides."""
    matched = {match.line for match in seen.matches.values() if match.level in {"unsure", "survived", "warning"}}
    return matched - set(seen.errors) - {line for line, _text in seen.complaints}


def _marked_late(ranked: Iterable[Match], seen: ScanResult, log: Lines) -> Iterator[Match]:
    """Mark what a person's command said after another one in which an error stands."""
    commands, first = find_commands(log), seen.errors[0] if seen.errors else 0
    for match in ranked:
        at = bisect_right(commands, match.line)
        yield replace(match, late=bool(at and 0 < first < commands[at - 1]))


def _went_on(match: Match, quiet: Callable[[int, str], bool]) -> bool:
    """Say whether a log went on after a failure that is not sure, so that it ended nothing."""
    return not match.signature.state and not _is_sure(match) and quiet(match.line, match.signature.level)


def _is_sure(match: Match) -> bool:
    """Say whether a failure is one, however its log goes on: its words mean one thing, or going on is a waste."""
    sure = match.level == "error" and match.certainty == "high" and not match.general
    return sure or match.signature.abort


def _drop(seen: ScanResult, log: Lines) -> None:
    """Forget what was matched and is none by what the log tells elsewhere, so that it says nothing of the end."""
    for name, match in list(seen.matches.items()):
        known = match.signature
        lacks = known.beside and not make_regex(known.beside).search(log.whole)
        if lacks or (known.unless and make_regex(known.unless).search(log.whole)):
            del seen.matches[name]


def _decide(seen: ScanResult, log: Lines) -> None:
    """Narrow what was matched by what the log tells elsewhere."""
    for name, match in list(seen.matches.items()):
        if not match.signature.when:
            continue
        systems = find_systems([match.text], log.whole)
        if decided := decide(match.signature, match.text, match.near, log, systems):
            seen.matches[name] = replace(match, decided=decided)
            if decided.refinement.shown and decided.line and decided.text not in match.text:
                seen.matches[name] = replace(match, decided=decided, line=decided.line, text=decided.text)


def forgive(seen: ScanResult, endings: Sequence[Ending]) -> None:
    """Forget what a command said that went well; what it only warned of or went on after, where results end it."""
    for ending in endings:
        seen.complaints = [pair for pair in seen.complaints if not ending.since < pair[0] <= ending.until]
        for name, match in list(seen.matches.items()):
            if ending.since < match.line <= ending.until and _is_forgiven(match, ending):
                del seen.matches[name]
        for kind in TELLINGS:
            telling: Telling | None = getattr(seen, kind)
            if telling and ending.since < telling.line <= _over(ending, soft=kind in {"hint", "survived"}):
                setattr(seen, kind, None)


def _is_kept(match: Match) -> bool:
    """Say whether it stays whatever goes well after it, which lacks what was asked for."""
    if match.level == "warning" and match.signature.abort:
        return True
    return match.signature.state


def _is_forgiven(match: Match, ending: Ending) -> bool:
    if _is_kept(match):
        return False
    return match.line <= _over(ending, soft=match.level in {"unsure", "survived", "warning"})


def _over(ending: Ending, *, soft: bool) -> int:
    """Give the last line of which it is over: soft words of the whole; of errors what verdict or results come after."""
    if soft:
        return ending.until
    return ending.line if ending.kind == "well" else ending.goes_on


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
        return match.general, bool(ancestors[name] & causes), match.when if timed else "", match.line, name

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
