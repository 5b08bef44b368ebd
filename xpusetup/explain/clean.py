"""A line as the tool wrote it: what a CI system, docker, journald, the kernel or ninja put before it is taken away."""

from __future__ import annotations

import re

TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
PREFIX = re.compile(
    rf"""^\ufeff?(?:
        [^\t\n]{{1,100}}\t[^\t\n]{{1,100}}\t(?={TIME})          # gh run view --log: job, step
      | {TIME}\ \d\d[OE]\+?\ ?                                  # GitLab
      | \[?{TIME}\]?(?:\s+\|)?\s                                # GitHub, Azure, Jenkins, docker compose
      | \[\d\d:\d\d:\d\d(?:\.\d+)?\]\s                          # Jenkins
      | \d\d:\d\d:\d\d(?:\.\d+)?\s+(?:\|\s)?                    # Jenkins, make with times
      | \#\#\[(?:error|warning|group|command|section|debug)\]   # GitHub, Azure
      | \#\d+\s(?:\d+\.\d+\s)?                                  # docker BuildKit
      | \d+\.\d{{2,3}}\s(?=\S)                                  # its summary
      | \ ?=>\ (?:=>\ )?\#?\s?                                  # its live view
      | [A-Z][a-z]{{2}}\s[\s\d]\d\s\d\d:\d\d:\d\d\s\S+\s[\w./-]+(?:\[\d+\])?:\s   # journald, syslog
      | kernel:\s
      | (?:kern|user|daemon)\s*:[a-z]+\s*:\s                    # dmesg -x
      | \[\s*\d+\.\d+\]\s                                       # the kernel
      | \[[A-Z][a-z]{{2}}\s[A-Z][a-z]{{2}}\s[\s\d]\d\s[\d:]{{8}}\s\d{{4}}\]\s     # dmesg -T
      | \[\d+/\d+\]\s | \[\s*\d+%\]\s                           # ninja, CMake's make
      | >\s
    )+""",
    re.VERBOSE,
)


def clean(line: str) -> str:
    """Give a line without what was put before it, and without white space after it. Its own indent stays."""
    return PREFIX.sub("", line).rstrip()
