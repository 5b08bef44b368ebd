"""Whether a line tells of an error, when nothing more is known about it; in the languages that compilers speak."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from xpusetup.explain.window import Window

Strength = Literal["strong", "weak", "hint", "none"]

WORDS = (
    r"(?:fatal |internal compiler |catastrophic |linker |LLVM )?error|fatal|error fatal"
    r"|(?:schwerwiegender )?Fehler|interner Compiler-Fehler|erreur(?: fatale)?|errore(?: irreversibile)?"
    r"|erro(?: fatal)?|(?:ölümcül )?hata|(?:fatale )?fout|(?:ödesdigert )?fel|błąd(?: krytyczny)?|chyba"
    r"|(?:фатальная )?ошибка|(?:критична )?помилка|(?:致命)?错误|(?:嚴重|致命)?錯誤|(?:致命的)?エラー"
)
"""What compilers call an error, by gcc's own translations."""

PROGRAMS = (
    r"^\s*(?:==> )?(?:ERROR|Error|ERR|FATAL|fatal)! \S|^docker: Error|\bError response from daemon: "
    r"|terminate called (?:after|without)|\bIllegal instruction\b|received signal SIG|Received Signal: SIG"
    r"|: (?:fatal )?error [A-Z]{1,5}\d{3,5}\s?:|^\s*dpkg: (?:error|dependency problems)|\bhave unmet dependencies"
    r"|nothing provides \S+ needed by|has no installation candidate|: Unknown symbol \w"
    r"|disagrees about version of symbol"
    r"|could not insert '?\S|^npm (?:ERR!|error) code|^FAILED CONSISTENTLY: |^TIMED OUT: |^Command took >\d+ ?min"
    r"|^!+ \w+ !+$|Cannot connect to the Docker daemon|^\s*panic: |Kernel panic|\bCANCELLED AT\b|^\*\*\* Error code"
    r"|^\s*\[(?:ERROR|FATAL)\] \S|^Traceback \(most recent call last\): \S|^\S+ \d+/\d+ failed!"
)
"""How programs other than compilers say that they failed."""

STRONG = re.compile(
    rf"^\s*xpusetup: \S"
    rf"|^\s*(?:E\s+)?(?:[A-Za-z_][\w.]*\.)?(?:[A-Z]\w*)?(?:Error|Exception|Interrupt|NotFound|TimeoutExpired)(?:: |$)"
    rf"|^\s*(?:ERROR|Error|ERR|E): \S|^CMake Error|\*ERROR\*"
    rf"|(?:^|[\s:(])(?:{WORDS})\s?[:：]\s?\S"
    rf"|: (?:command )?not found$|: command not found\b|^(?:\S+: )?No space left on device|\bNo space left on device\b"
    rf"|^\s*(?:Killed|Segmentation fault|Aborted|Bus error)\b|: Killed\b"
    rf"|: line \d+:\s+\d+ (?:Killed|Segmentation fault|Aborted|Bus error)\b|\(core dumped\)"
    rf"|undefined reference to|cannot find -l\S|^Assertion\b|: Assertion [`'].*failed|Out of memory: Kill"
    rf"|{PROGRAMS}",
    re.IGNORECASE,
)
CASED = re.compile(r"^\s*(?:E\s+)?(?:[A-Za-z_][\w.]*\.)?[a-z]\w*(?:error|exception)(?:: |$)")
"""What only looks like the name of an exception when case is put aside."""

WEAK = re.compile(
    r"^\s*FAILED: |\*\*\* (?:\[|No rule)|ninja: (?:build stopped|error|fatal)|collect2: |ld returned \d"
    r"|linker command failed|subprocess-exited-with-error|CalledProcessError"
    r"|exit(?:ed with)? (?:code|status):? ?-?[1-9]|returned non-zero|errored out"
    r"|Configuring incomplete|compilation terminated|Failed building wheel|metadata-generation-failed|errors? generated"
    r"|Failed to build (?:one or more|installable) wheels|^Aborted \(core dumped\)"
    r"|Traceback \(most recent|^Process \S+ failed|Failed with result '|Main process exited, code="
    r"|Sub-process \S*dpkg returned an error code|^E\S*: Sub-process|Errors were encountered while processing",
    re.IGNORECASE,
)
HINT = re.compile(
    r"\b(?:failed|failure|fail(?:s|ed)? to|unable to|cannot|can't|could(?:n't| not)|not found|no such"
    r"|denied|tim(?:ed|es) ?out"
    r"|invalid|unsupported|not supported|abort(?:ed|ing)?|refused|unreachable|mismatch|corrupt(?:ed)?"
    r"|exceeded|cancell?ed"
    r"|killed|undefined|unresolved|fatal|exception|not usable|panic|crash(?:ed)?|hang|hung|unhealthy|unknown runtime"
    r"|not authorized|shutdown signal|rate limit|regression|dirty|refusing|out of memory|no (?:\w+ )?available)\b",
    re.IGNORECASE,
)
"""What people read first in a log that says nothing plainer."""
NONE = re.compile(
    r"^HEAD is now at|\b(?:0|no|without) (?:\w+ )?(?:errors?|failures?|failed)\b|\bfailed samples: 0\b"
    r"|\b(?:errors?|failures?|failed): 0\b"
    r"|\b(?:warning|note|remark|Warnung|Anmerkung|avertissement)\s?: "
    r"|警告|附注|備考|предупреждение",
    re.IGNORECASE,
)
SOFT_NONE = re.compile(
    r"falling back|fallback|skipp(?:ed|ing)|ignor(?:ed|ing)|optional|retry|try again|trying again|disabled"
    r"|deprecat|will be (?:used|ignored)|if you|not required|on[-_ ](?:fail|error)|\b(?:info|debug)\b"
    r"|^\s*[#*]|=\s*(?:false|0|no)\b"
    r"|^\s*(?:File \"|at |raise |return |assert |if |from |import |def |self\.)|^\s*[~^]+\s*$",
    re.IGNORECASE,
)
"""Beside these a soft word is no complaint."""
NINJA_FAILED = re.compile(r"^\s*FAILED: ")
SECTION = re.compile(r"^=+ (?:FAILURES|ERRORS) =+$")
TERMINATE = re.compile(r"^\s*terminate called")
WHAT = re.compile(r"^\s*what\(\):\s*")


def judge(window: Window) -> Strength:
    """Say how much a line tells: strong, what went wrong; hint, perhaps; weak, that something above or below did."""
    line = window.line
    if not window.is_speech or NONE.search(line) or window.is_warning:
        return "none"
    if WEAK.search(line):
        return "weak"
    if (STRONG.search(line) and not CASED.match(line)) or "##[error]" in window.raw:
        return "strong"
    if SOFT_NONE.search(line):
        return "none"
    said = HINT.search(line) or (window.is_loud and line[:1].strip() and not line.startswith(("Traceback", "^")))
    return "hint" if said else "none"


def words_of(window: Window) -> str:
    """Give what a line says; some say where or that, and what in a line after it."""
    if TERMINATE.match(window.line):
        after = next((line for line in window.lines[window.at + 1 :] if WHAT.match(line)), "")
        return f"{window.text} {after.strip()}".rstrip()
    if not window.line.startswith("CMake Error") or not window.line.endswith(":"):
        return window.text
    told = (line.strip() for line in window.lines[window.at + 1 :] if line.strip())
    return f"{window.text} {next(told, '')}".rstrip()
