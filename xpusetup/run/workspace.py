"""What nearly every command begins with: settings, the profile, its device, and the folders of its root."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xpusetup.base.command import Advice, Command
from xpusetup.base.document import to_text
from xpusetup.base.errors import UsageError
from xpusetup.base.model import XPU, Layout, Request
from xpusetup.base.text import hint_at_nearest, nearest
from xpusetup.base.verbs import about_build
from xpusetup.config.devices import Device, UnknownDeviceError, find_device, read_device
from xpusetup.config.request import floating, parse_revs, plain_name, slug
from xpusetup.config.settings import Settings, merge_settings
from xpusetup.config.shipped import full_name, is_path, load_profile, other_ways, profile_names, stack_names
from xpusetup.run.root import LOCKED, Root, find_roots, read_lock, read_locked_profile
from xpusetup.system import files
from xpusetup.system.environment import config_folder, from_home, is_own_environment, variable
from xpusetup.system.files import check_folder, note_place, plain_folder
from xpusetup.system.trust import Foreign, find_foreign, foreign_text, require_trust

if TYPE_CHECKING:
    from collections.abc import Callable

    from xpusetup.config.profile import Profile
    from xpusetup.machine.facts import Facts


# Where a build puts things: the folders that options, settings and the root itself name.


@dataclass(frozen=True, kw_only=True)
class Where:
    """The options that say which profile and which folders; empty means not given.

    `stack` is a profile by another name: one that has members. `may_make`: the command makes the environment that
    `into` names, where there is none yet. `say` is told which build was chosen, where none is named.
    """

    profile: str = ""
    stack: str = ""
    root: str = ""
    name: str = ""
    build_dir: str = ""
    prefix: str = ""
    python: str = ""
    into: str = ""
    rev: tuple[str, ...] = ()
    take: tuple[str, ...] = ()
    toolkit: str = ""
    may_make: bool = False
    say: Callable[[str], None] | None = field(default=None, compare=False, repr=False)


def with_compiler(where: Where, request: Request) -> Where:
    """Give where a build goes with the tool chain that XPU beside a torch is compiled by, where that is asked for."""
    return replace(where, toolkit=where.toolkit or "wheels") if request.only == (XPU,) else where


def make_layout(where: Where, settings: Settings, root: Path) -> Layout:
    """Give the folders: an option names just that one, a settings file the parent of one for each root."""
    default = Layout()
    prefix = "" if where.into else _folder("--prefix", where.prefix, settings.prefix, root.name)
    adopted = False
    if where.into:
        path = check_folder(note_place(from_home(where.into).absolute(), "--into ENV"))
        adopted = not _is_ours(path, root) and not (where.may_make and _is_free(path))
        if where.prefix and not adopted:
            fix = "leave --prefix out: both name the environment"
            raise UsageError("--into and --prefix exclude each other", fix=fix)
        prefix = _find_environment(where, path) if adopted else str(path)
    return Layout(
        src=_folder("--build-dir", where.build_dir, settings.build_dir, root.name) or default.src,
        venv=prefix or default.venv,
        adopted=adopted,
    )


def _is_free(path: Path) -> bool:
    """Say whether an environment can be made there: nothing is there, or a folder with nothing in it."""
    return not path.exists() or (path.is_dir() and not any(path.iterdir()))


def _is_ours(path: Path, root: Path) -> bool:
    """Say whether the root made the environment that is named, or began to."""
    layout = (read_lock(Root(root)) or {}).get("layout", {})
    return layout.get("venv") == str(path) and not layout.get("adopted")


SYSTEM = (Path("/usr"), Path("/usr/local"), Path("/"))
"""The prefixes of interpreters that belong to the system."""


def _find_environment(where: Where, path: Path) -> str:
    """Give the prefix of an environment that was named by its folder or its interpreter. Links stay as they are."""
    for option, given in {"--prefix": where.prefix, "--python": where.python}.items():
        if given:
            fix = f"leave {option} out: the environment that is there has its own place and its own Python"
            raise UsageError(f"--into and {option} exclude each other", fix=fix)
    prefix = path.parent.parent if path.is_file() and path.parent.name == "bin" else path
    if where.may_make and is_own_environment(prefix):
        other = str(Path.home() / "torch-env")
        line = Command(f"the same command with --into {other}", again=("--into", other))
        raise UsageError(f"{path} is xpusetup's own environment: PyTorch goes into another one", command=line)
    if path.is_file() and prefix in SYSTEM:
        fix = "name an environment of yours, or a folder that is not there yet: --into DIR"
        raise UsageError(f"{path} is the Python of the system, which is left alone", fix=fix)
    if not (prefix / "bin/python").is_file():
        new = " or a folder that is empty or not there yet" if where.may_make else ""
        fix = f"name a venv, a conda prefix or its bin/python{new}; this makes one: python3 -m venv DIR"
        raise UsageError(f"{path} is no environment: there is no {prefix}/bin/python", fix=fix)
    return str(prefix)


def _folder(option: str, given: str, setting: str, name: str) -> str:
    chosen = given or (f"{setting}/{name}" if setting else "")
    return str(check_folder(note_place(from_home(chosen).absolute(), f"{option} DIR"))) if chosen else ""


# What nearly every command begins with: settings, the profile, its device, and the folder of its root.


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """A profile in its place. `chosen_by` says where the profile's name came from, `options` lead here again.

    `base` is the profile as its file says it, its parts taken as was asked (`takes`: component -> how, `take_notes` a
    word on each); `profile` is the same where this root has pinned the `revs` that were asked for (component -> ref);
    `locked` says whether it has. `known` is by which words this root is asked for: `named`, the profile's name or file,
    `rev`, `take`, `toolkit` and `bundle`, its file; `root_named`: by an option, so that it is not simply that of the
    profile; `called`: its name where that leads here, empty for that of the profile, None where only the path does.
    `foreign` are the files behind it that are not the caller's alone: they may be read and shown, and need his trust
    (`trust_files`) before anything of theirs runs.
    """

    profile: Profile
    base: Profile
    revs: dict[str, str]
    locked: bool
    device: Device
    settings: Settings
    root: Path
    layout: Layout
    python: str
    chosen_by: str
    options: str
    root_named: bool = False
    called: str | None = None
    takes: dict[str, str] = field(default_factory=dict)
    take_notes: tuple[str, ...] = ()
    known: dict[str, object] = field(default_factory=dict)
    foreign: tuple[Foreign, ...] = ()

    def trust_files(self, request: Request | None = None) -> None:
        """Stop where a file that steps would follow is not trusted. Raises UntrustedError."""
        patches = ((Path(patch.file), patch.text) for patch in (request.patches if request else ()))
        require_trust((*self.foreign, *(each for path, text in patches for each in foreign_text(path, text))))

    def command(self, verb: str, *words: str) -> Command:
        """Give a command of this program that means this workspace, with more words behind its options."""
        return Command(f"{about_build(verb, self.options)} {shlex.join(words)}".rstrip())

    @property
    def asked(self) -> dict[str, object]:
        """What a lock follows from: the refs, and the profile that they are put into."""
        return _asked(self.base, self.revs)


def open_workspace(where: Where, facts: Facts | None = None) -> Workspace:
    """Load settings and profile; where none is named, the one that fits these facts, or this machine.

    Raises UsageError for what can't be read.
    """
    settings = load_settings()
    with files.noting() as seen:
        workspace, of_lock = _open(where, settings, facts)
    locks = {workspace.root / LOCKED}
    foreign = find_foreign(each for each in seen if of_lock or each.path not in locks)
    return replace(workspace, foreign=foreign)


def _open(where: Where, settings: Settings, facts: Facts | None) -> tuple[Workspace, bool]:
    """Open a workspace, and say whether its profile, or the pins of it, are those of the root's lock."""
    where, chosen_by = _choose_profile(where, settings, facts)
    name = where.profile
    loaded, of_lock = _load(where, settings)
    profile, kit, said = _choose_toolkit(loaded, where, settings)
    profile, takes, notes = _take(profile, where)
    revs = {**floating(profile), **(given := parse_revs(where.rev))}
    place = _root(where, settings, where.name or root_name(name, given, plain=profile.plain_path))
    plain = plain_folder(where.name)
    root = check_folder(place, how=f"--name {plain}" if plain != where.name else "")
    if is_own_environment(root):
        raise UsageError(f"{root} is xpusetup's own environment, and no build", fix="use another --name or --root")
    pinned = read_locked_profile(Root(root), _asked(profile, revs)) if revs else None
    layout = make_layout(where, settings, root)
    _check_python(pinned or profile, where.python)
    workspace = Workspace(
        profile=pinned or profile,
        base=profile,
        revs=revs,
        locked=pinned is not None,
        device=load_device(profile.accelerator, profile.device, settings),
        settings=settings,
        root=root,
        layout=layout,
        python=layout.python if layout.adopted else where.python,
        chosen_by=chosen_by,
        options=_options(where, name),
        root_named=bool(where.root or where.name),
        called=None if where.root or variable("XPUSETUP_ROOT") else where.name if where.name != name else "",
        takes=takes,
        take_notes=(*said, *notes),
        known={
            "named": str(Path(name).absolute()) if is_path(name) else name,
            "rev": list(where.rev),
            **({"take": list(where.take)} if where.take else {}),
            **({"toolkit": kit} if kit else {}),
        },
    )
    return workspace, of_lock or pinned is not None


