"""explain: the line of a log that matters, why, and what to do."""

import datetime as dt
import re
import shlex
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from xpusetup.base.command import Advice, Command
from xpusetup.base.document import fields_of
from xpusetup.base.errors import UsageError
from xpusetup.base.model import Step
from xpusetup.commands.result import Result, complete_result
from xpusetup.config.shipped import is_path, versions_beside
from xpusetup.explain.evidence import Lines
from xpusetup.explain.explanation import Cause, ExplainedLog, Explanation
from xpusetup.explain.explanation import explain as explain_chunks
from xpusetup.explain.finder import Signature, parse_signatures
from xpusetup.explain.scan import Watcher
from xpusetup.machine.companions import TorchThere, torch_there
from xpusetup.machine.facts import Facts
from xpusetup.machine.installs import keep_torch_all, moves_torch
from xpusetup.machine.known_bad import Situation, find_said
from xpusetup.machine.probe_system import read_families
from xpusetup.machine.tables import gpu_table, known_bad
from xpusetup.run.manifest import read_failed, read_manifest
from xpusetup.run.root import Root, read_lock
from xpusetup.run.workspace import load_settings, roots_folder
from xpusetup.system.files import FreeSpace, package_texts
from xpusetup.system.logs import STDIN, read_lines, read_log, read_stdin

LAST_LINES = 12
OF_A_KILL = {"compile.oom_kill", "compile.signal9", "link.ld_killed", "rt.killed"}
REFUSED = re.compile(r"(?i)exhausted|out of memory|bad_alloc|failed to map|no space|oom")
"""What tells of memory that was refused, or that the kernel wrote itself, among the lines of those."""
OWN = re.compile(r"^(python|pip)(?= )")
PAST = re.compile(r"^(?:\w+=\S+ )*(?:python -m )?pip (?:install|uninstall) ")
"""What a build has of its own, where a command begins with it."""
IN_A_TREE = re.compile(r"^git (?:submodule|checkout|pull|fetch|lfs pull)\b")
"""Commands that work on the tree in which one stands: of a build that is one which it fetches by itself."""
OF_THE_STEP = re.compile(r"^xpusetup: (.+)\n  (\S.*)(?:\n    (xpusetup .+))?\n?\Z", re.MULTILINE)
"""The end of a step that knew what to do: the last two lines of its log say it, a third one is a command for it."""


@dataclass(frozen=True)
class StepWords:
    """What a step said by itself when it failed: what happened, and what mends it."""

    message: str
    fix: str


@dataclass(frozen=True)
class KnownCombination:
    """A combination of versions that is known not to work, of which a log tells."""

    id: str
    what: str
    workaround: str
    source: str


@dataclass(frozen=True, kw_only=True)
class ExplainResult(ExplainedLog):
    """What a log says.

    `said`: how the step of a build whose log it is told its failure by itself, null where it did not.
    """

    log: str
    known: list[KnownCombination]
    said: StepWords | None = None


@dataclass(frozen=True)
class GoingOn:
    """The command that goes on after a failure, where of how much a compile goes on (else 0 of 0), and its seconds."""

    command: str
    reached: list[int]
    seconds: float


@dataclass(frozen=True, kw_only=True)
class FullDisk(FreeSpace):
    """A file system that is full. `lacks`: bytes that the build needs beyond what there was, null where not known."""

    says: str
    lacks: int | None


@dataclass(frozen=True, kw_only=True)
class StepFailure:
    """A step that failed: why, as far as that is known, what its log says by itself, and how to go on.

    `said`: what the step told by itself, null where it did not; `tried`: with how many jobs the memory was too small;
    `heaviest`: bytes of its largest process. `compiler`: the first error of a compiler, as FILE:LINE:COLUMN, and the
    lines of source that it shows.
    """

    step: str
    log: str
    causes: list[Cause]
    first_error_line: int | None
    first_error: str
    last_lines: list[str]
    again: str
    go_on: GoingOn
    said: StepWords | None = None
    tried: list[int] = field(default_factory=list)
    heaviest: int = 0
    full: list[FullDisk] = field(default_factory=list)
    compiler: list[str] = field(default_factory=list)


