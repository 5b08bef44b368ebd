"""Tables of operators that run on the CPU, all in the form of the published ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from xpusetup.fallbacks.known import MEANING, How

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Mapping, Sequence

    from xpusetup.fallbacks.known import Known, Published
    from xpusetup.fallbacks.messages import Message

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
class Table:
    """One table. `notes`: what it cannot tell. `errors`: what ended before its end, and why."""

    title: str
    origin: Origin
    operators: tuple[Operator, ...]
    markdown: str
    source: str = ""
    notes: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


def published_tables(known: Known, release: str) -> tuple[Table, ...]:
    """Give the tables that were published for a release, to the letter."""
    return tuple(_published(known, one) for one in known.table if one.release == release)


def _published(known: Known, table: Published) -> Table:
    title = f"PyTorch {table.release} on XPU, as published: {table.workload}"
    rows = tuple(_operator(known, name, _how(how)) for name, how in table.rows)
    return Table(title, "published", rows, table.markdown, table.source)


def _how(word: str) -> How:
    return next(how for how in MEANING if how == word)


def list_table(known: Known, release: str) -> Table:
    """Give the built-in list of a release in the form of a table."""
    built_in = next(one for one in known.built_in if one.release == release)
    rows = tuple(_operator(known, name, "Enabled") for name in known.names(release))
    when = f" at {built_in.date}" if built_in.date else ""
    title = f"PyTorch {release}{when} on XPU: the built-in list, computed from the sources of torch-xpu-ops"
    source = f"{known.source}/blob/{built_in.commit}/{built_in.path}"
    note = "an operator of this list may run on the CPU: a build with another library can have a kernel for it"
    return Table(title, "built-in list", rows, render_markdown(rows), source, (note,))


def run_tables(known: Known, document: Mapping[str, Any]) -> tuple[Table, ...]:
    """Give a table for each workload of what collect_fallbacks.py wrote."""
    return tuple(_run_table(known, document, workload) for workload in document["workloads"])


def _run_table(known: Known, document: Mapping[str, Any], workload: Mapping[str, Any]) -> Table:
    release = ".".join(document["torch"].split(".")[:2])
    rows = tuple(
        _operator(known if document["device"] == XPU else None, seen["name"], how, seen["calls"])
        for seen in workload["operators"]
        for how in [_judge(known, document, seen, release)]
    )
    if document["device"] == XPU and release in SILENT:
        listed = {name: calls for name, calls in workload["own"].items() if known.is_listed(name, release)}
        rows = tuple(sorted((*rows, *(_operator(known, name, "Enabled", calls) for name, calls in listed.items()))))
    title = f"{document['device']}, PyTorch {document['torch']}: {workload['title']}"
    errors = tuple(f"{name}: {error}" for name, error in workload["errors"].items())
    return Table(title, "run", rows, render_markdown(rows), "", _notes_of(document, workload), errors)


def _judge(known: Known, document: Mapping[str, Any], seen: Mapping[str, Any], release: str) -> How:
    if document["device"] != XPU:
        return "Missing" if seen["refused"] else "Enabled" if seen["announced"] else "Silent"
    if seen["name"] in document["forced"]:
        return "Forced"
    in_list_file = seen["kernel"] == "kernel"
    return "Enabled" if in_list_file or known.is_listed(seen["name"], release) else "Manual"


def _notes_of(document: Mapping[str, Any], workload: Mapping[str, Any]) -> tuple[str, ...]:
    notes = []
    if document["blind"]:
        notes.append(f"cannot tell silent fallbacks: {document['blind']}")
    if workload["unseen"]:
        notes.append(f"cannot tell what these call: {', '.join(workload['unseen'])}")
    if workload["unnamed"]:
        notes.append(_unnamed(workload["unnamed"]))
    return tuple(notes)


def _unnamed(times: int) -> str:
    said = "once" if times == 1 else f"{times} times"
    return f"{said} a process said only that something falls back; PYTORCH_DEBUG_XPU_FALLBACK=1 names each operator"


def log_table(known: Known, title: str, found: Counter[Message], release: str = "") -> Table:
    """Give what a log tells. Without a release, an operator that is on any release's list counts as Enabled."""
    seen: dict[tuple[str, How], int] = {}
    for message, times in sorted(found.items()):
        if (how := _judge_message(known, message, found, release)) is not None:
            seen[message.operator, how] = seen.get((message.operator, how), 0) + times
    backends = {message.backend for message in found} - {""}
    ours = known if backends <= {XPU} else None
    rows = tuple(_operator(ours, name, how, times) for (name, how), times in sorted(seen.items()))
    return Table(title, "log", rows, render_markdown(rows), "", _notes_on(found))


def _judge_message(known: Known, message: Message, found: Iterable[Message], release: str) -> How | None:
    if message.kind == "forced":
        return "Forced"
    if message.kind == "refused":
        return "Manual" if message.backend == XPU else "Missing"
    if message.kind != "announced" or _is_forced(message, found):
        return None
    return "Enabled" if message.backend != XPU or known.is_listed(message.operator, release) else "Manual"


def _is_forced(message: Message, found: Iterable[Message]) -> bool:
    return any(one.kind == "forced" and one.operator == message.operator for one in found)


def _notes_on(found: Counter[Message]) -> tuple[str, ...]:
    notes = []
    if unnamed := sum(times for message, times in found.items() if message.kind == "once"):
        notes.append(_unnamed(unnamed))
    for kind, words in (
        ("mixed", "ended by tensors of two devices on their way to the CPU"),
        ("native", "on the built-in list, but with a kernel of their own here"),
    ):
        if names := sorted({message.operator for message in found if message.kind == kind}):
            notes.append(f"{words}: {', '.join(names)}")
    return tuple(notes)


def _operator(known: Known | None, name: str, how: How, calls: int | None = None) -> Operator:
    if known is None:
        return Operator(name, how, calls=calls)
    return Operator(name, how, known.releases_of(name), known.native_since(name), calls)


def render_markdown(operators: Sequence[Operator]) -> str:
    """Give a table in the published form: two columns, as wide as their longest cell."""
    cells = [HEAD, *((f"`{one.name}`", one.how) for one in operators)]
    first, second = (max(len(row[column]) for row in cells) for column in (0, 1))
    lines = [f"| {left:<{first}} | {right:<{second}} |" for left, right in cells]
    return "\n".join((lines[0], f"| {'-' * first} | {'-' * second} |", *lines[1:])) + "\n"
