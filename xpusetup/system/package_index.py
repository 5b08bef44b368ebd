"""What package indexes say: asked by pip, with all its settings."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xpusetup.system import files
from xpusetup.system.process import run_process

HELPER = "helpers/ask_index.py"
TIMEOUT_S = 600.0
"""Seconds for all the names of a profile: most answers come in less than one."""


@dataclass(frozen=True)
class PinHashes:
    """The hashes by pin, and why there are none, where pip could not be asked."""

    hashes: Mapping[str, list[str]] = field(default_factory=dict)
    why: str = ""


def read_hashes(pins: Sequence[str], indexes: Sequence[str], env: Mapping[str, str]) -> PinHashes:
    """Ask the indexes for the hashes of all files of some pins, with the first interpreter here that has a pip."""
    words = [word for index in indexes for word in ("--index", index)]
    why = ""
    for python in (sys.executable, "python3"):
        command = (python, "-B", str(files.package_file(HELPER)), *words, "hashes", *pins)
        done = run_process(command, seconds=TIMEOUT_S, env=dict(env))
        if done.code == 0:
            return PinHashes(json.loads(done.out.strip().splitlines()[-1]))
        lines = [line.strip() for line in done.err.strip().splitlines() if line.strip()]
        why = why or next((line for line in lines if line.startswith("xpusetup: ")), done.why or "pip did not answer")
    return PinHashes(why=why.removeprefix("xpusetup: "))
