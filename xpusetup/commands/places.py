"""Where a build puts things: the folders that options, settings and the root itself name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.effects.root import Root, read_lock
from xpusetup.errors import UsageError
from xpusetup.model import Layout

if TYPE_CHECKING:
    from xpusetup.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Where:
    """The options that say which profile and which folders; empty means not given.

    `may_make`: the command makes the environment that `into` names, where there is none yet.
    """

    profile: str = ""
    root: str = ""
    name: str = ""
    build_dir: str = ""
    prefix: str = ""
    python: str = ""
    into: str = ""
    rev: tuple[str, ...] = ()
    may_make: bool = False


def check_folder(path: Path) -> Path:
    """Refuse a folder that compilers' flags, scripts' first lines or PATH could not hold."""
    if odd := sorted({char for char in str(path) if char.isspace() or char in ":;'\"`\\$&|<>()[]{}*?!#@"}):
        raise UsageError(
            f"the folder {str(path)!r} holds {' '.join(map(repr, odd))}, which compiler flags and PATH cannot carry",
            fix="choose a plainer one: --root DIR",
        )
    return path


def make_layout(where: Where, settings: Settings, root: Path) -> Layout:
    """Give the folders: an option names just that one, a settings file the parent of one for each root."""
    default = Layout()
    prefix = "" if where.into else _folder(where.prefix, settings.prefix, root.name)
    adopted = False
    if where.into:
        path = check_folder(Path(where.into).expanduser().absolute())
        adopted = not _is_ours(path, root) and not (where.may_make and _is_free(path))
        prefix = _find_environment(where, path) if adopted else _new_environment(where, path)
    return Layout(
        src=_folder(where.build_dir, settings.build_dir, root.name) or default.src,
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


def _new_environment(where: Where, path: Path) -> str:
    if where.prefix:
        raise UsageError("--into and --prefix exclude each other", fix="leave --prefix out: both name the environment")
    return str(path)


def _find_environment(where: Where, path: Path) -> str:
    """Give the prefix of an environment that was named by its folder or its interpreter. Links stay as they are."""
    for option, given in {"--prefix": where.prefix, "--python": where.python}.items():
        if given:
            fix = f"leave {option} out: the environment that is there has its own place and its own Python"
            raise UsageError(f"--into and {option} exclude each other", fix=fix)
    prefix = path.parent.parent if path.is_file() and path.parent.name == "bin" else path
    if not (prefix / "bin/python").is_file():
        new = " or a folder that is empty or not there yet" if where.may_make else ""
        fix = f"name a venv, a conda prefix or its bin/python{new}; this makes one: python3 -m venv DIR"
        raise UsageError(f"{path} is no environment: there is no {prefix}/bin/python", fix=fix)
    return str(prefix)


def _folder(option: str, setting: str, name: str) -> str:
    chosen = option or (f"{setting}/{name}" if setting else "")
    return str(check_folder(Path(chosen).expanduser().absolute())) if chosen else ""
