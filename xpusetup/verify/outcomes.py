"""Results of verifications: what the helper writes, and as owners send them in."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from xpusetup.base.model import Level

# What helpers/verify_device.py writes.


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """What one check came to: what it saw, what it allows, and the earlier check that its failure may follow from.

    `verdict` is ok, wrong, unsupported or absent; `peak_bytes` the most memory of the device in use at once; `stack`
    where its process was when it hung or died, the innermost call first. None where nothing is known.
    """

    id: str
    title: str
    level: Level
    seen: str
    limit: str | None = None
    seconds: float | None = None
    caused_by: str | None = None
    verdict: str | None = None
    peak_bytes: int | None = None
    stack: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class SeenDevice:
    """A device as torch describes it, with its memory in bytes; `kind` is gpu, processor or simulated."""

    kind: str = ""
    name: str = ""
    index: int | None = None
    total_memory: int | None = None


@dataclass(frozen=True, kw_only=True)
class TorchVersions:
    """What an environment runs; `extensions` by entry point: package and version."""

    python: str | None = None
    torch: str | None = None
    numpy: str | None = None
    extensions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What a device computed, check by check, up to a level. `verified` is None where there was no device.

    `verified_on` says what computed: a GPU, which stands for every device of its own, this machine's processor, or a
    simulated device.
    """

    device: str
    devices: list[SeenDevice] = field(default_factory=list)
    versions: TorchVersions = field(default_factory=TorchVersions)
    checks: list[CheckResult]
    verified: bool | None = None
    verified_on: Literal["gpu", "processor", "simulated"] | None = None
    level: str = ""
    not_checked: list[str] = field(default_factory=list)


# Records of verifications that owners of hardware send in.


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
class OwnerRecord:
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
) -> OwnerRecord:
    rows = [RecordedCheck(id=one.id, level=one.level, seen=one.seen, seconds=one.seconds) for one in seen.checks]
    return OwnerRecord(
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
