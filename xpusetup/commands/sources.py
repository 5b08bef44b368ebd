"""Source trees and patches of the user's own, as the command line names them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.commands.workspace import check_folder
from xpusetup.effects import files
from xpusetup.errors import UsageError
from xpusetup.plan.context import PATCHES, patch_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.model import Request

DIGEST = 12


def find_sources(words: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Give name and folder of each source tree. Raises UsageError where there is none."""
    return tuple(_find_source(*_split(word, "--source", "DIR")) for word in words)


def find_patches(words: Sequence[str]) -> tuple[tuple[str, str, str], ...]:
    """Give source, file and the beginning of its hash for each patch. Raises UsageError where there is none."""
    return tuple(_find_patch(*_split(word, "--patch", "FILE")) for word in words)


def copy_patches(request: Request, root: Path) -> None:
    """Put the patches where the steps look for them. Raises UsageError for one that changed since it was named."""
    folder = root / PATCHES.rpartition("/")[2]
    for name, file, digest in request.patches:
        if _find_patch(name, file)[2] != digest:
            raise UsageError(f"{file} changed just now", fix="the same command takes it as it is")
        files.write_text(folder / patch_name(name, file, digest), files.read_text(Path(file)) or "")


def _split(word: str, option: str, what: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not (name and equals and value):
        raise UsageError(f"{option} {word!r} is not COMPONENT={what}", fix=f"as in: {option} torch={what}")
    return name, value


def _find_source(name: str, folder: str) -> tuple[str, str]:
    path = check_folder(Path(folder).expanduser().absolute())
    if not (path / ".git").exists():
        raise UsageError(f"{path} is no git checkout", fix=f"git clone it first, or leave --source {name} out")
    return name, str(path)


def _find_patch(name: str, file: str) -> tuple[str, str, str]:
    path = Path(file).expanduser().absolute()
    if not path.is_file():
        raise UsageError(f"there is no patch {path}", fix=f"as in: --patch {name}=FILE, which `git diff` makes")
    return name, str(path), hashlib.sha256(files.read_bytes(path)).hexdigest()[:DIGEST]