def _check_python(profile: Profile, version: str) -> None:
    """Raise UsageError for a version of Python that the profile is not for, before anybody is told how to get it."""
    if version == "3" or re.fullmatch(r"\d+(\.\d+)*", version) is None:
        return
    from packaging.specifiers import SpecifierSet  # noqa: PLC0415 - most builds name none

    if not SpecifierSet(profile.python).contains(version):
        fix = f"leave --python out, or name one of these: {', '.join(profile.pythons)}"
        raise UsageError(f"{profile.name} takes Python {profile.python}, and not {version}", fix=fix)


def _choose_profile(where: Where, settings: Settings, facts: Facts | None) -> tuple[Where, str]:
    """Give where the profile is named, and from where its name came: a root that is named knows its own."""
    if where.stack and where.profile:
        fix = f"leave --profile {where.profile} out: the stack {where.stack} names the profile of its torch"
        raise UsageError("--stack and --profile exclude each other", fix=fix)
    if where.stack:
        return replace(where, profile=check_stack(where.stack), stack=""), "--stack"
    if where.profile:
        return where, "--profile"
    lock = _lock_of(where, settings)
    if lock:
        rev = where.rev or tuple(map(str, lock.get("rev", ())))
        named = str(lock.get("named", "")) or str(lock["profile"]["name"])
        take = where.take or tuple(map(str, lock.get("take", ())))
        kit = where.toolkit or str(lock.get("toolkit", ""))
        return replace(where, profile=named, rev=rev, take=take, toolkit=kit), "--root" if where.root else "--name"
    if settings.profile:
        return replace(where, profile=full_name(settings.profile)), settings.origins["profile"]
    if where.name:
        _refuse_new(where.name, settings)
    from xpusetup.recommend.default import newest_that_fits  # noqa: PLC0415 - what is named needs no look at the machine

    name, why = newest_that_fits(facts)
    return replace(where, profile=name), why


