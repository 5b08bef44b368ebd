"""Keys and stamps: when a step is done. The same rules stand in `helpers/step.sh`; a test holds both together."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xpusetup.changes import find_changes, summarise

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from xpusetup.model import Step, StepState


@dataclass(frozen=True)
class Made:
    """A file that a step left behind: its hash, size in bytes, and its times as `stat` prints them.

    `changed` is when its contents were last written, which anyone can set; `touched` when anything of it was, which the
    kernel alone sets. `inode`: which file it is. The last two are empty in stamps of before they were kept.
    """

    sha256: str
    size: int
    changed: str
    path: str
    touched: str = ""
    inode: int = 0


@dataclass(frozen=True)
class Stamp:
    """What a finished step wrote down: its key, and what it made."""

    key: str
    made: tuple[Made, ...]

    @property
    def result(self) -> str:
        """The hash under which the steps after this one know what it did."""
        return sha256("".join(f"{line}\n" for line in (self.key, *(made.sha256 for made in self.made))))


NO_DEVICE = "no device here"
"""Why a step that needs a device counts as done without a stamp."""


OWN = "it runs each time: what changed in the source tree shows when it is built"
"""Why a step that works in a tree of the user's own is never done."""


def installs(step: str) -> bool:
    """Say whether a step puts something into the environment that is verified."""
    return step.endswith(".install") or step == "runtime"


def sha256(text: str) -> str:
    """Hash a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def parse_stamp(text: str) -> Stamp | None:
    """Read a stamp; None when it is no stamp (cut off, or of another program)."""
    key, *lines = text.splitlines() or [""]
    try:
        made = tuple(_parse_made(line) for line in lines)
    except ValueError:
        return None
    return Stamp(key, made) if key else None


def _parse_made(line: str) -> Made:
    digest, size, changed, rest = line.split(" ", 3)
    if rest.startswith("/"):
        return Made(digest, int(size), changed, rest)
    touched, inode, path = rest.split(" ", 2)
    return Made(digest, int(size), changed, path, touched, int(inode))


def render_stamp(stamp: Stamp) -> str:
    """Give a stamp as a step writes it."""
    lines = (f"{made.sha256} {made.size} {made.changed} {made.touched} {made.inode} {made.path}" for made in stamp.made)
    return "".join(f"{line}\n" for line in (stamp.key, *lines))


def make_inputs(*, root: str, script: str, after: Iterable[tuple[str, Stamp]], identities: Iterable[str]) -> str:
    """Give what a step follows from, line by line: where it is, its script, the results before it, the tools it needs.

    The key is the hash of this text. A finished step keeps both it and its script, so that a later plan can say what
    changed.
    """
    lines = [
        "xpusetup 1",
        f"root {root}",
        f"script {sha256(script)}",
        *(f"after {name} {stamp.result}" for name, stamp in after),
        *identities,
    ]
    return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True)
class Seen:
    """What is on disk for a plan: the root, scripts, stamps, tool identities by need, and the damaged stamps.

    `absent` holds the keys of steps that found no device when the machine showed the same devices as now, `before` what
    each finished step kept of its inputs and its script.
    """

    root: str
    scripts: Mapping[str, str]
    stamps: Mapping[str, Stamp]
    identities: Mapping[str, str]
    damaged: Mapping[str, str]
    absent: Mapping[str, str] = field(default_factory=dict)
    before: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Status:
    """Whether a step has to run, and why in a few words. `changed` names every input that is another than it was."""

    id: str
    state: StepState
    why: str = ""
    changed: tuple[str, ...] = ()
    always: bool = False


def make_statuses(steps: Sequence[Step], seen: Seen) -> tuple[Status, ...]:
    """Judge each step of a plan, in order: done, stale (with what changed) or still to do."""
    found: dict[str, Status] = {}
    for step in steps:
        found[step.id] = _judge(step, seen, found)
    return tuple(found.values())


def _judge(step: Step, seen: Seen, found: Mapping[str, Status]) -> Status:
    stamp = seen.stamps.get(step.id)
    if stamp is None:
        return Status(step.id, "done", NO_DEVICE) if _found_no_device(step, seen, found) else Status(step.id, "todo")
    waiting = next((name for name in step.after if found[name].state != "done" and not found[name].always), None)
    if waiting is not None:
        return Status(step.id, "stale", f"after {waiting}")
    if step.id in seen.damaged:
        return Status(step.id, "stale", seen.damaged[step.id])
    if stamp.key == current_key(step, seen):
        return Status(step.id, "stale", OWN, always=True) if step.always else Status(step.id, "done")
    changed = find_changes(seen.before.get(step.id, ""), _inputs(step, seen), seen.scripts[step.id])
    return Status(step.id, "stale", summarise(changed), changed)


def _found_no_device(step: Step, seen: Seen, found: Mapping[str, Status]) -> bool:
    ready = all(found[name].state == "done" for name in step.after)
    return ready and step.id in seen.absent and seen.absent[step.id] == current_key(step, seen)


def current_key(step: Step, seen: Seen) -> str:
    """Give the key that a step would leave now; its predecessors have to be done."""
    return sha256(_inputs(step, seen))


def _inputs(step: Step, seen: Seen) -> str:
    return make_inputs(
        root=seen.root,
        script=seen.scripts[step.id],
        after=[(name, seen.stamps[name]) for name in step.after],
        identities=[seen.identities[need] for need in step.needs if need in seen.identities],
    )
