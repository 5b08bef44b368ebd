"""profiles: what ships, what one says, whether a file is right, new ones and locks."""

import os
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile
from pathlib import Path
from typing import get_args

from packaging.version import Version

from xpusetup.base.command import Advice, Command
from xpusetup.base.document import fields_of, reader_of
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.base.model import FoundRef
from xpusetup.base.text import command_on_one_line, comment
from xpusetup.base.values import parse_toml
from xpusetup.base.verbs import about_build
from xpusetup.commands.members import list_members
from xpusetup.commands.result import Result, Say
from xpusetup.config.devices import Device, is_device_file, make_modes, read_device, shipped_device, torch_of
from xpusetup.config.hashes import free_pins, indexes_of
from xpusetup.config.load import parse_profile, read_patches
from xpusetup.config.lock import (
    SHOWN,
    CommitFiles,
    Lock,
    PinChange,
    check_names,
    files_to_read,
    make_lock,
    names_cloned,
    pins_in,
)
from xpusetup.config.new_profile import (
    VERSION_FILES,
    ExtensionSource,
    NewProfileOptions,
    extension_of,
    make_device_profile,
    render_profile,
    repo_of,
    version_in,
)
from xpusetup.config.profile import Profile, SourceComponent, Tier
from xpusetup.config.request import choose, is_pinned, names_to_ask, unsure
from xpusetup.config.settings import make_network
from xpusetup.config.shipped import file_as_profile, load_profile, profile_names, profile_text, stack_names
from xpusetup.machine.gpus import TargetCosts
from xpusetup.machine.tables import target_costs
from xpusetup.run.lock import hold_lock
from xpusetup.run.root import open_root, write_locked_profile
from xpusetup.run.workspace import Where, Workspace, load_device, load_settings, open_workspace
from xpusetup.system import files
from xpusetup.system.environment import from_home, today, variables
from xpusetup.system.git import list_refs, read_files
from xpusetup.system.package_index import read_hashes
from xpusetup.system.trust import Foreign, foreign_file, trust

# profiles: what ships, what one says, whether a file is right, and a new one to begin with.


NAME = re.compile(r"[a-z][a-z0-9._-]*")
SCHEMA_FILE = "profile.schema.json"


@dataclass(frozen=True, kw_only=True)
class ListedProfile:
    """A profile in the list; `torch` and `toolkit` are versions, None for none."""

    name: str
    tier: Tier
    accelerator: str
    summary: str
    torch: str | None
    toolkit: str | None
    python: str
    tried: str


@dataclass(frozen=True, kw_only=True)
class ListedStack(ListedProfile):
    """A stack in the list: the profile that its torch is of, and what of its members is had, and what is left out."""

    stands_on: str
    wheels: list[str]
    sources: list[str]
    left_out: list[str]


@dataclass(frozen=True)
class ProfileList:
    """The profiles that ship with the program: tier by tier, the newest release first; and the stacks on them."""

    profiles: list[ListedProfile]
    stacks: list[ListedStack]


@dataclass(frozen=True, kw_only=True)
class ShownProfile(Profile):
    """A profile, and what was measured of its device targets."""

    costs: TargetCosts | None


@dataclass(frozen=True)
class CheckedProfile:
    """A profile that is right, the name or file that it was asked for by, and the names of its components."""

    profile: str
    named: str
    components: list[str]


@dataclass(frozen=True, kw_only=True)
class NewProfile:
    """A profile that was written, what it begins as, and its file."""

    profile: str
    from_: str
    file: str


@dataclass(frozen=True, kw_only=True)
class LockedProfile:
    """A profile whose revisions were found and pinned: in its root, or in a file that was named.

    `revs` are the refs that were asked for by component, `follows` is the command that builds it.
    """

    profile: str
    root: str
    file: str | None
    revs: dict[str, str]
    components: list[PinChange]
    notes: list[str]
    follows: str


@dataclass(frozen=True)
class TrustedFiles:
    """The files that may run commands as they are now (`why`: who else may change it), and the file that says so."""

    files: list[Foreign]
    record: str


def list_profiles() -> Result[ProfileList]:
    profiles = sorted((load_profile(name) for name in profile_names()), key=_place)
    stacks = [_stack_row(load_profile(name)) for name in stack_names()]
    return Result("profiles list", ProfileList([_row(profile) for profile in profiles], stacks))