def _refuse_new(name: str, settings: Settings) -> None:
    """Raise UsageError for a name that no build has, where others are here: a wrong name costs hours of another one."""
    there = [root.path.name for root in find_roots(roots_folder(settings))]
    if not there or _root(Where(), settings, name).exists():
        return
    new = Command(f"xpusetup build PROFILE --name {shlex.quote(name)}", gaps=("PROFILE",))
    if close := nearest(name, there):
        meant = Command(f"the same command with --name {close}", again=("--name", close))
        fix = Advice(meant, "\na new build names its profile, as in: ", new)
        raise UsageError(f"there is no build {name!r}; did you mean {close}?", fix=fix)
    message = f"there is no build {name!r}; here are {', '.join(there[:MOST_BUILDS])}"
    raise UsageError(message, fix=Advice("a new build names its profile, as in: ", new))


MOST_BUILDS = 5


def check_stack(name: str) -> str:
    """Give the name of a stack, which is that of a profile too. Raises UsageError for what is none."""
    if not is_path(name) and name not in (*stack_names(), *profile_names()):
        message = f"there is no stack {name!r}{hint_at_nearest(name, stack_names())}"
        raise UsageError(message, fix=f"stacks that ship: {', '.join(stack_names())}")
    if not any(part.member for part in load_profile(name).components):
        raise UsageError(f"{name} is no stack", fix=f"--profile {name}; stacks that ship: {', '.join(stack_names())}")
    return name


