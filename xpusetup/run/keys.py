"""Keys and stamps: when a step is done, and which input changed. `helpers/step.sh` has the same rules."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xpusetup.base.model import Step, StepState

# Which input of a step changed: what it kept when it was done, beside what it would follow from now.


EXPORT = re.compile(r"^export ([A-Za-z_][A-Za-z0-9_]*)=(.*)$", re.MULTILINE)
SHOWN_LENGTH = 60
"""Characters of a value that a screen shows before it cuts it short."""


def find_changes(before: str, inputs: str, script: str) -> tuple[str, ...]:
    """Name every input that is another than it was; empty where nothing was kept to compare with.

    `before` is what the step kept: the inputs of its key, an empty line, and its script.
    """
    old_inputs, apart, old_script = before.partition("\n\n")
    if not apart:
        return ()
    return (*_changed_inputs(old_inputs, inputs), *_changed_script(old_script, script))


LINES = ("no longer: ", "now: ", "it no longer comes ", "it now comes ")
"""How a change of a script's line, or of its place, is told: one says little without the others."""


def summarise(changed: tuple[str, ...]) -> str:
    """Say in a few words why a step is stale."""
    if not changed:
        return "what it depends on changed"
    told = [each for each in changed if not each.startswith(LINES)] or changed
    if len(told) > 1 and told[0].startswith(LINES):
        return "its script changed (plan --explain shows how)"
    more = f" and {len(changed) - 1} more change{'s' if len(changed) > 2 else ''}" if len(changed) > 1 else ""  # noqa: PLR2004 - grammar
    return f"{told[0]}{more}"


def _changed_inputs(old: str, new: str) -> Iterator[str]:
    was, now = _named(old), _named(new)
    if was.get("root") != now.get("root"):
        yield f"root {was.get('root')} → {now.get('root')}"
    before = {name for name in was if name.startswith("after ")}
    after = {name for name in now if name.startswith("after ")}
    yield from (f"it no longer comes {name}" for name in sorted(before - after))
    yield from (f"it now comes {name}" for name in sorted(after - before))
    yield from (
        f"another result of {name.removeprefix('after ')}" for name in sorted(before & after) if was[name] != now[name]
    )
    if was.get("tools") != now.get("tools"):
        yield f"tools: {was.get('tools', 'none')} → {now.get('tools', 'none')}"


def _named(inputs: str) -> dict[str, str]:
    """Read the inputs of a key; the lines after those that begin with a known word identify compiler and toolkit."""
    found: dict[str, str] = {}
    tools = []
    for line in inputs.splitlines():
        first, _, rest = line.partition(" ")
        if first == "after":
            name, _, result = rest.partition(" ")
            found[f"after {name}"] = result
        elif first in {"xpusetup", "root", "script"}:
            found[first] = rest
        else:
            tools.append(line)
    return {**found, **({"tools": ", ".join(tools)} if tools else {})}


def _changed_script(old: str, new: str) -> Iterator[str]:
    was, now = dict(EXPORT.findall(old)), dict(EXPORT.findall(new))
    for name in sorted({*was, *now}):
        if was.get(name) != now.get(name):
            yield f"env {name} {_short(was.get(name, 'unset'))} → {_short(now.get(name, 'unset'))}"
    before, after = _lines(old), _lines(new)
    yield from (f"no longer: {_short(line)}" for line in before if line not in after)
    yield from (f"now: {_short(line)}" for line in after if line not in before)


def _lines(script: str) -> list[str]:
    """Give the lines that do something, long commands in one, without comments and without variables."""
    joined = EXPORT.sub("", script).replace(" \\\n", "")
    lines = (" ".join(line.split()) for line in joined.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _short(text: str) -> str:
    plain = text.replace('"$ROOT"', "ROOT")
    return plain if len(plain) <= SHOWN_LENGTH else f"{plain[: SHOWN_LENGTH - 1]}…"


# Keys and stamps: when a step is done. The same rules stand in `helpers/step.sh`; a test holds both together.


class Made(NamedTuple):
    """A file that a step left behind: its hash, size in bytes, and its times as `stat` prints them.

    `changed` is when its contents were last written, which anyone can set; `touched` when anything of it was, which the
    kernel alone sets. `inode`: which file it is.
    """

    sha256: str
    size: int
    changed: str
    path: str
    touched: str = ""
    inode: int = 0


class Stamp(NamedTuple):
    """What a finished step wrote down: its key, and what it made."""

    key: str
    made: tuple[Made, ...]

    @property
    def result(self) -> str:
        """The hash under which the steps after this one know what it did."""
        return sha256("".join(f"{line}\n" for line in (self.key, *(made.sha256 for made in self.made))))


INTERFACE = ".interface"
"""How a step's name ends that looks at what others see of a distribution: it stands for that, not for what it read."""


def result_of(name: str, stamp: Stamp) -> str:
    """Give the hash under which the steps after one know what it did."""
    made = "".join(f"{made.sha256}\n" for made in stamp.made)
    return sha256(made) if name.endswith(INTERFACE) else stamp.result


NO_DEVICE = "no device here"
"""Why a step that needs a device counts as done without a stamp."""


OWN = "always runs, to see what changed in the source tree"
"""Why a step that works in a tree of the user's own is never done."""


def installs(step: str) -> bool:
    """Say whether a step puts something into the environment that is verified."""
    return step.endswith(".install") or step == "runtime"


def sha256(text: str) -> str:
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
    digest, size, changed, touched, inode, path = line.split(" ", 5)
    return Made(digest, int(size), changed, path, touched, int(inode))


def render_stamp(stamp: Stamp) -> str:
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
        *(f"after {name} {result_of(name, stamp)}" for name, stamp in after),
        *identities,
    ]
    return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True)
class RootState:
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


def make_statuses(steps: Sequence[Step], seen: RootState) -> tuple[Status, ...]:
    """Judge each step of a plan, in order: done, stale (with what changed) or still to do."""
    found: dict[str, Status] = {}
    for step in steps:
        found[step.id] = _judge(step, seen, found)
    return tuple(found.values())


def _judge(step: Step, seen: RootState, found: Mapping[str, Status]) -> Status:
    stamp = seen.stamps.get(step.id)
    if stamp is None:
        ready = all(found[name].state == "done" for name in step.after)
        absent = ready and step.id in seen.absent and seen.absent[step.id] == current_key(step, seen)
        return Status(step.id, "done", NO_DEVICE) if absent else Status(step.id, "todo")
    waiting = next((name for name in step.after if found[name].state != "done" and not found[name].always), None)
    if waiting is not None:
        return Status(step.id, "stale", f"after {waiting}")
    if step.id in seen.damaged:
        return Status(step.id, "stale", seen.damaged[step.id])
    if stamp.key == current_key(step, seen):
        return Status(step.id, "stale", OWN, always=True) if step.always else Status(step.id, "done")
    changed = find_changes(seen.before.get(step.id, ""), _inputs(step, seen), seen.scripts[step.id])
    return Status(step.id, "stale", summarise(changed), changed)


def current_key(step: Step, seen: RootState) -> str:
    """Give the key that a step would leave now; its predecessors have to be done."""
    return sha256(_inputs(step, seen))


def _inputs(step: Step, seen: RootState) -> str:
    return make_inputs(
        root=seen.root,
        script=seen.scripts[step.id],
        after=[(name, seen.stamps[name]) for name in step.after],
        identities=[seen.identities[need] for need in step.needs if need in seen.identities],
    )
