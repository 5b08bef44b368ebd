"""How a log ended: what a last command says that went well is no failure, whatever words it holds."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Literal

from xpusetup.explain.evidence import Lines
from xpusetup.explain.window import HINT, RAISED, STRONG, WEAK, clean

PROMPT = re.compile(
    r"^(?:\([\w./-]+\) ?)*(?:\[?[\w.-]+@[\w.-]+[^\n$#>%]{0,80}[$#>%]|\[[^\]\n]{1,60}\][$#]|\$"
    r"|(?:PS )?[A-Z]:\\[^>\n]{0,120}>"
    r"|~(?:/[^\s:$#>%]{0,120})? ?[$#%❯]|❯|➜ {1,2}\S{1,60}(?: git:\(\S{1,60}\))?(?: ✗)?"
    r"|>>>)"
    r" ?(?P<command>\S.*)$"
)
"""A person's command behind the prompt of a shell."""
ASKED = re.compile(r"^echo (?:\$\?|%errorlevel%|\$LASTEXITCODE)$", re.IGNORECASE)
SURE = re.compile(
    r"^=+ (?:.*, )?\d+ passed\b(?!.*\b(?:failed|errors?)\b).* =+$"
    r"|^\d+ passed(?:, \d+ (?:skipped|warnings?|x\w+|deselected|rerun|subtests passed))* in [\d.]+s"
    r"|\b[Aa]ll (?:\d+ )?(?:tests?(?:\(s\))?|checks|cases|samples|specs) (?:have )?(?:passed|succeeded|successful|ok)\b"
    r"|\*\*\* No errors detected$|^\[doctest\] Status: SUCCESS!|\bPASS:? \d+\W+FAIL:? 0\b|, all as expected$"
    r"|^\([\d.]+ [KMG]?B/s\) - \S+ saved \["
    r"|^(?:#\d+ )?writing image sha256:\w+ (?:[\d.]+s )?done$"
    r"|^100% tests passed|^\[ +PASSED +\] \d+ test|^OK(?: \([^)]*\))?$|^test result: ok\."
    r"|^ *Passed +: +\d+|\bExit_status ?= ?0\b|\(exit code 0\)\s*$"
    r"|^(?!.*\bfail).*\b(?:exit|return)(?:ed)?(?: with)?(?: code| status)?[:= ]+0(?::0)?\b(?!\.)|\b(?:rc|RC)[=:] ?0$"
    r"|\b(?:succeeded|success)[:= ]+True\b"
    r"|^Process finished with exit code 0|^(?:BUILD SUCCESSFUL|Build succeeded)\b"
    r"|^Successfully installed \S+-\d|^All repositories have been refreshed"
    r"|tests:\d+ passed:\d+ .*\bfailed:0\b|^Tests: +(?:\d+ (?:skipped|todo), )?\d+ passed, \d+ total"
    r"|^\d+ passing \(|^Executed \d+ out of \d+ tests?: \d+ tests? pass|\bBuild completed successfully, \d+ total"
    r"|^\[INFO\] BUILD SUCCESS\b|^Finished `?[\w-]+`? .*target\(s\) in [\d.]+|^ok\s+\S+\s+[\d.]+s\b"
    r"|^Result: PASS$|^[ℹ#] fail 0$"
    r"|^congratulations :\)|^nox > Session \S+ was successful"
    r"|^Installed \S+-\d\S* to /|^== COMPLETED: Installation ended successfully|^All requested installations completed"
    r"|^added \d+ packages?\b.* in \d|^\W*Done in [\d.]+ ?m?s\b|^(?:Installed|Audited) \d+ packages? in [\d.]+"
    r"|^Apply complete! |^STATUS: deployed$|^Successfully completed\.$|^total size is [\d.,]+\w* +speedup is"
)
"""A verdict over what was done last."""
JOB = re.compile(
    r"^Finished: SUCCESS$|^Job succeeded$|\bstate[:= ]+COMPLETED\b|^\S+ +(?:\S+ +)?COMPLETED +0:0\b"
    r"|^\S+ +: ok=\d+ +.*\bunreachable=0 +failed=0\b"
    r"|^(?:#\d+ )?(?:naming to \S+ (?:[\d.]+s )?done|Successfully tagged \S+:\S+)$"
)
"""A verdict over a whole job, whatever failed in it on the way."""
PLAY_FAILED = re.compile(r"^\S+ +: ok=\d+ +.*\b(?:unreachable|failed)=[1-9]")
"""What Ansible says in the end of a host on which something failed."""
OVER = re.compile(r"^(?:Cleaning up orphan processes|Terminate orphan process: |Finishing: )")
"""The end of a CI system's job, which marks an error where one ended a step."""
LIKELY = re.compile(
    r"^\|(?:[^|\n]+\|)+ *[\d.]+(?: ± [\d.]+)? *\|$|^[^\n]*(?:(?<=\s)-?[\d.]+\s+){3,}-?[\d.]+$"
    r"|\b(?:tokens?|tok|t|it|iters?|images?|samples?|steps?|img|seq|req(?:uests)?)(?:/s(?:ec)?| per second)\b|\bs/it\b"
    r"|\d (?:GB|GiB|MB|GFLOPS?|TFLOPS?)(?:/s)?$|\b(?:eval|total) time\b.*\d|\bApplication startup complete\b"
    r"|\bmax(?:imum)? (?:abs(?:olute)? )?(?:error|diff\w*)\b\W+[\d.]+e-|\b(?P<sum>\S+) expected (?P=sum)$"
    r"|^(?:all )?(?:done|complete[d!]?)[.!]*$|\bcompleted? successfully\b"
    r"|\bsuccessfully (?:created|built|completed|installed)\b"
    r"|\b(?P<all>\d+)(?:/| of )(?P=all) (?:\w+ ){0,2}(?:verified|done|ok|passed)\b"
    r"|\b(?:compiled|passed|finished|works|test) (?:ok|successfully)\b"
    r"|\b(?:is_available\D+)?(?<!suppress_errors = )True$"
    r"|\b(?:training|saving|export|conversion|evaluation|benchmark|job|run) (?:is )?(?:completed?|finished|done)\b"
    r"|\bcheckpoint saved\b|^(?:model )?(?:saved|wrote|written)\b|\b(?:saved|written|exported) (?:to|in|as) \S"
    r"|^results? (?:->|in|are in|written)|\b100%\|[^|\n]*\|"
    r"|\b(?:epoch|step|iter(?:ation)?)\b.{0,60}\b\w*(?:loss|acc|accuracy|val|train|lr)\b.{0,4}\d"
    r"|\b(?:train_|test_|eval_|val_)?(?:loss|acc|accuracy|runtime)'? *[:=] *\d[\d.]+|^tensor\("
    r"|^device\(type='(?!cpu|meta)|\bdevice='(?:xpu|hpu|npu|cuda)(?::\d+)?'\)"
    r"|\b(?:Init|Destroy) COMPLETE$|^# Avg bus bandwidth"
    r"|^-- (?:Build files have been written to|Generating done|Installing: |Up-to-date: )|^\[100%\] Built target "
    r"|^Status: (?:Downloaded newer image|Image is up to date)|^(?:Installed|Upgraded|Complete)[:!]"
    r"|^Predicted |^Generated |^Result(?:s)?: |^ *Test passed|^Success\b|^PASS(?:ED)?\b"
    r"|^Processing triggers for |^Setting up \S+ \(|^[+~-] \S+==\S+$|\btransaction: (?:\.\.\. )?done\b"
    r"|\binstall(?:ation)? completed?\b|^Finished processing dependencies|^ninja: no work to do"
    r"|^\{(?!.*\"(?:level|status_code)\").*[\d.]+\}$"
    r"|^Submodule path .*: checked out|^Already up to date|\bready to (?:roll|use|serve)\b"
    r"|\[done\b[^\]]*\]$",
    re.IGNORECASE,
)
"""Results, as the last thing that a program printed."""
SERVES = re.compile(
    r"\bUvicorn running on\b|\b(?:server|service) (?:is )?(?:listening|ready|started|running)\b"
    r"|\blistening (?:on|at) \S+:\d+|\b(?:GET|POST|PUT|HEAD) /\S*(?: HTTP/[\d.]+\"?)? (?:\S+ )?(?:200|201|204)\b"
    r"|\b(\d)/\1 +Running\b|\bactive \((?:running|exited)\)",
    re.IGNORECASE,
)
"""A server at work: it says the same beside a request that failed."""
TOTAL = re.compile(r"^\[(\d+)/\1\] ")
"""Ninja's progress: the last of all that there was to do."""
ILL = re.compile(
    r"(?<!attempt )(?<!Attempt )\b[1-9]\d* (?:failed|errors?\b(?![=:])|tests? failed)"
    r"|^FAIL(?:ED|:)?\b|ninja: build stopped|\*\*\* \["
    r"|^ *(?:Failed|Timed Out|Unresolved) +: +[1-9]|\bBAD TERMINATION\b|incomplete, errors occurred|^panic: "
    r"|^ERROR: Failed (?!building wheel)|Build FAILED|^npm (?:ERR!|error)|^dpkg: (?:error|dependency)"
    r"|^E: (?:Unable|Failed|Sub-process|Could not|Package|Some|Unmet|Version|The repo)|^Errors were encountered"
    r"|^(?:PackagesNotFoundError|ResolvePackageNotFound|\w*UnsatisfiableError|InvalidArchiveError|Conda\w+Error)\b"
    r"|^Could not solve for environment|does not exist \(perhaps a |is not installable because (?:it|there)\b",
)
"""What says that something failed after all."""
DIED = re.compile(
    r"Traceback \(most recent|exit(?:ed)?(?: with)? (?:code|status):? ?-?[1-9]|core dumped"
    r"|^(?:Segmentation fault|Killed|Aborted)\b|CANCELLED AT|^fatal: |^#\d+ +0x[0-9a-f]{6,} in \S"
    r"|^Set TORCH(?:_LOGS|DYNAMO_VERBOSE)=|\bsuppress_errors = True$"
    r"|^SIG[A-Z]{3,4}: \w|^goroutine \d+ |^signal arrived during |^Exception 0x[0-9a-f]+ 0x|^rip +0x"
)
"""Signs that a program died. Where many lines follow, another program went on."""
PASSES = re.compile(
    r"\b[1-9]\d* (?:tests?|examples?|runs?|specs?|checks?|passed|successes|passing|assertions?|tasks?|jobs?)\b"
    r"|\b[Pp]ass(?:ed)?[:=]? ?[1-9]|\b(?:[Tt]ests?|[Rr]un|[Tt]otal)(?: [Rr]un)?[:=] ?[1-9]"
)
FAILS = re.compile(r"\b0 (?:failures?|failed|errors?)\b|\bfail(?:ed|ures?)?[:=]? ?0\b", re.IGNORECASE)
FAILED = re.compile(
    r"\b[1-9]\d* (?:failures?|failed|errors?)\b|\b(?:fail(?:ed|ures?)?|errors?)[:=]? ?[1-9]", re.IGNORECASE
)
NUMBERS = re.compile(r"[\d.:,%-]+")
FRAME = re.compile(r"0x[0-9a-f]{4}|^(?:#\d|frame |at |File \"|\[\s*\d)")
"""A line of a stack, which is repeated too; of the kernel, or of progress, which goes on beside what failed."""
AGAIN, OF_THE_LAST = 4, 6
"""Minimum number of repeated lines, numbers aside, at the end of a log of a program at work."""
OFTEN = 3
ENDS = re.compile(r"\| 5\d\d \| .{0,60}\b(?:POST|GET)\b|\bFAILED\b|^Failures?:|\bexit ?code *: ?-?[1-9]")
QUIET_AFTER, QUIET_LAST = 8, 10
"""Lines that follow what ended nothing, and final lines of which none may tell of a failure."""
KILLED = re.compile(
    r"\boom[-_]kill event|^srun: error: \S+: tasks? [\d,-]+: (?:Out Of Memory|OOM Killed)"
    r"|\bState\b[^\n]{0,3} OUT_OF_MEMORY\b"
    r"|^slurmstepd: error: [^\n]*\bexceeded [^\n]*memory limit"
)
"""What a scheduler says of a job that it killed. What the job's script says afterwards is no success."""
RULE = re.compile(r"^-{30,}$")
"""What stands above and below a message of several paragraphs, as Open MPI writes it."""
USAGE = re.compile(
    r"^usage: [\w./-]+ .*(?:[\[<]|\B-|\bOPTIONS|\bCOMMAND)|\bcommands use the following syntax:$", re.IGNORECASE
)
"""What a program shows that did not do what it was asked."""
MISSED = re.compile(r"^ERROR: No matching distribution found for ")
FINAL = re.compile(
    r"^(?:PackagesNotFoundError|ResolvePackageNotFound|(?:LibMamba)?UnsatisfiableError|InvalidArchiveError|Conda\w+Error"
    r"|SpecsConfigurationConflictError|NoWritablePkgsDirError|EnvironmentFileNotFound)\b"
    r"|^ERROR: (?:No matching distribution|Failed to build|Could not build wheels|Could not install packages due"
    r"|Cannot install |ResolutionImpossible|failed to solve)|^error: (?:metadata-generation-failed|externally-managed)"
    r"|^[×x] (?:No solution found|Failed to |Encountered error)|^-- Configuring incomplete"
    r"|^dpkg(?:-deb)?: error|^Errors were encountered while processing|^E: Sub-process \S+ returned an error"
)
"""How an installer ends that failed. What a script says after it is no success."""
INSTALLED = re.compile(
    r"^Successfully installed |^Requirement already satisfied|^Installed \d+ packages? in "
    r"|^Executing transaction: .*done"
)
"""How pip says that nothing fits, and how it and its like say that all is there."""
REFUSED = re.compile(
    r"^No provider of |\bversion solving failed|\bis not recognized as (?:the name of a cmdlet|an internal or external)"
)
"""A failure after which no result counts, though the script goes on."""
BOXED = 40
"""Maximum number of lines between an installer's heading and the output that it quotes."""
LAST = 8
"""Number of final lines in which a verdict is looked for."""
GOES_ON = 3
"""Number of lines before results after which an error ended nothing."""
ANEW = 8
"""Minimum number of lines after a crash when the program was started again or another one ran."""


