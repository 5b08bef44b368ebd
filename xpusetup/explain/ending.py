"""How a log ended: what a last command says that went well is no failure, whatever words it holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from xpusetup.explain.evidence import Lines


PROMPT = re.compile(
    r"^(?:\([\w./-]+\) ?)*(?:\[?[\w.-]+@[\w.-]+[^\n$#>%]{0,80}[$#>%]|\[[^\]\n]{1,60}\][$#]|\$"
    r"|(?:PS )?[A-Z]:\\[^>\n]{0,120}>)"
    r" ?(?P<command>\S.*)$"
)
"""A person's command behind the prompt of a shell."""
ASKED = re.compile(r"^echo (?:\$\?|%errorlevel%|\$LASTEXITCODE)$", re.IGNORECASE)
SURE = re.compile(
    r"^=+ (?:.*, )?\d+ passed\b(?!.*\b(?:failed|errors?)\b).* =+$"
    r"|^\d+ passed(?:, \d+ (?:skipped|warnings?|x\w+))* in [\d.]+s"
    r"|^100% tests passed|^\[ +PASSED +\] \d+ test|^OK(?: \([^)]*\))?$|^test result: ok\."
    r"|^ *Passed +: +\d+|^Finished: SUCCESS$|^Job succeeded$|^\s*Exit_status = 0$|\(exit code 0\)\s*$"
    r"|^(?:#\d+ )?(?:naming to \S+ (?:[\d.]+s )?done|Successfully tagged \S+:\S+)$"
    r"|^Process finished with exit code 0|^(?:BUILD SUCCESSFUL|Build succeeded)\b"
    r"|^\S+ +(?:\S+ +)?COMPLETED +0:0$"
    r"|tests:\d+ passed:\d+ .*\bfailed:0\b"
)
"""A verdict over all that was done."""
LIKELY = re.compile(
    r"^\|(?: *[^|\n]+ *\|)+ *[\d.]+(?: ± [\d.]+)? *\|$"
    r"|\b(?:tokens?|tok|t|it|iters?|images?|samples?|steps?)(?:/s| per second)\b"
    r"|\d (?:GB|GiB|MB|GFLOPS?|TFLOPS?)(?:/s)?$|\b(?:eval|total) time\b.*\d|\bApplication startup complete\b"
    r"|\bUvicorn running on\b|\bmax(?:imum)? (?:abs(?:olute)? )?(?:error|diff\w*)\b\W+[\d.]+e-"
    r"|^(?:all )?done[.!]?$"
    r"|^Successfully installed \S|\b(?:compiled|passed|finished|works|test) (?:ok|successfully)\b"
    r"|\b(?:is_available\D+)?True$"
    r"|\b(?:training|saving|export|conversion|evaluation) (?:is )?(?:completed?|finished|done)\b"
    r"|\bcheckpoint saved\b"
    r"|^Predicted |^Generated |^Result(?:s)?: |^ *Test passed|^Success\b",
    re.IGNORECASE,
)
"""Results, as the last thing that a program printed."""
ILL = re.compile(
    r"\b[1-9]\d* (?:failed|errors?\b|tests? failed)|^FAIL(?:ED|:)?\b|ninja: build stopped|\*\*\* \["
    r"|Traceback \(most recent"
    r"|exit(?:ed)?(?: with)? (?:code|status):? ?-?[1-9]|core dumped|^(?:Segmentation fault|Killed|Aborted)\b"
    r"|^ *(?:Failed|Timed Out|Unresolved) +: +[1-9]|\bBAD TERMINATION\b|incomplete, errors occurred|^(?:fatal|panic): "
    r"|CANCELLED AT|^ERROR: Failed|Build FAILED|^npm (?:ERR!|error)",
    re.MULTILINE,
)
"""What says that something failed after all."""
LAST = 8
"""Of so many lines at the end one is a verdict or a result."""


@dataclass(frozen=True)
class Ending:
    """How a log ended, and from which line on that is told of: the last command, or the whole where none is seen."""

    kind: Literal["well", "with results", "not told"] = "not told"
    since: int = 0


def find_ending(log: Lines) -> Ending:
    """Say whether the last command of a log went well, by its verdict, its status or the results at its end."""
    said = [index for index, text in enumerate(log.texts) if text.strip()]
    asked = _asked(log, said)
    if asked is not None:
        said = said[:asked]
    begin = next((index for index in reversed(said) if _is_command(log.texts[index]) and index != said[-1]), -1)
    output = [index for index in said if index > begin]
    since = log.numbers[begin] if begin >= 0 else 0
    if not output:
        return Ending()
    if ILL.search("\n".join(log.texts[index] for index in output)):
        return Ending()
    command = PROMPT.match(log.texts[begin]) if begin >= 0 else None
    if asked is not None and not (command and "|" in command["command"]):
        return Ending("well", since)
    last = [log.texts[index].strip() for index in output[-LAST:]]
    if any(SURE.search(text) for text in last):
        return Ending("well", since)
    return Ending("with results", since) if any(LIKELY.search(text) for text in last[-3:]) else Ending()


def _asked(log: Lines, said: list[int]) -> int | None:
    """Give where a status of 0 was asked for at the end, as an index of what is said."""
    if not said[1:] or log.texts[said[-1]].strip() != "0":
        return None
    command = PROMPT.match(log.texts[said[-2]])
    return len(said) - 2 if command and ASKED.match(command["command"].strip()) else None


def _is_command(text: str) -> bool:
    found = PROMPT.match(text)
    return bool(found) and not ASKED.match(found["command"].strip() if found else "")
