"""Operators that run on the CPU: as published, as a log tells, in one form of table."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal, NamedTuple

from xpusetup.base.document import read_as
from xpusetup.base.values import Limits, Strict, parse_toml

# data/fallbacks.toml as values: the published tables, and which release's built-in list names which operator.


ROW = re.compile(r"^\| `(?P<name>[\w:.]+)` *\| (?P<how>Enabled|Manual) *\|$", re.MULTILINE)
SPACE = "aten::"


@dataclass(frozen=True, kw_only=True)
class PublishedTable(Strict):
    """A table as it was published: its text to the letter, for which release, and what was run."""

    id: str
    release: str
    workload: str
    source: str
    markdown: str

    @property
    def rows(self) -> list[tuple[str, str]]:
        """Its operators, each with how it gets to the CPU, in the published order."""
        return ROW.findall(self.markdown)


@dataclass(frozen=True, kw_only=True)
class BuiltIn(Strict):
    """Where a release's built-in list stands, and how many operators it names."""

    release: str
    commit: Annotated[str, Limits(pattern=r"^[0-9a-f]{40}$")]
    path: str
    operators: int
    date: str = ""


@dataclass(frozen=True, kw_only=True)
class ReleaseSpan(Strict):
    """Operators that are on the lists of all releases from `first` to `last`."""

    first: str
    last: str
    operators: list[str]


@dataclass(frozen=True, kw_only=True)
class KernelSince(Strict):
    """Operators that never were on a list, and the first release that has an XPU kernel for them."""

    since: str
    source: str
    operators: list[str]


