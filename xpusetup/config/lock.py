"""A lock: refs that were found and the files of their trees become a profile in which every revision is pinned."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from xpusetup.base.document import read_as, to_table
from xpusetup.base.errors import UsageError
from xpusetup.base.model import FoundRef
from xpusetup.base.values import read_table
from xpusetup.config.cmake import find_tag
from xpusetup.config.new_profile import project_version
from xpusetup.config.profile import Component, Profile, SourceComponent, Vendored, WheelComponent, names_commit
from xpusetup.config.request import COMMIT, release_of
from xpusetup.config.take import DIGITS

# What a tree asks of the environment it is built in, held against the pins of a profile.


FILES = ("pyproject.toml", "requirements-build.txt", "requirements.txt")
"""Where PyTorch keeps its build requirements: the second from 2.9 on, before that in the third with all else."""
LINUX = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}


def find_unmet(pins: Sequence[str], files: Mapping[str, str | None]) -> Iterator[str]:
    """Name each requirement of the tree that the pins contradict, and each of its build that they lack."""
    pinned: dict[str, list[Requirement]] = {}
    for pin in map(Requirement, pins):
        pinned.setdefault(canonicalize_name(pin.name), []).append(pin)
    said = set()
    for path, wanted in _requirements(files):
        name = canonicalize_name(wanted.name)
        there = pinned.get(name, [])
        fitting = [pin for pin in there if wanted.specifier.contains(next(iter(pin.specifier)).version)]
        if name in said or (there and fitting) or (not there and path == "requirements.txt"):
            continue
        said.add(name)
        pins_it = " and ".join(map(str, there)) or "nothing of that name"
        yield f"{path} asks for {wanted}, and the profile pins {pins_it}"


def _requirements(files: Mapping[str, str | None]) -> Iterator[tuple[str, Requirement]]:
    for path in FILES:
        text = files.get(path) or ""
        lines = _build_system(text) if path.endswith(".toml") else text.splitlines()
        for line in lines:
            wanted = _parse(line)
            if wanted is not None and (wanted.marker is None or wanted.marker.evaluate(LINUX)):
                yield path, wanted


def _build_system(text: str) -> list[str]:
    requires = read_table(text, "build-system").get("requires")
    return [line for line in requires if isinstance(line, str)] if isinstance(requires, list) else []


def _parse(line: str) -> Requirement | None:
    try:
        return Requirement(line.partition(" #")[0].strip())
    except InvalidRequirement:
        return None


# From refs that were found and the files of their trees to a profile in which every revision is pinned: a lock.
#
# The torch tree itself names what belongs to it: torch-xpu-ops, Triton, vision and audio each have a file there
# that holds a commit. So any branch, release candidate or pull request is built with its own parts.


SHOWN = 9
SETUP_VERSION = re.compile(r'^ *(?:\w*VERSION = |version=)"(\d[\d.]*)"', re.MULTILINE)
"""How the setup.py of Triton for Intel GPUs says its version, from 3.4 on and before."""


@dataclass(frozen=True)
class CommitFiles:
    """A commit and what some of its files hold; None for a file that is not in it.

    `named`: the commits of the names at which it clones something by itself, by source.
    """

    found: FoundRef
    asked: str
    files: Mapping[str, str | None] = field(default_factory=dict)
    named: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PinChange:
    """What a lock made of one part. `source` is where the new revision is known from."""

    name: str
    was: str
    now: str
    version: str
    source: str


@dataclass(frozen=True)
class Lock:
    """A profile with every revision pinned, what was changed for it, and what to know about it."""

    profile: Profile
    changes: tuple[PinChange, ...]
    notes: tuple[str, ...]


def check_names(profile: Profile, asked: Mapping[str, str]) -> None:
    """Refuse a revision for what has none. Raises UsageError."""
    sources = [part.name for part in profile.components if part.kind == "source"]
    vendored = {item.name: item for part in _sources(profile) for item in part.vendored}
    for name in asked:
        if name in vendored and vendored[name].pin_file:
            why = f"the torch tree names it, in {vendored[name].pin_file}, and its configure checks that out"
            raise UsageError(
                f"--rev {name} would not last: {why}",
                fix=f"--rev torch=BRANCH, whose {vendored[name].pin_file} names it",
            )
        if name not in sources:
            kinds = {part.name: part.kind for part in profile.components}
            what = {"wheel": "is taken as a ready wheel", "skip": "is left out"}.get(
                kinds.get(name, ""), "is no component"
            )
            raise UsageError(
                f"--rev {name}: {name} {what} in {profile.name}", fix=f"built from source are: {', '.join(sources)}"
            )


def files_to_read(profile: Profile, name: str) -> tuple[str, ...]:
    """Give the paths that a lock reads in a component's tree; that of torch names the other parts."""
    part = next(each for each in _sources(profile) if each.name == name)
    vendored = [item.pin_file for item in part.vendored if item.pin_file]
    if name != "torch":
        return (part.version_file, *vendored)
    others = (each for each in profile.components if each.kind != "skip" and each.name != name)
    named = [path for each in others for path in (each.pin_file, each.version_file) if path and each.pin_file]
    return tuple(dict.fromkeys((part.version_file, *vendored, *named, *FILES)))


