"""Variables of the environment in what people paste: every form in which shells, files and programs write one. Pure."""

from __future__ import annotations

import re

from xpusetup.machine import paste_lines as lines

NAME, VALUE = r"(?P<name>[A-Z_][A-Z0-9_]{1,60})", r"(?P<value>[^\n]{0,400}?)"
FORMS = (
    re.compile(rf"^\s*(?:PS [^>]{{0,120}}> ?)?\$env:{NAME}\s*=\s*[\"']?{VALUE}[\"']?;?\s*$", re.IGNORECASE),
    re.compile(rf"\bos\.environ\[[\"']{NAME}[\"']\]\s*=\s*[\"']{VALUE}[\"']"),
    re.compile(rf"\bos\.(?:putenv|environ\.setdefault)\([\"']{NAME}[\"'],\s*[\"']{VALUE}[\"']\)"),
    re.compile(rf"^\s*Environment=[\"']?{NAME}={VALUE}[\"']?\s*$"),
    re.compile(rf"^\s*(?:-\s*)?[\"']{NAME}[\"']\s*:\s*[\"']{VALUE}[\"'],?\s*$"),
    re.compile(rf"^\s*(?:set|setx) (?:-\w+ |/m )?{NAME} [\"']?{VALUE}[\"']?\s*$", re.IGNORECASE),
)
"""PowerShell, Python, a unit of systemd, JSON, and fish or Windows' setx."""
ECHOED = re.compile(
    r"^(?:sudo )?(?:echo|printenv|Write-Host) [\"']?(?:\$env:|\$\{?|%)?([A-Z_][A-Z0-9_]{1,60})[}%]?[\"']?$"
)
"""A command that shows one variable."""
RUNS = re.compile(
    r"\s(?:[A-Z_][A-Z0-9_]{1,60}=\S*\s+)*(?:\S*/)?(?:python|sycl-ls|clinfo|\./|torchrun|ollama|bash)\b.*$"
)
"""The program that a line starts behind its variables."""


def variable_in(line: str, command: str, shown: int) -> tuple[str, str]:
    """Give the variable that a line sets or shows, with its value; two empty words for none.

    `command` is what was typed last, and `shown` how many lines it has shown before this one.
    """
    if (found := ECHOED.match(command)) and shown == 0 and len(line.split()) == 1:
        return found[1], line.strip()
    if found := next(filter(None, (form.search(line) for form in FORMS)), None):
        return found["name"], found["value"].strip()
    found = lines.FILTERED.search(line) or lines.VARIABLE.match(line)
    if found is None:
        return "", ""
    value = found[2] if " " not in found[2] else RUNS.sub("", found[2])
    return found[1], value.strip().strip("\"'")
