"""Results of verifications: what the helper writes, side by side, as the table of devices, as owners send them in."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from xpusetup.base.document import fields_of
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
# wrong, unsupported (the device does not have it), absent (this torch or this machine does not have it), not run.


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
class ProvenDevice:
    """Which device was verified, with what, and what that proved; empty texts where a document does not say it.

    `extension` names the packages that taught torch the device, with their versions; `level` is how much was verified.
    """

    device: str
    name: str = ""
    machine: str = ""
    profile: str = ""
    torch: str = ""
    extension: str = ""
    level: str = ""
    verified: bool | None = None


@dataclass(frozen=True, kw_only=True)
class VerificationRecord(ProvenDevice):
    """A verification: its checks by id, in their order."""

    checks: Mapping[str, CheckOutcome] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ComparedCheck:
    """A check in several results: what it came to and saw in each, None and empty where one does not have it."""

    id: str
    title: str
    marks: list[Mark | None]
    seen: list[str]


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
    return VerificationRecord(
        device=found["device"],
        name=str(devices[0].get("name") or "") if devices else "",
        machine=str(around.get("machine") or "") or describe_machine(_table(around, "facts")),
        profile=str(around.get("profile") or ""),
        torch=str(_table(found, "versions").get("torch") or ""),
        extension=", ".join(map(str, _table(_table(found, "versions"), "extensions").values())),
        level=str(found.get("level") or ""),
        verified=found.get("verified"),
        checks={str(one["id"]): _check(one) for one in checks if isinstance(one, dict) and "id" in one},
    )


def _table(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = document.get(key)
    return found if isinstance(found, dict) else {}


def _check(one: Mapping[str, Any]) -> CheckOutcome:
    """Read a check. Its verdict says what it came to; documents without verdicts have the level for that."""
    level = str(one.get("level"))
    verdict = one.get("verdict")
    mark = verdict if verdict in SIGNS and not (level == "skip" and verdict == "ok") else BY_LEVEL.get(level, NOT_RUN)
    return CheckOutcome(mark, " ".join(str(one.get("seen") or "").split()), str(one.get("title") or ""))


def identity_rows(proofs: Sequence[VerificationRecord]) -> list[tuple[str, list[str]]]:
    """Give what tells results apart: device, release, machine, whether it is verified."""
    words = {True: "yes", False: "no", None: "no device was computed on"}
    rows = [
        ("device", [f"{proof.device} {proof.name}".strip() for proof in proofs]),
        ("profile", [proof.profile for proof in proofs]),
        ("torch", [proof.torch for proof in proofs]),
        ("extension", [proof.extension for proof in proofs]),
        ("machine", [proof.machine for proof in proofs]),
        ("level", [proof.level for proof in proofs]),
        ("verified", [words[proof.verified] for proof in proofs]),
    ]
    return [row for row in rows if any(row[1])]


def compare(proofs: Sequence[VerificationRecord]) -> list[ComparedCheck]:
    """Give a row for each check that any result has, in the order of the first that has it."""
    rows = []
    for name in dict.fromkeys(name for proof in proofs for name in proof.checks):
        found = [proof.checks.get(name) for proof in proofs]
        marks = [check.mark if check else None for check in found]
        title = next((check.title for check in found if check and check.title), "")
        seen = [check.seen if check else "" for check in found]
        rows.append(ComparedCheck(id=name, title=title, marks=marks, seen=seen))
    return rows


def render_table(proofs: Sequence[VerificationRecord]) -> str:
    head = ["", *(proof.device for proof in proofs)]
    who = [[label, *values] for label, values in identity_rows(proofs)[1:]]
    names = [["name", *(proof.name for proof in proofs)]] if any(proof.name for proof in proofs) else []
    checks = [[f"`{row.id}`", *(SIGNS[mark or NOT_RUN] for mark in row.marks)] for row in compare(proofs)]
    lines = [_line(head), _line(["---", *([":---:"] * len(proofs))]), *map(_line, [*names, *who, *checks])]
    return "\n".join([*lines, "", LEGEND, ""])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


# The table of devices: what each check of verify came to on each device, as data, as Markdown, and in a page.
#
# Words: a *state* is the mark of a check on a device (outcomes.py); a check that a result does not have was not run.


BEGIN = "<!-- devices: xpusetup devices table writes what follows -->"
END = "<!-- devices: end -->"
LF, CRLF = "\n", "\r\n"
LONGEST = 160
"""Characters of what a check saw that a page shows."""


@dataclass(frozen=True, kw_only=True)
class CountedDevice(ProvenDevice):
    """A device of the table, with how many checks came to each state."""

    counts: dict[str, int]


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

    devices: list[CountedDevice]
    checks: list[CheckStates]


def identify(proof: VerificationRecord) -> ProvenDevice:
    return ProvenDevice(**{each.name: getattr(proof, each.name) for each in fields(ProvenDevice)})


def make_table(proofs: Sequence[VerificationRecord]) -> CheckTable:
    checks = [
        CheckStates(id=row.id, title=row.title, states=[mark or NOT_RUN for mark in row.marks], seen=row.seen)
        for row in compare(proofs)
    ]
    devices = []
    for number, proof in enumerate(proofs):
        count = Counter[str](check.states[number] for check in checks)
        devices.append(CountedDevice(**fields_of(identify(proof)), counts={state: count[state] for state in SIGNS}))
    return CheckTable(devices=devices, checks=checks)


def render_page(proofs: Sequence[VerificationRecord]) -> str:
    """Give the table as Markdown, with the counts of each device and what was wrong there."""
    table = make_table(proofs)
    counts = []
    for number, device in enumerate(table.devices, 1):
        states = ", ".join(f"{count} {state}" for state, count in device.counts.items() if count)
        counts.append(f"{number}. {_name(device)}: {states or 'no checks'}")
    wrong = [line for number, device in enumerate(table.devices) for line in _wrong_lines(table, number, device)]
    return "\n".join([render_table(proofs), *counts, *([""] if wrong else []), *wrong, ""])


def _name(device: ProvenDevice) -> str:
    torch = f" with torch {device.torch}" if device.torch else ""
    return f"**{device.device}**{torch}"


def _wrong_lines(table: CheckTable, number: int, device: ProvenDevice) -> Iterator[str]:
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


def place_in(page: str, text: str, origin: str) -> str:
    """Put a table between its markers in a page; an empty page gets them. Raises UsageError where they are missing."""
    block = f"{BEGIN}\n{text.rstrip()}\n{END}"
    if not page.strip():
        return f"{block}\n"
    before, begin, rest = page.partition(BEGIN)
    _old, end, after = rest.partition(END)
    if not begin or not end:
        fix = f"put these two lines where it belongs:\n{BEGIN}\n{END}"
        raise UsageError(f"{origin} does not say where its table of devices is", fix=fix)
    return f"{before}{block.replace(LF, CRLF) if CRLF in page else block}{after}"


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