@dataclass(frozen=True)
class Ending:
    """How a command ended that stands from line `since` to line `until` of a log; the whole where none is seen.

    `line`: the one that says so; `goes_on`: the last line after which enough others stand; `last`: whether no command
    comes after it.
    """

    kind: Literal["well", "with results"]
    since: int
    until: int
    line: int
    text: str
    goes_on: int
    last: bool = False


def is_tally(text: str) -> bool:
    """Say whether a line counts tests of which none failed, as runners of any language do."""
    return bool(FAILS.search(text) and PASSES.search(text)) and not FAILED.search(text)


def is_verdict(text: str) -> bool:
    """Say whether a line says of what was done that it went well."""
    return bool(SURE.search(text)) or is_tally(text)


def find_commands(log: Lines) -> list[int]:
    """Give the numbers of the lines in which a person typed a command."""
    return [number for number, text in zip(log.numbers, log.texts, strict=True) if _is_command(text)]


def find_endings(log: Lines, over: AbstractSet[int] = frozenset()) -> list[Ending]:
    """Find the commands of a log that went well: by a verdict, by their status or by the results at their end.

    `over`: the numbers of lines that complain of what is over, which say nothing of the end.
    """
    said = [index for index, text in enumerate(log.texts) if text.strip("$#> \t\r") and log.numbers[index] not in over]
    if any(KILLED.search(log.texts[index].strip()) for index in said):
        return []
    if (job := _judge_job(log, said, over)) is not None:
        return [job]
    said = _without_ignored(log, said)
    asked = _asked(log, said)
    if asked is not None:
        said = said[:asked]
    begins = [index for index in said[:-1] if _is_command(log.texts[index])]
    found = []
    for begin, end in zip([-1, *begins], [*begins, len(log.texts)], strict=True):
        output = [index for index in said if begin < index < end]
        known = asked is not None and end == len(log.texts) and begin >= 0 and "|" not in log.texts[begin]
        if output and (ending := _judge(log, begin, output, known=known)):
            found.append(replace(ending, last=end == len(log.texts)))
    return found