@dataclass(frozen=True, kw_only=True)
class FallbackData(Strict):
    """All of data/fallbacks.toml. An operator's name here begins with its `aten::`, in a built-in list it does not."""

    source: str
    table: list[PublishedTable]
    built_in: list[BuiltIn]
    span: list[ReleaseSpan]
    kernel: list[KernelSince]

    def __post_init__(self) -> None:
        """Refuse a list that holds more or fewer operators than its file."""
        for one in self.built_in:
            if (found := len(self.names(one.release))) != one.operators:
                raise ValueError(f"the list of {one.release} has {one.operators} operators, the spans give {found}")

    @property
    def releases(self) -> tuple[str, ...]:
        """Every release of which the list is known, the oldest first; the last is PyTorch's main branch."""
        return tuple(one.release for one in self.built_in)

    @cached_property
    def _listed(self) -> dict[str, tuple[str, ...]]:
        order = self.releases
        return {
            SPACE + name: order[order.index(span.first) : order.index(span.last) + 1]
            for span in self.span
            for name in span.operators
        }

    @cached_property
    def _published(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for table in self.table:
            for name, _how in table.rows:
                found.setdefault(name, set()).add(table.release)
        return found

    def names(self, release: str) -> tuple[str, ...]:
        return tuple(sorted(name for name, releases in self._listed.items() if release in releases))

    def is_listed(self, name: str, release: str = "") -> bool:
        """Say whether an operator is on the list of this release, or of any."""
        releases = self._listed.get(name, ())
        return release in releases if release in self.releases else bool(releases)

    def releases_of(self, name: str) -> tuple[str, ...]:
        """Give the releases with which the operator runs on the CPU: by their lists, or as published."""
        seen = {*self._listed.get(name, ()), *self._published.get(name, ())}
        return tuple(release for release in self.releases if release in seen)

    def native_since(self, name: str) -> str | None:
        """Give the first release whose list names it no longer; None where the newest does, or nothing is known."""
        for kernel in self.kernel:
            if name.removeprefix(SPACE) in kernel.operators:
                return kernel.since
        releases = self.releases_of(name)
        after = self.releases[self.releases.index(releases[-1]) + 1 :] if releases else ()
        return after[0] if after else None


def parse_known(text: str) -> FallbackData:
    """Read data/fallbacks.toml. Raises UnfitError on anything that it does not know."""
    return read_as(FallbackData, parse_toml(text))


How = Literal["Enabled", "Manual", "Forced", "Silent", "Missing"]
MEANING: dict[How, str] = {
    "Enabled": "it runs on the CPU by itself: it is on the built-in list, or the device says so",
    "Manual": "it ends the program unless PYTORCH_ENABLE_XPU_FALLBACK=1 is set; then it runs on the CPU",
    "Forced": "PYTORCH_XPU_FALLBACK_OP sends it to the CPU",
    "Silent": "the device's catch-all takes it, which runs it on the CPU and says nothing",
    "Missing": "the device has neither a kernel nor a fallback for it: it ends the program",
}


# A log read for what PyTorch says of operators that run on the CPU, whatever stands before or after it in the line.


Kind = Literal["announced", "once", "refused", "forced", "mixed", "native"]
LONGEST = 4096
"""More characters than any message has; so many are read twice where a log is cut into pieces."""
BLOCK = 1 << 20
"""A word of so many bytes is no word, and is cut."""
WORDS = ("operator", "Operator", "fallback")


class ReadMessage(NamedTuple):
    """What was said of an operator ("" where none was named), and of which backend, in lower case."""

    kind: str
    operator: str
    backend: str


@dataclass(frozen=True, kw_only=True)
class Pattern(Strict):
    """One wording, as helpers/helperlib/fallbacks/messages.json explains it."""

    kind: Kind
    pattern: str
    examples: list[str]
    note: str
    source: str

    @property
    def regex(self) -> re.Pattern[str]:
        """The pattern with any white space where it has a space."""
        return re.compile(re.sub(r" (\??)", lambda found: r"\s*" if found[1] else r"\s+", self.pattern))


@dataclass(frozen=True, kw_only=True)
class _PatternFile(Strict):
    about: str
    messages: list[Pattern]


def parse_patterns(text: str) -> tuple[Pattern, ...]:
    """Read helpers/helperlib/fallbacks/messages.json."""
    return tuple(read_as(_PatternFile, json.loads(text)).messages)


def scan(chunks: Iterable[bytes], patterns: tuple[Pattern, ...]) -> Counter[ReadMessage]:
    """Count each message of a log that comes in pieces of any size."""
    kinds = [(one.kind, one.regex) for one in patterns]
    found: Counter[ReadMessage] = Counter()
    for text, end in _overlapping(chunks):
        if any(word in text for word in WORDS):
            found.update(
                _message(kind, match) for kind, regex in kinds for match in regex.finditer(text) if match.start() < end
            )
    return found


def _overlapping(chunks: Iterable[bytes]) -> Iterator[tuple[str, int]]:
    """Give pieces of text and where the next one begins: a message belongs to the piece in which it begins."""
    rest = b""
    for chunk in chunks:
        data = rest + chunk
        limit = max(0, len(data) - LONGEST)
        cut = max(data.rfind(b" ", 0, limit), data.rfind(b"\n", 0, limit)) + 1  # never within an operator's name
        cut = cut or (limit if limit > BLOCK else 0)
        if cut:
            yield data.decode("latin-1"), cut
        rest = data[cut:]
    yield rest.decode("latin-1"), len(rest)


def _message(kind: str, match: re.Match[str]) -> ReadMessage:
    groups = match.groupdict()
    name = groups.get("operator") or ""
    whole = name if "::" in name or not name else SPACE + name
    return ReadMessage(kind, whole, (groups.get("backend") or "").lower())


# Tables of operators that run on the CPU, all in the form of the published ones.


Origin = Literal["published", "built-in list", "run", "log"]
HEAD = ("Aten operation", "CPU fallback")
XPU = "xpu"
SILENT = ("2.4",)
"""Releases whose built-in list says nothing of itself, by no variable."""


@dataclass(frozen=True, order=True)
class Operator:
    """An operator, how it gets to the CPU, the XPU releases with which it does, and the first one after them.

    `calls`: how often it was seen in a run or a log. `native_since` is None also where nothing is known.
    """

    name: str
    how: How
    releases: tuple[str, ...] = ()
    native_since: str | None = None
    calls: int | None = None


@dataclass(frozen=True)
class FallbackTable:
    """One table. `notes`: what it cannot tell. `errors`: what ended before its end, and why."""

    title: str
    origin: Origin
    operators: tuple[Operator, ...]
    markdown: str
    source: str = ""
    notes: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RecordedOperator:
    """An operator as helpers/collect_fallbacks.py saw it in a run: how often it was called, and who told of it.

    `kernel` is the kind of kernel that the dispatcher has for it, None where it was not asked.
    """

    name: str
    calls: int
    announced: bool
    refused: bool
    kernel: str | None


@dataclass(frozen=True, kw_only=True)
class RecordedWorkload:
    """What a workload told. `own`: how often operators were called that stayed on the device.

    `unseen` are those that hide what they call, `unnamed` counts messages that named no operator, and `errors` say by
    part of the workload why it ended.
    """

    title: str
    operators: list[RecordedOperator]
    own: dict[str, int]
    unseen: list[str]
    unnamed: int
    errors: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class FallbackRecord:
    """What helpers/collect_fallbacks.py wrote. `blind` says why silent fallbacks cannot be seen; empty where they can.

    `forced` are the operators that a variable sends to the CPU.
    """

    device: str
    torch: str
    blind: str
    forced: list[str]
    workloads: list[RecordedWorkload]


def published_tables(known: FallbackData, release: str) -> tuple[FallbackTable, ...]:
    """Give the tables that were published for a release, to the letter."""
    return tuple(_published(known, one) for one in known.table if one.release == release)


def _published(known: FallbackData, table: PublishedTable) -> FallbackTable:
    title = f"PyTorch {table.release} on XPU, as published: {table.workload}"
    rows = tuple(_operator(known, name, _how(how)) for name, how in table.rows)
    return FallbackTable(title, "published", rows, table.markdown, table.source)


def _how(word: str) -> How:
    return next(how for how in MEANING if how == word)


def list_table(known: FallbackData, release: str) -> FallbackTable:
    """Give the built-in list of a release in the form of a table."""
    built_in = next(one for one in known.built_in if one.release == release)
    rows = tuple(_operator(known, name, "Enabled") for name in known.names(release))
    when = f" at {built_in.date}" if built_in.date else ""
    title = f"PyTorch {release}{when} on XPU: the built-in list, computed from the sources of torch-xpu-ops"
    source = f"{known.source}/blob/{built_in.commit}/{built_in.path}"
    note = "an operator of this list may run on the CPU: a build with another library can have a kernel for it"
    return FallbackTable(title, "built-in list", rows, render_markdown(rows), source, (note,))


def run_tables(known: FallbackData, record: FallbackRecord) -> tuple[FallbackTable, ...]:
    """Give a table for each workload of a run."""
    return tuple(_run_table(known, record, workload) for workload in record.workloads)


def _run_table(known: FallbackData, record: FallbackRecord, workload: RecordedWorkload) -> FallbackTable:
    release = ".".join(record.torch.split(".")[:2])
    rows = tuple(
        _operator(known if record.device == XPU else None, seen.name, how, seen.calls)
        for seen in workload.operators
        for how in [_judge(known, record, seen, release)]
    )
    if record.device == XPU and release in SILENT:
        listed = {name: calls for name, calls in workload.own.items() if known.is_listed(name, release)}
        rows = tuple(sorted((*rows, *(_operator(known, name, "Enabled", calls) for name, calls in listed.items()))))
    title = f"{record.device}, PyTorch {record.torch}: {workload.title}"
    errors = tuple(f"{name}: {error}" for name, error in workload.errors.items())
    notes = []
    if record.blind:
        notes.append(f"cannot tell silent fallbacks: {record.blind}")
    if workload.unseen:
        notes.append(f"cannot tell what these call: {', '.join(workload.unseen)}")
    if workload.unnamed:
        notes.append(_unnamed(workload.unnamed))
    return FallbackTable(title, "run", rows, render_markdown(rows), "", tuple(notes), errors)


def _judge(known: FallbackData, record: FallbackRecord, seen: RecordedOperator, release: str) -> How:
    if record.device != XPU:
        return "Missing" if seen.refused else "Enabled" if seen.announced else "Silent"
    if seen.name in record.forced:
        return "Forced"
    in_list_file = seen.kernel == "kernel"
    return "Enabled" if in_list_file or known.is_listed(seen.name, release) else "Manual"


def _unnamed(times: int) -> str:
    said = "once" if times == 1 else f"{times} times"
    return f"{said} a process said only that something falls back; PYTORCH_DEBUG_XPU_FALLBACK=1 names each operator"


def log_table(known: FallbackData, title: str, found: Counter[ReadMessage], release: str = "") -> FallbackTable:
    """Give what a log tells. Without a release, an operator that is on any release's list counts as Enabled."""
    seen: dict[tuple[str, How], int] = {}
    for message, times in sorted(found.items()):
        if (how := _judge_message(known, message, found, release)) is not None:
            seen[message.operator, how] = seen.get((message.operator, how), 0) + times
    backends = {message.backend for message in found} - {""}
    ours = known if backends <= {XPU} else None
    rows = tuple(_operator(ours, name, how, times) for (name, how), times in sorted(seen.items()))
    notes = []
    if unnamed := sum(times for message, times in found.items() if message.kind == "once"):
        notes.append(_unnamed(unnamed))
    for kind, words in (
        ("mixed", "ended by tensors of two devices on their way to the CPU"),
        ("native", "on the built-in list, but with a kernel of their own here"),
    ):
        if names := sorted({message.operator for message in found if message.kind == kind}):
            notes.append(f"{words}: {', '.join(names)}")
    return FallbackTable(title, "log", rows, render_markdown(rows), "", tuple(notes))


def _judge_message(known: FallbackData, message: ReadMessage, found: Iterable[ReadMessage], release: str) -> How | None:
    if message.kind == "forced":
        return "Forced"
    if message.kind == "refused":
        return "Manual" if message.backend == XPU else "Missing"
    if message.kind != "announced" or any(one.kind == "forced" and one.operator == message.operator for one in found):
        return None
    return "Enabled" if message.backend != XPU or known.is_listed(message.operator, release) else "Manual"


def _operator(known: FallbackData | None, name: str, how: How, calls: int | None = None) -> Operator:
    if known is None:
        return Operator(name, how, calls=calls)
    return Operator(name, how, known.releases_of(name), known.native_since(name), calls)


def render_markdown(operators: Sequence[Operator]) -> str:
    """Give a table in the published form: two columns, as wide as their longest cell."""
    cells = [HEAD, *((f"`{one.name}`", one.how) for one in operators)]
    first, second = (max(len(row[column]) for row in cells) for column in (0, 1))
    lines = [f"| {left:<{first}} | {right:<{second}} |" for left, right in cells]
    return "\n".join((lines[0], f"| {'-' * first} | {'-' * second} |", *lines[1:])) + "\n"