def explain(log: str) -> Result[ExplainResult]:
    """Explain a log; `-` and nothing mean stdin. Not to know a cause is a result too."""
    log = find_log(log)
    piped = log in {"", STDIN}
    told, lines = explain_log(log)
    name, said = ("stdin", None) if piped else (log, _read_words(Path(log)))
    return Result("explain", ExplainResult(log=name, known=_known(told, lines), said=said, **fields_of(told)))


def find_log(word: str) -> str:
    """Give the log that is meant: by the name of a build that of the step that failed in it. Raises UsageError."""
    root = Root(roots_folder(load_settings()) / word)
    if word in {"", STDIN} or is_path(word) or Path(word).exists() or read_lock(root) is None:
        return word
    failed = read_failed(root, read_manifest(root))
    if not failed:
        raise UsageError(f"no step of the build {word} failed", command=f"xpusetup status {shlex.quote(word)}")
    return str(root.log(failed))


def explain_log(log: str) -> tuple[ExplainedLog, Lines]:
    """Give what a log says, with advice for this machine and this build, and what was kept of its lines."""
    chunks = read_stdin() if log in {"", STDIN} else read_log(Path(log))
    found = explain_chunks(chunks, known_signatures())
    told = _keeping_torch(found.describe(families=read_families()), found.log)
    told = replace(told, causes=_for_a_build(told.causes, Path(log)))
    return complete_result(told, _situation(Path(log))), found.log


def _keeping_torch(told: ExplainedLog, log: Lines) -> ExplainedLog:
    """Let no command change the torch of which the log tells, where one that is advised may."""
    if not any(moves_torch(line) for each in (*told.causes, *told.went_on) for line in each.commands):
        return told
    torch = _torch_of(log, told.first_error)
    causes, went_on = (
        [replace(each, commands=keep_torch_all(each.commands, torch)) for each in some]
        for some in (told.causes, told.went_on)
    )
    return replace(told, causes=causes, went_on=went_on)


def _torch_of(log: Lines, error: str) -> TorchThere | None:
    """Give the torch of which a log tells; None where it tells of none. Of a long log the error may not be kept."""
    torch = _facts_of(log, error).torch
    return torch_there(torch, versions_beside(torch.version or "") if torch else {})


def _facts_of(log: Lines, error: str) -> Facts:
    """Give what a log tells of the machine."""
    from xpusetup.machine.probe import TOLD  # noqa: PLC0415 - most logs need nothing of the machine
    from xpusetup.paste.facts import facts_from_paste  # noqa: PLC0415 - most logs need nothing of the machine

    taken = dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds")
    return facts_from_paste([log.whole, error], taken, gpu_table(), TOLD)[0]


def _known(told: ExplainedLog, log: Lines) -> list[KnownCombination]:
    """Give the combinations of which the lines that matter tell, but for those of GPUs that are others here."""
    lines = [told.first_error, *(cause.text for cause in told.causes), *(line.text for line in told.context)]
    found = find_said(known_bad(), lines)
    if any(each.when for each in found):
        here = Situation(_facts_of(log, told.first_error), gpu_table())
        found = [each for each in found if each.when is None or not here.has_others(each.when)]
    return [KnownCombination(each.id, each.what, each.workaround, each.source) for each in found]


def _situation(log: Path) -> dict[str, list[str]]:
    """Give the options that mean the root of which a log is; empty for any other log."""
    root = root_of_log(log)
    lock = read_lock(root) if root else None
    if root is None or lock is None:
        return {}
    named = str(lock.get("named") or lock.get("profile", {}).get("name", ""))
    return {"--profile": [named], "--root": [str(root.path)]}


def root_of_log(log: Path) -> Root | None:
    """Give the root of which a log is; None for any other log."""
    root = Root(log.absolute().parent.parent)
    return root if log.absolute().parent.name == "logs" and read_lock(root) is not None else None


def _for_a_build(causes: Iterable[Cause], log: Path) -> list[Cause]:
    """Make advice such that it mends a build, where the log is that of a step."""
    if own := _read_words(log):
        causes = [
            replace(each, fix=own.fix, commands=[]) if any(map(IN_A_TREE.match, each.commands)) else each
            for each in causes
        ]
    return _with_python(causes, root_of_log(log))


