"""Profiles and stacks: those that ship with the program, by name, and those of others, by file."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import Version

from xpusetup.base.command import Command
from xpusetup.base.errors import UsageError
from xpusetup.base.text import nearest
from xpusetup.base.values import TomlError, parse_toml
from xpusetup.config.hashes import FILE, with_known
from xpusetup.config.load import expand_home, is_stack, parse_profile, read_patches
from xpusetup.system import files
from xpusetup.system.environment import from_home

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xpusetup.config.profile import Profile
    from xpusetup.config.take import Ways


VERSION = re.compile(r"\d+(?:\.\d+)*")


@cache
def other_ways() -> Ways:
    from xpusetup.config.take import ORIGIN, parse_ways  # noqa: PLC0415 - only who takes a part otherwise needs it

    return parse_ways(files.package_text(ORIGIN))


def profile_names() -> list[str]:
    return sorted(path.stem for path in files.package_file("profiles").glob("*.toml"))


def full_name(name: str) -> str:
    """Give the whole name of a profile of a release of PyTorch: torch-2.14 for 2.14; any other as it is."""
    whole = f"torch-{name}"
    return whole if re.fullmatch(r"\d+\.\d+", name) and whole in profile_names() else name


def newest_profile() -> str:
    """Give the profile of the newest release of PyTorch that ships with the program."""
    names = [name for name in profile_names() if name.startswith("torch-")]
    return max(names, key=lambda name: Version(name.removeprefix("torch-")))


def _nearest(name: str) -> str:
    """Give the profile that may be meant: of a release that does not ship the one before it, not the likest letters.

    Where no release is named it is the newest that is advised, of a series or for an accelerator.
    """
    name = re.sub(r"^v(?=\d)", "", name)
    name = f"torch-{name}" if VERSION.fullmatch(name) else name
    series, _, version = name.rpartition("-")
    same = _list_series().get(series, [])
    if same and VERSION.fullmatch(version):
        older = [each for each in same if Version(each.rpartition("-")[2]) <= Version(version)]
        return _newest_advised(older) or (older or same[:1])[-1]
    if newest := _newest_for(name.lower()):
        return newest
    bare = "" if re.search(r"\d", name) else nearest(name, _list_series())
    close = _newest_advised(_list_series().get(bare, []))
    return close or nearest(name, [*profile_names(), *stack_names()])


def _list_series() -> dict[str, list[str]]:
    """List the profiles whose names end in a release, by what stands before it, the oldest first."""
    pairs = [(each.rpartition("-"), each) for each in profile_names()]
    found = [(parts[0], Version(parts[2]), each) for parts, each in pairs if VERSION.fullmatch(parts[2])]
    return {series: [each for own, _, each in sorted(found) if own == series] for series, _, _ in found}


def _newest_advised(names: Iterable[str]) -> str:
    advised = [each for each in names if load_profile(each).tier != "new"]
    return advised[-1] if advised else ""


def _newest_for(accelerator: str) -> str:
    ordered = [each for names in _list_series().values() for each in names]
    return _newest_advised(each for each in ordered if load_profile(each).accelerator == accelerator)


@cache
def _known_hashes() -> str:
    return files.package_text(FILE)


def stack_names() -> list[str]:
    return sorted(path.stem for path in files.package_file("stacks").glob("*.toml"))


LONGEST_NAME = 256
"""Letters that no file system has in a name."""


def load_profile(name: str) -> Profile:
    """Load a profile, or a stack as one, by its name or its file."""
    name = full_name(name)
    path = Path(name) if is_path(name) else _shipped_file(name)
    text = _read_profile(name, path)
    origin = name if is_path(name) else f"{name}.toml"
    made = _load_stack(text, origin) if is_stack(text) else parse_profile(text, origin)
    profile = with_known(expand_home(made), _known_hashes())
    return read_patches(_with_device(profile, path) if profile.device else profile, path.parent)


def profile_text(name: str) -> str:
    """Give the text of a profile that can be copied, by its name or its file. Raises UsageError, also for a stack."""
    name = full_name(name)
    text = _read_profile(name, Path(name) if is_path(name) else _shipped_file(name))
    if is_stack(text):
        fix = "copy its file, or name a profile: --from torch-2.14"
        raise UsageError(f"{name} is a stack, and no profile", fix=fix)
    return text


def _refuse_told(name: str, text: str | None) -> None:
    """Refuse what tells of a machine in the place of a profile, with the command that judges it."""
    if text is None or name.endswith(".toml"):
        return
    try:
        parse_toml(text)
    except TomlError:
        form, option, what = ("JSON", "--facts", "facts of a machine")
        if not text.lstrip().startswith("{"):
            form, option, what = ("no TOML", "--paste", "what somebody posted")
        told = shlex.join(("xpusetup", "doctor", option, name))
        raise UsageError(f"{name} is no profile: it is {form}", fix=f"if it holds {what}: {told}") from None


def _shipped_file(name: str) -> Path:
    folder = "stacks" if name in stack_names() else "profiles"
    return files.package_file(folder) / f"{name}.toml"


def _read_profile(name: str, path: Path) -> str:
    text = files.read_input(path)
    _refuse_told(name, text)
    if text is None and is_path(name):
        raise UsageError(f"there is no profile file {name} that can be read", command="xpusetup profiles list")
    if text is None and len(name) < LONGEST_NAME and Path(name).is_file():
        _refuse_told(name, files.read_input(Path(name)))
        raise UsageError(f"there is no profile {name!r}; a file is named by its path", fix=f"--profile ./{name}")
    if text is None:
        if close := _nearest(name):
            line = Command(f"the same command with {close}", again=(name, close))
            raise UsageError(f"there is no profile {name!r}; did you mean {close}?", command=line)
        fix = "leave it out, and the release is chosen that fits this machine; all that there are: "
        raise UsageError(f"there is no profile {name!r}", fix=fix, command="xpusetup profiles list")
    return text


def _load_stack(text: str, origin: str) -> Profile:
    """Read a stack, and the profile of its torch: by name, or a file named from the stack's folder."""
    from xpusetup.config.stack import make_profile, parse_stack  # noqa: PLC0415 - most builds are of a profile alone

    stack = parse_stack(text, origin)
    named = str(Path(origin).parent / from_home(stack.torch)) if is_path(stack.torch) else stack.torch
    if is_stack(_read_profile(named, Path(named) if is_path(named) else _shipped_file(named))):
        raise UsageError(
            f"{origin}: torch: {stack.torch} is a stack itself", fix="name the profile that its torch is of"
        )
    return make_profile(stack, load_profile(named))