def _judge_job(log: Lines, said: list[int], over: AbstractSet[int]) -> Ending | None:
    """Find a verdict over the whole at the end of a log."""
    last = [index for index in said[-LAST:] if JOB.search(log.texts[index].strip())]
    if not last and said and OVER.match(log.texts[said[-1]]) and log.marked <= over:
        last = said[-1:]
    if not last or any(PLAY_FAILED.match(log.texts[index].strip()) for index in said[-LAST:]):
        return None
    at = last[-1]
    return Ending("well", 0, log.numbers[said[-1]], log.numbers[at], log.texts[at].strip(), 0, last=True)


def _without_ignored(log: Lines, said: list[int]) -> list[int]:
    """Leave out what Python ignores, mostly while it goes down, with its traceback."""
    kept, ignored = [], False
    for index in said:
        text = log.texts[index]
        told = text.startswith((" ", "Traceback", "Exception ignored in")) or RAISED.match(text)
        ignored = text.startswith("Exception ignored in") or (ignored and bool(told))
        kept += [] if ignored else [index]
    return kept


def _judge(log: Lines, begin: int, output: list[int], *, known: bool) -> Ending | None:
    """Judge what one command said; `known`: its status is known to be 0."""
    texts = [log.texts[index].strip() for index in output]
    died = max(
        _end_of_trace([clean(log.texts[index]) for index in output]),
        max((at for at, text in enumerate(texts) if DIED.search(text)), default=-len(texts) - ANEW),
    )
    if (
        any(ILL.search(text) for text in texts)
        or _got_none(texts)
        or (len(texts) - died <= ANEW and not is_verdict(texts[-1]))
    ):
        return None
    verdict = next((at for at in reversed(range(len(texts))[-LAST:]) if is_verdict(texts[at])), None)
    verdict = len(texts) - 1 if verdict is None and known else verdict
    last = [at for at, text in enumerate(texts) if not text.startswith("#") or LIKELY.search(text)][-3:]
    results = next((at for at in reversed(last) if _is_result(texts[at], served=died < 0)), None)
    if results is None and died < 0 and _goes_on(texts):
        results = len(texts) - 1
    at = results if verdict is None else verdict
    if verdict is None and _fell_silent(log, output):
        return None
    if at is None or any(_is_bad(text) for text in texts[at + 1 :]):
        return None
    return Ending(
        "with results" if verdict is None else "well",
        since=log.numbers[begin] if begin >= 0 else 0,
        until=log.numbers[output[-1]],
        line=log.numbers[output[at]],
        text=texts[at],
        goes_on=log.numbers[output[-GOES_ON - 1]] if len(output) > GOES_ON else 0,
    )


