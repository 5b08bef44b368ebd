"""Records of verifications that owners of hardware send in, and the page that says what was seen by whom."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from xpusetup.base.document import read_as
from xpusetup.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from xpusetup.verify.outcomes import Verification

SCHEMA = 1
NONE = ""
"""What the page has where nobody sent a record: an empty cell, and no tick."""


@dataclass(frozen=True, kw_only=True)
class RecordedGpu:
    """An accelerator of the machine: its PCI id, what it is sold as, its platform, and the driver of the kernel."""

    id: str
    name: str
    platform: str
    driver: str | None


@dataclass(frozen=True, kw_only=True)
class RecordedMachine:
    """What of a machine decides whether PyTorch works; `packages` are those of the driver. Nobody is named."""

    system: str
    kernel: str
    container: str
    gpus: list[RecordedGpu]
    packages: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class RecordedWheel:
    """A wheel that was verified, by its hash."""

    name: str
    version: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class RecordedCheck:
    """What one check came to, and in how many seconds."""

    id: str
    level: str
    seen: str
    seconds: float | None


@dataclass(frozen=True, kw_only=True)
class Record:
    """A verification as an owner saves it: what was run on what, and each number that was seen.

    `taken` is its day, `program` the version of this program, `profile` empty for an environment that is not ours.
    """

    record: Literal["verification"] = "verification"
    schema: int = SCHEMA
    taken: str
    program: str
    profile: str
    machine: RecordedMachine
    device: str
    torch: str
    python: str
    extensions: dict[str, str] = field(default_factory=dict)
    wheels: list[RecordedWheel]
    level: str
    verified: bool | None
    checks: list[RecordedCheck]

    @property
    def release(self) -> str:
        """The release of PyTorch, as 2.14."""
        return ".".join(self.torch.split("+")[0].split(".")[:2])


def make_record(
    seen: Verification,
    machine: RecordedMachine,
    wheels: Sequence[RecordedWheel],
    *,
    taken: str,
    program: str,
    profile: str,
) -> Record:
    """Put together what an owner saves."""
    rows = [RecordedCheck(id=one.id, level=one.level, seen=one.seen, seconds=one.seconds) for one in seen.checks]
    return Record(
        taken=taken,
        program=program,
        profile=profile,
        machine=machine,
        device=seen.device,
        torch=seen.versions.torch or "",
        python=seen.versions.python or "",
        extensions=seen.versions.extensions,
        wheels=list(wheels),
        level=seen.level,
        verified=seen.verified,
        checks=rows,
    )


def parse_record(text: str, name: str) -> Record:
    """Read a record. Raises UsageError for what is none."""
    try:
        found = read_as(Record, json.loads(text))
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{name} is no record of a verification", fix="write one: xpusetup verify --save FILE"
        ) from error
    if found.schema != SCHEMA:
        raise UsageError(f"{name} has schema {found.schema}, this program reads {SCHEMA}", fix="update xpusetup")
    return found


def render_table(records: Mapping[str, Record], platforms: Iterable[str], releases: Sequence[str]) -> str:
    """Give the table of platforms as Markdown: of each the releases that somebody saw, made of records alone."""
    rows = (f"| {platform} | {_cell(records, releases, platform)} |" for platform in platforms)
    return "\n".join(("| GPU | release and what was seen |", "|---|---|", *rows)) + "\n"


def _cell(records: Mapping[str, Record], releases: Sequence[str], platform: str) -> str:
    there = [
        f"{release}: [{_verdict(one)}](records/{name})"
        for release in releases
        for name, one in sorted(records.items())
        if one.release == release and any(gpu.platform == platform for gpu in one.machine.gpus)
    ]
    return ", ".join(there) or NONE


def _verdict(record: Record) -> str:
    wrong = [check.id for check in record.checks if check.level == "fail"]
    if record.verified:
        return f"verified ({record.level})"
    return f"{wrong[0]} failed" if wrong else "not verified"