def _stack_row(profile: Profile) -> ListedStack:
    members = list_members(profile)
    named = {how: [each.distribution for each in members if each.how == how] for how in ("wheel", "source", "skip")}
    stands_on = next(part.member.torch for part in profile.components if part.member)
    return ListedStack(
        **fields_of(_row(profile)),
        stands_on=stands_on,
        wheels=named["wheel"],
        sources=named["source"],
        left_out=named["skip"],
    )


def _place(profile: Profile) -> tuple[int, str, tuple[int, ...]]:
    torch = torch_of(profile)
    release = Version(torch).release if torch else ()
    kind = profile.accelerator if profile.tier == "other" else "last" if profile.accelerator == "cpu" else ""
    return get_args(Tier).index(profile.tier), kind, tuple(-part for part in release)


def _row(profile: Profile) -> ListedProfile:
    return ListedProfile(
        name=profile.name,
        tier=profile.tier,
        accelerator=profile.accelerator,
        summary=profile.summary,
        torch=torch_of(profile) or None,
        toolkit=f"{profile.toolkit.kind} {profile.toolkit.preferred}" if profile.toolkit else None,
        python=profile.python,
        tried=profile.tried,
    )


def show_profile(name: str) -> Result[ShownProfile]:
    """Give all that a profile says, with the source and confidence of each pin."""
    profile = load_profile(name)
    costs = target_costs().of(profile.arch.default if profile.arch else ())
    shown = ShownProfile(**fields_of(profile), costs=costs if costs.cost else None)
    return Result("profiles show", shown)


def check_profile(name: str) -> Result[CheckedProfile]:
    """Check a profile. Raises UsageError with every error of the file."""
    profile = load_profile(name)
    make_modes(profile, load_device(profile.accelerator, profile.device, load_settings()))
    parts = [*([profile.installer.name] if profile.installer else []), *(part.name for part in profile.components)]
    return Result("profiles check", CheckedProfile(profile.name, name, parts))


def trust_files(names: Sequence[str]) -> Result[TrustedFiles]:
    """Let files run commands as they are now: profiles, and whatever else was asked for. Raises UsageError."""
    found = [_look_at(from_home(name)) for name in names]
    record = trust(found)
    return Result("profiles trust", TrustedFiles(found, str(record)))


def _look_at(path: Path) -> Foreign:
    if not path.is_file():
        raise UsageError(
            f"there is no file {path}", fix="name a file, as in: ", command="xpusetup profiles trust ./profile.toml"
        )
    return next(iter(foreign_file(path)), Foreign(str(path.resolve()), files.hash_file(path), ""))


class ProfileSchema(dict[str, object]):
    """The JSON schema of a profile, as editors read it."""


def make_schema() -> Result[ProfileSchema]:
    """Give the JSON Schema of profile files, by which an editor completes and checks them."""
    schema = reader_of(Profile).json_schema()
    kits = schema["properties"]["toolkit"]["anyOf"]  # a file may list several, the preferred one first
    kits.append({"type": "array", "items": {"$ref": "#/$defs/ToolkitWanted"}, "minItems": 1})
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "xpusetup profile"}
    return Result("profiles schema", ProfileSchema({**schema, **head}))


def new_file(name: str, out: str) -> Path:
    """Give the file of a new profile. Raises UsageError for a bad name, and where a file is there."""
    if NAME.fullmatch(name) is None:
        raise UsageError(f"{name!r} is no name of a profile", fix="lower case letters, digits, '.', '_' and '-'")
    path = Path(out or f"{name}.toml")
    if path.exists():
        raise UsageError(f"{path} is there already", fix="name another file: --out FILE")
    return path


def new_profile(name: str, base: str, path: Path) -> Result[NewProfile]:
    """Write a profile of one's own that begins as a copy of another one, with its comments."""
    own = {"name": name, "tier": "own", "tried": "not yet"}
    began = f"Begun as a copy of {comment(base)}. Check it: xpusetup profiles check FILE"
    copied = profile_text(base)
    text = _copy(copied, own, began)
    if not own.items() <= parse_toml(text).items():  # where its own text says these otherwise than ours do
        text = render_profile(replace(parse_profile(copied, base), **own), began)  # type: ignore[arg-type]
    read_patches(parse_profile(text, str(path)), path.parent)
    files.write_text(path, f"#:schema ./{SCHEMA_FILE}\n{text}")
    return Result("profiles new", NewProfile(profile=name, from_=base, file=file_as_profile(str(path))))


