"""What a bundle says of itself: bundle.json, its first member."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationError

from xpusetup.bundles.downloads import Download
from xpusetup.errors import UsageError
from xpusetup.load import describe
from xpusetup.profile import Profile
from xpusetup.settings import number_git
from xpusetup.values import Exact, Name, Rev, Strict, VersionText

if TYPE_CHECKING:
    from collections.abc import Sequence

HEAD = "bundle.json"
WHEELS = "wheels"
PROGRAM = "program"
"""Where this program lies in a bundle, with what it requires."""
TOOLKIT = "toolkit"
SAFE = re.compile(r"(?!.*(?:^|/)\.\.?(?:/|$))[A-Za-z0-9._+/-]+")
"""Names of members: below the folder that they are unpacked into, and with nothing to read otherwise in them."""


class Member(Strict):
    """A file in the bundle; its size in bytes."""

    name: str = Field(pattern=r"^[^/]")
    size: int = Field(ge=0)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class Repository(Strict):
    """What there is of a git repository: some commits, each with its whole tree and without its history.

    `addresses` are how git is asked for it; `refs` maps full names to those of the commits that they stand for.
    """

    folder: str = Field(pattern=r"^git/[A-Za-z0-9._-]+\.git$")
    addresses: list[str] = Field(min_length=1)
    commits: dict[Rev, str] = Field(min_length=1)
    refs: dict[str, Rev] = {}


class Bundle(Strict):
    """bundle.json. `profile` has every revision pinned; `base` is the same as its file says it, lying in `file`.

    `revs` are the refs that were asked for; `parts` the components that the bundle serves. `python` is a whole version.
    """

    schema_: Literal[1] = Field(alias="schema")
    created_by: VersionText
    profile: Profile
    base: Profile
    file: str
    revs: dict[str, str] = {}
    parts: list[Name]
    pins: list[Exact]
    python: str = Field(pattern=r"^3\.[0-9]{1,3}\.[0-9]{1,3}[a-z0-9+]{0,20}$")
    machine: str = Field(pattern=r"^[A-Za-z0-9_]{1,40}$")
    toolkit: str = ""
    repositories: list[Repository]
    members: list[Member]
    downloads: list[Download] = []

    def names(self, folder: str) -> list[str]:
        """Give the names of the files in one of its folders."""
        return [
            member.name.removeprefix(f"{folder}/") for member in self.members if member.name.startswith(f"{folder}/")
        ]

    @property
    def size(self) -> int:
        """The bytes of all members."""
        return sum(member.size for member in self.members)


def render_bundle(bundle: Bundle) -> str:
    """Give bundle.json: the same for the same contents."""
    return json.dumps(bundle.model_dump(by_alias=True, mode="json"), indent=1, sort_keys=True) + "\n"


def parse_bundle(text: bytes, origin: str) -> Bundle:
    """Read bundle.json. Raises UsageError for what this program cannot use, and for names that lead elsewhere."""
    data: Any = None
    try:
        data = json.loads(text)
        bundle = Bundle.model_validate(data)
    except ValidationError as error:
        if isinstance(data, dict) and isinstance(data.get("schema"), int) and data["schema"] > 1:
            fix = f"unpack its newer xpusetup: tar -xf {origin} {PROGRAM}"
            raise UsageError(f"{origin} was made by a newer xpusetup ({data.get('created_by')})", fix=fix) from error
        lines = [f"{origin}: {HEAD}: {line}" for line in describe(error, Bundle, data)]
        raise UsageError("\n".join(lines), fix="create it again: xpusetup bundle create FILE") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{origin} is no bundle of xpusetup: its {HEAD} is no JSON", fix="look at its name") from error
    for name in _odd_names(bundle):
        raise UsageError(f"{origin} names a file {name!r}, which could lie outside of it", fix="do not use this file")
    return bundle


def _odd_names(bundle: Bundle) -> list[str]:
    names = [member.name for member in bundle.members]
    packs = [pack for repository in bundle.repositories for pack in repository.commits.values()]
    absent = [name for name in (*packs, bundle.file) if name not in names]
    return [name for name in (*names, *absent) if not is_safe(name) or names.count(name) != 1]


def is_safe(name: str) -> bool:
    """Say whether a member's name stays below the folder that it is unpacked into."""
    return SAFE.fullmatch(name) is not None and not name.startswith(("/", "-")) and "//" not in name


def make_offline(bundle: Bundle, folder: str) -> dict[str, str]:
    """Give the variables by which git, pip and uv take everything from an unpacked bundle, and nothing from elsewhere.

    They stand for the whole of what the caller or a settings file says of the network: an address that the bundle does
    not have is refused by name, also where the network is there. git's own files are not read (2.32 and later): of a
    mirror there and ours that stand for the same address, git takes the one that it reads first.
    """
    wheels = f"{folder}/{WHEELS}"
    mirrors = [
        (f"url.file://{folder}/{repository.folder}.insteadOf", address)
        for repository in bundle.repositories
        for address in repository.addresses
    ]
    # Submodules from file:// are refused by default, since git 2.38.1.
    only = [("protocol.allow", "never"), ("protocol.file.allow", "always")]
    nothing = dict.fromkeys(("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX"), "")
    places = dict.fromkeys(("PIP_FIND_LINKS", "UV_FIND_LINKS"), wheels)
    alone = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    return {**nothing, **places, "PIP_NO_INDEX": "1", "UV_NO_INDEX": "1", **alone, **number_git([*mirrors, *only])}


def find_lacking(asked: Sequence[str], bundle: Bundle) -> list[str]:
    """Name the components that are asked for and that the bundle has nothing of."""
    return [name for name in asked if name not in bundle.parts]