def _is_bad(text: str) -> bool:
    """Say whether a line tells of a failure, so that what stands above it is no good end."""
    return any(pattern.search(text) for pattern in (STRONG, WEAK, FINAL, REFUSED))


def _end_of_trace(texts: list[str]) -> int:
    """Give where the exception stands with which the last traceback ends, far before all where there is none."""
    begin = max((at for at, text in enumerate(texts) if text.startswith("Traceback (most recent")), default=len(texts))
    raised = (at for at in range(begin + 1, len(texts)) if texts[at][:1].strip())
    return next(raised, -len(texts) - ANEW)


def _got_none(texts: list[str]) -> bool:
    """Say whether pip's last word is that it found nothing to install: what a script says after that shows nothing."""
    missed = max((at for at, text in enumerate(texts) if MISSED.search(text)), default=-1)
    return missed > max((at for at, text in enumerate(texts) if INSTALLED.search(text)), default=-1)


def _fell_silent(log: Lines, output: list[int]) -> bool:
    """Say whether one of several programs said an error last: the others' results show nothing of it."""
    last = {log.who[index]: index for index in output if log.who and log.who[index]}
    return len(last) > 1 and any(RAISED.match(clean(log.texts[index])) for index in last.values())


def find_quiet(log: Lines) -> Callable[[int, str], bool]:
    """Give what says whether a command went on after a line of it, and ended without a word of a failure.

    After a warning other commands count too: what it warned of did not end them.
    """
    said = [index for index, text in enumerate(log.texts) if text.strip()]
    commands = [log.numbers[index] for index in said if _is_command(log.texts[index])]

    def went_on(line: int, level: str) -> bool:
        if level == "warning" and _other_went_on(log, line, commands):
            return True
        later = commands if level != "warning" else []
        end = next((number for number in later if number > line), log.numbers[-1] + 1)
        past = log.numbers[end_of_message(log, bisect_left(log.numbers, line))]
        after = [log.texts[index].strip() for index in said if past < log.numbers[index] < end]
        if any(USAGE.search(text) for text in after) or _is_final(log.texts, bisect_left(log.numbers, line)):
            return False
        return len(after) >= QUIET_AFTER and not any(_is_ill(text) for text in after[-QUIET_LAST:])

    return went_on


