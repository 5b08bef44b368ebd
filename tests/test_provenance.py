"""What a wheel says it was built from: written alike each time, and refused by name where anything was changed."""

from __future__ import annotations

import hashlib
import importlib
import json
import re
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from google.protobuf.json_format import ParseDict
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as StatementForm
from securesystemslib.dsse import Envelope
from securesystemslib.signer._key import SSlibKey

from data.tampering import ALONE, BILLS, ENVELOPES, STATEMENTS, Tampering, put
from test_inspect_wheel import INFO, inspect_wheel, make_wheel
from xpusetup.base.errors import UsageError
from xpusetup.commands import wheel_sign
from xpusetup.plan.requirements import render_about
from xpusetup.run.guard import ReplacedPackage
from xpusetup.verify.provenance import SBOM, Evidence, Key, judge
from xpusetup.verify.signing import read_public, sign

if TYPE_CHECKING:
    from collections.abc import Callable

sbom: Any = importlib.import_module("helperlib.wheel.sbom")
sources: Any = importlib.import_module("helperlib.wheel.sources")
statement: Any = importlib.import_module("helperlib.wheel.statement")
collect_wheel: Any = importlib.import_module("collect_wheel")

KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
PRIVATE = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
LICENCE = sources.Licence("LICENSE", "cd" * 32)
SOURCES = (
    sources.WheelSource(
        "demo", address="https://github.com/acme/Demo.git", tag="v1.0", rev="1" * 40, licences=(LICENCE,)
    ),
    sources.WheelSource("fmt", path="third_party/fmt", address="https://example.com/fmt", rev="3" * 40, changed=True),
    sources.WheelSource("own", path="third_party/own", rev="4" * 40, patches=("ef" * 32,)),
    sources.WheelSource("llvm", path="llvm", address="https://example.com/a b/llvm.tar.gz", sha256="5" * 64),
)
BILL = sbom.render_sbom("demo", "1.0+xpu", SOURCES)


def public(key: Any) -> bytes:
    return bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


@dataclass(frozen=True)
class Made:
    """A wheel with its statement, as collect_wheel.py writes them, and the root in which it was made."""

    root: Path
    wheel: Path
    statement: bytes


