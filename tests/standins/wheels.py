"""Wheels packed by hand, for what an index has and a test must not need."""

import base64
import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path


def pack_wheel(
    folder: Path, distribution: str, version: str, files: Mapping[str, bytes], requires: Sequence[str] = ()
) -> Path:
    """Pack a wheel for any Python; @DATA@ and @INFO@ in the names of files are its own folders."""
    stem = f"{distribution.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    inside = {name.replace("@DATA@", f"{stem}.data").replace("@INFO@", info): text for name, text in files.items()}
    needs = "".join(f"Requires-Dist: {need}\n" for need in requires)
    inside[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n{needs}".encode()
    inside[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: stand-in\nRoot-Is-Purelib: false\nTag: py3-none-any\n"
    record = "".join(f"{name},{_record_hash(content)},{len(content)}\n" for name, content in inside.items())
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in {**inside, f"{info}/RECORD": f"{record}{info}/RECORD,,\n".encode()}.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return wheel


def _record_hash(content: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
