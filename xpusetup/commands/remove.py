"""remove: a build goes, and nothing with it that is not ours.

Ours is what a root is known to hold, a build folder and an environment that a build made elsewhere, and in an
environment of somebody's our bookkeeping. Left are files that no command of this program writes, and trees that hold
somebody's work.
"""

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xpusetup.base.command import Advice, Command
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.base.model import ROOT, Layout
from xpusetup.commands.result import Result, Say
from xpusetup.plan.environment import constraints_file
from xpusetup.run import removal
from xpusetup.run.lock import OWNER, hold_lock, is_held
from xpusetup.run.manifest import read_manifest
from xpusetup.run.root import (
    ARCHIVE,
    DRAFT,
    FOLDERS,
    GOING,
    LOCKED,
    PACKING,
    SECOND,
    SECOND_HOME,
    SECOND_ZONE,
    SEEN_AT,
    Root,
    find_packing,
    find_roots,
    read_lock,
    read_stamps,
)
from xpusetup.run.workspace import Where, load_settings, open_workspace, roots_folder, words_of_root
from xpusetup.system import files
from xpusetup.system.trust import name_user

NAME = re.compile(r"\w[\w.-]*")
"""The names of components: of a lock that someone wrote by hand nothing else is believed."""
LOCKS = ("lock", OWNER)
FETCHED = {"published", "origins", "archives", "installers", "bundle", "nightlies", "toolkit", "tools", PACKING}
OURS = {*FOLDERS, *FETCHED, "venv", "launcher", "held", "failed", "unfinished"} | {
    *("journal.jsonl", "manifest.json", "report.html", ARCHIVE, LOCKED, SEEN_AT, *LOCKS)
}
"""What commands and steps of this program write into a root."""
OURS_OF_SECOND = {SECOND, SECOND_HOME, SECOND_ZONE}
"""What `rebuild` writes beside it into its own."""
STEP_LOCK = "lock.step."
OF_A_FORM = (
    "Run again, it goes on where it stopped.\n# MAX_JOBS sets how many compilers run at once;",
    "Written by `xpusetup emit shell`.",
)
"""What stands at the head of each script that runs the steps of a form, and in the README beside it."""
WRITTEN_BY_OTHERS = "no command of this program wrote it"
TREES = ("", ".git", ".tools", ".wheel", ".archive")
"""What lies beside a component's tree in a build folder elsewhere, by how its name ends."""
REPORTS = "share/xpusetup"


@dataclass(frozen=True)
class LeftPlace:
    """A place that stays, and why."""

    path: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Removed:
    """What went, or would go: its `bytes`, those that this `freed`; `gone`: nothing is left of the root.

    `environment` is somebody's that stays without our bookkeeping, `uninstall` the command by which its packages go.
    """

    root: str
    places: list[str]
    bytes: int
    freed: int
    left: list[LeftPlace]
    environment: str | None
    uninstall: str
    removed: bool
    gone: bool


@dataclass(frozen=True, kw_only=True)
class Removal:
    """What goes: `places`, whole, from the outside in, with their `bytes`; what stays in `left` (place -> why).

    `freed`: the bytes that come free; `environment` is somebody's, of which our bookkeeping goes, unless it is empty;
    `packages` stay in it.
    """

    root: Root
    places: tuple[Path, ...]
    left: Mapping[str, str]
    bytes: int
    freed: int
    environment: str
    packages: tuple[str, ...]

    def describe(self, *, removed: bool, gone: bool = False) -> Removed:
        """Give what is told of it, before and after."""
        python = shlex.quote(f"{self.environment}/bin/python")
        return Removed(
            root=str(self.root.path),
            places=list(map(str, self.places)),
            bytes=self.bytes,
            freed=self.freed,
            left=[LeftPlace(path, why) for path, why in self.left.items()],
            environment=self.environment or None,
            uninstall=f"{python} -m pip uninstall {shlex.join(self.packages)}" if self.packages else "",
            removed=removed,
            gone=gone,
        )


def look(where: Where) -> Removal:
    """Find what a removal would take.

    Raises UsageError where no build is named, or what is named is none of ours; NotReadyError while a build is at work.
    """
    root = _find(where)
    if is_held(root / PACKING / "lock"):
        raise NotReadyError(f"a bundle is being packed in {root.path}; nothing was removed", fix="wait until it ends")
    if is_held(root / "lock"):
        line = f"xpusetup status {words_of_root(root.path)}"
        raise NotReadyError(f"a build is at work in {root.path}; nothing was removed", fix="look at it: ", command=line)
    lock = read_lock(root) or {}
    layout = Layout(**lock.get("layout", {}))
    there = sorted(root.path.iterdir())
    ours = OURS | (OURS_OF_SECOND if (root / SECOND).exists() else set())
    own = [path for path in there if path.name in ours or path.name.startswith(STEP_LOCK) or _unfinished(path.name)]
    left = {str(path): _why_left(path) for path in there if path not in own}
    places = [path for path in own if path.name not in (*LOCKS, LOCKED)]
    src = Path(layout.src.replace(ROOT, str(root.path)))
    parts = _components(lock)
    work = {str(src / name): why for name, rev in parts.items() if (why := removal.find_work(src / name, rev))}
    if not layout.src.startswith(ROOT):
        places += [path for name in parts for end in TREES if (path := src / f"{name}{end}").exists()]
    places = [part for place in places for part in (sorted(place.iterdir()) if work and place == src else [place])]
    places += [Path(layout.venv)] if _made_elsewhere(root, layout) else []
    kept = tuple(place for place in places if str(place) not in work)
    environment = layout.venv if layout.adopted and not _shared(root, layout.venv) else ""
    wheels = read_manifest(root).get("wheels", []) if environment else []
    taken, freed = removal.measure(kept)
    return Removal(
        root=root,
        places=kept,
        left={**left, **work},
        bytes=taken,
        freed=freed,
        environment=environment,
        packages=tuple(str(wheel["name"]) for wheel in wheels),
    )


