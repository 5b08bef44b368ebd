"""Records of verifications that owners of hardware send in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.verify.outcomes import Verification


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
    schema: Literal[1] = 1
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
