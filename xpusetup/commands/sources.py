"""Source trees and patches of the user's own, as the command line names them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.commands.places import check_folder
from xpusetup.effects import files
from xpusetup.errors import UsageError
from xpusetup.model import Patch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.profile import PatchFile, Profile

EDITABLE = ":editable"
"""What follows the folder of a tree that is to be installed as it lies: no folder of a build may hold a colon."""

SIGNS = (".git", "setup.py", "pyproject.toml", "CMakeLists.txt", "python/setup.py")
"""What a source tree has one of: the last is Triton's before 3.4."""


def find_sources(words: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Give name and folder of each source tree. Raises UsageError where there is none."""
    return tuple(_find_source(*_split(word.removesuffix(EDITABLE), "--source", "DIR")) for word in words)


def find_editable(words: Sequence[str]) -> tuple[str, ...]:
    """Give the names of the source trees that are to be installed as they lie."""
    return tuple(word.partition("=")[0] for word in words if word.endswith(EDITABLE))


def find_archives(sources: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Give the names of the source trees that are unpacked archives, of which git knows nothing."""
    return tuple(name for name, folder in sources if not (Path(folder) / ".git").exists())


def find_patches(words: Sequence[str]) -> tuple[Patch, ...]:
    """Read each patch. Raises UsageError where there is none."""
    return tuple(_find_patch(*_split(word, "--patch", "FILE")) for word in words)


def read_patches(profile: Profile, folder: Path) -> Profile:
    """Give a profile with the texts of its patches, whose files are named from its own folder.

    Raises UsageError for one that is not there.
    """
    if not _names_patches(profile):
        return profile
    parts = [
        part.model_copy(
            update={
                "patches": [_with_text(patch, folder) for patch in part.patches],
                "vendored": [
                    item.model_copy(update={"patches": [_with_text(patch, folder) for patch in item.patches]})
                    for item in part.vendored
                ],
            }
        )
        if part.kind == "source"
        else part
        for part in profile.components
    ]
    return profile.model_copy(update={"components": parts})


def _names_patches(profile: Profile) -> bool:
    sources = [part for part in profile.components if part.kind == "source"]
    return any(part.patches or any(item.patches for item in part.vendored) for part in sources)


def _with_text(patch: PatchFile, folder: Path) -> PatchFile:
    if patch.text:
        return patch
    path = folder.absolute() / Path(patch.file).expanduser()
    return patch.model_copy(update={"text": _read_patch(path, "name it from the folder of the profile")})


def _split(word: str, option: str, what: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not (name and equals and value):
        raise UsageError(f"{option} {word!r} is not COMPONENT={what}", fix=f"as in: {option} torch={what}")
    return name, value


def _find_source(name: str, folder: str) -> tuple[str, str]:
    path = check_folder(Path(folder).expanduser().absolute())
    if not any((path / sign).exists() for sign in SIGNS):
        why = f"{path} is neither a git checkout nor an unpacked source archive: it has none of {', '.join(SIGNS)}"
        raise UsageError(why, fix=f"name the folder that has one, or leave --source {name} out")
    return name, str(path)


def _find_patch(name: str, file: str) -> Patch:
    path = Path(file).expanduser().absolute()
    text = _read_patch(path, f"as in: --patch {name}=FILE, which `git diff` makes")
    return Patch(source=name, file=str(path), text=text)


def _read_patch(path: Path, fix: str) -> str:
    if not path.is_file():
        raise UsageError(f"there is no patch {path}", fix=fix)
    try:
        text = files.read_bytes(path).decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"the patch {path} is not UTF-8 text", fix="git diff > FILE makes one") from error
    if not text.strip():
        raise UsageError(f"the patch {path} is empty", fix="git diff > FILE makes one of what is not committed")
    return text
