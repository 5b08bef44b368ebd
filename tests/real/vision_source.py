"""The real torchvision 0.21.0 as a git repository, also where the real repository is out of reach.

First the upstream repository at its pinned commit. Else a local repository of Debian's source archive of the same
release. What neither way gives is an error, never a skip. In tests/, `python -m real.vision_source WORK` prints the
result as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from real.apt_source import DEBIAN_PACKAGE, VERSION, write_debian_archive
from real.outside import UnavailableError, outer_environment, run

TAG = f"v{VERSION}"
TITLE = f"{DEBIAN_PACKAGE} {VERSION}"
TAG_REFS = (f"refs/tags/{TAG}", f"refs/tags/{TAG}^{{}}")
UPSTREAM = "https://github.com/pytorch/vision"
UPSTREAM_REV = "7af698794eded568735f9519593603c1ec889eba"
FOLDER = f"torchvision-{VERSION}"
REPOSITORY = "vision.git"
RECORD = "source.json"


class TagMovedError(RuntimeError):
    """The real repository answers, and its tag is not at our pin."""


@dataclass(frozen=True)
class VisionSource:
    url: str
    rev: str
    origin: Literal["upstream", "debian"]
    tag: str


def parse_tag_hashes(text: str) -> list[str]:
    """Read `git ls-remote`: the hash of the tag and, of an annotated one, that of its commit."""
    return [line.split()[0] for line in text.splitlines() if line.endswith(TAG_REFS)]


def check_upstream() -> None:
    hashes = parse_tag_hashes(run(("git", "ls-remote", UPSTREAM, *TAG_REFS), env=outer_environment(), seconds=20))
    if not hashes:
        raise UnavailableError(f"{UPSTREAM} answers without a tag {TAG}")
    if UPSTREAM_REV not in hashes:
        raise TagMovedError(f"{TAG} of {UPSTREAM} is at {hashes[-1]}, pinned at {UPSTREAM_REV}: compare, then pin anew")


def write_repository(archive: Path, repository: Path, title: str = TITLE, tag: str = TAG) -> str:
    """Commit every file of the archive; the same archive gives the same commit on any machine, for any user."""
    with tempfile.TemporaryDirectory(dir=repository.parent) as name:
        tree = unpack(archive, Path(name) / "tree")
        environment = {**git_environment(Path(name)), "GIT_DIR": str(repository)}

        def git(*arguments: str) -> str:
            return run(("git", *arguments), env=environment, cwd=tree)

        git("init", "--quiet", "--bare", "--template=", "--initial-branch=main")
        git("--work-tree=.", "add", "--all", "--force", ".")
        git("--work-tree=.", "commit", "--quiet", "--message", title)
        git("tag", tag)
        return git("rev-parse", "HEAD").strip()


def unpack(archive: Path, folder: Path) -> Path:
    folder.mkdir()
    run(("tar", "--extract", "--no-same-owner", f"--file={archive}"), env=outer_environment(), cwd=folder)
    top, *others = folder.iterdir()
    if others:
        raise UnavailableError(f"{archive.name} holds {len(others) + 1} folders at its top, one was expected")
    return top


def git_environment(home: Path) -> dict[str, str]:
    """No setting of the user or the machine; one author, one moment."""
    who = {"NAME": "xpusetup tests", "EMAIL": "tests@xpusetup.invalid", "DATE": "2025-01-29T00:00:00+0000"}
    signature = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    private = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "GIT_DEFAULT_HASH": "sha1"}
    return {"PATH": os.environ["PATH"], **private, **signature}


def vision_repository(work: Path) -> VisionSource:
    """Give the source, kept in `work`: a second call reads one file."""
    folder = work.resolve() / FOLDER
    if not (folder / RECORD).is_file():
        write_folder(folder)
    return VisionSource(**json.loads((folder / RECORD).read_text()))


def write_folder(folder: Path) -> None:
    """Make everything beside its place and move it there at once: a killed run leaves nothing half done."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{FOLDER}-") as name:
        made = Path(name) / "made"
        made.mkdir()
        source = write_source(made, Path(name) / "apt", (folder / REPOSITORY).as_uri())
        (made / RECORD).write_text(json.dumps(asdict(source), indent=2) + "\n")
        try:
            made.rename(folder)
        except OSError:
            if not (folder / RECORD).is_file():  # where it is, another process was first, with the same content
                raise


def write_source(made: Path, apt: Path, local_url: str) -> VisionSource:
    try:
        check_upstream()
        return VisionSource(UPSTREAM, UPSTREAM_REV, "upstream", TAG)
    except UnavailableError as error:
        upstream = error
    try:
        archive = write_debian_archive(apt)
    except UnavailableError as error:
        why = f"{UPSTREAM}: {upstream}. Debian's source archive: {error}. One of the two must be within reach"
        raise UnavailableError(f"torchvision {VERSION} is not to be had. {why}") from error
    return VisionSource(local_url, write_repository(archive, made / REPOSITORY), "debian", TAG)


def main(work: str) -> None:
    try:
        source = vision_repository(Path(work))
    except (UnavailableError, TagMovedError) as error:
        sys.exit(f"error: {error}")
    sys.stdout.write(json.dumps(asdict(source), indent=2) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