def pins_in(profile: Profile, torch: CommitFiles) -> dict[str, str]:
    """Give the commits that the torch tree names for components that are built from source.

    None for the release that the profile pins itself: what was released together is not what its CI was tried with.
    """
    if _is_same_release(profile, torch):
        return {}
    found = {part.name: _commit(torch.files.get(part.pin_file)) for part in _sources(profile) if part.pin_file}
    return {name: rev for name, rev in found.items() if rev}


def make_lock(profile: Profile, trees: Mapping[str, CommitFiles], when: str) -> Lock:
    """Pin every part by the trees that were read; `when` is the day, for the sources of the pins."""
    torch = trees.get("torch")
    follows = None if _is_same_release(profile, torch) else torch
    parts = [_lock_part(part, trees, follows, when) for part in profile.components]
    pairs = list(zip(profile.components, parts, strict=True))
    changes = tuple(change for old, new in pairs for change in _changes(old, new))
    stays = (text for old, new in pairs if old is new for text in _stays(old, torch if _is_guess(old) else follows))
    summary = ", ".join(f"{name} {tree.asked} at {tree.found.rev[:SHOWN]}" for name, tree in trees.items())
    own = {} if follows is None and not set(trees) - {"torch"} else {"tier": "moving", "published": None}
    data = to_table(profile) | {
        "components": [to_table(part) for part in parts],
        "summary": f"{profile.name} with {summary}",
        "tried": f"never: locked {when}",
        **own,
    }
    return Lock(read_as(Profile, data), changes, (*stays, *_warnings(profile, torch)))


def _lock_part(part: Component, trees: Mapping[str, CommitFiles], torch: CommitFiles | None, when: str) -> Component:
    if part.kind == "source" and part.name in trees:
        return _lock_source(part, trees[part.name], when)
    tree = trees.get("torch") if _is_guess(part) else torch
    return _lock_wheel(part, tree) if part.kind == "wheel" and part.pin_file and tree is not None else part


def _is_guess(part: Component) -> bool:
    """Say whether the version of a wheel is a guess, which the tree of the release itself mends."""
    return part.kind == "wheel" and bool(part.reason)


def _is_same_release(profile: Profile, torch: CommitFiles | None) -> bool:
    own = next((part for part in _sources(profile) if part.name == "torch"), None)
    return own is not None and torch is not None and bool(own.tag) and own.tag == torch.found.tag


def _changes(old: Component, new: Component) -> Iterator[PinChange]:
    if old is new:
        return
    if isinstance(old, WheelComponent) and isinstance(new, WheelComponent):
        yield PinChange(new.name, old.version, new.version, new.version, new.source)
    if isinstance(old, SourceComponent) and isinstance(new, SourceComponent):
        was = " ".join(word for word in (old.tag or old.ref, (old.rev or "")[:SHOWN]) if word)
        now = " ".join(word for word in (new.tag or new.ref.split("/", 2)[-1], (new.rev or "")[:SHOWN]) if word)
        yield PinChange(new.name, was, now, new.version, new.source)
        yield from (_vendored_change(*pair) for pair in zip(old.vendored, new.vendored, strict=True))


def _sources(profile: Profile) -> Iterator[SourceComponent]:
    return (part for part in profile.components if part.kind == "source")


def _commit(text: str | None) -> str:
    return next((word for word in (text or "").split() if COMMIT.fullmatch(word)), "")


def _lock_source(part: SourceComponent, tree: CommitFiles, when: str) -> SourceComponent:
    found = tree.found
    return replace(
        part,
        rev=found.rev,
        tag=found.tag,
        ref="" if found.tag else found.ref,
        version=_version(part, tree),
        source=f"{tree.asked} of {part.repo}, {when}",
        confidence="confirmed",
        reason="",
        vendored=[_lock_vendored(item, tree) for item in part.vendored],
    )


