"""A line of a log as the tool wrote it, with the lines around it, and whether it tells of an error."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from xpusetup.explain.harmless import BY_HAND, HARMLESS, PASSED, STATUS, STOPPED, TOLERATED

# A line as the tool wrote it: what a CI system, launcher, logger, the kernel or ninja put before it is taken
# away.


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
      | \#\d+\s(?!\s*0x)(?:\d+\.\d+\s)?                                  # docker BuildKit
      | \d+\.\d{{2,3}}\s(?=\S)                                  # its summary
      | \ ?=>\ (?:=>\ )?\#?\s?                                  # its live view
      | [^\W\d_]{{3,5}}\.?\s[\s\d]\d\s\d\d:\d\d:\d\d\s\S+\s[\w./@-]+(?:\[\d+\])?:\s   # journald, syslog
      | kernel:\s
      | (?:kern|user|daemon)\s*:[a-z]+\s*:\s                    # dmesg -x
      | (?:\d{{1,3}}\.){{3}}\d{{1,3}}:\s+(?:kern|user|daemon):\s+[a-z]+:\s+\[\S+\]:\s   # talosctl dmesg
      | \[\s*\d+\.\d+\]\s                                       # the kernel
      | \[[A-Z][a-z]{{2}}\s[A-Z][a-z]{{2}}\s[\s\d]\d\s[\d:]{{8}}\s\d{{4}}\]\s     # dmesg -T
      | \[\d+/\d+\]\s | \[\s*\d+%\]\s                           # ninja, CMake's make
      | >\s | \s*╰─>\s(?!\[)                                  # pip
      | \s+>\s(?=\S) | \ \ >>\s+(?:\d+\s+)?(?=\S)               # nix, Spack
      | \|\s(?=CMake\ (?:Error|Warning)|\S+:\d+(?::\d+)?:\s|ERROR|[Ee]rror:|fatal:|make|ninja|collect2)    # bitbake
      | \s*(?:│\s?)+(?=\S)                                      # rattler-build, pixi, uv
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
      | \[?[IEF]\d{{3,4}}\s\d\d:\d\d:\d\d(?:\.\d+)?\s+(?:\d+\s+)?[\w./-]+:\d+\]\s?    # glog, klog
      | \#\s\|\s+                                              # lit
      | \[?(?:stderr|stdout|STDERR|STDOUT)\]?:?\s
      | \[[TDIWEF]\]\s(?:\[\d+-\d+\]\s)?                      # XPU Manager, spdlog
"""
"""Who says it and how loudly, as loggers, launchers and schedulers write it; kept where a line is shown."""

NEARBY = 256
"""How many lines are remembered: those around one place are asked for again and again."""

SHOWN = re.compile(rf"^\ufeff?(?:{NOISE})+", re.VERBOSE)
PREFIX = re.compile(rf"^\ufeff?(?:{NOISE}|{WHO})+", re.VERBOSE)
ORDERED = re.compile(rf"(?:^|\s|\[)({TIME})|{LEVEL}\s(\d\d-\d\d\s\d\d:\d\d:\d\d)\s")
LOUD = re.compile(
    r"^\W*(?:ERROR|CRITICAL|FATAL)\s(?:\d\d-\d\d\s|\s*\|)|\s(?:ERROR|CRITICAL|FATAL)\s(?:\d\d-\d\d\s|\s*\||-\s)"
    r"|^(?:ERROR|CRITICAL|FATAL):[\w.]+:\S|\s\[[EF]\]\s\[\d|(?:^|\s)[EF]\d{4}\s\d\d:\d\d:\d\d\.\d+\s"
    r"|##\[error\]|\|CCL_ERROR\||\blevel=(?:error|fatal)\b|\|\s*ERROR\s*\|",
    re.IGNORECASE,
)
"""A line that its logger calls an error, whatever it says."""
CALLED = 200
"""Number of leading characters in which a logger's level is looked for."""
CALM = re.compile(
    r"(?:^|\s)(?:DEBUG|INFO|TRACE)(?::[\w.]+:\S|\s\d\d-\d\d\s\d\d:|\s+\|\s)|\s-\s(?:DEBUG|INFO|TRACE)\s-\s"
    r"|\blevel=(?:debug|info)\b|^\[?(?:DEBUG|INFO|TRACE)\]?(?::\s?\d{4}-|\s+[\w.]+: )| NCCL INFO "
    r"|(?:^|\s)[IDW] [\w./-]+\.(?:cc|cpp|cu|h):\d+\]"
    rf"|^\[?{TIME}\]?\s+(?:[\w.]+\s+)?\[?(?:DEBUG|INFO)\]?\s",
)
"""A line that its logger calls none."""


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


