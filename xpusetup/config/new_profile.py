"""A new profile: the one that a new device begins with, and a Profile as the text of its file."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import tomli_w
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from xpusetup.base.document import read_as, to_table, to_told
from xpusetup.base.errors import UsageError
from xpusetup.base.model import FoundRef
from xpusetup.base.values import ADDRESS, PACKAGED, holds_credentials, read_table
from xpusetup.config.devices import Device, Extension, SourceKnown
from xpusetup.config.profile import Profile, WheelComponent
from xpusetup.system.environment import from_home

# A Profile as the text of its file.


def render_profile(profile: Profile, comment: str) -> str:
    """Give a profile as TOML with one line of comment above it; what has its default value is left out."""
    told = to_told(profile)
    parts = [{"kind": part["kind"], **part} for part in told.pop("components", [])]
    return f"# {comment}\n{tomli_w.dumps({**told, **({'components': parts} if parts else {})})}"


# The profile that a new device begins with: a ready torch, and the device's extension from source.


VERSION_FILES = ("pyproject.toml", "version.txt")
"""Where a tree may say the version of its wheel in words that need no program to be run."""
HOW = ("directory", "sparse", "frontend", "cmake", "defines")
"""What a device file says of building the extension as a profile does."""


@dataclass(frozen=True, kw_only=True)
class NewProfileOptions:
    """What the command line says of the extension's source; empty texts where the device file decides."""

    repo: str = ""
    rev: str = ""
    version: str = ""


@dataclass(frozen=True, kw_only=True)
class ExtensionSource:
    """Where the extension is built from: a commit that was found, the version of its wheel, and how (`SourceKnown`)."""

    repo: str
    found: FoundRef
    version: str
    known: SourceKnown | None = None
    when: str = ""


def extension_of(device: Device, origin: str) -> Extension:
    """Give the package of a device. Raises UsageError for one that torch itself brings."""
    if device.extension is None:
        fix = "add the table [extension] with distribution and module, or copy a release: profiles new NAME"
        raise UsageError(f"{origin} names no extension: there is nothing to build beside torch", fix=fix)
    return device.extension


def repo_of(device: Device, asked: NewProfileOptions, origin: str) -> str:
    """Give the repository. Raises UsageError where nobody names one."""
    repo = asked.repo or (device.source_.repo if device.source_ else "")
    if not repo:
        raise UsageError(f"{origin} does not say where the source of {device.name} is", fix="name it: --repo URL")
    if holds_credentials(repo):
        fix = "leave user and password out: git takes them from a credential helper, git config credential.helper store"
        raise UsageError("--repo holds a user, a password or a token, which would stand in the profile", fix=fix)
    return repo if repo.startswith(PACKAGED) or ADDRESS.match(repo) else _whole_path(repo)


def _whole_path(repo: str) -> str:
    """Give the folder of a repository from / on, as a profile names it. Raises UsageError where there is none."""
    folder = os.path.abspath(from_home(repo))  # noqa: PTH100 - Path's keeps ..
    if not os.path.exists(folder):  # noqa: PTH110 - same
        fix = "name an address, as in --repo https://HOST/NAME or git@HOST:NAME, or the folder of a repository"
        raise UsageError(f"--repo {repo} is no address, and there is no {folder}", fix=fix)
    return folder


def version_in(files: Mapping[str, str | None], known: SourceKnown | None, asked: NewProfileOptions) -> str:
    """Give the version of the wheel: what was asked, what the tree says, what the device file says.

    Raises UsageError where nobody says it.
    """
    told = asked.version or _told(files) or (known.version if known else "")
    try:
        return str(Version(told))
    except InvalidVersion as error:
        message = f"{told!r} is no version of a wheel" if told else "the tree does not say its version in words"
        raise UsageError(message, fix="say which version its wheel has: --version 1.0.0") from error


def _told(files: Mapping[str, str | None]) -> str:
    return project_version(files.get("pyproject.toml") or "") or (files.get("version.txt") or "").strip()


def project_version(text: str) -> str:
    """Give the version that a pyproject.toml says in words; empty where it says none."""
    static = read_table(text, "project").get("version")
    return static if isinstance(static, str) else ""


def ready_torch(base: Profile) -> WheelComponent:
    """Give the torch that a profile takes ready made. Raises UsageError for one that compiles it."""
    for part in base.components:
        if part.kind == "wheel" and part.name == "torch":
            return part
    fix = "leave --from out, or name one that takes a ready torch: --from sim"
    raise UsageError(f"{base.name} compiles torch itself: an extension needs one that is ready", fix=fix)


def make_device_profile(name: str, base: Profile, device: Device, file: str, source: ExtensionSource) -> Profile:
    """Give a profile that builds, autoloads and verifies a device; `file` is its device file as the profile says it."""
    extension, known = extension_of(device, file), source.known
    how = (
        {name: getattr(known, name) for name in ("directory", "sparse", "frontend", "cmake", "defines")}
        if known
        else {}
    )
    part: dict[str, Any] = {
        "kind": "source",
        "name": device.name,
        "distribution": canonicalize_name(extension.distribution),
        "version": source.version,
        "repo": source.repo,
        "tag": source.found.tag,
        "ref": "" if source.found.tag else source.found.ref,
        "rev": source.found.rev,
        "source": f"{source.repo}, {source.when}",
        "confidence": "confirmed",
        "frontend": "build",
        "after": ["torch"],
        **how,
    }
    data = to_table(base) | {
        "name": name,
        "summary": f"{device.title} from source; torch as a ready wheel",
        "tier": "own",
        "tried": "not yet",
        "cost": None,  # what was measured of another extension says nothing of this one
        "accelerator": device.name,
        "device": file,
        "components": [to_table(ready_torch(base)), part],
    }
    return read_as(Profile, data)