def _unfinished(name: str) -> bool:
    """Say whether something was being written or removed under this name."""
    return bool(DRAFT.fullmatch(name)) or (name.startswith(".") and name.endswith(GOING))


def _why_left(path: Path) -> str:
    """Say whose a file is: what `emit` wrote into a form may have been changed since, and nobody could tell."""
    text = (files.read_text(path) or "") if path.suffix in {".sh", ".md"} and path.is_file() else ""
    ours = any(each in text for each in OF_A_FORM)
    return "emit wrote it; it may have been changed since" if ours else WRITTEN_BY_OTHERS


def _find(where: Where) -> Root:
    """Give the root that is named; nothing is removed that nobody named."""
    roots = roots_folder(load_settings())
    packing = [path.parent for path in find_packing(roots)]
    there = ", ".join(sorted({path.name for path in (*packing, *(root.path for root in find_roots(roots)))}))
    fix = f"in {roots} there is: {there}; name one: " if there else ""
    line = Command("xpusetup remove NAME", gaps=("NAME",)) if there else Command("xpusetup list")
    if not (where.root or where.name or where.profile or where.rev):
        program = Advice("how this program itself goes: ", Command("xpusetup self"))
        if not there:
            raise NotReadyError(f"nothing is built in {roots}", fix=program)
        raise UsageError("say which build", fix=Advice.lines((Advice(fix, line), program)))
    path = Path(where.root).absolute() if where.root else roots / where.name if where.name else None
    root = Root((path or open_workspace(where).root).resolve())
    if not root.path.is_dir():
        raise NotReadyError(f"nothing is built in {root.path}", fix=fix, command=line)
    if read_lock(root) is None and not (root / PACKING).is_dir():
        if inside := [each.path for each in find_roots(root.path)]:
            names = ", ".join(each.name for each in inside)
            fix = Advice(
                f"it holds builds: {names}; name one: ",
                Command(f"xpusetup remove --root {root.path}/NAME", gaps=("NAME",)),
            )
            raise UsageError(f"{root.path} is no build of xpusetup; nothing was removed", fix=fix)
        message = f"{root.path} is no build of xpusetup: it holds no {LOCKED} that can be read; nothing was removed"
        raise UsageError(message, fix=f"look at what is there: ls -la {shlex.quote(str(root.path))}")
    if not os.access(root.path, os.W_OK):
        line = Command(f"xpusetup remove {words_of_root(root.path)}")
        if os.statvfs(root.path).f_flag & os.ST_RDONLY:
            message, fix = f"{root.path} is on a read-only file system", "where it can be written: "
        else:
            message, fix = (
                f"{root.path} may not be written to by you: it belongs to {name_user(root.path.stat().st_uid)}",
                "as that user: ",
            )
        raise NotReadyError(message, fix=fix, command=line)
    return root


def _made_elsewhere(root: Root, layout: Layout) -> bool:
    """Say whether a step of this build made the environment, at a place outside of the root."""
    stamp = read_stamps(root).get("venv")
    if stamp is None or layout.adopted or layout.venv.startswith(ROOT):
        return False
    return f"{layout.venv}/pyvenv.cfg" in [made.path for made in stamp.made]


def _components(lock: Mapping[str, Any]) -> dict[str, str]:
    parts = lock.get("profile", {}).get("components", [])
    fetched = [part for part in parts if part.get("kind") == "source" and NAME.fullmatch(str(part.get("name")))]
    return {part["name"]: str(part.get("rev") or "") for part in fetched}


def _shared(root: Root, environment: str) -> bool:
    """Say whether another build put something into an environment too: what keeps that in place stays."""
    others = (other for other in find_roots(roots_folder(load_settings())) if other.path != root.path)
    return any((read_lock(other) or {}).get("layout", {}).get("venv") == environment for other in others)


def remove(found: Removal, say: Say) -> Result[Removed]:
    """Remove it. Raises NotReadyError while a build is at work there, before anything goes.

    The lock of the profile goes last: a removal that was cut off goes on with the same command.
    """
    root = found.root
    with hold_lock(root / "lock", say):
        if found.environment:  # of somebody's: what is ours of it is taken out
            environment = Path(found.environment)
            ours = constraints_file(Layout(venv=str(environment), adopted=True))
            removal.forget_constraint(environment / "pip.conf", ours)
            removal.remove_all([Path(ours), environment / REPORTS])
        removal.remove_all(found.places, root.path)
        removal.remove_all([root / LOCKED])
    removal.remove_all([root / name for name in LOCKS])
    gone = removal.remove_empty(root.path)
    if not gone and not any(root.path.iterdir()):
        why = "a mount point" if root.path.is_mount() else "what it lies in may not be written to"
        found = replace(found, left={**found.left, str(root.path): f"empty now: {why}"})
    return Result("remove", found.describe(removed=True, gone=gone))


def keep(found: Removal) -> Result[Removed]:
    """Give what would have gone, where the answer was no."""
    return Result("remove", found.describe(removed=False))