def _version(part: SourceComponent | WheelComponent, tree: CommitFiles) -> str:
    """Give the version of a tree as a wheel carries it: that of its release tag, else its file's with the commit.

    A build that is not told its version takes what its file says.
    """
    text = tree.files.get(part.version_file or "") or ""
    text = _read_version(part.version_file or "", text)
    if isinstance(part, SourceComponent) and part.version_variable is None:
        version = _normal(text) or part.version
        return f"{Version(version).public}+git{tree.found.rev[:DIGITS]}" if names_commit(part.version) else version
    local = Version(part.version).local
    if release := release_of(tree.found.tag):
        return str(Version(f"{release}+{local}" if local else release))
    base = Version(_normal(text) or part.version).public
    return str(Version(f"{base}+{f'{local}.' if local else ''}git{tree.found.rev[:SHOWN]}"))


def _read_version(file: str, text: str) -> str:
    """Read the version that a file of a tree says: a setup.py in plain words, before what it adds by itself."""
    if file.endswith(".toml"):
        return project_version(text)
    if file.endswith(".py"):
        found = SETUP_VERSION.search(text)
        return found[1] if found else ""
    return text.strip()


def _normal(text: str) -> str:
    """Give a version as in the name of a wheel; empty where it is none."""
    try:
        return str(Version(text))
    except InvalidVersion:
        return ""


def names_cloned(part: SourceComponent, files: Mapping[str, str | None]) -> dict[str, tuple[str, str]]:
    """Give address and name of what a tree clones by itself, by source, where that is a tag or branch and no commit."""
    found = {item.name: (item.repo, _cloned_at(item, files)) for item in part.vendored if item.clones}
    return {name: (repo, tag) for name, (repo, tag) in found.items() if tag and not COMMIT.fullmatch(tag)}


def _cloned_at(item: Vendored, files: Mapping[str, str | None]) -> str:
    """Give the tag, branch or commit at which a tree clones a source; empty where that is not clear."""
    named = find_tag(files.get(item.pin_file or "") or "", item.clones)
    return "" if "${" in named else named


def _lock_vendored(item: Vendored, tree: CommitFiles) -> Vendored:
    named = _cloned_at(item, tree.files) if item.clones else tree.files.get(item.pin_file or "")
    rev = _commit(named) or tree.named.get(item.name, "")
    if not rev:
        return item
    tag = (named if named and named != rev else "") if item.clones else item.tag
    source = f"{item.pin_file} of {tree.found.rev[:SHOWN]}"
    return replace(item, rev=rev, source=source, confidence="confirmed", tag=tag, reason="")


def _lock_wheel(part: WheelComponent, torch: CommitFiles) -> WheelComponent:
    """Take the wheel of a release for a release tag or branch, else the one that was made nightly of that commit."""
    rev = _commit(torch.files.get(part.pin_file or ""))
    text = (torch.files.get(part.version_file or "") or "").strip()
    if not rev or not text:
        return part
    release = bool(release_of(torch.found.tag)) or torch.found.ref.startswith("refs/heads/release/")
    final = release and "rc" not in torch.found.tag and bool(torch.found.tag)
    return replace(
        part,
        version=str(Version(text if release else f"{text}+git{rev[:8]}")),
        index=part.index if final else (part.preview if release else part.nightly) or part.index,
        source=f"{part.pin_file} of {torch.found.rev[:SHOWN]}: {rev[:SHOWN]}",
        confidence="likely",
        reason="",
    )


def _vendored_change(old: Vendored, new: Vendored) -> PinChange:
    was, now = ((item.rev or "")[:SHOWN] or item.tag or "as the file says" for item in (old, new))
    return PinChange(new.name, was, now, "", new.source)


def _stays(part: Component, torch: CommitFiles | None) -> Iterator[str]:
    """Say of a part that follows torch, and could not, that it stays as it is."""
    if torch is not None and part.kind != "skip" and part.pin_file:
        named = [part.pin_file, *([part.version_file] if part.kind == "wheel" and part.version_file else [])]
        lacking = next((path for path in named if not torch.files.get(path)), part.pin_file)
        yield f"{part.name} stays at {part.version}: the tree has no {lacking}"


def _warnings(profile: Profile, torch: CommitFiles | None) -> Iterator[str]:
    if torch is None:
        return
    old = next(part for part in _sources(profile) if part.name == "torch")
    # of what the build clones by itself, and the tree does not name
    for item in old.vendored:
        if item.clones and not _cloned_at(item, torch.files):
            stays = item.tag or (item.rev or "")[:SHOWN]
            yield f"{item.name} stays at {stays}: {item.pin_file} of the tree names no commit or tag of it"
    new = Version(_version(old, torch))
    if new.release[:2] != Version(old.version).release[:2]:
        told = ".".join(map(str, new.release[:2]))
        yield f"torch is {told} there; toolkit, build requirements and run-time libraries are those of {profile.name}"
    yield from find_unmet(profile.build_requirements.pins, torch.files)