def _copy(text: str, own: Mapping[str, str], began: str) -> str:
    """Give the text of a profile with values of its own, which stand before its first table, and another first line."""
    head, table, components = text.removeprefix("\ufeff").partition("\n[")
    body = "\n".join(dropwhile(lambda line: line.startswith("#"), head.splitlines()))
    for key, value in own.items():
        body = re.sub(rf'^{key} = ".*"$', f'{key} = "{value}"', body, flags=re.MULTILINE)
    return f"# {began}\n{body.strip()}\n{table}{components}"


# profiles new --device: from a device file to a profile that builds, autoloads and verifies that device.


BASE = "sim"
"""The shipped profile that has a ready torch and what an extension needs beside it."""
HEAD = "HEAD"


def new_for_device(
    name: str, file: str, asked: NewProfileOptions, *, base: str, path: Path, say: Say
) -> Result[NewProfile]:
    """Write the profile of a device that has a file. Raises UsageError, and NotReadyError for a server that is away."""
    device = read_device(file) if is_device_file(file) else shipped_device(file)
    extension_of(device, file)
    source = _find(device, asked, file, say)
    named = ""
    if is_device_file(file):  # told from the profile's own folder, so that both can be moved together
        named = os.path.relpath(from_home(file).absolute(), path.parent.absolute())
    profile = make_device_profile(name, load_profile(base or BASE), device, named, source)
    head = f"#:schema ./{SCHEMA_FILE}\n"
    files.write_text(path, head + render_profile(profile, "Begun for a device. Check it: xpusetup profiles check FILE"))
    return Result(
        "profiles new", NewProfile(profile=name, from_=f"{file} and {base or BASE}", file=file_as_profile(str(path)))
    )


def _find(device: Device, asked: NewProfileOptions, file: str, say: Say) -> ExtensionSource:
    """Pin the commit that was asked for, else the one that the device file names, else the newest."""
    known = device.source_
    repo = repo_of(device, asked, file)
    ref = asked.rev or (known.rev or known.ref if known and repo == known.repo else "") or HEAD
    env = make_network(load_settings().network, variables())
    names = (HEAD,) if ref == HEAD else names_to_ask(ref)
    say(f"asking {repo} for {ref}")
    told = list_refs(repo, names, env) if names else {}
    found = FoundRef(told[HEAD]) if ref == HEAD and HEAD in told else choose(ref, repo, told)
    directory = known.directory if known else "."
    prefix = "" if directory == "." else f"{directory}/"
    read = read_files(repo, found, [prefix + each for each in VERSION_FILES], env) if not asked.version else {}
    texts = {path.removeprefix(prefix): text for path, text in read.items()}
    return ExtensionSource(
        repo=repo,
        found=found,
        version=version_in(texts, known, asked),
        known=known,
        when=f"{'' if ref == HEAD else f'{ref}, '}{today()}",
    )


# Locks: every revision that was asked for, found on its server and pinned.


def _unsaid(_text: str) -> None:
    pass


def ensure_locked(
    workspace: Workspace, note: Say = _unsaid, say: Say = _unsaid, own: Collection[str] = ()
) -> Workspace:
    """Pin what was asked for by a name that moves, unless this root has it pinned already.

    `note` is told what came of it, `say` what is done for it. Where all that moves is a tree of the user's own (`own`),
    there is nothing to pin, and no server is asked.
    """
    if workspace.locked:
        parts = [part for part in workspace.profile.components if part.kind == "source" and part.name in workspace.revs]
        pinned = (f"{part.name} {workspace.revs[part.name]} is at {(part.rev or '')[:SHOWN]}" for part in parts)
        note(f"{', '.join(pinned)} (to move on: {about_build('profiles lock', workspace.options)})")
    if workspace.locked or not workspace.revs:
        return workspace
    moving = {part.name for part in workspace.base.components if part.kind == "source" and not (part.rev or part.tag)}
    if moving and moving <= {*own} and not workspace.known.get("rev"):
        stay = [f"{part.name} {part.version}" for part in workspace.base.components if part.kind == "wheel"]
        wheels = f"; of the profile stay: {', '.join(stay)}" if stay else ""
        note(f"{', '.join(sorted(moving))} are trees of your own, so that no branch is looked up{wheels}")
        return workspace
    try:
        lock = resolve(workspace, workspace.revs, say)
    except NotReadyError as error:
        if workspace.known.get("rev") or not is_pinned(workspace.base):
            why = f"{workspace.base.name} names branches. They are pinned first, unless each part is a tree of --source"
            own = "or name a release, whose commits are pinned, as in: xpusetup plan 2.14 --source torch=DIR"
            raise NotReadyError(f"{error.message}\n{why}", fix=Advice(error.fix, f"\n{own}")) from error
        note(f"{error.message}; planned with the pins of {workspace.base.name}, which are not confirmed")
        return workspace
    for item in lock.changes:
        note(f"{item.name} {item.now} {item.version}".rstrip() + f" (was {item.was}; {item.source})")
    for text in lock.notes:
        note(text)
    return replace(workspace, profile=lock.profile, locked=True)


