"""What stands in the environment of the interpreter that runs this: distributions, and who put them there."""

from __future__ import annotations

import json
import re
import sysconfig
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path

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
    """Give the name; nothing for what an interrupted pip left behind, whose folder begins with a tilde."""
    folder = Path(str(getattr(one, "_path", "")))
    return "" if folder.name.startswith("~") else one.metadata["Name"] or ""


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
