"""icpx and icx of a toolkit that is made of Intel's wheels: `sycl_driver.py icpx WORD...`.

The launchers `bin/icpx` and `bin/icx` run it from `libexec/xpusetup` of the toolkit's folder, with `python -I`.
The device pass is that of the compiler inside libsycl-jit, in a child (`device-pass`), the host pass that of g++.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # `python -I` leaves the script's own folder out

from helperlib.sycl import device, driver


def main(name: str, words: list[str]) -> int:
    """Do what a call asks for; gives its exit code."""
    if name == "device-pass":
        device.leave(device.main(Path(words[0])))
    return driver.main(name, Path(__file__).resolve().parents[2], words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
