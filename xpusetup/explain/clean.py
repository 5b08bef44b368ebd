"""A line as the tool wrote it: what a CI system, launcher, logger, the kernel or ninja put before it is taken away."""

from __future__ import annotations

import re
from functools import lru_cache

TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
LEVEL = r"(?:TRACE|DEBUG|INFO|SUCCESS|WARNING|WARN|ERROR|CRITICAL|FATAL)"
NOISE = rf"""
        [^\t\n]{{1,100}}\t[^\t\n]{{1,100}}\t(?={TIME})          # gh run view --log: job, step
      | {TIME}\ \d\d[OE]\+?\ ?                                  # GitLab
      | \[?{TIME}\]?(?:\s+\|)?\s                                # GitHub, Azure, Jenkins, docker compose, loguru
      | {TIME}:\(\s*\d+\)\s                                     # oneCCL
      | \d{{4}}:\d\d:\d\d-\d\d:\d\d:\d\d:\s?\(\s*\d+\)\s        # oneCCL before 2022
      | \[\d\d:\d\d:\d\d(?:\.\d+)?\]\s                          # Jenkins
      | \d\d:\d\d:\d\d(?:[.-]\d+)?\s+(?:\|\s)?                  # Jenkins, make with times
      | \#\#\[(?:error|warning|group|command|section|debug)\]   # GitHub, Azure
      | \#\d+\s(?:\d+\.\d+\s)?                                  # docker BuildKit
      | \d+\.\d{{2,3}}\s(?=\S)                                  # its summary
      | \ ?=>\ (?:=>\ )?\#?\s?                                  # its live view
      | [^\W\d_]{{3,5}}\.?\s[\s\d]\d\s\d\d:\d\d:\d\d\s\S+\s[\w./@-]+(?:\[\d+\])?:\s   # journald, syslog
      | kernel:\s
      | (?:kern|user|daemon)\s*:[a-z]+\s*:\s                    # dmesg -x
      | \[\s*\d+\.\d+\]\s                                       # the kernel
      | \[[A-Z][a-z]{{2}}\s[A-Z][a-z]{{2}}\s[\s\d]\d\s[\d:]{{8}}\s\d{{4}}\]\s     # dmesg -T
      | \[\d+/\d+\]\s | \[\s*\d+%\]\s                           # ninja, CMake's make
      | >\s
"""
WHO = rf"""
        \[(?:rank|default|local_rank|Rank\s)[=\ ]?\d+\]:?\s?    # torchrun
      | \((?:[A-Za-z_][\w.]*\s)*pid=\d+(?:,\sip=[^)\n]*)?\)\s?  # vLLM, Ray
      | \((?:raylet|autoscaler|scheduler)\b[^)\n]*\)\s?         # Ray
      | \[\d+,\d+\]<std(?:err|out)>:\s?                         # mpirun
      | \[\d{{1,5}}\]\s(?=\S)                                   # Intel's mpirun -l
      | \d{{1,5}}:\s(?=\D)                                      # srun --label
      | \[pod/[^\]\n]+\]\s                                      # kubectl logs --prefix
      | (?:[a-z][\w.-]*-\d+|[a-z][\w.-]+\s)\s*\|\s              # docker compose
      | {LEVEL}\s\d\d-\d\d\s\d\d:\d\d:\d\d\s\[?[\w./-]+:\d+\]\s?        # vLLM
      | {LEVEL}\s+\|\s[\w.<>]+:[\w.<>]+:\d+\s-\s                # loguru
      | {LEVEL}:[\w.]+:(?=\S)                                   # Python's logging
      | -\s[\w.]+\s-\s{LEVEL}\s-\s
      | \[?[IEF]\d{{3,4}}\s\d\d:\d\d:\d\d(?:\.\d+)?\s(?:\d+\s)?[\w./-]+:\d+\]\s?    # glog
      | \[?(?:stderr|stdout|STDERR|STDOUT)\]?:?\s
"""
"""Who says it and how loudly, as loggers, launchers and schedulers write it; kept where a line is shown."""

NEARBY = 256
"""How many lines are remembered: those around one place are asked for again and again."""

SHOWN = re.compile(rf"^\ufeff?(?:{NOISE})+", re.VERBOSE)
PREFIX = re.compile(rf"^\ufeff?(?:{NOISE}|{WHO})+", re.VERBOSE)
ORDERED = re.compile(rf"(?:^|\s|\[)({TIME})|{LEVEL}\s(\d\d-\d\d\s\d\d:\d\d:\d\d)\s")
LOUD = re.compile(
    r"^\W*(?:ERROR|CRITICAL|FATAL)\s(?:\d\d-\d\d\s|\s*\|)|\s(?:ERROR|CRITICAL|FATAL)\s(?:\d\d-\d\d\s|\s*\||-\s)"
    r"|^(?:ERROR|CRITICAL|FATAL):[\w.]+:\S|##\[error\]|\|CCL_ERROR\||\blevel=(?:error|fatal)\b|\|\s*ERROR\s*\|",
    re.IGNORECASE,
)
"""A line that its logger calls an error, whatever it says."""


@lru_cache(maxsize=NEARBY)
def clean(line: str) -> str:
    """Give a line without what was put before it, and without white space after it. Its own indent stays."""
    return PREFIX.sub("", line).rstrip()


@lru_cache(maxsize=NEARBY)
def clean_shown(line: str) -> str:
    """Give a line as people should see it: with the rank or process that says it, without a CI system's times."""
    return SHOWN.sub("", line).rstrip()


def time_of(line: str) -> str:
    """Give the time before a line in a form that sorts within one log, or nothing."""
    found = ORDERED.search(line[:120])
    return (found[1] or found[2] or "").replace("T", " ").replace(",", ".") if found else ""
