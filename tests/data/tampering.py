"""Ways to tamper with a wheel, its statement, envelope and bill of materials, and the name of what refuses each.

A change of a document is a path in it and the new value; `GONE` takes a field away. A change of bytes is a function.
"""

from __future__ import annotations

import base64
import json
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xpusetup.verify.provenance import LARGEST

if TYPE_CHECKING:
    from collections.abc import Callable

Path = tuple[str | int, ...]
GONE = object()
ROWS: Path = ("predicate", "buildDefinition", "resolvedDependencies")
BUILD: Path = ("predicate", "buildDefinition")
RUN: Path = ("predicate", "runDetails")
OTHER = "ab" * 32


@dataclass(frozen=True)
class Tampering:
    """What is changed, and by which name it is refused. `signed` by the true key after it was changed."""

    what: str
    refused: str
    of: str = "statement"
    to: tuple[tuple[Path, object], ...] = ()
    raw: Callable[[bytes], bytes] | None = None
    gone: bool = False
    signed: bool = False
    more: dict[str, Any] = field(default_factory=dict)

    def apply(self, data: bytes) -> bytes | None:
        """Give the changed bytes; None where they are gone."""
        if self.gone:
            return None
        if self.raw:
            return self.raw(data)
        document = json.loads(data)
        for path, value in self.to:
            put(document, path, value)
        return json.dumps(document).encode()


def put(document: Any, path: Path, value: object) -> None:
    """Change one place of a document."""
    *way, last = path
    for step in way:
        document = document[step]
    if value is GONE:
        del document[last]
    else:
        document[last] = deepcopy(value)


def twice(name: str) -> Callable[[bytes], bytes]:
    """Give a document in which a field of the top stands twice, the true one last."""
    return lambda data: data.replace(b"{", b'{"%s": null, ' % name.encode(), 1)


def recode(change: Callable[[bytes], bytes], name: str = "payload") -> Callable[[bytes], bytes]:
    """Give a change of what an envelope holds in base64."""

    def changed(data: bytes) -> bytes:
        envelope = json.loads(data)
        holder = envelope if name == "payload" else envelope["signatures"][0]
        holder[name] = base64.b64encode(change(base64.b64decode(holder[name]))).decode()
        return json.dumps(envelope).encode()

    return changed


def two_signatures(data: bytes) -> bytes:
    envelope = json.loads(data)
    envelope["signatures"] *= 2
    return json.dumps(envelope).encode()


def spaced(data: bytes) -> bytes:
    """Give an envelope whose payload another reader of base64 would take, too."""
    envelope = json.loads(data)
    envelope["payload"] = envelope["payload"][:8] + "\n" + envelope["payload"][8:]
    return json.dumps(envelope).encode()


def loose_bits(data: bytes) -> bytes:
    """Give an envelope whose signature is the same bytes by another text."""
    envelope = json.loads(data)
    text = envelope["signatures"][0]["sig"]
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    last = text.rstrip("=")[-1]
    envelope["signatures"][0]["sig"] = text.rstrip("=")[:-1] + letters[letters.index(last) + 1] + "=="
    return json.dumps(envelope).encode()


def row(**words: object) -> dict[str, object]:
    return dict(words)


