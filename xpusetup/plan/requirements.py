"""What travels with the steps of a profile: requirements, every pin with its hashes, and what a step may tell of it."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from xpusetup import __version__
from xpusetup.base.document import to_table
from xpusetup.base.model import ROOT
from xpusetup.base.text import hide
from xpusetup.base.values import PACKAGED
from xpusetup.config.hashes import pins_of, render_requirements
from xpusetup.config.profile import Profile, SourceComponent, Vendored, WheelComponent

FOLDER = "helpers/requirements"
"""Where they lie below a root: with the helpers, so that they travel with every form."""
ARCHIVES = f"{ROOT}/archives"
"""What builds take ready made, as it came."""
RECORD = f"{ROOT}/origins"
"""Where the hashes lie of what was fetched without a published one, as they were at first use."""
TOOLS = ("setuptools", "wheel", "ninja", "packaging", "scikit-build-core", "pathspec", "pybind11", "cmake")
"""What builds take from the environment; published wheels bring none of it."""


def requirements_of(profile: Profile) -> dict[str, list[str]]:
    build = profile.build_requirements.pins
    ready = {purpose_of(part): [_pin(part)] for part in profile.components if part.kind == "wheel"}
    members = [_pin(part) for part in profile.components if part.kind == "wheel" and part.member is not None]
    found = {
        "build": build,
        "runtime": profile.runtime_requirements.pins if profile.runtime_requirements else [],
        "tools": [pin for pin in build if Requirement(pin).name in TOOLS] if profile.published else [],
        "published": [pin for pin in pins_of(profile) if pin not in members] if profile.published else [],
        "members": members if profile.published else [],
        "toolkit": profile.toolkit.pins if profile.toolkit else [],
        "addon": _addon(profile),
        **ready,
    }
    return {purpose: pins for purpose, pins in found.items() if pins}


def purpose_of(part: WheelComponent) -> str:
    """Give what the pin of a ready wheel is for."""
    return f"{part.name}.wheel"


def published_purposes(profile: Profile) -> tuple[str, ...]:
    """Give what all that was published is for: torch with what it requires, and the members of a stack beside it."""
    return tuple(name for name in ("published", "members") if name in requirements_of(profile))


def _addon(profile: Profile) -> list[str]:
    """Give the pins of what builds XPU beside a torch, where the profile has the tool chain for it."""
    able = profile.toolkit is not None and profile.toolkit.kind == "wheels"
    pins = profile.build_requirements.pins if able else []
    return [pin for pin in pins if canonicalize_name(Requirement(pin).name) in {"ninja", "pyyaml"}]


def _pin(part: WheelComponent) -> str:
    return f"{part.distribution}=={part.version}"


def requirement_file(profile: Profile, purpose: str) -> str:
    """Give the path of a file of requirements. Its name tells the content, so that a key sees a change."""
    return f"{ROOT}/{_name(purpose, _text(profile, requirements_of(profile)[purpose]))}"


def requirement_options(profile: Profile, *purposes: str) -> tuple[str, ...]:
    """Give the options that name what of a profile is held to which hashes, and where those of first use lie."""
    listed = (word for purpose in purposes for word in ("--requirements", requirement_file(profile, purpose)))
    return (*listed, "--record", RECORD)


def requirement_texts(profile: Profile) -> dict[str, str]:
    texts = {purpose: _text(profile, pins) for purpose, pins in requirements_of(profile).items()}
    return {_name(purpose, text): text for purpose, text in texts.items()}


def _text(profile: Profile, pins: Iterable[str]) -> str:
    return render_requirements(profile.hashes, pins)


def _name(purpose: str, text: str) -> str:
    return f"{FOLDER}/{purpose}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.txt"


# What a step may tell of the profile that it carries out: a file that is in no key.


ABOUT = "helpers/about.json"
"""Where it lies below a root. An address that changes there builds nothing anew: the commit is what counts."""


def render_about(profile: Profile, facts: str = "") -> str:
    """Give the file: name and sha256 of the profile, where its sources are from, the sha256 of the machine's facts."""
    resolved = to_table(profile)
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
