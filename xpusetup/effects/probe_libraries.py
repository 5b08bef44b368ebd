"""The libraries of an environment that cannot work together, as helpers/environment_libraries.py reads them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from xpusetup.effects import files
from xpusetup.effects.process import run_process
from xpusetup.facts import Conflict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xpusetup.effects.notes import Notes
    from xpusetup.effects.sysroot import Sysroot

LOOK = "helpers/environment_libraries.py"
PATIENCE = 60.0
"""Seconds that the look may take; it reads a few MiB, and on a network file system with a cold cache that is slow."""
MOST = 40
"""Conflicts that are kept: an environment of which more is wrong is not mended one by one."""


def probe_conflicts(prefix: Path, places: Iterable[Path], sysroot: Sysroot, notes: Notes) -> list[Conflict] | None:
    """Look for libraries that cannot work together, with the caller's LD_LIBRARY_PATH; None where that failed."""
    found = look_at_libraries(prefix, places, sysroot)
    if isinstance(found, str):
        notes["torch.conflicts"] = found
        return None
    try:
        return [Conflict.model_validate(row) for row in found["conflicts"][:MOST]]
    except ValidationError as error:
        notes["torch.conflicts"] = str(error)
        return None


def look_at_libraries(
    prefix: Path, places: Iterable[Path], sysroot: Sysroot, *, closure: bool = False
) -> dict[str, Any] | str:
    """Give what the helper says of an environment, or why it says nothing. Nothing of the environment is started."""
    options = [word for place in places for word in ("--place", str(place))]
    options += ["--sysroot", sysroot.text] if sysroot.text else []
    options += ["--closure"] if closure else []
    words = (sys.executable, "-B", str(files.package_file(LOOK)), "--prefix", str(prefix), *options)
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    output = run_process(words, seconds=PATIENCE, env=kept, cwd=Path("/"))
    try:
        document: dict[str, Any] = json.loads(output.out)
    except ValueError:
        return output.why or next(reversed(output.err.strip().splitlines()), "it says nothing")
    return document
