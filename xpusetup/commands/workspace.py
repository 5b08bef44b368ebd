"""What nearly every command begins with: settings, the profile, its device, and the folder of its root."""

from __future__ import annotations

import difflib
import hashlib
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import Version

from xpusetup.commands.accelerators import UnknownDeviceError, find_device, is_device_file, read_device
from xpusetup.devices import Device
from xpusetup.effects import files
from xpusetup.effects.environment import variable
from xpusetup.effects.root import Root, read_locked_profile
from xpusetup.errors import UsageError
from xpusetup.load import parse_profile
from xpusetup.model import ROOT, Layout
from xpusetup.refs import floating, parse_revs, slug
from xpusetup.settings import Settings, merge_settings

if TYPE_CHECKING:
    from xpusetup.facts import Facts
    from xpusetup.model import Request
    from xpusetup.profile import Profile


@dataclass(frozen=True, kw_only=True)
class Where:
    """The options that say which profile and which folders; empty means not given."""

    profile: str = ""
    root: str = ""
    name: str = ""
    build_dir: str = ""
    prefix: str = ""
    python: str = ""
    into: str = ""
    rev: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """A profile in its place. `chosen_by` says where the profile's name came from, `options` lead here again.

    `base` is the profile as its file says it, `profile` the same where this root has pinned the `revs` that were asked
    for (component -> ref); `locked` says whether it has.
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

    @property
    def asked(self) -> dict[str, object]:
        """What a lock follows from: the refs, and the profile that they are put into."""
        return _asked(self.base, self.revs)


def open_workspace(where: Where, facts: Facts | None = None) -> Workspace:
    """Load settings and profile; where none is named, the one that fits these facts, or this machine.

    Raises UsageError for what can't be read.
    """
    settings = load_settings()
    name, chosen_by = _choose_profile(where, settings, facts)
    profile = load_profile(name)
    given = parse_revs(where.rev)
    revs = {**floating(profile), **given}
    root = check_folder(_root(where, settings, where.name or root_name(name, given)))
    pinned = read_locked_profile(Root(root), _asked(profile, revs)) if revs else None
    layout = _layout(where, settings, root.name)
    return Workspace(
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
    )


def _choose_profile(where: Where, settings: Settings, facts: Facts | None) -> tuple[str, str]:
    """Give the profile's name and where it came from."""
    if where.profile:
        return where.profile, "--profile"
    if settings.profile:
        return settings.profile, settings.origins["profile"]
    from xpusetup.commands.newest import newest_that_fits  # noqa: PLC0415 - what is named needs no look at the machine

    return newest_that_fits(facts)


def _options(where: Where, name: str) -> str:
    """Give the options that a command needs to mean this workspace, ready for a shell."""
    given = {"--profile": name, "--root": where.root, "--name": where.name}
    folders = {"--build-dir": where.build_dir, "--prefix": where.prefix, "--into": where.into}
    words = [word for pair in {**given, **folders}.items() if pair[1] for word in pair]
    return shlex.join([*words, *(word for rev in where.rev for word in ("--rev", rev))])


def _asked(profile: Profile, revs: dict[str, str]) -> dict[str, object]:
    text = profile.model_dump_json(by_alias=True)
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
    names = {"--build-dir": layout.src, "--into" if layout.adopted else "--prefix": layout.venv}
    elsewhere = ((name, place) for name, place in names.items() if not place.startswith(ROOT))
    more = [word for pair in elsewhere if pair[0] not in workspace.options.split() for word in pair]
    return f"{workspace.options} {shlex.join(more)}".strip()


def load_settings() -> Settings:
    """Merge the site files and the project's xpusetup.toml."""
    home = Path(variable("XDG_CONFIG_HOME") or Path.home() / ".config")
    places = (Path("/etc/xpusetup/site.toml"), home / "xpusetup/site.toml", Path("xpusetup.toml"))
    found = ((place, files.read_text(place)) for place in places)
    return merge_settings([(str(place), text) for place, text in found if text is not None])


def profile_names() -> list[str]:
    """List the profiles that ship with the program."""
    return sorted(path.stem for path in files.package_file("profiles").glob("*.toml"))


def newest_profile() -> str:
    """Give the profile of the newest release of PyTorch that ships with the program."""
    names = [name for name in profile_names() if name.startswith("torch-")]
    return max(names, key=lambda name: Version(name.removeprefix("torch-")))