def _choose_toolkit(profile: Profile, where: Where, settings: Settings) -> tuple[Profile, str, tuple[str, ...]]:
    """Give the profile with the toolkit that was asked for, the name to ask for it again, and a word on it.

    Where that is the usual one there is neither. A site names its own for the profiles that can be compiled with it.
    Raises UsageError for one that there is not.
    """
    if not where.toolkit and not settings.toolkit.name:
        return profile, "", ()
    from xpusetup.config.take import choose_toolkit, describe_chosen, toolkits_of  # noqa: PLC0415 - most ask for none

    usual = profile.toolkit.called if profile.toolkit else ""
    there = {kit.called for kit in toolkits_of(profile)}
    of_site = settings.toolkit.name if settings.toolkit.name in there else usual
    name = where.toolkit or of_site
    if name == usual:
        return profile, usual if of_site != usual else "", ()
    chosen = choose_toolkit(profile, name)
    return chosen, name, (describe_chosen(chosen),)


def _take(profile: Profile, where: Where) -> tuple[Profile, dict[str, str], tuple[str, ...]]:
    """Give the profile with its parts as they were asked for, what was asked, and a word on each.

    Raises UsageError for a way that a part does not have.
    """
    if not where.take:
        return profile, {}, ()
    from xpusetup.config.take import parse_takes, take_parts  # noqa: PLC0415 - most builds ask for none

    takes = parse_takes(where.take)
    taken = take_parts(profile, takes, other_ways())
    return taken.profile, takes, taken.notes


def _lock_of(where: Where, settings: Settings) -> dict[str, Any]:
    """Give what the root that an option names was last built from; empty where none is named, or nothing is there."""
    if not where.root and not where.name:
        return {}
    lock = read_lock(Root(_root(where, settings, where.name))) or {}
    return lock if isinstance(lock.get("profile"), dict) and "name" in lock["profile"] else {}


def _load(where: Where, settings: Settings) -> tuple[Profile, bool]:
    """Load the profile, and say whether it is that of the root's lock: so where its file is gone, or never was here."""
    try:
        return load_profile(where.profile), False
    except UsageError:
        lock = _lock_of(where, settings)
        if lock and where.profile in (lock.get("named"), lock["profile"]["name"]):
            locked = read_locked_profile(Root(_root(where, settings, where.name)), {})
            if locked is not None:
                return locked, True
        raise


def _options(where: Where, name: str) -> str:
    """Give the options that a command needs to mean this workspace, ready for a shell."""
    given = {"--profile": name, "--root": where.root, "--name": where.name if where.name != name else ""}
    folders = {"--build-dir": where.build_dir, "--prefix": where.prefix, "--into": where.into}
    words = [word for pair in {**given, **folders}.items() if pair[1] for word in pair]
    return shlex.join([*words, *(word for rev in where.rev for word in ("--rev", rev))])


def _asked(profile: Profile, revs: dict[str, str]) -> dict[str, object]:
    text = to_text(profile)
    return {"revs": revs, "base": hashlib.sha256(text.encode()).hexdigest()}


def origins_of(workspace: Workspace, where: Where, request: Request) -> dict[str, str]:
    """Say of each value that was not left to its default where it came from: the strongest of those that name it."""
    given = {"root": where.root, "build_dir": where.build_dir, "prefix": where.prefix, "into": where.into}
    given |= {"python": where.python, "arch": ",".join(request.arch)}
    options = {name: f"--{name.replace('_', '-')}" for name, value in given.items() if value}
    parent = {"root": "XPUSETUP_ROOT"} if variable("XPUSETUP_ROOT") else {}
    found = {"arch": "the profile", **workspace.settings.origins, **parent, **options}
    if workspace.profile.arch is None:
        del found["arch"]
    return {**found, "profile": workspace.chosen_by}


def options_of(workspace: Workspace, layout: Layout) -> str:
    """Give the options that mean this workspace with the folders of a layout, as a root's lock holds them."""
    given = workspace.options.split()
    more = [word for pair in layout.outside.items() if pair[0] not in given for word in pair]
    return f"{workspace.options} {shlex.join(more)}".strip()


def load_settings() -> Settings:
    """Merge the site files and the project's xpusetup.toml. Raises UntrustedError for one that others may write.

    They are followed by every command, and what they say is run to look at a toolkit: so it is none that only reads.
    """
    with files.noting() as seen:
        found = [(str(place), text) for place in settings_files() if (text := files.read_input(place)) is not None]
    require_trust(find_foreign(seen))
    return merge_settings(found)


def settings_files() -> tuple[Path, ...]:
    """Give where settings are looked for, the weakest first: of this machine, of this user, of this project."""
    return Path("/etc/xpusetup/site.toml"), config_folder() / "site.toml", Path("xpusetup.toml")