def _read_words(log: Path) -> StepWords | None:
    """Give what a step said by itself at the end of its log; None where it did not, and for any other log."""
    own = OF_THE_STEP.search("\n".join(_last_lines(log))) if root_of_log(log) else None
    return StepWords(own[1], Advice(own[2], *((" ", Command(own[3])) if own[3] else ()))) if own else None


def _with_python(causes: Iterable[Cause], root: Root | None) -> list[Cause]:
    """Let what pip and python are asked for be asked of a build's own: a system may have neither on PATH.

    What a build installs is pinned: commands that install into its environment past that are left out.
    """
    if root is None:
        return list(causes)
    causes = [replace(each, commands=[line for line in each.commands if not PAST.match(line)]) for each in causes]
    python = root.path / "venv/bin/python"
    if not python.exists():
        return causes
    own = {"python": shlex.quote(str(python)), "pip": f"{shlex.quote(str(python))} -m pip"}
    told = ([line.like(OWN.sub(lambda found: own[found[1]], line)) for line in each.commands] for each in causes)
    return [replace(each, commands=commands) for each, commands in zip(causes, told, strict=True)]


def describe_failure(root: Root, step: str, go_on: GoingOn) -> StepFailure:
    """Say why a step failed, where that is known, and what its log says by itself."""
    log = root.log(step)
    told = _explain_step(log).describe(go_on.command, read_families())
    return StepFailure(
        step=step,
        log=str(log),
        causes=_for_a_build(told.causes, log),
        first_error_line=told.first_error_line,
        first_error=told.first_error,
        last_lines=_last_lines(log),
        compiler=find_compile_error(log),
        again=f"bash {root.script(step)}",
        go_on=go_on,
        said=_read_words(log),
    )


def _explain_step(log: Path) -> Explanation:
    """Explain the log of a step that failed; one that is gone, as with its root, tells nothing."""
    try:
        return explain_chunks(read_log(log), known_signatures(), failed=True)
    except UsageError:
        return explain_chunks((), known_signatures(), failed=True)


def lacked_memory(log: Path) -> bool:
    """Say whether a step ended because there was too little memory for its jobs, as far as its log tells."""
    causes = _explain_step(log).causes
    return bool(causes) and causes[0].signature.memory


def tells_of_kill(log: Path) -> bool:
    """Say whether a log tells that a process was killed, as the kernel does for lack of memory, and anyone may."""
    causes = _explain_step(log).causes
    return bool(causes) and causes[0].signature.id in OF_A_KILL and REFUSED.search(causes[0].text) is None


def _last_lines(log: Path) -> list[str]:
    return list(deque(read_lines(log), maxlen=LAST_LINES))


COMPILE_ERROR = re.compile(r"(?P<indent>\s*)\S[^:\n]*\.[A-Za-z]\w{0,5}:\d+:(?:\d+:)? (?:fatal )?error: ")
SOURCE_VIEW = re.compile(r"\s*(?:\d+ )?\|(?: |$)")
VIEWED = 3
"""Lines of source that a compiler shows below an error, with the mark below them: those of gcc and clang are two."""


def find_compile_error(log: Path) -> list[str]:
    """Give the first error of a compiler in a log, flush left, with the lines of source below it."""
    found: list[str] = []
    indent = ""
    for line in read_lines(log):
        if found and (len(found) > VIEWED or not SOURCE_VIEW.match(line)):
            break
        if not found and (begins := COMPILE_ERROR.match(line)):
            indent = begins["indent"]  # pip sets back what it runs
            found.append(line.removeprefix(indent))
        elif found:
            found.append(line.removeprefix(indent))
    return found


def watch_step(step: Step) -> Callable[[list[str]], str]:
    """Give what is told the lines of a step while it runs, and says why it should be stopped, or nothing.

    Only what needs the toolkit is watched: without it nobody asked for XPU.
    """
    if "toolkit" not in step.needs:
        return lambda _lines: ""
    watcher = Watcher(known_signatures())

    def look(lines: list[str]) -> str:
        match = watcher.feed(lines)
        return match.signature.cause if match else ""

    return look


@cache
def known_signatures() -> tuple[Signature, ...]:
    return parse_signatures(package_texts("data/signatures"))
