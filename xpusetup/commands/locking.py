"""Locks: every revision that was asked for, found on its server and pinned."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xpusetup.commands.result import Result
from xpusetup.commands.workspace import Workspace, open_workspace
from xpusetup.effects import files
from xpusetup.effects.clock import today
from xpusetup.effects.environment import variables
from xpusetup.effects.git import list_refs, read_files
from xpusetup.effects.hashes import read_hashes
from xpusetup.effects.lock import hold_lock
from xpusetup.effects.root import open_root, write_locked_profile
from xpusetup.emit.profile import render_profile
from xpusetup.errors import UsageError
from xpusetup.hashes import free_pins, indexes_of
from xpusetup.refs import choose, names_to_ask, unsure
from xpusetup.resolve import SHOWN, Lock, Tree, check_names, files_to_read, make_lock, names_cloned, pins_in
from xpusetup.settings import make_network

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from xpusetup.commands.places import Where
    from xpusetup.profile import SourceComponent

    Say: TypeAlias = Callable[[str], None]


def ensure_locked(workspace: Workspace, say: Say) -> Workspace:
    """Pin what was asked for by a name that moves, unless this root has it pinned already."""
    if workspace.locked:
        say(f"{_pinned(workspace)} (to move on: xpusetup profiles lock {workspace.options})")
    if workspace.locked or not workspace.revs:
        return workspace
    lock = resolve(workspace, workspace.revs, say)
    for line in lines_of(lock):
        say(line)
    return replace(workspace, profile=lock.profile, locked=True)


def _pinned(workspace: Workspace) -> str:
    parts = (part for part in workspace.profile.components if part.kind == "source" and part.name in workspace.revs)
    return ", ".join(f"{part.name} {workspace.revs[part.name]} is at {(part.rev or '')[:SHOWN]}" for part in parts)


def lines_of(lock: Lock) -> list[str]:
    """Give what a lock pinned, a line for each part, and what to know about it."""
    named = [
        f"{item.name} {item.now} {item.version}".rstrip() + f" (was {item.was}; {item.source})" for item in lock.changes
    ]
    return [*named, *lock.notes]


def resolve(workspace: Workspace, revs: dict[str, str], say: Say) -> Lock:
    """Find every ref and read what its tree names. Raises UsageError for an unknown one, NotReadyError offline."""
    profile = workspace.base
    check_names(profile, revs)
    sources = {part.name: part for part in profile.components if part.kind == "source"}
    trees: dict[str, Tree] = {}
    pins: dict[str, str] = {}
    for name in sorted(sources, key=lambda each: each != "torch"):
        ref = revs.get(name) or pins.get(name) or ("" if sources[name].rev else sources[name].ref)
        if ref:
            trees[name] = _read(workspace, sources[name], ref, say)
        if name == "torch" and name in trees:
            pins = pins_in(profile, trees[name])
    return make_lock(profile, trees, today())


def _read(workspace: Workspace, part: SourceComponent, ref: str, say: Say) -> Tree:
    say(f"asking {part.repo} for {ref}")
    env = make_network(workspace.settings.network, variables())
    names = names_to_ask(ref)
    found = choose(ref, part.repo, list_refs(part.repo, names, env) if names else {})
    held = read_files(part.repo, found, files_to_read(workspace.base, part.name), env)
    named: dict[str, str] = {}
    for name, (repo, tag) in names_cloned(part, held).items():
        say(f"asking {repo} for {tag}")
        named[name] = choose(tag, repo, list_refs(repo, names_to_ask(tag), env)).rev
    return Tree(found, ref, held, named)


def lock(where: Where, out: str, say: Say) -> Result:
    """Resolve anew what was asked for, and write it: into the root, where builds take it from, or as a profile."""
    workspace = open_workspace(where)
    revs = workspace.revs or unsure(workspace.base)
    if not revs and not (out and free_pins(workspace.base)):
        every = f"every commit of {workspace.profile.name} is confirmed: there is nothing to resolve"
        raise UsageError(every, fix="name what to build instead: --rev torch=main")
    if out and Path(out).exists():
        raise UsageError(f"{out} is there already", fix="name another file: --out FILE")
    found = _with_hashes(resolve(workspace, revs, say) if revs else Lock(workspace.base, (), ()), workspace, say)
    return Result("profiles lock", _write(workspace, revs, found, out))


def _with_hashes(found: Lock, workspace: Workspace, say: Say) -> Lock:
    """Add the hashes that the indexes publish of what is pinned without any; say of the rest that it has none."""
    free = free_pins(found.profile)
    if not free:
        return found
    say(f"asking the package indexes for the hashes of {len(free)} pins")
    network = {**variables(), **make_network(workspace.settings.network, variables())}
    told = read_hashes(free, indexes_of(found.profile), network)
    profile = found.profile.model_copy(update={"hashes": {**found.profile.hashes, **told.hashes}})
    left = [pin for pin in free if pin not in told.hashes]
    why = f": {told.why}" if told.why else ""
    notes = (f"no published hash was found of {', '.join(left)}: unverified origin{why}",) if left else ()
    return replace(found, profile=profile, notes=(*found.notes, *notes))


def _write(workspace: Workspace, revs: dict[str, str], found: Lock, out: str) -> dict[str, Any]:
    given = " ".join(f"--rev {name}={ref}" for name, ref in revs.items())
    again = f"xpusetup profiles lock --profile {workspace.base.name} {given}"
    if out:
        files.write_text(Path(out), render_profile(found.profile, f"Locked {today()}. Again: {again} --out {out}"))
    elif workspace.revs:
        root = open_root(workspace.root)
        with hold_lock(root / "lock", lambda _text: None):
            write_locked_profile(root, found.profile, workspace.asked)
    return {
        "profile": workspace.base.name,
        "root": str(workspace.root),
        "file": out or None,
        "revs": revs,
        "components": [asdict(change) for change in found.changes],
        "notes": list(found.notes),
        "next": _next(workspace, revs, out),
    }


def _next(workspace: Workspace, revs: dict[str, str], out: str) -> str:
    if out:
        return f"xpusetup build --profile {out}"
    if workspace.revs:
        return f"xpusetup build {workspace.options}"
    return " ".join(["xpusetup build", workspace.options, *(f"--rev {name}={ref}" for name, ref in revs.items())])