def root_name(name: str, revs: dict[str, str] | None = None, *, plain: bool = False) -> str:
    """Give the name of a profile's root: its own, or for a file its stem in plain letters and a short hash of its path.

    Revisions that were asked for are part of it, so that an experiment does not replace the build of a release. A
    `plain` one holds no dot, because of which a release would not build there.
    """
    added = "".join(f"-{component}-{slug(ref)}" for component, ref in sorted((revs or {}).items()))
    path = Path(name).resolve()
    own = f"{plain_folder(path.stem)}-{hashlib.sha256(os.fsencode(path)).hexdigest()[:8]}" if is_path(name) else name
    return plain_name(f"{own}{added}") if plain else f"{own}{added}"


def _root(where: Where, settings: Settings, name: str) -> Path:
    if where.root:
        return Path(where.root).absolute()
    if "/" in name or name in {".", ".."}:
        raise UsageError(f"--name {name!r} is not a folder name", fix="use --root DIR for a folder elsewhere")
    return roots_folder(settings) / name


def roots_folder(settings: Settings) -> Path:
    usual = f"{variable('XDG_DATA_HOME') or Path.home() / '.local/share'}/xpusetup"
    return from_home(variable("XPUSETUP_ROOT") or settings.root or usual).absolute()


def words_of_root(root: Path) -> str:
    """Give the words that name a root in a command, for a shell: its name in the usual folder, else its path."""
    usual = root.parent == roots_folder(load_settings()).resolve()
    return shlex.quote(root.name) if usual else f"--root {shlex.quote(str(root))}"


def describe_device(name: str) -> Device:
    """Give what is known of an accelerator by that name, be it no more than its name, or that of its file."""
    if is_path(name):
        return read_trusted_device(name)
    settings = load_settings()
    try:
        return find_device(name, "", settings)
    except UnknownDeviceError:
        return Device(name=name, title=f"{name} device")


def read_trusted_device(file: str) -> Device:
    """Read a device file whose variables and programs will be used. Raises UntrustedError, UsageError."""
    with files.noting() as seen:
        device = read_device(file)
    require_trust(find_foreign(seen))
    return device


def load_device(name: str, file: str = "", settings: Settings | None = None) -> Device:
    """Load what is known of an accelerator: from the file that a profile names, the site's files, or ours."""
    return find_device(name, file, settings or Settings())


# Which build is meant where none is named: the one that was finished last.


ONLY = "the only build here"
LAST = "the build that was finished last"


def open_built(where: Where, *, failing: bool = False, half: bool = False) -> Workspace:
    """Open the workspace of what is built: where nothing is named, the build that was finished or verified last.

    Where there is none, `failing` takes one whose verification failed, and `half` any that is here, to look at it.
    Raises NotReadyError where builds are here and none will do.
    """
    settings = load_settings()
    if where.profile or where.root or where.name or where.rev or settings.profile:
        return _open_as_built(where)
    from xpusetup.run.builds import choose_build, find_builds, unfinished  # noqa: PLC0415 - of a build that is named none

    builds = find_builds(roots_folder(settings))
    if where.into:
        place = from_home(where.into).absolute()  # or its bin/python
        builds = [each for each in builds if each.venv in (place, place.parent.parent)] or builds
    chosen = choose_build(builds, failing=failing or half)
    if chosen is None and half:
        chosen = max(builds, key=lambda each: each.when, default=None)
    if chosen is None and builds:
        raise unfinished(builds)
    if chosen is None:
        return _open_as_built(where)
    shipped = next((name for name in (*profile_names(), *stack_names()) if chosen.name in {name, plain_name(name)}), "")
    named = replace(where, profile=shipped) if shipped else replace(where, name=chosen.name)
    why = ONLY if len(builds) == 1 else LAST if chosen.finished else "the build that was at work last"
    if where.say is not None:
        where.say(f"{chosen.name}, {why}")
    return replace(_open_as_built(named), chosen_by=why)


def _open_as_built(where: Where) -> Workspace:
    """Open a workspace whose parts are taken as its root was built."""
    workspace = open_workspace(where)
    lock = read_lock(Root(workspace.root)) or {}
    take = tuple(map(str, lock.get("take", ())))
    same = lock.get("named") == workspace.known["named"]
    if not take or not same or tuple(where.take) == take:
        return workspace
    return replace(open_workspace(replace(where, take=take)), chosen_by=workspace.chosen_by)
