"""doctor --paste: what people post of a machine, read as facts, with what was recognised and what its errors mean."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.base.errors import UsageError
from xpusetup.commands.explain import known_signatures
from xpusetup.doctor.known import untold_parts
from xpusetup.explain.explanation import explain as explain_chunks
from xpusetup.machine.paste_lines import MOST_TEXT
from xpusetup.machine.pasted_facts import PARTS, PasteReport, facts_from_paste
from xpusetup.run.tables import gpu_table, sayings
from xpusetup.system.logs import CHUNK, STDIN, read_log, read_stdin

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xpusetup.base.model import Finding
    from xpusetup.explain.explanation import Cause
    from xpusetup.machine.facts import Facts


JUDGED = ("kmd.force_probe",)
"""Causes of which a line alone is no proof, and whose check of the same name knows better."""


@dataclass(frozen=True)
class Untold:
    """What to paste, and the checks that it would answer."""

    paste: str
    checks: list[str]


@dataclass(frozen=True, kw_only=True)
class PasteSummary:
    """From what was judged: how many outputs of which kind, how many lines and how many of no known kind, and some.

    `cut`: there was more than is read; `causes`: what its error lines mean; `unknown`: what to paste to know more.
    """

    kinds: dict[str, int]
    lines: int
    unread: int
    unread_lines: list[str]
    cut: bool
    causes: list[Cause]
    unknown: list[Untold]


@dataclass(frozen=True)
class Paste:
    """What was pasted: facts, from what they were read, and what its error lines mean to `explain`."""

    facts: Facts
    report: PasteReport
    causes: tuple[Cause, ...]
    cut: bool

    def describe(self, findings: Sequence[Finding]) -> PasteSummary:
        """Give what is told of it, with what is not known and what to paste so that it is."""
        report = self.report
        return PasteSummary(
            kinds=dict(report.kinds),
            lines=report.lines,
            unread=report.unread,
            unread_lines=list(report.examples),
            cut=self.cut,
            causes=[cause for cause in self.causes if not _refuted(cause, findings)],
            unknown=_unknown(self.facts, findings),
        )


def read_paste(names: Sequence[str]) -> Paste:
    """Read what was pasted into files, `-` for stdin. Raises UsageError for what cannot be read, and for nothing."""
    from xpusetup.machine.probe import TOLD  # noqa: PLC0415 - the names alone; nothing is probed

    data = [_read(name) for name in names]
    texts = [each.decode("utf-8", errors="replace") for each in data]
    taken = dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds")
    facts, report = facts_from_paste(texts, taken, gpu_table(), TOLD, sayings())
    causes = _causes(texts, facts)
    if not report.kinds and not causes:
        fix = "paste what tools say: sycl-ls, lspci -nnk, dmesg, python -m torch.utils.collect_env"
        raise UsageError(f"nothing in {', '.join(names)} is recognised", fix=fix)
    return Paste(facts, report, causes, any(len(each) >= MOST_TEXT for each in data))


def _refuted(cause: Cause, findings: Iterable[Finding]) -> bool:
    """Say whether the check of the same line finds nothing amiss: xe may refuse what i915 has taken."""
    return cause.id in JUDGED and any(each.id == cause.id and each.level in ("ok", "unknown") for each in findings)


def _read(name: str) -> bytes:
    chunks = read_stdin() if name == STDIN else read_log(Path(name))
    return b"".join(islice(chunks, MOST_TEXT // CHUNK))[:MOST_TEXT]


def _causes(texts: Iterable[str], facts: Facts) -> tuple[Cause, ...]:
    """Give what the catalogue of failures says of the error lines among what was pasted."""
    families = tuple(facts.system.families) if facts.system else ()
    found = explain_chunks(iter(["\n".join(texts).encode()]), known_signatures())
    return tuple(each for each in found.describe(families=families).causes if not each.caused_by)


def _unknown(facts: Facts, findings: Iterable[Finding]) -> list[Untold]:
    """Give what to paste, with the checks that it would answer; what answers most stands first."""
    wanted: dict[str, list[str]] = {}
    for finding in findings:
        if finding.level == "unknown":
            for part in untold_parts(finding.id, facts):
                wanted.setdefault(PARTS[part], []).append(finding.id)
    rows = sorted(wanted.items(), key=lambda pair: -len(pair[1]))
    return [Untold(paste, list(dict.fromkeys(checks))) for paste, checks in rows]
