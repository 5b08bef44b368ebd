"""How far a step has come: the time that is left by its own pace, and what it is at, in words."""

from __future__ import annotations

import re
from statistics import median

FIRST_SECONDS = 20.0
FIRST_COUNT = 10
FIRST_SHARE = 0.03
WINDOWS = (1.0, 0.5, 0.25)
"""Shares of the time so far whose paces are compared: the middle one is neither last minute's nor only the start's."""
COUNTED_WINDOWS = (0.5, 0.25)
"""Shares of what is done so far, likewise: large files in a row fill half of the time and are a few of a thousand."""
SMOOTHING = 60.0
"""Seconds in which a new estimate takes the place of the one that was shown."""
MOST = 512
COUNTED = re.compile(r"^\[\d+/\d+\] ?")
OBJECT = re.compile(r" -o (\S+)")
MINUTE = 60
HOUR = 3600
LONG_NAME = 40


class Pace:
    """The pace of one step that counts to a total. It says nothing while it knows too little."""

    def __init__(self) -> None:
        self._marks: list[tuple[float, int]] = []
        self._total = 0
        self._end: float | None = None
        self._asked = 0.0

    def note(self, time: float, count: int, total: int) -> None:
        """Take in how far the step is; another total, or a smaller count, is another piece of work."""
        if total != self._total or (self._marks and count < self._marks[-1][1]):
            self._marks, self._total, self._end = [], total, None
        self._marks.append((time, count))
        if len(self._marks) > MOST:
            self._marks = [*self._marks[:-1:2], self._marks[-1]]

    def left(self, time: float) -> float | None:
        """Give the seconds that are left, as seen at this time; None while too little is known."""
        rate = self._rate(time)
        if rate is None:
            return None
        end = time + (self._total - self._marks[-1][1]) / rate
        if self._end is not None:
            end = self._end + (end - self._end) * min(1.0, (time - self._asked) / SMOOTHING)
        self._end, self._asked = end, time
        return max(0.0, end - time)

    def _rate(self, time: float) -> float | None:
        if not self._marks:
            return None
        (began, first), (_, count) = self._marks[0], self._marks[-1]
        spent, made = time - began, count - first
        if spent < FIRST_SECONDS or made < max(FIRST_COUNT, FIRST_SHARE * self._total):
            return None
        starts = [time - share * spent for share in WINDOWS]
        starts += [self._time_of(count - share * made) for share in COUNTED_WINDOWS]
        return max(median(self._rate_since(time, start) for start in starts), made / spent / 10)

    def _time_of(self, count: float) -> float:
        """Give when so many were done."""
        return next(mark[0] for mark in reversed(self._marks) if mark[1] <= count)

    def _rate_since(self, time: float, since: float) -> float:
        start, before = next((mark for mark in self._marks if mark[0] >= since), self._marks[-1])
        return (self._marks[-1][1] - before) / max(time - start, 1.0)


def render_left(seconds: float) -> str:
    """Say how much time is left."""
    return "under a minute left" if seconds < MINUTE else f"{render_about(seconds)} left"


def render_about(seconds: float) -> str:
    """Say a time that is not known exactly: about 40 s, about 41 min, about 2 h 40 min."""
    if seconds < MINUTE:
        return f"about {max(10, round(seconds, -1)):.0f} s"
    if seconds < HOUR:
        return f"about {round(seconds / MINUTE)} min"
    hours, minutes = divmod(round(seconds / MINUTE, -1), MINUTE)
    return f"about {hours:.0f} h {minutes:.0f} min" if minutes else f"about {hours:.0f} h"


def describe_line(line: str) -> str:
    """Say what a line of a log is about, without ninja's count and without the folders of what it names.

    Empty for what is shown elsewhere: a step's summary, and its notes.
    """
    if line.startswith(("= ", "note: ")):
        return ""
    text = COUNTED.sub("", line.rstrip("\r").rpartition("\r")[2]).strip()
    made = OBJECT.search(text)
    if made and len(text) > LONG_NAME:
        return f"{'Compiling' if ' -c ' in text else 'Linking'} {_last_part(made[1])}"
    return " ".join(_last_part(word) for word in text.split())


def _last_part(word: str) -> str:
    """Give the last part of a path; what is no path, as an address or a share, stays as it is."""
    is_path = "://" not in word and (word.startswith(("/", "./")) or word.count("/") > 1)
    return word.rstrip("/").rpartition("/")[2] or word if is_path else word