# Whether a line tells of an error, when nothing more is known about it; in the languages that compilers speak.


Strength = Literal["strong", "survived", "weak", "hint", "none"]

GROUPED = r"\s+\|\s+(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Interrupt)(?:: |$)"
"""An exception of a group, as Python shows it."""
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
    r"|^(?:\S*[Mm]akefile\S*:\d+|g?make(?:\[\d+\])?): \*\*\* (?!\[|No rule)\S|^\S+: line \d+: syntax error "
    r"|^error\[E\d+\]: \S|^thread '[^']*'(?: \(\d+\))? panicked at |^\W*Exception Message:\W*\S"
    r"|^\s*\[(?:ERROR|FATAL)\] \S|: unbound variable$|: parameter (?:null or )?not set$"
    r"|^\S+: (?:unrecogni[sz]ed|unknown|invalid|illegal) (?:command[- ]line )?(?:option|argument|flag|switch)\b"
    r"|^\|CCL_ERROR\|\s*\S|^\[(?:mpiexec|proxy:[\d:]+)@\S+\] \w+ \(\S+:\d+\): (?!assert)\S"
    r"|^onednn_verbose,(?:\w+,)*error,|^Traceback \(most recent call last\): \S|^\S+ \d+/\d+ failed!"
)
"""How programs other than compilers say that they failed."""

