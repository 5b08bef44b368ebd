"""Whether what lies beside a wheel says of this very wheel what it was built from; anything else is refused, by name.

Pure: bytes in, verdicts out. Forms: in-toto's statement v1 with SLSA's provenance v1 (docs/wheels.md), DSSE v1
around it where it is signed, and CycloneDX in the wheel. What this program does not write, it does not take either: a
field that a later version adds may change what the others mean.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar

from packaging.utils import canonicalize_name
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from xpusetup.run.manifest import STATEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from xpusetup.base.model import Level


# What is looked at.


ENVELOPE_ENDING = ".intoto.jsonl"
"""What the name of a signed statement ends with, behind the whole name of the wheel: in-toto's convention."""
SBOM = "sboms/xpusetup.cdx.json"
"""Where the bill of materials lies below .dist-info. helperlib/wheel/sbom.py writes it."""
LARGEST = 8 << 20
"""Bytes of a statement, an envelope or a bill: that of torch has 200 KB."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A wheel by file name, hash and metadata, with what is in it (`boms`) and beside it; None where that is not."""

    file: str
    sha256: str
    name: str | None
    version: str | None
    boms: tuple[bytes, ...]
    statement: bytes | None
    envelope: bytes | None


@dataclass(frozen=True)
class Key:
    """A public key: its id, and what says whether a signature (first) is its own of some bytes."""

    id: str
    holds: Callable[[bytes, bytes], bool]


class RefusedError(Exception):
    """Why it is not taken: under which name, and in words; `fix` where the check has not the right one."""

    def __init__(self, name: str, why: str, fix: str = "") -> None:
        super().__init__(f"{name}: {why}")
        self.name, self.why, self.fix = name, why, fix


# The statement, as strictly as it is written.


Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}\z")]
Commit = Annotated[str, StringConstraints(pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})\z")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
PREDICATE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "urn:xpusetup:step-scripts:1"
BUILDER = "urn:xpusetup:whoever-ran-the-scripts"


class StrictModel(BaseModel):
    """No unknown key, no coercion, no change."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True, allow_inf_nan=False)


class FileDigest(StrictModel):
    """A file by its hash."""

    sha256: Sha256


class NamedFile(StrictModel):
    """A file by name and hash."""

    name: Text
    digest: FileDigest


class Bill(NamedFile):
    """The bill of materials in the wheel."""

    media_type: Literal["application/vnd.cyclonedx+json"] = Field(alias="mediaType")


class SourceDigest(StrictModel):
    """A source by its commit, or by its hash."""

    git_commit: Commit | None = Field(None, alias="gitCommit")
    sha256: Sha256 | None = None


class Dependency(StrictModel):
    """Something that went into a wheel; an address alone where nobody knows its hash."""

    name: Text | None = None
    uri: Text | None = None
    digest: SourceDigest | None = None
    annotations: dict[Text, str | bool | list[Text]] = {}


class External(StrictModel):
    """What was asked for."""

    profile: NamedFile
    step: Text


class Internal(StrictModel):
    """What the builder had: `facts` is the hash of what it saw of its machine."""

    python: Text
    machine: Text
    libc: str
    facts: FileDigest | None = None


class Definition(StrictModel):
    """How it was built."""

    build_type: str = Field(alias="buildType")
    external: External = Field(alias="externalParameters")
    internal: Internal = Field(alias="internalParameters")
    dependencies: list[Dependency] = Field(alias="resolvedDependencies")


class Builder(StrictModel):
    """Who built it."""

    id: str
    version: dict[Text, str]
    builder_dependencies: list[NamedFile] = Field(alias="builderDependencies")


class BuilderRun(StrictModel):
    """One run of a builder, and what it made beside the wheel."""

    builder: Builder
    byproducts: list[Bill]


class Predicate(StrictModel):
    """SLSA's provenance."""

    definition: Definition = Field(alias="buildDefinition")
    run: BuilderRun = Field(alias="runDetails")


