"""What people call a revision, and which commit a server's list of refs gives it: tag, branch, pull request, commit."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xpusetup.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xpusetup.profile import Profile

COMMIT = re.compile(r"[0-9a-f]{40}")
ABBREVIATED = re.compile(r"[0-9a-f]{7,39}")
PULL = re.compile(r"(?:#|pr/|pull/)(\d+)(?:/head)?", re.IGNORECASE)
RELEASE = re.compile(r"v?(\d+(?:\.\d+)+)(?:-?rc(\d+))?")
PLAIN = re.compile(r"[A-Za-z0-9._/#+@-]+")


@dataclass(frozen=True)
class Found:
    """A commit, and the full name of the ref it was found under; empty for a commit that was named itself."""

    rev: str
    ref: str = ""

    @property
    def tag(self) -> str:
        """The tag, if it was one."""
        return self.ref.removeprefix("refs/tags/") if self.ref.startswith("refs/tags/") else ""


def unsure(profile: Profile) -> dict[str, str]:
    """Give the components whose commit is less than confirmed, with the tag that a server can be asked for."""
    parts = (part for part in profile.components if part.kind == "source")
    return {part.name: part.tag for part in parts if part.tag and (part.rev is None or part.confidence != "confirmed")}


def floating(profile: Profile) -> dict[str, str]:
    """Give the components that name a branch and no commit, with that branch; not those that the torch tree names."""
    parts = (part for part in profile.components if part.kind == "source")
    return {part.name: part.ref for part in parts if part.ref and part.rev is None and not part.pin_file}


def parse_revs(texts: Sequence[str]) -> dict[str, str]:
    """Read `COMPONENT=REF` as often as it was given. Raises UsageError for anything else."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, ref = text.partition("=")
        if not equals or not name or PLAIN.fullmatch(ref) is None or ref.startswith("-"):
            raise UsageError(
                f"--rev {text!r} is not COMPONENT=REF", fix="as in: --rev torch=main, --rev torch=pr/12345"
            )
        if name in found:
            raise UsageError(f"--rev names {name} twice", fix="give one revision for each component")
        found[name] = ref
    return found


def names_to_ask(ref: str) -> tuple[str, ...]:
    """Give the full names under which a server may know a ref, the likeliest first; empty for a whole commit."""
    if COMMIT.fullmatch(ref):
        return ()
    if pull := PULL.fullmatch(ref):
        return (f"refs/pull/{pull[1]}/head",)
    if ref.startswith("refs/"):
        return (ref,)
    return (f"refs/tags/{ref}", f"refs/heads/{ref}")


def choose(ref: str, repo: str, advertised: Mapping[str, str]) -> Found:
    """Choose the commit that a ref means among what a server advertises (full name -> commit, tags also peeled).

    Raises UsageError where it means nothing there, with the nearest name.
    """
    if COMMIT.fullmatch(ref):
        return Found(ref)
    for name in names_to_ask(ref):
        if name in advertised:
            return Found(advertised.get(f"{name}^{{}}", advertised[name]), name)
    if ABBREVIATED.fullmatch(ref):
        return _complete(ref, repo, advertised)
    short = {name.split("/", 2)[-1]: name for name in advertised if name.startswith(("refs/heads/", "refs/tags/"))}
    close = difflib.get_close_matches(ref, [name for name in short if not name.endswith("^{}")], n=1, cutoff=0.4)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise UsageError(f"{repo} has no tag or branch {ref!r}{hint}", fix=f"git ls-remote {repo} lists what it has")


def _complete(ref: str, repo: str, advertised: Mapping[str, str]) -> Found:
    whole = {rev for rev in advertised.values() if rev.startswith(ref)}
    if len(whole) == 1:
        return Found(whole.pop())
    raise UsageError(
        f"{ref!r} is part of a commit's name, and a server tells only the tips of its branches and tags by their part",
        fix=f"give all 40 digits: git rev-parse {ref} in a clone of {repo}",
    )


def release_of(ref: str) -> str:
    """Give the version that a release tag stands for, as in 2.15.0 or 2.15.0rc3; empty when it is none."""
    found = RELEASE.fullmatch(ref.removeprefix("refs/tags/"))
    if found is None:
        return ""
    return f"{found[1]}rc{found[2]}" if found[2] else found[1]


def plain_name(name: str) -> str:
    """Give a folder's name without dots, for a build that fails below one with a number such as 2.4."""
    return name.replace(".", "_")


def slug(ref: str) -> str:
    """Give a ref as a part of a folder's name."""
    text = ref[:12] if COMMIT.fullmatch(ref) else re.sub(r"[^A-Za-z0-9._]+", "-", ref.removeprefix("refs/"))
    return text.strip("-.")
