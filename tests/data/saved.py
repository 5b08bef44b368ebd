"""The machines of `data.ailing` as files that `doctor --save` would have written."""

from __future__ import annotations

import atexit
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from data.ailing import MACHINES
from xpusetup.base.document import read_as, to_table
from xpusetup.machine.facts import Facts

KEPT = Path(__file__).parents[1] / "machines"
"""Where a few of them are kept, for people and for pictures."""


@cache
def _folder() -> Path:
    made = TemporaryDirectory(prefix="xpusetup-machines-")
    atexit.register(made.cleanup)
    return Path(made.name)


def text_of(name: str) -> str:
    """Give a machine as its file has it."""
    return json.dumps(to_table(read_as(Facts, MACHINES[name])), indent=2) + "\n"


@cache
def machine_file(name: str) -> Path:
    """Write a machine into a temporary folder."""
    path = _folder() / f"{name}.json"
    path.write_text(text_of(name))
    return path
