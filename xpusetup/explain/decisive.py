"""Whether a line tells of an error, when nothing more is known about it; in the languages that compilers speak."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from xpusetup.explain.window import Window

Strength = Literal["strong", "weak", "none"]

WORDS = (
    r"(?:fatal |internal compiler |catastrophic |linker |LLVM )?error|fatal|error fatal"
    r"|(?:schwerwiegender )?Fehler|interner Compiler-Fehler|erreur(?: fatale)?|errore(?: irreversibile)?"
    r"|erro(?: fatal)?|(?:ölümcül )?hata|(?:fatale )?fout|(?:ödesdigert )?fel|błąd(?: krytyczny)?|chyba"
    r"|(?:фатальная )?ошибка|(?:критична )?помилка|(?:致命)?错误|(?:嚴重|致命)?錯誤|(?:致命的)?エラー"
)
"""What compilers call an error, by gcc's own translations."""

STRONG = re.compile(
    rf"^\s*xpusetup: \S"
    rf"|^\s*(?:E\s+)?(?:[A-Za-z_][\w.]*\.)?(?:[A-Z]\w*)?(?:Error|Exception|Interrupt|NotFound)(?:: |$)"
    rf"|^\s*(?:ERROR|Error|ERR|E): \S|^CMake Error|\*ERROR\*"
    rf"|(?:^|[\s:(])(?:{WORDS})\s?[:：]\s?\S"
    rf"|: (?:command )?not found$|: command not found\b|^(?:\S+: )?No space left on device|\bNo space left on device\b"
    rf"|^\s*(?:Killed|Segmentation fault|Aborted|Bus error)\b|: Killed\b"
    rf"|: line \d+:\s+\d+ (?:Killed|Segmentation fault|Aborted|Bus error)\b|\(core dumped\)"
    rf"|undefined reference to|cannot find -l\S|^Assertion\b|: Assertion [`'].*failed|Out of memory: Kill",
    re.IGNORECASE,
)
CASED = re.compile(r"^\s*(?:E\s+)?(?:[A-Za-z_][\w.]*\.)?[a-z]\w*(?:error|exception)(?:: |$)")
"""What only looks like the name of an exception when case is put aside."""

WEAK = re.compile(
    r"^\s*FAILED: |\*\*\* (?:\[|No rule)|ninja: (?:build stopped|error|fatal)|collect2: |ld returned \d"
    r"|linker command failed|subprocess-exited-with-error|CalledProcessError"
    r"|exit(?:ed with)? (?:code|status):? ?-?[1-9]|returned non-zero|errored out"
    r"|Configuring incomplete|compilation terminated|Failed building wheel|metadata-generation-failed|errors? generated"
    r"|Traceback \(most recent",
    re.IGNORECASE,
)
NONE = re.compile(
    r"^HEAD is now at|\b(?:0|no|without) errors?\b|\b(?:errors?|failures?): 0\b"
    r"|\b(?:warning|note|remark|Warnung|Anmerkung|avertissement)\s?: "
    r"|警告|附注|備考|предупреждение",
    re.IGNORECASE,
)
NINJA_FAILED = re.compile(r"^\s*FAILED: ")


def judge(window: Window) -> Strength:
    """Say how much a line tells: strong, what went wrong; weak, that something above or below did."""
    line = window.line
    if not window.is_speech or NONE.search(line) or window.is_warning:
        return "none"
    if WEAK.search(line):
        return "weak"
    return "strong" if STRONG.search(line) and not CASED.match(line) else "none"


def words_of(window: Window) -> str:
    """Give what a line says; CMake says where in the first line of its message, and what in those after it."""
    if not window.line.startswith("CMake Error") or not window.line.endswith(":"):
        return window.line.strip()
    after = (line.strip() for line in window.lines[window.at + 1 :] if line.strip())
    return f"{window.line} {next(after, '')}".rstrip()
