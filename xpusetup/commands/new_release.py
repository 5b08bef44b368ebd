"""profiles new --release: from upstream's files of a release and the wheels of the index to a whole profile."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.version import Version

from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.base.model import FoundRef
from xpusetup.commands.result import Result, Say
from xpusetup.config.hashes import indexes_of
from xpusetup.config.new_profile import render_profile
from xpusetup.config.new_release import (
    ReleasePin,
    check_tree,
    comment_of,
    make_diff,
    make_release,
    newest_tag,
    parse_release,
    release_before,
)
from xpusetup.config.request import names_to_ask
from xpusetup.config.settings import make_network
from xpusetup.config.shipped import file_as_profile, shipped
from xpusetup.config.upstream import (
    NEEDED,
    OPS,
    IndexWheel,
    Reading,
    paths_of_ops,
    paths_of_torch,
    places_lacking,
    read_ops,
    read_partner,
    read_torch_wheel,
    read_tree,
)
from xpusetup.run.workspace import load_settings
from xpusetup.system import files
from xpusetup.system.environment import from_home, today, variables
from xpusetup.system.git import list_refs, list_tags, read_files
from xpusetup.system.http import read_wheels

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from xpusetup.config.profile import Profile, SourceComponent, Vendored


@dataclass(frozen=True, kw_only=True)
class NewRelease:
    """A profile of a new release: each pin with where it was read, and what differs from the release before.

    `unconfirmed` are the pins that no file and no wheel told surely, `diff` the lines of a diff of both profiles.
    """

    profile: str
    from_: str
    file: str
    release: str
    pins: list[ReleasePin]
    unconfirmed: list[str]
    notes: list[str]
    diff: list[str]


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions:
    """What the command line says of a release; empty texts where nothing was said.

    `folder` holds upstream's files under their own paths, `source` is a checkout or an address of the torch tree.
    """

    release: str
    folder: str = ""
    source: str = ""


@dataclass(frozen=True)
class UpstreamReading:
    """What was read of upstream's trees: the point release, files by path, readings beside them, and what failed."""

    version: str
    where: str
    files: Mapping[str, str | None]
    readings: tuple[Reading, ...] = ()
    notes: tuple[str, ...] = ()


def new_release(name: str, asked: ReleaseOptions, file: Path, say: Say) -> Result[NewRelease]:
    """Write the profile of a release. Raises UsageError for files that lack what is needed, NotReadyError offline."""
    release, version = parse_release(asked.release)
    base = release_before(release, shipped())
    wheels, why = _ask_index(base, release, version, say)
    torch = newest_wheel(wheels, version)
    wanted = version or (Version(torch.version).public if torch else "")
    found = _read_folder(asked, release, wanted) if asked.folder else _read_source(asked, base, release, version, say)
    readings = (*found.readings, *readings_of(wheels, found.version), *read_tree(found.files, found.where))
    made = make_release(base, name or f"torch-{release}", found.version, readings, found.files, today())
    files.write_text(file, render_profile(made.profile, comment_of(made, base.name, today())))
    notes = [*found.notes, *([f"the index was not read: {why}"] if why else []), *made.notes]
    told = NewRelease(
        profile=made.profile.name,
        from_=base.name,
        file=file_as_profile(str(file)),
        release=_source(made.profile, "torch").version,
        pins=list(made.pins),
        unconfirmed=[pin.pin for pin in made.pins if pin.confidence != "confirmed"],
        notes=notes,
        diff=make_diff(base, made.profile),
    )
    return Result("profiles new", told)


# The wheels of the index.


def _ask_index(base: Profile, release: str, version: str, say: Say) -> tuple[list[IndexWheel], str]:
    """Read the wheels of torch, and those of what goes with it from the release before on; and why none was read."""
    before = {part.name: Version(part.version).public for part in base.components if part.kind == "source"}
    wanted = [f"torch=={version or f'{release}.*'}", *(f"torch{each}>={before[each]}" for each in ("vision", "audio"))]
    say(f"asking the package indexes for {', '.join(wanted)}")
    network = {**variables(), **make_network(load_settings().network, variables())}
    told = read_wheels(wanted, indexes_of(base), network)
    return [IndexWheel(**{key: _frozen(value) for key, value in each.items()}) for each in told.wheels], told.why


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def newest_wheel(wheels: Sequence[IndexWheel], version: str) -> IndexWheel | None:
    """Give the wheel of torch: of a point release, or of the newest one."""
    own = [each for each in wheels if each.name == "torch" and version in ("", Version(each.version).public)]
    return max(own, key=lambda each: Version(each.version), default=None)


def readings_of(wheels: Sequence[IndexWheel], version: str) -> Iterator[Reading]:
    """Read what the wheels say of a point release."""
    torch = newest_wheel(wheels, version)
    if torch is not None:
        yield from read_torch_wheel(torch)
    for part in ("vision", "audio"):
        yield from read_partner(part, [each for each in wheels if each.name == f"torch{part}"], version)


# Upstream's trees: a folder of files, a checkout, or the server.