class Statement(StrictModel):
    """in-toto's statement."""

    type_: str = Field(alias="_type")
    subject: list[NamedFile]
    predicate_type: str = Field(alias="predicateType")
    predicate: Predicate


# Its envelope, where it is signed.


PAYLOAD_TYPE = "application/vnd.in-toto+json"
SIGNATURE_BYTES = 64


class StatementSignature(StrictModel):
    """A signature and the id of its key."""

    keyid: Text
    sig: Text


class Envelope(StrictModel):
    """DSSE's envelope."""

    payload_type: str = Field(alias="payloadType")
    payload: str
    signatures: list[StatementSignature]


def signed_bytes(payload: bytes) -> bytes:
    """Give what a signature is of: DSSE's encoding, in which no other type or length gives the same bytes."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def render_envelope(payload: bytes, key: str, signature: bytes) -> str:
    packed = {"payloadType": PAYLOAD_TYPE, "payload": base64.b64encode(payload).decode()}
    signed = {"keyid": key, "sig": base64.b64encode(signature).decode()}
    return json.dumps({**packed, "signatures": [signed]}, sort_keys=True) + "\n"


# The bill of materials: what of it is held against the statement.


class Loose(BaseModel):
    """A part of a document whose form is another's: CycloneDX has far more fields."""

    model_config = ConfigDict(strict=True, frozen=True, defer_build=True)


class BillPart(Loose):
    """A source in a bill."""

    ref: str = Field(alias="bom-ref")


class About(Loose):
    """What a bill is about."""

    name: str
    version: str


class Metadata(Loose):
    """The head of a bill."""

    component: About


class Materials(Loose):
    """A bill."""

    metadata: Metadata
    components: list[BillPart]


# Reading: JSON that can be read in one way alone, of the form that is expected.


T = TypeVar("T", bound=BaseModel)
NAMES = {"missing": "field-missing", "extra_forbidden": "field-unknown"}


def read_json(data: bytes, what: str) -> Any:
    """Read a JSON object. Raises RefusedError for what two readers may read differently, or what takes one too long."""
    if len(data) > LARGEST:
        raise RefusedError(f"{what}-too-long", f"it has {len(data)} bytes, and {LARGEST} are read")
    try:
        found = json.loads(data.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_number)
        json.dumps(found, ensure_ascii=False).encode()  # half a character is none
    except RefusedError as error:
        raise RefusedError(f"{what}-{error.name}", error.why) from error
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
        raise RefusedError(f"{what}-not-utf8", f"it is no UTF-8: {error.reason}") from error
    except RecursionError as error:
        raise RefusedError(f"{what}-too-deep", "it is nested too deeply") from error
    except ValueError as error:
        raise RefusedError(f"{what}-not-json", str(error)) from error
    if not isinstance(found, dict):
        raise RefusedError(f"{what}-not-object", "it is no JSON object")
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    twice = [name for name, times in Counter(name for name, _ in pairs).items() if times > 1]
    if twice:
        raise RefusedError("field-twice", f"{twice[0]!r} stands there twice")
    return dict(pairs)


def _no_number(text: str) -> float:
    raise RefusedError("not-json", f"{text} is no number of JSON")


def read_strictly(kind: type[T], data: bytes, what: str) -> T:
    """Read a document of a form. Raises RefusedError, which names the first place where it has another one."""
    try:
        return kind.model_validate(read_json(data, what))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        name = NAMES.get(first["type"], "field-malformed")
        raise RefusedError(f"{what}-{name}", f"{place}: {first['msg']}") from error


# The checks, each on what those before it let through.


def open_envelope(seen: Evidence, key: Key | None) -> tuple[bytes, str]:
    """Give the bytes of the statement, and who signed them."""
    if seen.envelope is None:
        if key is not None:
            raise RefusedError("unsigned", f"there is no {seen.file}{ENVELOPE_ENDING}, and a key was named")
        if seen.statement is None:
            raise RefusedError("no-statement", f"there is no {seen.file}{STATEMENT}", AGAIN)
        return seen.statement, f"{UNSIGNED}: whoever can write here can have written it"
    envelope = _read_envelope(seen.envelope)
    payload = _decode(envelope.payload, "payload")
    if seen.statement not in (None, payload):
        raise RefusedError("payload-other", f"what was signed is not what {seen.file}{STATEMENT} says")
    return payload, _held(envelope.signatures[0], payload, key)