def versions_beside(torch: str) -> dict[str, str]:
    """Give the versions of distributions that the profile of this release of torch has, by name."""
    release = torch.partition("+")[0]
    name = f"torch-{release.rpartition('.')[0]}"
    if name not in profile_names():
        return {}
    parts = {part.distribution: part.version for part in load_profile(name).components if part.kind != "skip"}
    return parts if parts.get("torch", "").partition("+")[0] == release else {}


def _with_device(profile: Profile, path: Path) -> Profile:
    """Name a profile's device file from the root of the file system: the profile says it from its own folder."""
    return replace(profile, device=str(path.parent.absolute() / from_home(profile.device)))


def is_path(name: str) -> bool:
    return name.endswith(".toml") or "/" in name


def file_as_profile(path: str) -> str:
    """Give the path of a file so that `--profile` takes it for one, and for no name or option: ./mine for mine."""
    return path if is_path(path) and not path.startswith("-") else f"./{path}"


@cache
def _load_shipped(name: str) -> Profile:
    return load_profile(name)


def every_profile() -> tuple[Profile, ...]:
    return tuple(_load_shipped(name) for name in profile_names())


def shipped() -> tuple[Profile, ...]:
    return tuple(_load_shipped(name) for name in profile_names() if name.startswith("torch-"))
