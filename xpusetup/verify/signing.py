"""Keys of ed25519 in PEM, by the library `cryptography`, which is there where somebody asked for it."""

from __future__ import annotations

import hashlib
import shlex
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.base.errors import UsageError
from xpusetup.verify.provenance import Key, render_envelope, signed_bytes

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

PRIVATE, PUBLIC = b" PRIVATE KEY-----", b" PUBLIC KEY-----"


def _make() -> str:
    """Give the commands that make a pair of keys, in files that are not there yet: openssl writes over any other."""
    new, public = _free("key"), _free("pub")
    half = f"openssl pkey -in {new} -pubout -out {public}"
    return f"make one: openssl genpkey -algorithm ed25519 -out {new}; its public half: {half}"


def _free(name: str) -> str:
    numbered = (f"{name}{number or ''}.pem" for number in count())
    return next(each for each in numbered if not Path(each).exists())


def read_public(data: bytes, name: str) -> Key:
    """Read a public key. Raises UsageError for what is none of ed25519."""
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm  # noqa: PLC0415 - an extra
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_public_key  # noqa: PLC0415

    try:
        found = load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm) as error:
        if PRIVATE in data:
            fix = f"openssl pkey -in {shlex.quote(name)} -pubout -out {_free('pub')}"
            raise UsageError(f"{name} holds a private key; what is asked for is its public half", fix=fix) from error
        raise UsageError(f"{name} holds no public key in PEM", fix=_make()) from error
    if not isinstance(found, Ed25519PublicKey):
        raise UsageError(f"{name} holds a public key of another kind than ed25519", fix=_make())

    def holds(signature: bytes, of: bytes) -> bool:
        try:
            found.verify(signature, of)
        except InvalidSignature:
            return False
        return True

    return Key(id_of(found), holds)


def sign(payload: bytes, data: bytes, name: str) -> tuple[str, str]:
    """Give a statement's envelope, signed by a private key, and the id of that. Raises UsageError for another key."""
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - an extra
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    try:
        found = load_pem_private_key(data, password=None)
    except TypeError as error:
        fix = f"decrypt it into a file of your own: openssl pkey -in {shlex.quote(name)} -out {_free('open')}"
        raise UsageError(f"{name} is encrypted", fix=fix) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        if PUBLIC in data:
            raise UsageError(
                f"{name} holds a public key; its private half signs", fix="name the private one: --key FILE"
            ) from error
        raise UsageError(f"{name} holds no private key in PEM", fix=_make()) from error
    if not isinstance(found, Ed25519PrivateKey):
        raise UsageError(f"{name} holds a private key of another kind than ed25519", fix=_make())
    key = id_of(found.public_key())
    return render_envelope(payload, key, found.sign(signed_bytes(payload))), key


def id_of(key: Ed25519PublicKey) -> str:
    """Give the id of a key: the sha256 of its public half, as `openssl pkey -pubout -outform DER` writes that."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415 - an extra

    return hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()
