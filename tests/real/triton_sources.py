"""The sources of Triton as git repositories in a Debian root, each of one commit, and the profile that names those.

A checkout is to hold the commit that the product pins. A snapshot of a repository may lack large files (of tests): then
the commit is made anew without them, and Triton's tree, which names the translator's commit, with that one.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tomli
import tomli_w

from e2e.support import CHECKOUT
from real.outside import UnavailableError, run
from real.vision_source import git_environment
from xpusetup.base.document import to_told
from xpusetup.config.load import parse_profile
from xpusetup.config.profile import SourceComponent
from xpusetup.config.shipped import other_ways
from xpusetup.config.take import take_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TRANSLATOR, HEADERS = "spirv-llvm-translator", "spirv-headers"
VARIABLES = {"triton": "TRITON", TRANSLATOR: "SPIRV_LLVM_TRANSLATOR", HEADERS: "SPIRV_HEADERS"}
PROFILE = CHECKOUT / "tests/profiles/triton-3.7.toml"


@dataclass(frozen=True)
class Copied:
    """A commit as it lies in the root: its hash, and what it lacks of the pinned one."""

    rev: str
    absent: tuple[str, ...] = ()


def pinned() -> SourceComponent:
    """Give Triton as the product builds it from source for the test's profile."""
    profile = parse_profile(PROFILE.read_text(), PROFILE.name)
    made = take_parts(profile, {"triton": "source"}, other_ways()).profile
    part = next(each for each in made.components if each.name == "triton")
    assert isinstance(part, SourceComponent)
    return part


def write_sources(sources: Path) -> dict[str, Copied]:
    """Copy all repositories into this folder of the root; give what was copied, by the names of VARIABLES."""
    part = pinned()
    vendored = {each.name: each for each in part.vendored}
    revs = {name: str(vendored[name].rev) for name in (TRANSLATOR, HEADERS)}
    found = {name: copy_commit(given(name), rev, sources / f"{name}.git") for name, rev in revs.items()}
    anew = {str(vendored[name].pin_file): found[name].rev for name in revs if found[name].rev != revs[name]}
    found["triton"] = copy_commit(given("triton"), str(part.rev), sources / "triton.git", anew)
    return found


def given(name: str) -> Path:
    """Give the repository that a variable names. Raises UnavailableError where it is not set."""
    place = os.environ.get(VARIABLES[name], "")
    if not place:
        raise UnavailableError(
            f"{VARIABLES[name]} is to name a git repository of {name} with the commit that is pinned"
        )
    return Path(place).expanduser().resolve()


def copy_commit(repository: Path, rev: str, into: Path, texts: Mapping[str, str] | None = None) -> Copied:
    """Copy one commit into a bare repository at once; where files are absent or get other texts, as a commit anew."""
    part = into.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    objects = run(("git", "rev-parse", "--git-path", "objects"), env=git_environment(part), cwd=repository).strip()
    environment = {**git_environment(part), "GIT_DIR": str(part), "GIT_INDEX_FILE": str(part / "one.index")}

    def git(*words: str) -> str:
        return run(("git", *words), env=environment, cwd=part, seconds=600)

    git("init", "--quiet", "--bare", "--template=")
    (part / "objects/info").mkdir(exist_ok=True)
    (part / "objects/info/alternates").write_text(f"{repository / objects}\n")
    absent = _absent(git, rev)
    made = _commit_anew(git, rev, absent, texts or {}) if absent or texts else rev
    git("update-ref", "refs/heads/main", made)
    (part / "shallow").write_text(f"{made}\n")
    git("repack", "-q", "-a", "-d")
    (part / "objects/info/alternates").unlink()
    shutil.rmtree(into, ignore_errors=True)
    part.rename(into)
    return Copied(made, absent)


def _absent(git: Callable[..., str], rev: str) -> tuple[str, ...]:
    told = git("rev-list", "--objects", "--missing=print", "--no-walk", rev)
    missing = {line[1:] for line in told.splitlines() if line.startswith("?")}
    rows = (line.partition("\t") for line in git("ls-tree", "-r", rev).splitlines())
    return tuple(path for about, _, path in rows if about.split()[2] in missing)


def _commit_anew(git: Callable[..., str], rev: str, absent: tuple[str, ...], texts: Mapping[str, str]) -> str:
    git("read-tree", rev)
    for path in absent:
        git("--work-tree=.", "update-index", "--force-remove", path)
    for path, text in texts.items():
        file = Path(git("rev-parse", "--absolute-git-dir").strip()) / "one.text"
        file.write_text(f"{text}\n")
        blob = git("hash-object", "-w", str(file)).strip()
        git("--work-tree=.", "update-index", "--cacheinfo", f"100644,{blob},{path}")
    return git("commit-tree", "-m", f"{rev}, as far as it is here", git("write-tree").strip()).strip()


def derive(text: str, copied: Mapping[str, Copied]) -> str:
    """Give the profile with the commits as they lie here; the one of the product where all are upstream's."""
    part = pinned()
    before = {"triton": str(part.rev), **{each.name: str(each.rev) for each in part.vendored}}
    if all(copied[name].rev == rev for name, rev in before.items()):
        return text
    how = tomli_w.dumps(to_told(part) | {"kind": "source"})
    for name, rev in before.items():
        how = how.replace(rev, copied[name].rev).replace(f"+git{rev[:8]}", f"+git{copied[name].rev[:8]}")
    profile = tomli.loads(text)
    profile["components"][0]["from_source"] = tomli.loads(how)
    return tomli_w.dumps(profile)
