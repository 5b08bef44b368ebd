"""Installs what a suite needs into the environment of the interpreter that runs this, and lets it replace no torch.

python install_suite_needs.py REQUIREMENT...
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from helperlib.env.distributions import look_at_torch
from helperlib.env.installers import environment, run, ways

REPLACED = 5


def main() -> int:
    """Install with what is there of torch as constraints. 5: an installer changed it all the same."""
    before = look_at_torch()
    way = next(iter(ways()))
    with tempfile.TemporaryDirectory(prefix="xpusetup-") as folder:
        constraints = Path(folder) / "torch.txt"
        pins = (f"{name}=={told.split()[0]}\n" for name, told in before.items())
        constraints.write_text("".join(pins), encoding="utf-8")
        words = (*way.command, "install", *way.python, "-c", str(constraints), *sys.argv[1:])
        code, _lines = run(words, environment(way))
    return REPLACED if before != look_at_torch() else code


if __name__ == "__main__":
    sys.exit(main())