def _read_folder(asked: ReleaseOptions, release: str, version: str) -> UpstreamReading:
    """Read the files that lie in a folder. Raises UsageError where the one is missing without which there is no XPU."""
    folder = from_home(asked.folder)
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}", fix=_clone(f"v{release}.0"))
    paths = (*paths_of_torch(), *(f"{OPS}/{path}" for path in paths_of_ops()))
    texts = {path: files.read_text(folder / path) for path in paths}
    tag = f"v{version or f'{release}.0'}"
    check_tree(release, texts, str(folder), _get(folder, NEEDED, tag))
    notes = [] if version else [f"{folder} does not say which tag it is of: {tag} is taken"]
    notes += [f"{path} is not there: {_get(folder, path, tag)}" for path in places_lacking(texts)]
    return UpstreamReading(version or f"{release}.0", f"{tag} in {folder}", texts, (), tuple(notes))


def _get(folder: Path, path: str, tag: str) -> str:
    """Give the command that gets one of upstream's files into a folder."""
    if path.startswith(OPS):
        own = shlex.quote(str(folder / OPS))
        return f"git clone https://github.com/intel/torch-xpu-ops {own}, and check out the commit of {NEEDED}"
    address = f"https://raw.githubusercontent.com/pytorch/pytorch/{tag}/{path}"
    return f"curl -fL --create-dirs -o {shlex.quote(str(folder / path))} {address}"


def _clone(tag: str) -> str:
    return f"git clone --depth 1 --branch {tag} https://github.com/pytorch/pytorch, then: --source pytorch"


def _read_source(asked: ReleaseOptions, base: Profile, release: str, version: str, say: Say) -> UpstreamReading:
    """Read the files of a tag of a checkout or of the server, with those of torch-xpu-ops that it names."""
    torch = _source(base, "torch")
    checkout = from_home(asked.source)
    repo = str(checkout.absolute()) if asked.source and checkout.is_dir() else asked.source or torch.repo
    env = make_network(load_settings().network, variables())
    say(f"asking {repo} for the tags of {release}")
    tags = list_tags(repo, f"v{release}.*", env)
    tag = f"v{version}" if version else newest_tag(release, list(tags))
    if tag not in tags:
        known = ", ".join(sorted(tags)) or "none"
        fix = f"name a point release, --release {release}.0, or a folder of its files: --from FOLDER"
        if asked.source:
            fix = f"git -C {shlex.quote(asked.source)} fetch --tags origin"
        raise UsageError(f"{repo} has no tag {tag or f'v{release}.*'} (of {release} it has {known})", fix=fix)
    found = FoundRef(tags[tag], f"refs/tags/{tag}")
    say(f"reading {tag} at {found.rev[:9]}")
    texts = read_files(repo, found, paths_of_torch(), env)
    check_tree(release, texts, f"{tag} of {repo}", _clone(tag))
    rev = Reading(pin="torch.rev", value=found.rev, source=f"{tag} of {torch.repo}")
    ops, notes = _read_ops(repo, base, texts[NEEDED] or "", env, say)
    named, more = _read_onednn(base, texts, env, say)
    where = f"{tag} ({found.rev[:9]})"
    return UpstreamReading(tag.removeprefix("v"), where, {**texts, **ops}, (rev, *named), (*notes, *more))


def _source(base: Profile, name: str) -> SourceComponent:
    return next(part for part in base.components if part.kind == "source" and part.name == name)


def _vendored(base: Profile, name: str) -> Vendored | None:
    return next((item for item in _source(base, "torch").vendored if item.name == name), None)


def _read_ops(
    repo: str, base: Profile, pin: str, env: Mapping[str, str], say: Say
) -> tuple[dict[str, str | None], list[str]]:
    """Read torch-xpu-ops at the commit that the torch tree names: of the checkout, else of its server."""
    commit = next((said.value for said in read_ops(pin)), "")
    item = _vendored(base, "torch-xpu-ops")
    if not commit or item is None:
        return {}, []
    own = Path(repo) / OPS
    places = [*([str(own)] if (own / ".git").exists() else []), item.repo]
    why = ""
    for place in places:
        say(f"reading torch-xpu-ops {commit[:9]} of {place}")
        try:
            told = read_files(place, FoundRef(commit), paths_of_ops(), env)
        except NotReadyError as error:
            why = error.message
        else:
            return {f"{OPS}/{path}": text for path, text in told.items()}, []
    return {}, [f"torch-xpu-ops was not read, so device targets and SYCL-TLA are unconfirmed: {why}"]


def _read_onednn(
    base: Profile, texts: Mapping[str, str | None], env: Mapping[str, str], say: Say
) -> tuple[list[Reading], list[str]]:
    """Ask for the commit of the tag at which the tree clones oneDNN."""
    item = _vendored(base, "onednn")
    tag = next((each.value for each in read_tree(texts, "") if each.pin == "onednn.tag"), "")
    if item is None or not tag:
        return [], []
    say(f"asking {item.repo} for {tag}")
    try:
        told = list_refs(item.repo, names_to_ask(tag)[:1], env)
    except NotReadyError as error:
        return [], [f"which commit oneDNN's {tag} is was not to be seen: {error.message}"]
    name = f"refs/tags/{tag}"
    rev = told.get(f"{name}^{{}}", told.get(name, ""))
    return ([Reading(pin="onednn.rev", value=rev, source=f"{tag} of {item.repo}")] if rev else []), []