def _is_final(texts: Sequence[str], index: int) -> bool:
    """Say whether an installer ends near a line or after it, and no verdict at the end says that all went well."""
    later = [said for text in texts[max(index - BOXED, 0) :] if (said := clean(text).strip())]
    raised = any(clean(text).startswith("Traceback (most recent") for text in texts[index + 1 :])
    final = raised or any(FINAL.search(text) for text in later)
    return final and not any(is_verdict(text) for text in later[-LAST:])


def end_of_message(log: Lines, index: int) -> int:
    """Give the index of the last line of the message between two rules that a line begins, else its own."""
    if not 0 < index < len(log.texts) or not RULE.match(log.texts[index - 1].strip()):
        return min(index, len(log.texts) - 1)
    rules = (at for at in range(index + 1, len(log.texts)) if RULE.match(log.texts[at].strip()))
    return next(rules, index)


def _other_went_on(log: Lines, line: int, commands: list[int]) -> bool:
    """Say whether a later command said something, and nothing of a failure."""
    begin = next((number for number in commands if number > line), None)
    if begin is None:
        return False
    said = [text.strip() for text, number in zip(log.texts, log.numbers, strict=True) if number > line]
    after = [text for text, number in zip(log.texts, log.numbers, strict=True) if number > begin]
    return any(text.strip() for text in after) and not any(_is_ill(text) for text in said if text)


