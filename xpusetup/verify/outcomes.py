"""Results of verifications: what the helper writes, side by side, as the table of devices, as owners send them in."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from xpusetup.base.errors import UsageError
from xpusetup.base.model import Level  # noqa: TC001 - named by a type that is read from JSON
from xpusetup.run.manifest import describe_machine

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


# Results of verifications side by side: read from saved documents, compared check by check, as a Markdown table.
#
# Words: a *proof* is what one verification found on one device; a *mark* is what a check came to there: ok,
# wrong, unsupported (the device does not have it), absent (this torch or this machine does not have it), not run
# (also a check that a result does not have).


Mark = Literal["ok", "wrong", "unsupported", "absent", "not run"]
BY_LEVEL: dict[str, Mark] = {"ok": "ok", "info": "ok", "warn": "ok", "fail": "wrong", "crash": "wrong"}
NOT_RUN: Mark = "not run"
SIGNS: dict[str, str] = {"ok": "✅", "wrong": "❌", "unsupported": "⚠️", "absent": "⬜", NOT_RUN: "⏭️"}
LEGEND = " · ".join(f"{sign} {mark}" for mark, sign in SIGNS.items())
SAVED = "xpusetup verify --json > FILE, or status --json, or results/verify.json of a root"


@dataclass(frozen=True)
class CheckOutcome:
    """What a check came to on one device, and what it saw."""

    mark: Mark
    seen: str
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class VerifiedDevice:
    """Which device was verified, with what, and what that proved; empty texts where a document does not say it.

    `extension` names the packages that taught torch the device, with their versions; `level` is how much was verified,
    `counts` how many checks came to each state.
    """

    device: str
    name: str = ""
    machine: str = ""
    profile: str = ""
    torch: str = ""
    extension: str = ""
    level: str = ""
    verified: bool | None = None
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class VerificationRecord:
    """A verification: its device, and its checks by id, in their order."""

    about: VerifiedDevice
    checks: Mapping[str, CheckOutcome]


@dataclass(frozen=True, kw_only=True)
class CheckStates:
    """A check of the table: its state on each device, and what it saw there."""

    id: str
    title: str
    states: list[Mark]
    seen: list[str]


@dataclass(frozen=True, kw_only=True)
class CheckTable:
    """The table: `devices` in their order, and for each of the `checks` a state for each device."""

    devices: list[VerifiedDevice]
    checks: list[CheckStates]


def parse_proof(text: str, origin: str) -> VerificationRecord:
    """Read a saved `verify --json` or `status --json`, a results/verify.json or a manifest. Raises UsageError."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{origin} is not JSON: {error}", fix=f"what can be compared: {SAVED}") from error
    proof = make_proof(document) if isinstance(document, dict) else None
    if proof is None:
        raise UsageError(f"{origin} holds no verification", fix=f"what can be compared: {SAVED}")
    return proof


def make_proof(document: Mapping[str, Any]) -> VerificationRecord | None:
    """Give the verification that a document holds; None where it holds none."""
    around = _table(document, "result") or document
    found = _table(around, "verification") or around
    checks = found.get("checks")
    if not isinstance(checks, list) or not isinstance(found.get("device"), str):
        return None
    devices = [one for one in found.get("devices") or [] if isinstance(one, dict)]
    outcomes = {str(one["id"]): _check(one) for one in checks if isinstance(one, dict) and "id" in one}
    about = VerifiedDevice(
        device=found["device"],
        name=str(devices[0].get("name") or "") if devices else "",
        machine=str(around.get("machine") or "") or describe_machine(_table(around, "facts")),
        profile=str(around.get("profile") or ""),
        torch=str(_table(found, "versions").get("torch") or ""),
        extension=", ".join(map(str, _table(_table(found, "versions"), "extensions").values())),
        level=str(found.get("level") or ""),
        verified=found.get("verified"),
    )
    return VerificationRecord(about, outcomes)


def _table(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = document.get(key)
    return found if isinstance(found, dict) else {}


def _check(one: Mapping[str, Any]) -> CheckOutcome:
    """Read a check. Its verdict says what it came to; documents without verdicts have the level for that."""
    level = str(one.get("level"))
    verdict = one.get("verdict")
    mark = verdict if verdict in SIGNS and not (level == "skip" and verdict == "ok") else BY_LEVEL.get(level, NOT_RUN)
    return CheckOutcome(mark, " ".join(str(one.get("seen") or "").split()), str(one.get("title") or ""))


def make_table(proofs: Sequence[VerificationRecord]) -> CheckTable:
    """Give a row for each check that any result has, in the order of the first that has it."""
    rows = []
    for name in dict.fromkeys(name for proof in proofs for name in proof.checks):
        found = [proof.checks.get(name, CheckOutcome(NOT_RUN, "")) for proof in proofs]
        title = next((check.title for check in found if check.title), "")
        states, seen = [check.mark for check in found], [check.seen for check in found]
        rows.append(CheckStates(id=name, title=title, states=states, seen=seen))
    devices = [replace(proof.about, counts=_count(rows, number)) for number, proof in enumerate(proofs)]
    return CheckTable(devices=devices, checks=rows)


def _count(rows: Sequence[CheckStates], number: int) -> dict[str, int]:
    count = Counter[str](row.states[number] for row in rows)
    return {state: count[state] for state in SIGNS}


IDENTITY = ("name", "profile", "torch", "extension", "machine", "level")
VERIFIED = {True: "yes", False: "no", None: "no device was computed on"}


def render_page(table: CheckTable) -> str:
    """Give the table as Markdown, with the counts of each device and what was wrong there."""
    head = ["", *(each.device for each in table.devices)]
    about = [[label, *(getattr(each, label) for each in table.devices)] for label in IDENTITY]
    about.append(["verified", *(VERIFIED[each.verified] for each in table.devices)])
    checks = [[f"`{row.id}`", *(SIGNS[state] for state in row.states)] for row in table.checks]
    rows = [head, ["---", *([":---:"] * len(table.devices))], *(row for row in about if any(row[1:])), *checks]
    counts, wrong = [], list[str]()
    for number, device in enumerate(table.devices):
        states = ", ".join(f"{count} {state}" for state, count in device.counts.items() if count)
        counts.append(f"{number + 1}. {_name(device)}: {states or 'no checks'}")
        wrong += _wrong_lines(table, number, device)
    return "\n".join([*map(_line, rows), "", LEGEND, "", *counts, *([""] if wrong else []), *wrong, ""])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


LONGEST = 160
"""Characters of what a check saw that a page shows."""


def _name(device: VerifiedDevice) -> str:
    torch = f" with torch {device.torch}" if device.torch else ""
    return f"**{device.device}**{torch}"


def _wrong_lines(table: CheckTable, number: int, device: VerifiedDevice) -> Iterator[str]:
    """Name the checks that came out wrong on a device, with what they saw."""
    wrong = [check for check in table.checks if check.states[number] == "wrong"]
    if wrong:
        yield f"Wrong on {_name(device)}:\n"
    for check in wrong:
        yield f"- `{check.id}`: {_plain(check.seen[number])}"
    if wrong:
        yield ""


def _plain(seen: str) -> str:
    """Give what was seen as text that Markdown shows as it is, and not all of it where it is long."""
    cut = seen[: LONGEST - 3]
    whole = cut.rpartition(" ")[0]  # words, but for one that is longer than people's
    short = seen if len(seen) <= LONGEST else f"{whole if len(whole) > LONGEST - 40 else cut[:-1]} ..."
    return "".join(f"\\{letter}" if letter in "\\`*_<>[]|" else letter for letter in short)


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