STRONG = re.compile(
    rf"^\s*xpusetup: \S|^{GROUPED}|^E {{2,}}\S"
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
    r"|(?<!\d, )exit(?:ed with)? (?:code|status):? ?-?[1-9]|returned non-zero|errored out"
    r"|Configuring incomplete|compilation terminated|Failed building wheel|metadata-generation-failed"
    r"|failed-wheel-build-for-install|errors? generated"
    r"|Failed to build (?:one or more|installable) wheels|^Aborted \(core dumped\)"
    r"|Traceback \(most recent|\(\d+ sub-exceptions?\)$"
    r"|^Process \S+ failed|Failed with result '|Main process exited, code="
    r"|^(?:ERROR: )*(?:Failed (?:building|to build) |Could not build wheels|Task \(|Job failed)|Bad exit status from"
    r"|^RPM build errors|^\*\*\* CMake \w+ failed|executor failed running|did not complete successfully: exit code"
    r"|failed to run custom build command|error: builder for .* failed|A failure occurred in \w+\(\)"
    r"|CMake Generate step failed|^error: command '.*' (?:failed|terminated)|returned '\w*error'"
    r"|error: could not compile"
    r"|PEP 517 build of a dependency failed|Command errored out|^Error: building at STEP|marked build as failure"
    r"|Engine (?:core|process) (?:initialization |failed )|^Error: ShardCannotStart|^\s*Exit_status = [1-9]"
    r"|JobState=FAILED|^exit_status +[1-9]"
    r"|Sub-process \S*dpkg returned an error code|^E\S*: Sub-process|Errors were encountered while processing",
    re.IGNORECASE,
)
HINT = re.compile(
    r"\b(?:failed|failure|fail(?:s|ed)? to|unable to|cannot|can't|could(?:n't| not)|not found|no such"
    r"|denied|tim(?:ed|es) ?out"
    r"|invalid|unsupported|not supported|abort(?:ed|ing)?|refused|unreachable|mismatch|corrupt(?:ed)?"
    r"|exceed(?:s|ed)|cancell?ed"
    r"|killed|undefined|unresolved|fatal|exception|not usable|panic|crash(?:ed)?|hang|hung|unhealthy|unknown runtime"
    r"|not authorized|shutdown signal|rate limit|regression|dirty|refusing|out of memory|no (?:\w+ )?available)\b",
    re.IGNORECASE,
)
"""What people read first in a log that says nothing plainer."""
NONE = re.compile(
    r"^HEAD is now at|^ERROR: Exception:$|Unable to register cu\w+ factory|^\s*execute_process failed command indexes:"
    r"|\b(?:0|no|without) (?:\w+ )?(?:errors?|failures?|failed)\b|\bfailed samples: 0\b"
    r"|\b(?:errors?|failures?|failed): 0\b"
    r"|\b(?:warning|note|remark|Warnung|Anmerkung|avertissement)\s?: "
    r"|警告|附注|備考|предупреждение",
    re.IGNORECASE,
)
SOFT_NONE = re.compile(
    r"falling back|fallback|skipp(?:ed|ing)|ignor(?:ed|ing)|optional|retry|try again|trying again|disabled"
    r"|[;,-] (?:so )?(?:using|going on|continuing|proceeding|assuming|generating|creating|defaulting)\b(?!.*\bcpu\b)"
    r"|\b(?:fail\w*|could not|cannot|unsupported|unresolved|rejected|aborted|timeouts?)\b"
    r"[^\n:=]{0,40}(?:[:=]|\s\s|\w+s) *0\b(?!\.)"
    r"|\. (?:Generating|Creating|Using|Assuming|Defaulting to) (?!.*\bcpu\b)"
    r"|deprecat|will be (?:used|ignored)|if you|not required|on[-_ ](?:fail|error)|\b(?:info|debug)\b"
    r"|^\s*[#*]|=\s*(?:false|0|no)\b"
    r"|^\s*(?:File \"|at |raise |return |assert |if |from |import |def |self\.)|^\s*[~^]+\s*$",
    re.IGNORECASE,
)
"""Beside these a soft word is no complaint."""
WRAPPER = re.compile(
    r"^CMake Error[^\n]*:\s(?:Command failed: |Stopping after outputting logs|execute_process (?:failed command|error)"
    r"|Each download failed|(?:CMake|Build) step for \S+ failed)"
)
"""CMake's word for a command that failed; what was wrong the command said itself."""
LINKER = re.compile(r"^(?:\S*/)?(?:\S*-)?ld(?:\.\w+|64)?(?:\.exe)?: ?(?!warning|note|.*: in function |.*: warning)\S")
NINJA_FAILED = re.compile(r"^\s*FAILED: ")
MAKE_FAILED = re.compile(r"^g?make(?:\[\d+\])?: \*\*\* \[")
NOT_OK = re.compile(r"^not ok \d+")
NOT_SAID = re.compile(
    r"^\s*(?:\[\d+/\d+\] |\[\s*\d+%\] |ninja: |FAILED: |make(?:\[\d+\])?: |cd /|: && "
    r"|\S+:(?:\d+:)* (?:In |At )|In file included"
    r"|Traceback \(most|\s*File \"|\S+/(?:ba|da)?sh -c "
    r"|\S*(?:cc|c\+\+|g\+\+|gcc|clang|icpx?|icx|cmake|python\d?(?:\.\d+)?) )"
)
SECTION = re.compile(r"^=+ (?:FAILURES|ERRORS) =+$")
TERMINATE = re.compile(r"^\s*terminate called")
WHAT = re.compile(r"^\s*what\(\):\s*")


def judge(window: Window) -> Strength:
    """Say how much a line tells: strong, what went wrong; hint, perhaps; weak, that something above or below did."""
    line = window.line
    if not window.is_speech or NONE.search(line) or window.is_warning:
        return "none"
    if WEAK.search(line) or WRAPPER.search(words_of(window)):
        return "weak"
    if (STRONG.search(line) and not CASED.match(line)) or "##[error]" in window.raw:
        return "survived" if window.is_survived else "strong"
    if SOFT_NONE.search(line):
        return "none"
    said = HINT.search(line) or (window.is_loud and line[:1].strip() and not line.startswith(("Traceback", "^")))
    return "hint" if said else "none"