def _is_ill(text: str) -> bool:
    return any(pattern.search(text) for pattern in (STRONG, WEAK, ILL, DIED, ENDS))


def _goes_on(texts: list[str]) -> bool:
    """Say whether most of the last lines are said again and again, and none of them complains."""
    kinds = Counter(NUMBERS.sub("0", text) for text in texts)
    last = texts[-OF_THE_LAST:]
    if any(FRAME.search(text) or HINT.search(text) or WEAK.search(text) or STRONG.search(text) for text in last):
        return False
    return sum("0" in (kind := NUMBERS.sub("0", text)) and kinds[kind] >= OFTEN for text in last) >= AGAIN


def _is_result(text: str, *, served: bool) -> bool:
    if STRONG.search(text) and not SURE.search(text):
        return False
    return bool(LIKELY.search(text) or TOTAL.match(text) or (served and SERVES.search(text)))


def _asked(log: Lines, said: list[int]) -> int | None:
    """Give where a status of 0 was asked for at the end, as an index of what is said."""
    if not said[1:] or log.texts[said[-1]].strip() != "0":
        return None
    command = PROMPT.match(log.texts[said[-2]])
    return len(said) - 2 if command and ASKED.match(command["command"].strip()) else None


def _is_command(text: str) -> bool:
    found = PROMPT.match(text)
    return bool(found) and not ASKED.match(found["command"].strip() if found else "")
