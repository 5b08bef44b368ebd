"""icpx and icx of a toolkit that is made of Intel's wheels: `sycl_driver.py icpx WORD...`.

The launchers `bin/icpx` and `bin/icx` run it from `libexec/xpusetup` of the toolkit's folder, with `python -I`.
The device pass is that of the compiler inside libsycl-jit, the host pass that of g++.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # `python -I` leaves the script's own folder out

from helperlib.sycl.home import HomeError, read_home


def main(name: str, words: list[str]) -> int:
    """Do what a call asks for; gives its exit code."""
    try:
        home = read_home(Path(__file__).resolve().parents[2])
    except HomeError as error:
        sys.stderr.write(f"{name}: error: {error}\n")
        return 1
    del home, words
    sys.stderr.write(f"{name}: error: nothing is compiled yet\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