def find_reason(window: Window) -> int | None:
    """Give the line that says why, beside one that only says that a command failed; None where its form tells none."""
    if NINJA_FAILED.match(window.line):
        return _said_below(window)
    if "subprocess-exited-with-error" in window.line:
        return _said_in_box(window)
    if window.line.startswith("collect2: "):
        return next((at for at, line in enumerate(window.lines[: window.at]) if LINKER.match(line)), None)
    if WRAPPER.search(words_of(window)) or MAKE_FAILED.match(window.line):
        return _said_above(window)
    return None


def _said_below(window: Window) -> int | None:
    """Give what a command under ninja's FAILED said: the line after the command, unless that is ninja's again."""
    after = [at for at in range(window.at + 2, len(window.lines)) if window.lines[at].strip()]
    at = after[0] if after else None
    return at if at is not None and _is_said(window, at) else None


def _said_in_box(window: Window) -> int | None:
    """Give the last line of what pip quotes of a program that failed, where it quotes a few lines."""
    end = next((at for at in range(window.at, len(window.lines)) if "[end of output]" in window.lines[at]), 0)
    at = next((at for at in range(end - 1, window.at, -1) if window.lines[at].strip()), 0)
    return at if at and "lines of output]" not in window.lines[at] and _is_said(window, at) else None


def _said_above(window: Window) -> int | None:
    """Give the nearest line above that complains; a command that CMake ran said the line right above."""
    said = [at for at in range(window.at - 1, -1, -1) if window.lines[at].strip() and _is_said(window, at)]
    complaint = (at for at in said if HINT.search(window.lines[at]) or NOT_OK.match(window.lines[at]))
    return next(complaint, said[0] if said and "execute_process" in window.line else None)


def _is_said(window: Window, at: int) -> bool:
    moved = replace(window, at=at)
    told = (
        moved.is_speech and not moved.is_warning and not WEAK.search(moved.line) and not NOT_SAID.match(moved.show(at))
    )
    return told and not NONE.search(moved.line)


def words_of(window: Window) -> str:
    """Give what a line says; some say where or that, and what in a line after it."""
    if TERMINATE.match(window.line):
        after = next((line for line in window.lines[window.at + 1 :] if WHAT.match(line)), "")
        return f"{window.text} {after.strip()}".rstrip()
    if not window.line.startswith("CMake Error") or not window.line.endswith(":"):
        return window.text
    told = (line.strip() for line in window.lines[window.at + 1 :] if line.strip())
    return f"{window.text} {next(told, '')}".rstrip()


LISTED = re.compile(r"^\s+\S|^[╰└├│]|^[-*•] ")
"""What stands below a line that ends with a colon."""
BARE = re.compile(r"^\s*(?:Traceback|In file|Call Stack|\S+: (?:In|At) |File |from )")
QUOTES = re.compile(r"std(?:out|err):$")
ASKED = re.compile(r"torch\.xpu\.(?:is_available|device_count)\(\)")
ANSWER = re.compile(r"(?:^|\s)(?:False|0)$")
"""What a person asked torch, and that the answer is no."""
SHORT = 100
"""A line that announces another one is shown with it up to this length; of a longer one only what it announces."""


def say_whole(window: Window, at: int) -> tuple[int, str]:
    """Give the line to show for one, and its text: with what it announces where it only announces that."""
    there = replace(window, at=at)
    if there.line.startswith("CMake Error") or TERMINATE.match(there.line):
        return at, words_of(there)
    if ASKED.search(there.line):
        return _answer(there, at)
    below = at + 1
    while below < len(window.lines) and not window.lines[below].strip():
        below += 1
    if not there.line.endswith(":") or BARE.match(there.line) or below >= len(window.lines):
        return at, there.text
    if not _is_below(there.line, window.lines[below]):
        return at, there.text
    if len(there.text) > SHORT:
        return below, window.show(below)
    return at, f"{there.text} {window.show(below)}"


