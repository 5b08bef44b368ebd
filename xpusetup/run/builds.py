"""The builds that are here: how far each is, and which one is meant where none is named."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xpusetup.base.command import Advice, Command
from xpusetup.base.errors import NotReadyError
from xpusetup.base.model import ROOT, Layout
from xpusetup.base.text import render_first
from xpusetup.base.verbs import about_build
from xpusetup.run.manifest import VERIFYING, Standing, read_failed, read_manifest, read_standing, read_verified
from xpusetup.run.root import Root, find_roots, read_lock

COLLECTED = "results"
"""The folder beside roots in which a cluster's jobs put copies of what they made."""


@dataclass(frozen=True, kw_only=True)
class Build:
    """A build: its lock, how far it is, the step that failed (else empty), what a verification said of it.

    `when` is the time of its last finished step or verification, in seconds since the epoch; `venv` its environment.
    """

    root: Root
    lock: dict[str, Any]
    standing: Standing
    failed: str
    verified: bool | None
    when: float
    venv: Path

    @property
    def name(self) -> str:
        return self.root.path.name

    @property
    def lacking(self) -> tuple[str, ...]:
        """The steps to come; of a build that was asked for some components alone (`--only`), those of these."""
        words, left = self.standing.words, self.standing.left
        only = {words[place + 1] for place, word in enumerate(words[:-1]) if word == "--only"}
        return tuple(step for step in left if not only or step.partition(".")[0] in only)

    @property
    def finished(self) -> bool:
        """Whether all that was asked for is there, and no step, a verification among them, failed."""
        return not self.failed and not self.lacking and self.verified is not False and self.whole

    @property
    def whole(self) -> bool:
        """Whether all that was asked for is installed, whatever a verification said."""
        stopped = self.failed and not self.failed.startswith(VERIFYING)
        python = os.path.exists(self.venv / "bin/python")  # noqa: PTH110 - of one that is closed to us Path raises
        return not stopped and not self.lacking and python


def find_builds(folder: Path) -> list[Build]:
    found = (read_build(root) for root in find_roots(folder) if root.path.name != COLLECTED)
    return [each for each in found if each]


def read_build(root: Root) -> Build | None:
    """Read how far a build is from its files alone: it may be at work on another machine. None where there is none."""
    lock = read_lock(root)
    if lock is None or "name" not in (lock.get("profile") or {}):
        return None
    manifest, standing = read_manifest(root), read_standing(root)
    failed = read_failed(root, manifest)
    return Build(
        root=root,
        lock=lock,
        standing=standing,
        failed="" if standing.held else failed,
        verified=read_verified(root, standing, manifest),
        when=_last(root),
        venv=root.path / _layout(lock).venv.replace(ROOT, str(root.path)),
    )


def _layout(lock: Mapping[str, Any]) -> Layout:
    return Layout(**lock.get("layout", {}))


def _last(root: Root) -> float:
    places = (root / "manifest.json", *(root / "stamps").glob("[!.]*"))
    return max((path.stat().st_mtime for path in places if path.exists()), default=0.0)


def choose_build(builds: Sequence[Build], *, failing: bool = False) -> Build | None:
    """Give the build that was finished or verified last; `failing`: else one whose verification failed."""
    found = [each for each in builds if each.finished] or [each for each in builds if failing and each.whole]
    return max(found, key=lambda each: each.when, default=None)


def unfinished(builds: Sequence[Build]) -> NotReadyError:
    """Give the error where no build is finished: what each lacks, and the commands that go on."""
    told = ", ".join(f"{each.name} ({_lack(each)})" for each in builds)
    return NotReadyError(f"not finished: {told}", fix=Advice.lines(_mend(each) for each in builds))


def _lack(build: Build) -> str:
    if build.standing.held and build.standing.coming:
        return f"a build is running; to come: {render_first(build.standing.coming)}"
    if build.failed:
        return f"{build.failed} failed"
    if build.lacking:
        return f"to come: {render_first(build.lacking)}"
    return "its verification failed" if build.verified is False else f"there is no environment at {build.venv}"


def _mend(build: Build) -> Command:
    name = shlex.quote(build.name)
    if build.standing.held:
        return Command(f"xpusetup status {name}")
    return Command(f"xpusetup verify {name}") if build.whole else go_on(build.root)


def go_on(root: Root, *, whole: bool | None = None) -> Command:
    """Give the command by which a root gets what is still to come, with all that was asked of its last build.

    `whole`: all of the profile, also where a part of it was asked for; else that part, if it failed or was cut off.
    """
    if (root / "build.sh").exists():  # a form, whose scripts say what is built
        return Command(shlex.join(("bash", str(root / "build.sh"))))
    lock, standing = read_lock(root) or {}, read_standing(root)
    if whole is None:
        whole = not (standing.cut or read_failed(root, read_manifest(root)))
    place = lock.get("place") or {}
    here = {"--name": str(place["name"])} if place.get("path") == str(root.path) else {"--root": str(root.path)}
    given = {"--profile": _named(lock), **here, **_layout(lock).outside}
    words = [word for pair in given.items() if pair[1] for word in pair]
    words += [word for rev in lock.get("rev", ()) for word in ("--rev", str(rev))]
    more = (*(() if whole else map(str, lock.get("part", ()))), *standing.words)
    return Command(f"{about_build(standing.command, shlex.join(words))} {shlex.join(more)}".rstrip())


def _named(lock: Mapping[str, Any]) -> str:
    return str(lock.get("named") or (lock.get("profile") or {}).get("name") or "")
