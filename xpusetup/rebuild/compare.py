"""Two wheels that should be the same, file by file: which member differs, and what made it differ. Pure.

What was another in the second build is known (its folder, time zone, locale, user, host): a *cause* is named where that
value stands in the one member and its counterpart in the other. It is *sure* where nothing differs once those values
are put aside; else more differs than could be named, if only because a value of another length moves what follows it.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile, ZipInfo


@dataclass(frozen=True)
class Varied:
    """What was another in the second build, by the name of the cause, and its text in each; empty where it had none."""

    cause: str
    was: str
    now: str


@dataclass(frozen=True)
class Conditions:
    """All that was another in the second build. `offset`: seconds between the time zones, 0 where both had the same."""

    varied: tuple[Varied, ...] = ()
    offset: int = 0


@dataclass(frozen=True, kw_only=True)
class MemberDifference:
    """A member of a wheel that is not the same bytes in both builds, and what made it so: the causes, in words too.

    `sure`: with those causes put aside nothing differs. `was` and `now` are where it differs, as text.
    """

    member: str
    causes: list[str]
    why: str
    sure: bool
    was: str
    now: str


WHY = {
    "path": "the folder of the build stands in it",
    "flags": "it keeps the compiler's flags, in which the folder of the build stands (-ffile-prefix-map)",
    "home": "the home folder of who built it stands in it",
    "user": "the name of who built it stands in it",
    "hostname": "the name of the machine stands in it",
    "locale": "the locale of the build stands in it",
    "time zone": "a time was written in the time zone of the machine",
    "time": "the time of the build stands in it: its source dates it (SOURCE_DATE_EPOCH), the clock must not",
    "order": "the same parts stand in another order: that of a folder, of a set, or of jobs that run at once",
    "mode": "its file mode is another: that of the source tree or of the umask",
    "absent": "only one of the builds made it",
    "follows": "it lists the hashes of members that differ",
    "unknown": "no value that was varied stands in it",
}
"""What each cause means."""
LARGE = 1 << 28
"""Bytes of a member above which the values that were varied are looked for, and nothing is put aside."""
SHOWN = 100
"""Characters around a difference that are shown."""
SHORT = 3
"""Values of no more letters stand everywhere: that one is there proves nothing."""
TIME = re.compile(
    rb"\d{4}-\d\d-\d\d|\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?|\b1\d{9}(?:\.\d+|\d{3}|\d{6}|\d{9})?\b|\b\d{8}T?\d{4,6}Z?\b"
    rb"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,2}(?:,? \d{4})?"
    rb"|\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4}"
)
CLOCK = re.compile(rb"\b(\d\d):(\d\d):(\d\d)\b")
PARTS = re.compile(rb"[\s\0,;:]+")
PRINTABLE = re.compile(rb"[\x20-\x7e]+")
DAY = 86400


def compare_wheels(one: Path, other: Path, conditions: Conditions) -> list[MemberDifference]:
    """Compare two wheels. Raises BadZipFile, OSError for what is none."""
    with ZipFile(one) as old, ZipFile(other) as new:
        found = list(_members(old, new, conditions))
        was, now = old.namelist(), new.namelist()
        if was != now and sorted(was) == sorted(now):
            first = next(pair for pair in zip(was, now, strict=True) if pair[0] != pair[1])
            found.append(_tell("(the order of members)", ["order"], True, *first))
    return found


def count_members(wheel: Path) -> int:
    with ZipFile(wheel) as archive:
        return len(archive.namelist())


def _members(old: ZipFile, new: ZipFile, conditions: Conditions) -> Iterator[MemberDifference]:
    was, now = ({info.filename: info for info in each.infolist()} for each in (old, new))
    differing: set[str] = set()
    lists = []
    for name in sorted({*was, *now}):
        if name in was and name in now and name.endswith(".dist-info/RECORD"):
            lists.append(name)
        elif told := _compare(name, (old, was.get(name)), (new, now.get(name)), conditions):
            differing.add(name)
            yield told
    for name in lists:
        one, other = old.read(name), new.read(name)
        if one != other and _follows(one, other, differing):
            yield _tell(name, ["follows"], True, "", "")
        elif told := _compare(name, (old, was[name]), (new, now[name]), conditions):
            yield told


def _compare(
    name: str, old: tuple[ZipFile, ZipInfo | None], new: tuple[ZipFile, ZipInfo | None], conditions: Conditions
) -> MemberDifference | None:
    was, now = old[1], new[1]
    if was is None or now is None:
        sizes = [f"{each.file_size} bytes" if each else "not there" for each in (was, now)]
        return _tell(name, ["absent"], True, *sizes)
    one, other = old[0].read(was), new[0].read(now)
    if one == other:
        return _compare_entries(name, was, now)
    causes, sure = find_causes(one, other, conditions)
    return _tell(name, causes, sure, *_show(one, other, causes, conditions))


def _compare_entries(name: str, was: ZipInfo, now: ZipInfo) -> MemberDifference | None:
    """Compare what a wheel says of a member whose bytes are the same."""
    if was.date_time != now.date_time:
        dates = ("{:04}-{:02}-{:02} {:02}:{:02}:{:02}".format(*each.date_time) for each in (was, now))
        return _tell(name, ["time"], True, *dates)
    if was.external_attr != now.external_attr:
        return _tell(name, ["mode"], True, *(f"{each.external_attr >> 16:o}" for each in (was, now)))
    if was.compress_type != now.compress_type:
        return _tell(name, ["unknown"], False, *(f"packed by way {each.compress_type}" for each in (was, now)))
    return None


def _tell(name: str, causes: list[str], sure: bool, was: str, now: str) -> MemberDifference:
    why = "; ".join(WHY[cause] for cause in causes)
    return MemberDifference(member=name, causes=causes, why=why, sure=sure, was=was, now=now)


def _follows(one: bytes, other: bytes, differing: set[str]) -> bool:
    """Say whether two lists of files differ in the rows of members alone that differ themselves."""
    was, now = _rows(one), _rows(other)
    other_rows = {name for name in {*was, *now} if was.get(name) != now.get(name)}
    return bool(other_rows) and other_rows <= differing


def _rows(record: bytes) -> Mapping[str, list[str]]:
    return {row[0]: row[1:] for row in csv.reader(record.decode(errors="replace").splitlines()) if row}


# What made two texts or binaries differ: the values that were varied, times, the order of parts.


def find_causes(one: bytes, other: bytes, conditions: Conditions) -> tuple[list[str], bool]:
    """Name what made two members differ, and say whether nothing differs once that is put aside."""
    found = _find_varied(one, other, conditions.varied)
    if len(one) > LARGE or len(other) > LARGE:
        return _named(one, found), False
    was, now = _put_aside(one, other, found)
    if was == now:
        needed = [each for each in found if not _equal_without(one, other, found, each)]
        return _named(one, needed or found), True
    for cause, same in _more_causes(was, now, conditions.offset):
        if same:
            return [*(_named(one, found) if found else []), cause], True
    return _named(one, found), False


def _named(data: bytes, found: Sequence[Varied]) -> list[str]:
    """Give the causes by name; a folder that stands in kept compiler flags is a cause of its own."""
    names = [each.cause for each in found]
    paths = [re.escape(each.was.encode()) for each in found if each.cause == "path"]
    for path in paths:
        rest, times = re.subn(rb"-f[a-z-]+-prefix-map=" + path, b"", data)
        if times:
            names = ["flags", *(name for name in names if name != "path" or re.search(path, rest))]
    return [*dict.fromkeys(names)] or ["unknown"]


def _find_varied(one: bytes, other: bytes, varied: Sequence[Varied]) -> list[Varied]:
    """Give the values that stand in one member, and their counterparts in the other, more often than the other way."""
    every = [text for each in varied for text in (each.was, each.now)]
    here, there = (_mark(data, dict.fromkeys(every, "value"))[1] for data in (one, other))
    return [
        each
        for each in varied
        if len(each.was) > SHORT or len(each.now) > SHORT
        if len(each.was) <= SHORT or here[each.was] > there[each.was]
        if len(each.now) <= SHORT or there[each.now] > here[each.now]
    ]


def _mark(data: bytes, marks: Mapping[str, str]) -> tuple[bytes, Counter[str]]:
    """Put a mark in place of each value that is no part of a longer word, the longest first, and count the values."""
    counts: Counter[str] = Counter()

    def put(found: re.Match[bytes]) -> bytes:
        value = found[0].decode()
        counts[value] += 1
        return marks[value].encode()

    words = "|".join(_word(text) for text in sorted(filter(None, marks), key=len, reverse=True))
    return (re.sub(words.encode(), put, data) if words else data), counts


def _word(text: str) -> str:
    """Give what finds a value that is no part of a longer word; an option may stand before a folder (-I/folder)."""
    before = "" if text.startswith("/") else r"(?<!\w)"
    return before + re.escape(text) + r"(?!\w)"


def _put_aside(one: bytes, other: bytes, found: Sequence[Varied]) -> tuple[bytes, bytes]:
    marks = [(each, f"<{each.cause}>" if each.was and each.now else "") for each in found]
    was, now = {each.was: mark for each, mark in marks}, {each.now: mark for each, mark in marks}
    return _mark(one, was)[0], _mark(other, now)[0]


def _equal_without(one: bytes, other: bytes, found: Sequence[Varied], left_out: Varied) -> bool:
    was, now = _put_aside(one, other, [each for each in found if each is not left_out])
    return was == now


def _more_causes(was: bytes, now: bytes, offset: int) -> Iterator[tuple[str, bool]]:
    """Say of causes that have no value to look for whether they make the rest of two members the same."""
    same_time = TIME.sub(b"<time>", was) == TIME.sub(b"<time>", now)
    yield "time zone", same_time and _shifted(was, now, offset)
    yield "time", same_time
    yield "order", sorted(PARTS.split(was)) == sorted(PARTS.split(now))


def _shifted(was: bytes, now: bytes, offset: int) -> bool:
    """Say whether all clocks that differ do so by just what the time zones differ."""
    pairs = [pair for pair in zip(_clocks(was), _clocks(now), strict=False) if pair[0] != pair[1]]
    return bool(offset and pairs) and all((after - before - offset) % DAY == 0 for before, after in pairs)


def _clocks(data: bytes) -> list[int]:
    found = (map(int, each.groups()) for each in CLOCK.finditer(data))
    return [hours * 3600 + minutes * 60 + seconds for hours, minutes, seconds in found]


# Where two members differ, as text to be read.


def _show(one: bytes, other: bytes, causes: Sequence[str], conditions: Conditions) -> tuple[str, str]:
    """Give the text around the first varied value that is a cause, else around the first byte that differs."""
    named = {"path" if cause == "flags" else cause for cause in causes}
    for each in conditions.varied:
        if each.cause in named and each.was and each.now:
            left, right = (re.search(_word(text).encode(), data) for text, data in ((each.was, one), (each.now, other)))
            if left and right:
                return _around(one, left.start()), _around(other, right.start())
    at = next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), 0)
    return _around(one, at), _around(other, at)


def _around(data: bytes, at: int) -> str:
    """Give the printable run that holds a place, as far as it is shown."""
    begin, end = max(0, at - SHOWN), at + SHOWN
    runs = (found for found in PRINTABLE.finditer(data, begin, end) if found.end() > at)
    found = next(runs, None)
    return found.group()[:SHOWN].decode("ascii") if found else ""
