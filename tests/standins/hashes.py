"""The hashes of stand-ins for what an index has: profiles of tests hold them as the shipped ones hold the true ones."""

import hashlib
from pathlib import Path


def hash_of(file: Path) -> str:
    """Hash a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def with_hashes(text: str, folder: Path) -> str:
    """Give a profile's text with the hashes of all wheels that lie below a folder."""
    rows: dict[str, list[str]] = {}
    for wheel in sorted(folder.rglob("*.whl")):
        name, version = wheel.name.split("-")[:2]
        rows.setdefault(f"{name.replace('_', '-').lower()}=={version}", []).append(hash_of(wheel))
    lines = (f'"{pin}" = {sorted(set(hashes))}\n'.replace("'", '"') for pin, hashes in sorted(rows.items()))
    return f"{text}\n[hashes]\n{''.join(lines)}"