def load_profile(name: str) -> Profile:
    """Load a profile by its name or its file."""
    path = Path(name) if _is_path(name) else files.package_file("profiles") / f"{name}.toml"
    text = files.read_text(path)
    if text is None and _is_path(name):
        raise UsageError(f"there is no profile file {name} that can be read", fix="xpusetup profiles list")
    if text is None:
        close = difflib.get_close_matches(name, profile_names(), n=1, cutoff=0.4)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise UsageError(f"there is no profile {name!r}{hint}", fix="xpusetup profiles list")
    profile = parse_profile(text, name if _is_path(name) else f"{name}.toml")
    from xpusetup.commands.sources import read_patches  # noqa: PLC0415 - it imports this module

    return read_patches(_with_device(profile, path) if profile.device else profile, path.parent)


def _with_device(profile: Profile, path: Path) -> Profile:
    """Name a profile's device file from the root of the file system: the profile says it from its own folder."""
    return profile.model_copy(update={"device": str(path.parent.absolute() / Path(profile.device).expanduser())})


def _is_path(name: str) -> bool:
    return name.endswith(".toml") or "/" in name


def root_name(name: str, revs: dict[str, str] | None = None) -> str:
    """Give the name of a profile's root: its own, or for a file its stem and a short hash of where it lies.

    Revisions that were asked for are part of it, so that an experiment does not replace the build of a release.
    """
    added = "".join(f"-{component}-{slug(ref)}" for component, ref in sorted((revs or {}).items()))
    if not _is_path(name):
        return f"{name}{added}"
    path = Path(name).resolve()
    return f"{path.stem}-{hashlib.sha256(str(path).encode()).hexdigest()[:8]}{added}"


def _root(where: Where, settings: Settings, name: str) -> Path:
    if where.root:
        return Path(where.root).absolute()
    if "/" in name or name in {".", ".."}:
        raise UsageError(f"--name {name!r} is not a folder name", fix="use --root DIR for a folder elsewhere")
    return roots_folder(settings) / name


def roots_folder(settings: Settings) -> Path:
    """Give the folder that holds the roots of builds."""
    return Path(variable("XPUSETUP_ROOT") or settings.root or _data_home()).expanduser().absolute()


def check_folder(path: Path) -> Path:
    """Refuse a folder that compilers' flags, scripts' first lines or PATH could not hold."""
    if odd := sorted({char for char in str(path) if char.isspace() or char in ":;'\"`\\$&|<>()[]{}*?!#@"}):
        raise UsageError(
            f"the folder {str(path)!r} holds {' '.join(map(repr, odd))}, which compiler flags and PATH cannot carry",
            fix="choose a plainer one: --root DIR",
        )
    return path


def _data_home() -> str:
    return f"{variable('XDG_DATA_HOME') or Path.home() / '.local/share'}/xpusetup"


def _layout(where: Where, settings: Settings, name: str) -> Layout:
    """Give the folders: an option names just that one, a settings file the parent of one for each root."""
    default = Layout()
    into = _find_environment(where) if where.into else ""
    return Layout(
        src=_folder(where.build_dir, settings.build_dir, name) or default.src,
        venv=into or _folder(where.prefix, settings.prefix, name) or default.venv,
        adopted=bool(into),
    )


def _find_environment(where: Where) -> str:
    """Give the prefix of an environment that was named by its folder or its interpreter. Links stay as they are."""
    for option, given in {"--prefix": where.prefix, "--python": where.python}.items():
        if given:
            fix = f"leave {option} out: the environment that is there has its own place and its own Python"
            raise UsageError(f"--into and {option} exclude each other", fix=fix)
    path = Path(where.into).expanduser().absolute()
    prefix = path.parent.parent if path.is_file() and path.parent.name == "bin" else path
    if not (prefix / "bin/python").is_file():
        fix = "name a venv, a conda prefix or its bin/python; this makes one: python3 -m venv DIR"
        raise UsageError(f"{path} is no environment: there is no {prefix}/bin/python", fix=fix)
    return str(check_folder(prefix))


def _folder(option: str, setting: str, name: str) -> str:
    chosen = option or (f"{setting}/{name}" if setting else "")
    return str(check_folder(Path(chosen).expanduser().absolute())) if chosen else ""


def describe_device(name: str, settings: Settings | None = None) -> Device:
    """Give what is known of an accelerator by that name, be it no more than its name, or that of its file."""
    if is_device_file(name):
        return read_device(name)
    known = settings or load_settings()
    try:
        return find_device(name, "", known)
    except UnknownDeviceError:
        return Device(name=name, title=f"{name} device")


def load_device(name: str, file: str = "", settings: Settings | None = None) -> Device:
    """Load what is known of an accelerator: from the file that a profile names, the site's files, or ours."""
    return find_device(name, file, settings or Settings())
