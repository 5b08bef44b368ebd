"""Names of wheels: find the one file of a distribution and version in a folder, or say why there is not just one."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from pathlib import Path


def fail(message: str, fix: str, code: int = 1) -> NoReturn:
    """Say on stderr what happened and what mends it, and end."""
    sys.stderr.write(f"xpusetup: {message}\n  {fix}\n")
    raise SystemExit(code)


def distribution_of(wheel: Path) -> tuple[str, str]:
    """Give the normalised name and the version that a wheel's file name holds."""
    name, version, *_tags = wheel.name.split("-")
    return re.sub(r"[-_.]+", "-", name).lower(), version


def wheels_of(folder: Path, distribution: str) -> list[Path]:
    """List a distribution's wheels in a folder, of all versions."""
    wanted = re.sub(r"[-_.]+", "-", distribution).lower()
    return [path for path in sorted(folder.glob("*.whl")) if distribution_of(path)[0] == wanted]


def find_wheel(folder: Path, distribution: str, version: str) -> Path:
    """Give the one wheel of this distribution and version; end with an error when there is none or another.

    No version: that of the tree that it was built from, whatever it is.
    """
    there = wheels_of(folder, distribution)
    matching = [path for path in there if version in ("", distribution_of(path)[1])]
    if len(matching) == 1:
        return matching[0]
    if matching:
        names = ", ".join(path.name for path in matching)
        fail(f"several wheels of {distribution} {version} in {folder}: {names}", "remove those of older builds")
    seen = ", ".join(path.name for path in there) or "none of it"
    fail(f"no wheel of {distribution} {version} in {folder} (there is {seen})", "build it again, or mend its version")
