"""What is installed in an environment, read from its folder of packages; nothing of it is started."""

from __future__ import annotations

import base64
import csv
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from xpusetup.effects import files
from xpusetup.guard import Change, Distribution, Guard, find_changes, find_steps, parse_guard

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from importlib.metadata import PathDistribution

    from xpusetup.guard import Kept
    from xpusetup.keys import Stamp
    from xpusetup.model import Step

INFO = ".dist-info"


def list_versions(packages: Path) -> dict[str, str]:
    """Give versions by canonical name from the names of folders alone: quick enough for every build."""
    stems = (path.name.removesuffix(INFO) for path in packages.glob(f"[!~]*{INFO}"))
    return {canonicalize_name(name): version for name, _, version in (stem.partition("-") for stem in stems)}


def read_distributions(packages: Path) -> tuple[Distribution, ...]:
    """Read what each distribution says of itself, who installed it and when."""
    from importlib.metadata import PathDistribution  # noqa: PLC0415 - slow to import; a build needs none

    folders = sorted(packages.glob(f"[!~]*{INFO}"))
    return tuple(_read(PathDistribution(folder), folder) for folder in folders if (folder / "METADATA").exists())


def _read(one: PathDistribution, folder: Path) -> Distribution:
    return Distribution(
        name=one.metadata["Name"],
        version=one.version,
        requires=tuple(one.requires or ()),
        installer=(one.read_text("INSTALLER") or "").strip(),
        requested=(folder / "REQUESTED").exists(),
        installed=folder.stat().st_mtime,
    )


def read_changes(document: dict[str, object], stamps: Iterable[Stamp]) -> tuple[Guard, tuple[Change, ...]] | None:
    """Say what is no longer as the guard left it; what a finished step left there itself since is as it should be."""
    guard = parse_guard(document)
    if guard is None or not Path(guard.packages).is_dir():
        return None
    now = list_versions(Path(guard.packages))
    changes = find_changes(guard, now, {kept.name: _is_rewritten(kept) for kept in guard.kept})
    own = set(_own(stamps)) if changes else set()
    return guard, tuple(change for change in changes if (change.name, change.now) not in own)


def read_damage(document: dict[str, object], stamps: Iterable[Stamp], steps: Sequence[Step]) -> dict[str, str]:
    """Say which steps of a plan have to be repeated, because what they installed was replaced since."""
    found = read_changes(document, stamps)
    return find_steps(found[1], steps) if found else {}


def find_altered(document: dict[str, object]) -> dict[str, str]:
    """Hash every file of what an environment keeps against its own list; say what became of the first that differs.

    Gives a reason by the path of that list. The scripts of bin/ are left out: they are made to compute their place.
    """
    guard = parse_guard(document)
    kept = [each for each in guard.kept if each.record and not each.editable] if guard else []
    return {each.record: why for each in kept if (why := _altered(Path(each.record)))}


def _altered(record: Path) -> str:
    packages = record.parent.parent
    for row in csv.reader((files.read_text(record) or "").splitlines()):
        name, listed = row[0], row[1] if len(row) > 1 else ""
        if not listed.startswith("sha256=") or "/bin/" in name:
            continue
        path = packages / name
        if not path.is_file():
            return f"{path} is missing"
        digest = base64.urlsafe_b64encode(bytes.fromhex(files.hash_file(path))).rstrip(b"=").decode()
        if digest != listed.removeprefix("sha256="):
            return f"{path} was changed after it was installed"
    return ""


def _own(stamps: Iterable[Stamp]) -> Iterable[tuple[str, str]]:
    """Give name and version of what steps installed and what stands as they left it."""
    for stamp in stamps:
        for made in stamp.made:
            path = Path(made.path)
            if path.name == "RECORD" and path.exists() and files.hash_file(path) == made.sha256:
                name, _, version = path.parent.name.removesuffix(INFO).partition("-")
                yield canonicalize_name(name), version


def _is_rewritten(kept: Kept) -> bool:
    """Say whether the list of files is another one; it is hashed only where size or time differ."""
    path = Path(kept.record)
    if not kept.record or not path.exists():
        return False  # the version says so then
    if kept.editable:
        told = files.read_text(path.parent / "direct_url.json") or ""
        return '"editable": true' not in told or kept.editable not in told
    seen = path.stat()
    if (seen.st_size, seen.st_mtime_ns) == (kept.size, kept.changed):
        return False
    return files.hash_file(path) != kept.sha256
