"""A CycloneDX bill of materials of a wheel, and how it gets into one (PEP 770): the same sources give the same bytes.

It says what was in the source tree, not what of it was linked in: that no build tells. Nothing of the machine is in
it, no time and no random number. The format is that of CycloneDX 1.6 (ECMA-424); tests hold it to the schema.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import shutil
import zipfile
from copy import copy
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from helperlib.output import fail

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from helperlib.wheel.sources import WheelSource


NAME = "sboms/xpusetup.cdx.json"
"""Where it lies below .dist-info; other tools have names of their own there."""
SIGNED = ("RECORD.jws", "RECORD.p7s")
GITHUB = "https://github.com/"
SAFE = "%/:=&?~#+!$,;'@()*"
"""What stays as it is where an address becomes a URI."""


def render_sbom(name: str, version: str, sources: Sequence[WheelSource]) -> bytes:
    own = f"pkg:pypi/{quote(name)}@{quote(version, safe='')}"
    parts = [_component(each) for each in sources]
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "tools": {"components": [{"type": "application", "name": "xpusetup"}]},
            "component": {"type": "library", "bom-ref": own, "name": name, "version": version, "purl": own},
        },
        "components": parts,
        "dependencies": [{"ref": own, "dependsOn": sorted(part["bom-ref"] for part in parts)}],
        "compositions": [{"aggregate": "unknown", "assemblies": [own]}],
    }
    return (json.dumps(document, indent=1, sort_keys=True, ensure_ascii=True) + "\n").encode()


def _component(source: WheelSource) -> dict[str, Any]:
    ref = f"{source.path or '.'}@{source.rev or source.sha256}"
    found: dict[str, Any] = {
        "type": "library",
        "bom-ref": ref,
        "name": source.name,
        "version": source.tag or source.rev or source.sha256,
    }
    if address := _package(source):
        found["purl"] = address
    if source.address:
        kind = "vcs" if source.rev else "distribution"
        found["externalReferences"] = [{"type": kind, "url": quote(source.address, safe=SAFE)}]
    if source.sha256:
        found["hashes"] = [_hash(source.sha256)]
    told = {"path": source.path or ".", "commit": source.rev, "tag": source.tag}
    marks = {"changed": "true" if source.changed else "", "patches": " ".join(source.patches)}
    properties = ({"name": f"xpusetup:{name}", "value": value} for name, value in {**told, **marks}.items() if value)
    found["properties"] = list(properties)
    if source.licences:
        found["components"] = [
            {"type": "file", "bom-ref": f"{ref}#{each.path}", "name": each.path, "hashes": [_hash(each.sha256)]}
            for each in source.licences
        ]
    return found


def _hash(sha256: str) -> dict[str, str]:
    return {"alg": "SHA-256", "content": sha256}


def _package(source: WheelSource) -> str:
    """Give a package URL: GitHub's own kind where it is there, else a generic one that names the commit."""
    address = source.address.removesuffix(".git")
    if source.rev and address.startswith(GITHUB) and address.count("/") == GITHUB.count("/") + 1:
        return f"pkg:github/{quote(address.removeprefix(GITHUB).lower())}@{source.rev}"
    if source.rev and source.address:
        return f"pkg:generic/{quote(source.name, safe='')}@{source.rev}?vcs_url={quote(source.uri, safe='')}"
    return ""


# Into a wheel: two members change, the bill and RECORD, which lists it. All others keep their packed bytes.


def put_in(wheel: Path, text: bytes) -> None:
    """Put a bill of materials into a wheel that nobody else reads yet; its members are dated as RECORD is."""
    with zipfile.ZipFile(wheel) as archive:
        record = _record_of(archive)
        name = f"{record.filename.removesuffix('/RECORD')}/{NAME}"
        if name in archive.namelist():
            fail(f"{wheel.name} has a {NAME} already", "another build made it: build it again")
        listed = _with(archive.read(record), name, text)
        last = record.header_offset == max(each.header_offset for each in archive.infolist())
    if not last:
        _move_to_end(wheel, record.filename)
    _replace_last(wheel, record.filename, {name: text, record.filename: listed})


def _record_of(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    folders = {name.split("/")[0] for name in archive.namelist() if name.split("/")[0].endswith(".dist-info")}
    place = f"{min(folders)}/RECORD" if len(folders) == 1 else ""
    names = archive.namelist()
    if names.count(place) != 1:
        fail(f"{archive.filename} has no RECORD, and so is no wheel", "look at how it was packed")
    if any(f"{min(folders)}/{each}" in names for each in SIGNED):
        fail(f"{archive.filename} is signed inside, and so cannot be changed", "build it without that signature")
    return archive.getinfo(place)


def _with(record: bytes, name: str, text: bytes) -> bytes:
    """Give RECORD with one file more, before its own line where that is the last; its line endings stay."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()
    row = io.StringIO()
    ending = "\r\n" if b"\r\n" in record else "\n"
    csv.writer(row, lineterminator=ending).writerow((name, f"sha256={digest}", len(text)))
    lines = record.decode().splitlines(keepends=True)
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += ending
    at = len(lines) - 1 if lines and "/RECORD," in lines[-1] else len(lines)
    return "".join((*lines[:at], row.getvalue(), *lines[at:])).encode()


def _replace_last(wheel: Path, last: str, members: dict[str, bytes]) -> None:
    """Write members over the one that lies last in an archive, so that no bytes of it stay behind."""
    with zipfile.ZipFile(wheel, "a") as archive:
        old = archive.getinfo(last)
        archive.filelist.remove(old)
        del archive.NameToInfo[last]
        archive.start_dir = old.header_offset
        for name, text in members.items():
            info = zipfile.ZipInfo(name, old.date_time)
            info.external_attr, info.compress_type = old.external_attr, zipfile.ZIP_DEFLATED
            archive.writestr(info, text)


def _move_to_end(wheel: Path, last: str) -> None:
    """Pack a wheel anew whose RECORD does not lie last, as PEP 427 asks for."""
    draft = wheel.with_name(f"{wheel.name}.anew")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(draft, "w") as new:
        for info in sorted(old.infolist(), key=lambda info: (info.filename == last, info.header_offset)):
            with old.open(info) as source, new.open(copy(info), "w") as target:
                shutil.copyfileobj(source, target, 1 << 20)
    draft.replace(wheel)