def _read_envelope(data: bytes) -> Envelope:
    if data.rstrip(b"\n").count(b"\n"):
        raise RefusedError("envelope-several", "it holds several lines, and one signed statement is one")
    envelope = read_strictly(Envelope, data, "envelope")
    if envelope.payload_type != PAYLOAD_TYPE:
        raise RefusedError("payload-type", f"it was signed as {envelope.payload_type!r}, not as {PAYLOAD_TYPE}")
    if not envelope.signatures:
        raise RefusedError("unsigned", "the envelope holds no signature")
    if len(envelope.signatures) > 1:
        raise RefusedError("signature-extra", f"it holds {len(envelope.signatures)} signatures, and one is looked at")
    return envelope


def _held(signature: StatementSignature, payload: bytes, key: Key | None) -> str:
    made = _decode(signature.sig, "signature")
    if len(made) != SIGNATURE_BYTES:
        raise RefusedError("signature-length", f"it has {len(made)} bytes, and one of ed25519 has {SIGNATURE_BYTES}")
    if key is None:
        return f"signed by {signature.keyid}: whether that is so was not asked (--key FILE)"
    if signature.keyid != key.id:
        raise RefusedError("key-other", f"it was signed by {signature.keyid}, and the key that was named is {key.id}")
    if not key.holds(made, signed_bytes(payload)):
        raise RefusedError("signature-wrong", "the signature is not of these bytes by this key")
    return f"signed by {key.id}"


def _decode(text: str, what: str) -> bytes:
    """Read base64 that is written in the one way that DSSE's standard form has."""
    try:
        found = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise RefusedError(f"{what}-not-base64", str(error)) from error
    if base64.b64encode(found).decode() != text:
        raise RefusedError(f"{what}-not-base64", "another text stands for the same bytes")
    return found


def read_statement(seen: Evidence, key: Key | None) -> Statement:
    """Give the statement, where it is one of this program's."""
    found = read_strictly(Statement, open_envelope(seen, key)[0], "statement")
    predicate = found.predicate
    for name, value, known in (
        ("statement-type", found.type_, "https://in-toto.io/Statement/v1"),
        ("predicate-type", found.predicate_type, PREDICATE),
        ("build-type", predicate.definition.build_type, BUILD_TYPE),
        ("builder", predicate.run.builder.id, BUILDER),
    ):
        if value != known:
            raise RefusedError(name, f"{value!r} is not {known}")
    for row in predicate.definition.dependencies:
        told = row.digest.model_dump(exclude_none=True) if row.digest else {}
        if len(told) > 1 or (row.digest and not told) or not (told or row.uri or row.annotations):
            raise RefusedError("dependency-malformed", f"{row.name or row.uri or 'one'} has not one hash")
    names = Counter(row.name for row in predicate.definition.dependencies if row.name)
    if twice := [name for name, times in names.items() if times > 1]:
        raise RefusedError("dependency-twice", f"{twice[0]} stands there twice")
    for begin in ("source/", "steps/"):
        if not any(name.startswith(begin) for name in names):
            raise RefusedError("dependency-missing", f"it names no {begin}")
    return found


def check_subject(seen: Evidence, key: Key | None) -> str:
    subject = read_statement(seen, key).subject
    if len(subject) != 1:
        raise RefusedError("subject-count", f"it is about {len(subject)} files, and has to be about this one alone")
    if subject[0].name != seen.file:
        raise RefusedError("subject-name", f"it is about {subject[0].name}")
    if subject[0].digest.sha256 != seen.sha256:
        raise RefusedError("subject-hash", f"it is about another file of this name: {subject[0].digest.sha256[:12]}")
    return f"sha256 {seen.sha256[:12]}"