def _answer(window: Window, at: int) -> tuple[int, str]:
    """Give torch's warning where it stands below what was asked, else what was asked and the answer, as one text."""
    after = range(at + 1, len(window.lines))
    if warned := [index for index in after if "count is zero" in window.lines[index]]:
        return warned[0], window.show(warned[0])
    said = next((window.show(index) for index in after if ANSWER.search(window.lines[index])), "")
    asked = ASKED.search(window.lines[at])
    return at, f"{asked[0]} says {said.strip()}" if asked and said else window.show(at)


def _is_below(line: str, after: str) -> bool:
    """Say whether the second line is what the first one announces."""
    if QUOTES.search(line):
        return True
    deeper = len(after) - len(after.lstrip()) > len(line) - len(line.lstrip())
    return bool(LISTED.match(after.lstrip() if not deeper else after)) and not QUOTED_SOURCE.match(after)


# A line of a log with the lines around it, cleaned.


UP = 8
DOWN = 8
REACH = 3000
TRACEBACK = 8000
"""How many bytes above an exception its traceback may begin."""
SURVIVED = re.compile(
    rb"^Exception ignored in|(?:^|[\s\[|])(?:WARNING|WARN)(?:[\s\]|:]|$)|^W\d{4} "
    rb"|\bUserWarning: [^\n]*:\s*$|\blevel=warn",
)

WHOLE = re.compile(rb"\bwith \w*(?:Error|Exception)\(")
"""A warning with its exception: a traceback below it is of another."""
FRAME = re.compile(r'^\s*(?:\|\s+)?File "[^"]+", line \d+')
RAISED = re.compile(r"^\s*(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Interrupt)(?:: |$)")
QUOTED_SOURCE = re.compile(rf"^(?!{GROUPED})\s*\d*\s*\|(?!\w+\|)|^\s*raise [A-Za-z_][\w.]*\(")
ECHOED = re.compile(r"^\++ ")
ECHO = re.compile(r"^\++ (?:echo|printf) ")
IGNORED = re.compile(r"\(ignored\)\s*$")
WARNING = re.compile(
    r"(?<!level=)(?:\b|[a-z])warning\b(?!\s\s+[A-Z][a-zA-Z]+\s)[:\s(\]]|^W\d{4}\b|^\[W\d{3}"
    r"|\blevel=WARN\b|\|CCL_WARN\||^npm warn\b|^N: |warnings\.warn\(|<warn>",
    re.IGNORECASE,
)
TELLING = re.compile(r"error|fatal|fail|killed|not found", re.IGNORECASE)
ERROR = re.compile(r"^\s*(?:[\w.]*Error: |ERROR\b|CMake Error)|(?:^|\s)(?:fatal )?error: ")
CMAKE_HEAD = re.compile(r"^CMake (?P<kind>[\w ()]*?)(?:Error|Warning)\b")


def is_warned(text: str, line: str = "") -> bool:
    """Say whether a line is said as a warning, and not as an exception that speaks of one.

    `line`: the same without what a logger puts before it.
    """
    found = RAISED.match(line or text)
    said = text.partition(found[0].strip())[0] if found else text
    return bool(WARNING.search(said))