def resolve(workspace: Workspace, revs: dict[str, str], say: Say) -> Lock:
    """Find every ref and read what its tree names. Raises UsageError for an unknown one, NotReadyError offline."""
    profile = workspace.base
    check_names(profile, revs)
    sources = {part.name: part for part in profile.components if part.kind == "source"}
    trees: dict[str, CommitFiles] = {}
    pins: dict[str, str] = {}
    for name in sorted(sources, key=lambda each: each != "torch"):
        ref = revs.get(name) or pins.get(name) or ("" if sources[name].rev else sources[name].ref)
        if ref:
            trees[name] = _read(workspace, sources[name], ref, say)
        if name == "torch" and name in trees:
            pins = pins_in(profile, trees[name])
    return make_lock(profile, trees, today())


def _read(workspace: Workspace, part: SourceComponent, ref: str, say: Say) -> CommitFiles:
    say(f"asking {part.repo} for {ref}")
    env = make_network(workspace.settings.network, variables())
    names = names_to_ask(ref)
    found = choose(ref, part.repo, list_refs(part.repo, names, env) if names else {})
    held = read_files(part.repo, found, files_to_read(workspace.base, part.name), env)
    named: dict[str, str] = {}
    for name, (repo, tag) in names_cloned(part, held).items():
        say(f"asking {repo} for {tag}")
        named[name] = choose(tag, repo, list_refs(repo, names_to_ask(tag), env)).rev
    return CommitFiles(found, ref, held, named)


def lock(where: Where, out: str, say: Say) -> Result[LockedProfile]:
    """Resolve anew what was asked for, and write it: into the root, where builds take it from, or as a profile."""
    workspace = open_workspace(where)
    revs = workspace.revs or unsure(workspace.base)
    if not revs and not (out and free_pins(workspace.base)):
        every = f"every commit of {workspace.profile.name} is confirmed: there is nothing to resolve"
        raise UsageError(every, fix="name what to build instead: --rev torch=main")
    if out and Path(out).exists():
        raise UsageError(f"{out} is there already", fix="name another file: --out FILE")
    found = _with_hashes(resolve(workspace, revs, say) if revs else Lock(workspace.base, (), ()), workspace, say)
    named = where.profile or str(workspace.known["named"])
    return Result("profiles lock", _write(workspace, revs, found, named=named, out=out and file_as_profile(out)))


def _with_hashes(found: Lock, workspace: Workspace, say: Say) -> Lock:
    """Add the hashes that the indexes publish of what is pinned without any; say of the rest that it has none."""
    free = free_pins(found.profile)
    if not free:
        return found
    say(f"asking the package indexes for the hashes of {len(free)} pins")
    network = {**variables(), **make_network(workspace.settings.network, variables())}
    told = read_hashes(free, indexes_of(found.profile), network)
    profile = replace(found.profile, hashes={**found.profile.hashes, **told.hashes})
    left = [pin for pin in free if pin not in told.hashes]
    why = f": {told.why}" if told.why else ""
    notes = (f"no published hash was found of {', '.join(left)}: unverified origin{why}",) if left else ()
    return replace(found, profile=profile, notes=(*found.notes, *notes))


def _write(workspace: Workspace, revs: dict[str, str], found: Lock, *, named: str, out: str) -> LockedProfile:
    given = [word for name, ref in revs.items() for word in ("--rev", f"{name}={ref}")]
    follows = workspace.command("build")
    if out:
        again = command_on_one_line(("xpusetup", "profiles", "lock", "--profile", named, *given, "--out", out))
        files.write_text(Path(out), render_profile(found.profile, f"Locked {today()}. Again: {again}"))
        follows = Command(command_on_one_line(("xpusetup", "build", "--profile", out)))
    elif workspace.revs:
        root = open_root(workspace.root)
        with hold_lock(root / "lock", lambda _text: None):
            write_locked_profile(root, found.profile, workspace.asked)
    else:
        follows = follows.like(f"{follows} {shlex.join(given)}")
    return LockedProfile(
        profile=workspace.base.name,
        root=str(workspace.root),
        file=out or None,
        revs=revs,
        components=list(found.changes),
        notes=list(found.notes),
        follows=follows,
    )
