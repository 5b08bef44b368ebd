"""What a step may tell of the profile that it carries out: a file that travels with the helpers and is in no key."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from xpusetup import __version__
from xpusetup.base.text import hide
from xpusetup.base.values import PACKAGED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xpusetup.config.profile import Profile, SourceComponent, Vendored


ABOUT = "helpers/about.json"
"""Where it lies below a root. An address that changes there builds nothing anew: the commit is what counts."""


def render_about(profile: Profile, facts: str = "") -> str:
    """Give the file: name and sha256 of the profile, where its sources are from, the sha256 of the machine's facts."""
    resolved = profile.model_dump(by_alias=True, mode="json")
    sources = [part for part in profile.components if part.kind == "source"]
    document: dict[str, Any] = {
        "xpusetup": __version__,
        "profile": {"name": profile.name, "sha256": digest(resolved)},
        "sources": {part.name: _source(part) for part in sources},
    }
    told = {**document, "facts": facts} if facts else document
    return json.dumps(told, indent=1, sort_keys=True) + "\n"


def digest(document: Mapping[str, Any]) -> str:
    """Hash a document however it is laid out: its keys in order, without spaces, in ASCII."""
    return hashlib.sha256(json.dumps(document, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _source(part: SourceComponent) -> dict[str, Any]:
    archives = [{"name": each.name, "url": hide(each.url)} for each in part.archives]
    vendored = [{"name": each.name, "path": each.path, **_place(each)} for each in part.vendored]
    return {**_place(part), "vendored": vendored, "archives": archives}


def _place(part: SourceComponent | Vendored) -> dict[str, str]:
    """Give where a source is from; what ships with the program is from nowhere else."""
    return {"repo": "" if part.repo.startswith(PACKAGED) else hide(part.repo), "tag": part.tag or ""}
