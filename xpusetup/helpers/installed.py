"""What stands in the environment of the interpreter that runs this: distributions, and who put them there."""

from __future__ import annotations

import json
import re
import sys
import sysconfig
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path

WRITES_RECORD = {"", "pip", "uv"}
"""Installers whose last act is the list of files. What has no list, and no installer, stopped before it had either."""
PINNED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*) *\(?==(?!=)")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Found:
    """One distribution. `source` is the folder of an editable one, `owned` says that it has a list of its files."""

    name: str
    version: str
    installer: str
    owned: bool
    requested: bool
    source: str
    requires: tuple[str, ...]


def canonical(name: str) -> str:
    """Give a distribution's name as all spell it alike."""
    return re.sub(r"[-_.]+", "-", name).lower()


def packages() -> Path:
    """Give the folder into which pip installs here."""
    return Path(sysconfig.get_path("purelib"))


def installed() -> dict[str, Found]:
    """Give what this environment itself holds, by canonical name; what it merely sees of another one is left out."""
    places = {packages().resolve(), Path(sysconfig.get_path("platlib")).resolve()}
    found: dict[str, Found] = {}
    for one in distributions():
        place = Path(str(one.locate_file(""))).resolve()
        name = _name(one)
        link = packages() / f"{name}.egg-link"
        if name and canonical(name) not in found and (place in places or link.exists()):
            found[canonical(name)] = _look(one, name, str(place) if link.exists() else "")
    return found


def _name(one: Distribution) -> str:
    """Give the name; nothing for what an interrupted installer left behind, also under a name with a tilde."""
    folder = Path(str(getattr(one, "_path", "")))
    return "" if folder.name.startswith("~") or cut_off(folder) else one.metadata["Name"] or ""


def cut_off(folder: Path) -> bool:
    """Tell that an installer was killed while it made this: files of the distribution may be missing."""
    if folder.suffix != ".dist-info" or (folder / "RECORD").exists():
        return False
    installer = folder / "INSTALLER"
    by = installer.read_text(encoding="utf-8").strip() if installer.exists() else ""
    return by in WRITES_RECORD and not of_conda(folder.name.partition("-")[0])


def of_conda(distribution: str) -> list[str]:
    """Give the conda packages that hold a distribution's metadata."""
    wanted = f"/{distribution.replace('-', '_').lower()}-"
    return [name for name, files in _conda_packages() if any(_is_metadata(file.lower(), wanted) for file in files)]


def _conda_packages() -> list[tuple[str, list[str]]]:
    found = []
    for path in sorted((Path(sys.prefix) / "conda-meta").glob("*.json")):
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, json.JSONDecodeError):
            continue
        found.append((str(told.get("name", path.stem)), [str(file) for file in told.get("files", [])]))
    return found


def _is_metadata(file: str, wanted: str) -> bool:
    return wanted in file and (".dist-info/" in file or ".egg-info" in file)


def _look(one: Distribution, name: str, linked: str) -> Found:
    return Found(
        name=name,
        version=one.version,
        installer=(one.read_text("INSTALLER") or "").strip(),
        owned=bool(one.read_text("RECORD") or linked),
        requested=one.read_text("REQUESTED") is not None,
        source=linked or _editable(one.read_text("direct_url.json") or ""),
        requires=tuple(one.requires or ()),
    )


def _editable(text: str) -> str:
    try:
        told = json.loads(text or "{}")
    except json.JSONDecodeError:
        return ""
    return str(told.get("url", "")).removeprefix("file://") if told.get("dir_info", {}).get("editable") else ""


def names_of(requirements: tuple[str, ...], *, pinned: bool = False) -> set[str]:
    """Give the canonical names that requirements name, or of those alone that are pinned to one version."""
    pattern = PINNED if pinned else NAME
    return {canonical(match[1] if pinned else match[0]) for text in requirements if (match := pattern.match(text))}