STATEMENTS = (
    Tampering("no statement at all", "no-statement", gone=True),
    Tampering("an empty file", "statement-not-json", raw=lambda _: b""),
    Tampering("half a file", "statement-not-json", raw=lambda data: data[: len(data) // 2]),
    Tampering("two documents", "statement-not-json", raw=lambda data: data + data),
    Tampering("a list", "statement-not-object", raw=lambda data: b"[" + data + b"]"),
    Tampering("another encoding", "statement-not-utf8", raw=lambda data: data.decode().encode("utf-16")),
    Tampering("a mark before it", "statement-not-json", raw=lambda data: b"\xef\xbb\xbf" + data),
    Tampering("half a character", "statement-not-utf8", raw=lambda data: data.replace(b'"step":', b'"\\ud800":', 1)),
    Tampering("longer than any", "statement-too-long", raw=lambda data: data + b" " * LARGEST),
    Tampering("nested deeply", "statement-too-deep", raw=lambda _: b'{"a":' * 100_000),
    Tampering("no number", "statement-not-json", raw=lambda data: data.replace(b"{", b'{"a": NaN, ', 1)),
    Tampering("a field twice", "statement-field-twice", raw=twice("subject")),
    Tampering("a field twice, spelt otherwise", "statement-field-twice", raw=twice("\\u0073ubject")),
    Tampering("a field more", "statement-field-unknown", to=((("extra",), 1),)),
    Tampering("a field less", "statement-field-missing", to=((("predicate",), GONE),)),
    Tampering("a field of another kind", "statement-field-malformed", to=((("subject",), "all"),)),
    Tampering("another type of statement", "statement-type", to=((("_type",), "https://in-toto.io/Statement/v0.1"),)),
    Tampering("an old predicate", "predicate-type", to=((("predicateType",), "https://slsa.dev/provenance/v0.2"),)),
    Tampering("another predicate", "predicate-type", to=((("predicateType",), "https://spdx.dev/Document"),)),
    Tampering(
        "a predicate that looks alike", "predicate-type", to=((("predicateType",), "https://slsa.dev/provenance/v1 "),)
    ),
    Tampering("another kind of build", "build-type", to=(((*BUILD, "buildType"), "https://example.com/build"),)),
    Tampering("another builder", "builder", to=(((*RUN, "builder", "id"), "https://github.com/actions/runner"),)),
    Tampering("a higher level", "statement-field-unknown", to=(((*RUN, "builder", "level"), 3),)),
    Tampering("a time", "statement-field-unknown", to=(((*RUN, "metadata"), {"startedOn": "2026-01-01T00:00:00Z"}),)),
    Tampering("a parameter more", "statement-field-unknown", to=(((*BUILD, "externalParameters", "flags"), "-O0"),)),
    Tampering("no subject", "subject-count", to=((("subject",), []),)),
    Tampering("a subject more", "subject-count", to=((("subject",), [row(name="a", digest={"sha256": OTHER})] * 2),)),
    Tampering("another name", "subject-name", to=((("subject", 0, "name"), "torch-9-py3-none-any.whl"),)),
    Tampering("a name with a path", "subject-name", to=((("subject", 0, "name"), "../demo.whl"),)),
    Tampering("another hash", "subject-hash", to=((("subject", 0, "digest", "sha256"), OTHER),)),
    Tampering("a hash in capitals", "statement-field-malformed", to=((("subject", 0, "digest", "sha256"), "AB" * 32),)),
    Tampering("half a hash", "statement-field-malformed", to=((("subject", 0, "digest", "sha256"), "ab"),)),
    Tampering("a weaker hash", "statement-field-missing", to=((("subject", 0, "digest"), {"md5": "ab" * 16}),)),
    Tampering("a hash more", "statement-field-unknown", to=((("subject", 0, "digest", "md5"), "ab" * 16),)),
    Tampering("no sources", "dependency-missing", to=((ROWS, [row(name="steps/a.sh", digest={"sha256": OTHER})]),)),
    Tampering("no scripts", "dependency-missing", to=((ROWS, [row(name="source/.", digest={"gitCommit": "1" * 40})]),)),
    Tampering("a source twice", "dependency-twice", to=(((*ROWS, 1), row(name="source/.", digest={"sha256": OTHER})),)),
    Tampering("a source without a hash", "dependency-malformed", to=(((*ROWS, 0, "digest"), {}),)),
    Tampering("a commit that is none", "statement-field-malformed", to=(((*ROWS, 0, "digest", "gitCommit"), "main"),)),
    Tampering("another commit", "bill-sources", to=(((*ROWS, 0, "digest", "gitCommit"), "2" * 40),)),
    Tampering("no bill named", "bill-unnamed", to=(((*RUN, "byproducts"), []),)),
    Tampering("a bill at another place", "bill-unnamed", to=(((*RUN, "byproducts", 0, "name"), "sboms/other.json"),)),
    Tampering("the hash of another bill", "bill-hash", to=(((*RUN, "byproducts", 0, "digest", "sha256"), OTHER),)),
)
"""Without a key: what can be seen all the same."""
ENVELOPES = (
    Tampering("no envelope", "unsigned", "envelope", gone=True),
    Tampering("an empty envelope", "envelope-not-json", "envelope", raw=lambda _: b""),
    Tampering("several lines", "envelope-several", "envelope", raw=lambda data: data + data),
    Tampering("a longer one than any", "envelope-too-long", "envelope", raw=lambda data: data[:-1] + b" " * LARGEST),
    Tampering("a field twice", "envelope-field-twice", "envelope", raw=twice("payload")),
    Tampering("a field more", "envelope-field-unknown", "envelope", to=((("note",), "trust me"),)),
    Tampering("a field less", "envelope-field-missing", "envelope", to=((("payload",), GONE),)),
    Tampering("a statement instead", "envelope-field-missing", "envelope", to=((("payloadType",), GONE),)),
    Tampering("another payload type", "payload-type", "envelope", to=((("payloadType",), "application/json"),)),
    Tampering(
        "a payload type that looks alike",
        "payload-type",
        "envelope",
        to=((("payloadType",), "application/vnd.in-toto+JSON"),),
    ),
    Tampering("no signature", "unsigned", "envelope", to=((("signatures",), []),)),
    Tampering("an extra signature", "signature-extra", "envelope", raw=two_signatures),
    Tampering("another key's id", "key-other", "envelope", to=((("signatures", 0, "keyid"), OTHER),)),
    Tampering("no key's id", "envelope-field-malformed", "envelope", to=((("signatures", 0, "keyid"), ""),)),
    Tampering(
        "a bit of the signature",
        "signature-wrong",
        "envelope",
        raw=recode(lambda sig: bytes([sig[0] ^ 1, *sig[1:]]), "sig"),
    ),
    Tampering("half a signature", "signature-length", "envelope", raw=recode(lambda sig: sig[:32], "sig")),
    Tampering("a longer signature", "signature-length", "envelope", raw=recode(lambda sig: sig + b"\0", "sig")),
    Tampering(
        "a signature that is no base64", "signature-not-base64", "envelope", to=((("signatures", 0, "sig"), "%%%"),)
    ),
    Tampering("the same signature by another text", "signature-not-base64", "envelope", raw=loose_bits),
    Tampering("a payload with a line break", "payload-not-base64", "envelope", raw=spaced),
    Tampering("another payload", "payload-other", "envelope", raw=recode(lambda data: data + b" ")),
    Tampering("a statement that was changed since", "payload-other", to=((("_type",), "x"),)),
)
"""With a key: what lies beside the statement."""
ALONE = (
    Tampering(
        "a changed payload", "signature-wrong", "envelope", raw=recode(lambda data: data.replace(b"demo", b"dema"))
    ),
    Tampering("nothing", "unsigned", "envelope", gone=True),
)
"""With a key, and without a statement beside the envelope."""
BILLS = (
    Tampering("no bill", "bill-count", "bill", gone=True),
    Tampering("a changed bill", "bill-hash", "bill", raw=lambda data: data.replace(b"third", b"fifth")),
    Tampering(
        "a bill of another", "bill-other", "bill", to=((("metadata", "component", "name"), "torch"),), signed=True
    ),
    Tampering("another version", "bill-other", "bill", to=((("metadata", "component", "version"), "2"),), signed=True),
    Tampering("a source less", "bill-sources", "bill", to=((("components", 0), GONE),), signed=True),
    Tampering("a bill that is none", "bill-field-malformed", "bill", to=((("components",), "none"),), signed=True),
    Tampering("a bill that is no JSON", "bill-not-json", "bill", raw=lambda _: b"<bom/>", signed=True),
    Tampering("a longer bill", "bill-too-long", "bill", raw=lambda data: data + b" " * LARGEST, signed=True),
)
"""In the wheel; `signed`: the statement names the changed one, as somebody does who writes both."""
