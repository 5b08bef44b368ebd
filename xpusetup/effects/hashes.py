"""The hashes that package indexes publish, asked for by pip with all its settings."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xpusetup.effects import files
from xpusetup.effects.process import run_process

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HELPER = "helpers/read_hashes.py"
PATIENCE = 600.0
"""Seconds for all the names of a profile: most answers come in less than one."""


@dataclass(frozen=True)
class Told:
    """The hashes by pin, and why there are none, where pip could not be asked."""

    hashes: Mapping[str, list[str]] = field(default_factory=dict)
    why: str = ""


def read_hashes(pins: Sequence[str], indexes: Sequence[str], env: Mapping[str, str]) -> Told:
    """Ask the indexes for the hashes of all files of some pins, with the first interpreter here that has a pip."""
    words = [word for index in indexes for word in ("--index", index)]
    why = ""
    for python in (sys.executable, "python3"):
        command = (python, "-B", str(files.package_file(HELPER)), *words, *pins)
        done = run_process(command, seconds=PATIENCE, env=dict(env))
        if done.code == 0:
            found: dict[str, list[str]] = json.loads(done.out.strip().splitlines()[-1])
            return Told(found)
        lines = [line.strip() for line in done.err.strip().splitlines() if line.strip()]
        why = why or next((line for line in lines if line.startswith("xpusetup: ")), done.why or "pip did not answer")
    return Told(why=why.removeprefix("xpusetup: "))
