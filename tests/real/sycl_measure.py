"""icpx of a toolkit, whose passes are measured: `sycl_measure.py TOOLKIT FILE NAME WORD...`.

It runs the toolkit's own driver, which writes what each process of a compile took as a line of FILE (work.py there).
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any


def main(toolkit: Path, file: Path, name: str, words: list[str]) -> int:
    """Compile as the toolkit's own launcher does."""
    os.environ["XPUSETUP_SYCL_LOG"] = str(file)
    sys.path.insert(0, str(toolkit / "libexec/xpusetup"))
    driver: Any = importlib.import_module("helperlib.sycl.driver")
    return int(driver.main(name, toolkit, words))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4:]))