@dataclass(frozen=True)
class Window:
    """Lines with their numbers; `at` is the index of the one in question.

    A line of several parts, as progress bars write it, stands as several with one number.
    """

    lines: tuple[str, ...]
    numbers: tuple[int, ...]
    at: int
    shown: tuple[str, ...] = ()
    raw: str = ""
    is_survived: bool = False
    """Whether it ends a traceback that was only warned of, is of a probe that may fail, or follows a person's ^C."""

    @property
    def text(self) -> str:
        """The line in question as people should see it: with the rank or process that says it."""
        return self.show(self.at)

    def show(self, index: int) -> str:
        """Give a line as people should see it."""
        return (self.shown or self.lines)[index].strip()

    @property
    def when(self) -> str:
        """The time at which it was said, where the log tells."""
        return time_of(self.raw)

    @property
    def is_loud(self) -> bool:
        """Whether the logger that wrote it calls it an error."""
        return bool(LOUD.search(self.raw))

    @property
    def line(self) -> str:
        return self.lines[self.at] if self.at < len(self.lines) else ""

    @property
    def is_speech(self) -> bool:
        """Whether a tool says this; not source that is quoted, a command that is echoed, or a test that passed."""
        before = self.lines[self.at - 1] if self.at else ""
        unsaid = (QUOTED_SOURCE, ECHOED, STATUS, IGNORED, PASSED, HARMLESS)
        if FRAME.match(before) and not RAISED.match(self.line):
            return False
        if ECHO.match(before) and self.line and self.line in before:
            return False
        return not any(pattern.search(self.line) for pattern in unsaid)

    @property
    def is_warning(self) -> bool:
        """Whether it is said as a warning, by the line itself or by the head of CMake's message."""
        said = (
            CALM.search(self.raw[:CALLED])
            or is_warned(self.line)
            or is_warned(self.show(self.at) if self.lines else "", self.line)
        )
        return bool(said) or "##[warning]" in self.raw or "warning" in self.cmake_head.lower()

    @property
    def is_error(self) -> bool:
        """Whether it is said as an error, by the line itself or by the head of CMake's message."""
        return not self.is_warning and bool(ERROR.search(self.line) or "Error" in self.cmake_head)

    @property
    def cmake_head(self) -> str:
        """The first line of CMake's message that this line is part of, or nothing."""
        for line in reversed(self.lines[: self.at + 1]):
            if CMAKE_HEAD.match(line):
                return line
            if line and not line.startswith(" "):
                return ""
        return ""

    def context(self, lines: int) -> list[tuple[int, str]]:
        """Give the line and some around it, with their numbers."""
        told = zip(self.numbers, self.shown or self.lines, strict=True)
        return list(told)[max(0, self.at - lines) : self.at + lines + 1]


def make_window(data: bytes, begin: int, number: int) -> Window:
    """Cut the lines around the one that begins there, which is line `number` of the log."""
    above = data[max(0, begin - REACH) : begin].split(b"\n")[-UP - 1 : -1] if begin else []
    below = data[begin : begin + REACH].split(b"\n")[: DOWN + 1]
    lines: list[str] = []
    shown: list[str] = []
    numbers: list[int] = []
    at, here = 0, ""
    for offset, raw in enumerate([*above, *below], start=-len(above)):
        text = raw.decode("utf-8", "replace")
        said = [(clean(part), clean_shown(part)) for part in text.split("\r")]
        kept = [both for both in said if both[0]] or [("", said[-1][1])]
        if offset == 0:
            at, here = len(lines) + _telling([line for line, _shown in kept]), text
        lines += [line for line, _shown in kept]
        shown += [line for _line, line in kept]
        numbers += [number + offset] * len(kept)
    survived = (bool(RAISED.match(lines[at])) and is_survived(data, begin)) or is_expected(lines[at], data, begin)
    return Window(tuple(lines), tuple(numbers), at, tuple(shown), here, survived)


def is_survived(data: bytes, begin: int) -> bool:
    """Say whether the traceback that ends at a line was only warned of: a logger's warning, or Python's own word."""
    start = max(0, begin - TRACEBACK)
    head = data.rfind(b"Traceback (most recent call last)", start, begin)
    if head < 0:
        return False
    line = data.rfind(b"\n", start, head)
    before = data[data.rfind(b"\n", start, max(line, start)) + 1 : max(line, start)] if line > start else b""
    same = data[line + 1 : head]
    return bool(SURVIVED.search(same) or (SURVIVED.search(before) and not WHOLE.search(before)))


def is_expected(line: str, data: bytes, begin: int) -> bool:
    """Say whether a line is of a probe that may fail, or only of how a program ended that a person interrupted."""
    if TOLERATED.search(line):
        return True
    return bool(STOPPED.search(line) and BY_HAND.search(data, max(0, begin - TRACEBACK), begin))


def _telling(parts: list[str]) -> int:
    return next((index for index, part in enumerate(parts) if TELLING.search(part)), len(parts) - 1)