def check_bill(seen: Evidence, key: Key | None) -> str:
    """Hold the bill of materials in the wheel against the statement and the wheel."""
    statement = read_statement(seen, key)
    told = statement.predicate.run.byproducts
    if len(told) != 1 or told[0].name != SBOM:
        raise RefusedError("bill-unnamed", f"the statement does not name {SBOM}, and that alone")
    if len(seen.boms) != 1:
        raise RefusedError("bill-count", f"the wheel holds {len(seen.boms)} of {SBOM} instead of one")
    if hashlib.sha256(seen.boms[0]).hexdigest() != told[0].digest.sha256:
        raise RefusedError("bill-hash", "the wheel holds another one than the statement names")
    bill = read_strictly(Materials, seen.boms[0], "bill")
    about = bill.metadata.component
    if (about.name, about.version) != (canonicalize_name(seen.name or ""), seen.version):
        raise RefusedError("bill-other", f"it is about {about.name} {about.version}")
    parts, sources = sorted(part.ref for part in bill.components), sorted(_sources(statement))
    if parts != sources:
        odd = sorted({*parts} ^ {*sources}) or parts
        raise RefusedError("bill-sources", f"it and the statement name other sources: {odd[0]}")
    return f"{len(parts)} source{'' if len(parts) == 1 else 's'}, as the statement has them"


def _sources(statement: Statement) -> Iterator[str]:
    for row in statement.predicate.definition.dependencies:
        if row.name and row.name.startswith("source/") and row.digest:
            yield f"{row.name.removeprefix('source/')}@{row.digest.git_commit or row.digest.sha256}"


UNSIGNED = "unsigned"


class StatementCheck(NamedTuple):
    """A check: what it says where all is well, why it matters, and what to do where it is not."""

    id: str
    title: str
    run: Callable[[Evidence, Key | None], str]
    why: str
    fix: str


class StatementVerdict(NamedTuple):
    """What a check came to."""

    id: str
    title: str
    level: Level
    seen: str
    why: str = ""
    fix: str = ""
    caused_by: str | None = None


AGAIN = (
    "take wheel and statement from where both were built (wheels/ of the root); to make them anew: build it again. "
    "A wheel that others published has none of ours"
)
CHECKS = (
    StatementCheck(
        "provenance.signature",
        "signature",
        lambda seen, key: open_envelope(seen, key)[1],
        "Without a signature that is held to a key, anyone can write a statement that fits a wheel of his own.",
        "take the .intoto.jsonl from its builder, the key by another way; yours: xpusetup wheel sign WHEEL --key FILE",
    ),
    StatementCheck(
        "provenance.statement",
        "statement",
        lambda seen, key: f"built by {read_statement(seen, key).predicate.definition.external.step}",
        "What cannot be read in one way alone says nothing for sure.",
        AGAIN,
    ),
    StatementCheck(
        "provenance.subject",
        "subject",
        check_subject,
        "A statement says something of one file alone, which it knows by its hash.",
        AGAIN,
    ),
    StatementCheck(
        "provenance.bill",
        "bill of materials",
        check_bill,
        "Who looks for a flaw in what was built in goes by the bill that lies in the wheel.",
        AGAIN,
    ),
)


def judge(seen: Evidence, key: Key | None) -> list[StatementVerdict]:
    """Give what each check came to; after one that fails no other is made."""
    rows: list[StatementVerdict] = []
    failed = ""
    for check in CHECKS:
        if failed:
            skipped = f"not looked at, because of {failed}"
            rows.append(StatementVerdict(check.id, check.title, "skip", skipped, caused_by=failed))
            continue
        try:
            said = check.run(seen, key)
            level: Level = "info" if said.startswith(UNSIGNED) else "ok"  # nobody vouches for it
            rows.append(StatementVerdict(check.id, check.title, level, said))
        except RefusedError as error:
            failed = check.id
            rows.append(StatementVerdict(check.id, check.title, "fail", str(error), check.why, error.fix or check.fix))
    return rows