def make_root(root: Path) -> Path:
    """Give a root in which three steps were done, one of which installed requirements and one made a wheel."""
    installed = root / "venv/build-requirements.json"
    texts = {
        "steps/requirements.sh": "STEP=requirements\nAFTER=''\n",
        "steps/base.build.sh": "STEP=base.build\nAFTER=requirements\n",
        "steps/other.build.sh": "STEP=other.build\nAFTER=requirements\n",
        "steps/demo.build.sh": "STEP=demo.build\nAFTER='base.build requirements'\n",
        "stamps/requirements": f"key\n{'6' * 64} 3 1.0 1.0 7 {installed}\n",
        "stamps/base.build": f"key\n{'7' * 64} 3 1.0 1.0 7 {root}/wheels/base-1-py3-none-any.whl\n",
        "venv/build-requirements.json": json.dumps([{"name": "NumPy", "version": "2.0", "sha256": "8" * 64}]),
        "helpers/collect_wheel.py": "# a helper\n",
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    root = make_root(tmp_path_factory.mktemp("root"))
    wheel = make_wheel(root / "wheels")
    sbom.put_in(wheel, BILL)
    about = {"xpusetup": "0.1.0", "profile": {"name": "mine", "sha256": "9" * 64}, "facts": "a" * 64}
    digest = hashlib.sha256(BILL).hexdigest()
    text = statement.render_statement(statement.BuiltWheel(wheel, root, "demo.build", about, (), SOURCES, digest))
    return Made(root, wheel, text)


def seen(made: Made, **words: Any) -> Evidence:
    found = Evidence(
        file=made.wheel.name,
        sha256=hashlib.sha256(made.wheel.read_bytes()).hexdigest(),
        name="demo",
        version="1.0+xpu",
        boms=(BILL,),
        statement=made.statement,
        envelope=None,
    )
    return replace(found, **words)


def signed(data: bytes) -> bytes:
    return sign(data, PRIVATE, "key.pem")[0].encode()


def holder(key: Any = KEY) -> Key:
    return read_public(public(key), "pub.pem")


def refused(evidence: Evidence, key: Key | None = None) -> str:
    """Give the name by which evidence is refused; empty where it is not."""
    rows = judge(evidence, key)
    failed = [row for row in rows if row.level == "fail"]
    assert len(failed) <= 1
    assert all(row.why and row.fix for row in failed)
    assert [row.level for row in rows].count("skip") == (len(rows) - 1 - rows.index(failed[0]) if failed else 0)
    return failed[0].seen.partition(":")[0] if failed else ""


def test_a_true_one_is_taken(made: Made) -> None:
    assert refused(seen(made)) == ""
    assert refused(seen(made, envelope=signed(made.statement)), holder()) == ""
    assert refused(seen(made, statement=None, envelope=signed(made.statement)), holder()) == ""
    assert refused(seen(made, envelope=signed(made.statement))) == ""


def test_what_is_said_of_the_signature(made: Made) -> None:
    assert judge(seen(made), None)[0].seen.startswith("unsigned")
    unasked, asked = (judge(seen(made, envelope=signed(made.statement)), key)[0] for key in (None, holder()))
    assert unasked.seen.endswith("whether that is so was not asked (--key FILE)")
    assert asked.seen == f"signed by {holder().id}"


@pytest.mark.parametrize("way", STATEMENTS, ids=lambda way: way.what)
def test_a_changed_statement_is_refused(made: Made, way: Tampering) -> None:
    assert refused(seen(made, statement=way.apply(made.statement))) == way.refused


@pytest.mark.parametrize("way", [way for way in STATEMENTS if not way.gone], ids=lambda way: way.what)
def test_a_true_signature_makes_it_no_better(made: Made, way: Tampering) -> None:
    changed = way.apply(made.statement)
    assert changed is not None
    assert refused(seen(made, statement=None, envelope=signed(changed)), holder()) in {way.refused, "envelope-too-long"}


@pytest.mark.parametrize("way", ENVELOPES, ids=lambda way: way.what)
def test_a_changed_envelope_is_refused(made: Made, way: Tampering) -> None:
    parts = {"statement": made.statement, "envelope": signed(made.statement)}
    assert refused(seen(made, **{**parts, way.of: way.apply(parts[way.of])}), holder()) == way.refused


@pytest.mark.parametrize("way", ALONE, ids=lambda way: way.what)
def test_an_envelope_alone_is_held_to_the_key(made: Made, way: Tampering) -> None:
    changed = way.apply(signed(made.statement))
    assert refused(seen(made, statement=None, envelope=changed), holder()) == way.refused


@pytest.mark.parametrize("way", BILLS, ids=lambda way: way.what)
def test_a_changed_bill_is_refused(made: Made, way: Tampering) -> None:
    bill = way.apply(BILL)
    text = made.statement
    if way.signed:
        document = json.loads(text)
        digest = hashlib.sha256(bill or b"").hexdigest()
        put(document, ("predicate", "runDetails", "byproducts", 0, "digest", "sha256"), digest)
        text = json.dumps(document).encode()
    assert refused(seen(made, boms=(bill,) if bill else (), statement=text)) == way.refused


def test_forty_kinds_are_refused() -> None:
    every = (*STATEMENTS, *ENVELOPES, *ALONE, *BILLS)
    assert len({way.refused for way in every}) >= 40


def test_a_changed_wheel_is_refused(made: Made) -> None:
    assert refused(seen(made, sha256="0" * 64)) == "subject-hash"
    assert refused(seen(made, file="demo-1.0+xpu-py3-none-any.whl")) == "subject-name"
    assert refused(seen(made, boms=(BILL, BILL))) == "bill-count"
    assert refused(seen(made, version="1.0")) == "bill-other"


def test_another_key_is_refused(made: Made) -> None:
    other = Ed25519PrivateKey.generate()
    evidence = seen(made, envelope=signed(made.statement))
    assert refused(evidence, holder(other)) == "key-other"
    lying = evidence.envelope.replace(holder().id.encode(), holder(other).id.encode()) if evidence.envelope else b""
    assert refused(replace(evidence, envelope=lying), holder(other)) == "signature-wrong"


PROTECTED = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret"))
ELLIPTIC = generate_private_key(SECP256R1())


@pytest.mark.parametrize(
    ("read", "data", "says"),
    [
        (read_public, b"no key", "holds no public key in PEM"),
        (read_public, PRIVATE, "holds a private key; what is asked for is its public half"),
        (read_public, public(ELLIPTIC), "of another kind than ed25519"),
        (lambda data, name: sign(b"", data, name), public(KEY), "holds a public key; its private half signs"),
        (lambda data, name: sign(b"", data, name), b"no key", "holds no private key in PEM"),
        (lambda data, name: sign(b"", data, name), PROTECTED, "is encrypted"),
        (
            lambda data, name: sign(b"", data, name),
            ELLIPTIC.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
            "of another kind than ed25519",
        ),
    ],
    ids=("no key", "a private one", "another kind", "a public one", "none", "an encrypted one", "another private kind"),
)
def test_what_is_no_key_is_refused(read: Callable[[bytes, str], object], data: bytes, says: str) -> None:
    with pytest.raises(UsageError, match=says) as error:
        read(data, "k.pem")
    assert ("--key FILE" if says.startswith("holds a public key") else "openssl") in error.value.fix


def test_no_advice_writes_over_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Openssl asks nobody: who named key.pem wrongly was told to make it anew."""
    monkeypatch.chdir(tmp_path)
    for name in ("key.pem", "pub.pem", "pub1.pem"):
        (tmp_path / name).touch()
    with pytest.raises(UsageError) as error:
        sign(b"", b"no key", "key.pem")
    made = "make one: openssl genpkey -algorithm ed25519 -out key1.pem; "
    assert error.value.fix == f"{made}its public half: openssl pkey -in key1.pem -pubout -out pub2.pem"
    with pytest.raises(UsageError) as error:
        read_public(PRIVATE, "my key.pem")
    assert error.value.fix == "openssl pkey -in 'my key.pem' -pubout -out pub2.pem"


# Others read what is written here: the libraries of in-toto, of DSSE and of CycloneDX.


def test_dsse_of_others_verifies_the_envelope(made: Made) -> None:
    envelope = Envelope.from_dict(json.loads(signed(made.statement)))
    assert envelope.payload == made.statement
    key = SSlibKey(holder().id, "ed25519", "ed25519", {"public": raw_hex(KEY)})
    assert list(Envelope.verify(envelope, [key], 1)) == [holder().id]


def raw_hex(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()


def test_in_toto_reads_the_statement(made: Made) -> None:
    read = ParseDict(json.loads(made.statement), StatementForm())
    Statement.copy_from_pb(read).validate()
    assert (read.subject[0].name, read.predicate_type) == (made.wheel.name, "https://slsa.dev/provenance/v1")


def test_the_bill_is_what_the_schema_of_cyclonedx_asks_for() -> None:
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(BILL.decode()) is None


# What they say.


def test_the_bill_names_sources_and_licences() -> None:
    parts = {part["name"]: part for part in json.loads(BILL)["components"]}
    assert parts["demo"]["purl"] == f"pkg:github/acme/demo@{'1' * 40}"
    assert parts["demo"]["components"][0] == {
        "type": "file",
        "bom-ref": f".@{'1' * 40}#LICENSE",
        "name": "LICENSE",
        "hashes": [{"alg": "SHA-256", "content": "cd" * 32}],
    }
    properties = {each["name"]: each["value"] for each in parts["fmt"]["properties"]}
    assert properties == {"xpusetup:path": "third_party/fmt", "xpusetup:commit": "3" * 40, "xpusetup:changed": "true"}
    assert "purl" not in parts["own"]
    assert "externalReferences" not in parts["own"]
    assert parts["llvm"]["hashes"][0]["content"] == "5" * 64


def test_the_statement_names_what_went_in(made: Made) -> None:
    definition = json.loads(made.statement)["predicate"]["buildDefinition"]
    rows = definition["resolvedDependencies"]
    named = {row.get("name", row.get("uri")): row.get("digest") for row in rows}
    assert named["source/."] == {"gitCommit": "1" * 40}
    assert named["source/llvm"] == {"sha256": "5" * 64}
    assert named["pkg:pypi/numpy@2.0"] == {"sha256": "8" * 64}
    assert named["base-1-py3-none-any.whl"] == {"sha256": "7" * 64}
    scripts = [name for name in named if name.startswith("steps/")]
    assert scripts == ["steps/base.build.sh", "steps/requirements.sh", "steps/demo.build.sh"]
    assert definition["externalParameters"]["profile"] == {"name": "mine", "digest": {"sha256": "9" * 64}}
    assert definition["internalParameters"]["facts"] == {"sha256": "a" * 64}
    assert str(made.root) not in made.statement.decode()


def test_what_a_profile_says_is_text_in_both() -> None:
    evil = '"}],"x":[{"a":"\u202e</script>\n'
    source = sources.WheelSource(evil, path=evil, address=f"https://example.com/{evil}", tag=evil, rev="1" * 40)
    bill = sbom.render_sbom("demo", "1.0", [source])
    part = json.loads(bill)["components"][0]
    assert (part["name"], part["version"], len(json.loads(bill)["components"])) == (evil, evil, 1)
    assert bill.isascii()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill.decode()) is None


# Into a wheel.


def test_the_same_wheel_gets_the_same_bytes(tmp_path: Path) -> None:
    wheels = [make_wheel(tmp_path / name) for name in ("a", "b")]
    wheels[1].write_bytes(wheels[0].read_bytes())
    for wheel in wheels:
        sbom.put_in(wheel, BILL)
    assert wheels[0].read_bytes() == wheels[1].read_bytes()


def test_a_wheel_stays_one(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path)
    with zipfile.ZipFile(wheel) as before:
        kept = {info.filename: (info.header_offset, info.CRC, info.date_time) for info in before.infolist()[:-1]}
    sbom.put_in(wheel, BILL)
    with zipfile.ZipFile(wheel) as after:
        assert after.testzip() is None
        names = after.namelist()
        assert names[-2:] == [f"{INFO}/{SBOM}", f"{INFO}/RECORD"]
        assert after.read(f"{INFO}/{SBOM}") == BILL
        found = {info.filename: (info.header_offset, info.CRC, info.date_time) for info in after.infolist()[:-2]}
    assert found == kept
    assert check_record(wheel) == "ok"


def check_record(wheel: Path) -> str:
    out = wheel.parent / "results/inspect.json"
    inspect_wheel.main(["--wheel", str(wheel), "--any-python", "--out", str(out)])
    return str(next(row["level"] for row in json.loads(out.read_text())["checks"] if row["id"] == "wheel.record"))


def repack(wheel: Path, order: Callable[[list[str]], list[str]], **changed: bytes) -> Path:
    """Pack a wheel anew in another order, with other contents."""
    with zipfile.ZipFile(wheel) as old:
        contents = {**{name: old.read(name) for name in old.namelist()}, **changed}
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as new:
        for name in order([*contents]):
            new.writestr(name, contents[name])
    return wheel


def test_record_may_lie_anywhere_and_have_any_line_endings(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        record = archive.read(f"{INFO}/RECORD").replace(b"\n", b"\r\n").rstrip()
    repack(wheel, lambda names: names[::-1], **{f"{INFO}/RECORD": record})
    sbom.put_in(wheel, BILL)
    with zipfile.ZipFile(wheel) as archive:
        assert archive.namelist()[-1] == f"{INFO}/RECORD"
        assert len({*archive.namelist()}) == len(archive.namelist())
        assert b"\r\n" in archive.read(f"{INFO}/RECORD")
        ends = max(info.header_offset for info in archive.infolist())
        assert archive.getinfo(f"{INFO}/RECORD").header_offset == ends
    assert check_record(wheel) == "ok"


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({f"{INFO}/RECORD.jws": b"{}"}, "is signed inside"),
        ({f"{INFO}/{SBOM}": b"{}"}, "has a sboms/xpusetup.cdx.json already"),
        ({"other-1.dist-info/RECORD": b""}, "has no RECORD"),
    ],
)
def test_what_cannot_get_one_is_refused(
    tmp_path: Path, changed: dict[str, bytes], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    wheel = make_wheel(tmp_path, changed=changed)
    with pytest.raises(SystemExit):
        sbom.put_in(wheel, BILL)
    assert says in capsys.readouterr().err


def test_a_wheel_that_goes_takes_what_was_said_of_it_along(tmp_path: Path) -> None:
    new = make_wheel(tmp_path / "new")
    old = tmp_path / "wheels/demo-0.9-py3-none-any.whl"
    old.parent.mkdir()
    kept = tmp_path / "wheels/other-1-py3-none-any.whl.provenance.json"
    stale = [tmp_path / f"wheels/{new.name}{ending}" for ending in (".provenance.json", ".intoto.jsonl")]
    for path in (
        old,
        *(old.with_name(f"{old.name}{end}") for end in (".provenance.json", ".intoto.jsonl")),
        kept,
        *stale,
    ):
        path.write_text("")
    collect_wheel.place(new, old.parent, "demo")
    assert sorted(path.name for path in old.parent.iterdir()) == [new.name, kept.name]


@pytest.mark.parametrize(("own", "fix"), [(True, "--source simxpu=DIR"), (False, "in the profile")])
def test_a_tree_of_something_else_is_told_by_what_it_makes(
    tmp_path: Path, own: bool, fix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make_wheel(tmp_path)
    named = {"component": "simxpu", "distribution": "simxpu", "tree": Path("/t/demo"), "own": own}
    with pytest.raises(SystemExit):
        collect_wheel.refuse_other(SimpleNamespace(source=tmp_path, **named))
    message, advice = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"xpusetup: /t/demo makes demo-\S+\.whl, and no wheel of simxpu", message)
    assert fix in advice
    collect_wheel.refuse_other(SimpleNamespace(source=tmp_path, **{**named, "distribution": "Demo"}))


# What is a licence, and what is known of a profile.


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        *(
            (name, True)
            for name in ("LICENSE", "LICENCE.txt", "license.md", "COPYING.LESSER", "NOTICE", "Copyright.txt")
        ),
        *((name, True) for name in ("LICENSES_BUNDLED.txt", "LICENSE-MIT", "ThirdPartyNotices.txt", "UNLICENSE")),
        *((name, False) for name in ("license.py", "README.md", "copyright_check.sh", "licenses.json", "relicense.md")),
    ],
)
def test_files_with_terms(name: str, is_one: bool) -> None:
    assert sources.is_licence(name) == is_one


def test_no_address_holds_a_password() -> None:
    from data.profiles import shipped  # noqa: PLC0415 - asked for here alone

    profile = shipped("torch-2.14")
    parts = [
        replace(part, repo="https://me:secret@example.com/torch") if part.kind == "source" else part
        for part in profile.components
    ]
    text = render_about(replace(profile, components=parts))
    assert "secret" not in text
    assert json.loads(text)["sources"]["torch"]["repo"] == "https://***@example.com/torch"


def test_signing_says_what_in_the_environment_is_no_longer_its_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = ReplacedPackage(name="demo", was="1", now="1", when=None, by="", culprit="", why="")
    signed = wheel_sign.SignedWheel(wheel="w", sha256="s", file=str(tmp_path / "w.jsonl"))
    (tmp_path / "root/wheels").mkdir(parents=True)
    wheel = make_wheel(tmp_path / "root/wheels")
    monkeypatch.setattr(wheel_sign, "_sign", lambda *_: ((signed, "key"), "text"))
    (tmp_path / "key.pem").touch()
    monkeypatch.setattr(wheel_sign, "list_replaced", lambda root: [row] if root.path == tmp_path / "root" else [])
    assert wheel_sign.sign_wheels([str(wheel)], str(tmp_path / "key.pem")).data.replaced == [row]
