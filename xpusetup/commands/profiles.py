"""profiles: what ships, what one says, whether a file is right, and a new one to begin with."""

from __future__ import annotations

import re
from dataclasses import asdict
from itertools import dropwhile
from pathlib import Path
from typing import Any, get_args

from packaging.version import Version

from xpusetup.commands.knowledge import load_profile, profile_names
from xpusetup.commands.result import Result
from xpusetup.commands.workspace import load_device, load_settings
from xpusetup.effects import files
from xpusetup.errors import UsageError
from xpusetup.ledger import ORIGIN as LEDGER
from xpusetup.ledger import SEEN, Row, parse_ledger, rows_of
from xpusetup.load import parse_profile
from xpusetup.pairing import make_modes, torch_of
from xpusetup.profile import Profile, Tier

NAME = re.compile(r"[a-z][a-z0-9._-]*")
SCHEMA_FILE = "profile.schema.json"


def list_profiles() -> Result:
    """List the profiles that ship with the program: tier by tier, the newest release first."""
    profiles = sorted((load_profile(name) for name in profile_names()), key=_place)
    return Result("profiles list", {"profiles": [_row(profile) for profile in profiles]})


def _place(profile: Profile) -> tuple[int, str, tuple[int, ...]]:
    torch = _torch_version(profile)
    release = Version(torch).release if torch else ()
    kind = profile.accelerator if profile.tier == "other" else "last" if profile.accelerator == "cpu" else ""
    return get_args(Tier).index(profile.tier), kind, tuple(-part for part in release)


def _torch_version(profile: Profile) -> str | None:
    return torch_of(profile) or None


def _row(profile: Profile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "tier": profile.tier,
        "accelerator": profile.accelerator,
        "summary": profile.summary,
        "torch": _torch_version(profile),
        "toolkit": f"{profile.toolkit.kind} {profile.toolkit.preferred}" if profile.toolkit else None,
        "python": profile.python,
        "tried": profile.tried,
    }


def show_profile(name: str) -> Result:
    """Give all that a profile says, with the source and confidence of each pin, and what upstream's files say."""
    profile = load_profile(name)
    said = profile.model_dump(by_alias=True, mode="json")
    return Result("profiles show", {**said, "upstream": [_rule(row) for row in rows_of(load_ledger(), profile)]})


def load_ledger() -> list[Row]:
    """Read the ledger that ships."""
    return parse_ledger(files.package_text(LEDGER))


def _rule(row: Row) -> dict[str, Any]:
    return {**asdict(row), "place": row.place, "told": SEEN[row.seen]}


def check_profile(name: str) -> Result:
    """Check a profile. Raises UsageError with every error of the file."""
    profile = load_profile(name)
    make_modes(profile, load_device(profile.accelerator, profile.device, load_settings()))
    parts = [*([profile.installer.name] if profile.installer else []), *(part.name for part in profile.components)]
    return Result("profiles check", {"profile": profile.name, "components": parts})


def make_schema() -> Result:
    """Give the JSON Schema of profile files, by which an editor completes and checks them."""
    schema = Profile.model_json_schema(by_alias=True)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "xpusetup profile"}
    return Result("profiles schema", {**schema, **head})


def new_file(name: str, out: str) -> Path:
    """Give the file of a new profile. Raises UsageError for a bad name, and where a file is there."""
    if NAME.fullmatch(name) is None:
        raise UsageError(f"{name!r} is no name of a profile", fix="lower case letters, digits, '.', '_' and '-'")
    path = Path(out or f"{name}.toml")
    if path.exists():
        raise UsageError(f"{path} is there already", fix="name another file: --out FILE")
    return path


def new_profile(name: str, base: str, out: str) -> Result:
    """Write a profile of one's own that begins as a copy of a shipped one. Raises UsageError where a file is there."""
    path = new_file(name, out)
    origin = files.package_file("profiles") / f"{load_profile(base).name}.toml"
    text = _renamed(origin.read_text(encoding="utf-8"), name, base)
    parse_profile(text, str(path))
    files.write_text(path, text)
    return Result("profiles new", {"profile": name, "from": base, "file": str(path)})


def _renamed(text: str, name: str, base: str) -> str:
    """Change the head of a profile's text, and leave all else with its comments as it is."""
    head, components = text.split("\n[", 1)
    body = "\n".join(dropwhile(lambda line: line.startswith("#"), head.splitlines()))
    for key, value in {"name": name, "tier": "own", "tried": "not yet"}.items():
        body = re.sub(rf'^{key} = ".*"$', f'{key} = "{value}"', body, flags=re.MULTILINE)
    top = f"#:schema ./{SCHEMA_FILE}\n# Begun as a copy of {base}. Check it: xpusetup profiles check FILE\n"
    return f"{top}{body.strip()}\n\n[{components}"
