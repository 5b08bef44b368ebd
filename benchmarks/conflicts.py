"""The rows conflicts and onemkl: a look at an environment with torch and Intel's runtime, beside ldd; oneMKL's cost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.rows import Row, make_row
from benchmarks.timing import Command, FailedError, take_processor_turns, take_turns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROUNDS = 7
PROMISED = 2.0
"""Seconds for such an environment."""
WHEELS = (
    *("torch==2.13.0+cpu", "numpy==2.3.5", "intel-sycl-rt==2026.1.0", "intel-cmplr-lib-ur==2026.1.0"),
    *("intel-cmplr-lib-rt==2026.1.0", "umf==1.1.0", "tcmlib==1.5.0", "intel-pti==1.0.1"),
)
ONEMKL = (
    *(f"onemkl-sycl-{part}==2026.1.0" for part in ("blas", "dft", "lapack", "rng", "sparse")),
    *("dpcpp-cpp-rt==2026.1.0", "oneccl==2022.1.1"),
)
"""What torch 2.14's wheel for XPU requires of oneMKL, SYCL and oneCCL; with all that these require 3 GB."""
MORE = 2.0
"""Seconds of a processor that these may cost `doctor`."""
HELPER = Path(__file__).resolve().parents[1] / "xpusetup/helpers/environment_libraries.py"
LDD = 'for library in "$@"; do ldd "$library"; done >/dev/null 2>&1; exit 0'


def measure_conflicts(folder: Path, env: Mapping[str, str]) -> Iterator[Row]:
    """Time the look in turns with ldd over the same libraries, which finds files and compares no symbols."""
    prefix = _make(folder / "env", env, "--no-deps", *WHEELS)
    libraries = sorted({str(path) for path in prefix.rglob("*.so*") if path.is_file() and _is_elf(path)})
    look = Command((sys.executable, str(HELPER), "--prefix", str(prefix)), dict(env))
    theirs = Command(("bash", "-c", LDD, "ldd", *libraries), dict(env))
    mine, other = take_turns(ROUNDS, (look, ROUNDS), (theirs, ROUNDS))
    yield make_row("conflicts", mine, other, goal=1.0, unit="s")
    yield make_row("conflicts_time", mine, [PROMISED] * ROUNDS, goal=1.0, unit="s")


def measure_onemkl(folder: Path, env: Mapping[str, str]) -> Iterator[Row]:
    """Time `doctor` on an environment with oneMKL in turns with an empty one."""
    places = [_make(folder / "onemkl", env, *ONEMKL), _make(folder / "empty", env)]
    line = (sys.executable, "-m", "xpusetup", "doctor", "--only", "runtime.packages", "--json")
    ends = ("bash", "-c", '"$@"; test $? -le 1', "doctor")  # 1: it found something
    looks = [Command((*ends, *line, "--into", str(place)), dict(env)) for place in places]
    there, without = take_processor_turns(ROUNDS, *looks)
    yield make_row("onemkl", [each - median(without) for each in there], [MORE] * ROUNDS, goal=1.0, unit="s")


def _make(prefix: Path, env: Mapping[str, str], *wanted: str) -> Path:
    """Make an environment of wheels."""
    pip = (str(prefix / "bin/python"), "-m", "pip", "--disable-pip-version-check", "install", "-q")
    for words in ((sys.executable, "-m", "venv", str(prefix)), *([(*pip, *wanted)] if wanted else [])):
        done = subprocess.run(words, env=env, check=False, capture_output=True, text=True)
        if done.returncode:
            raise FailedError(f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return prefix


def _is_elf(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"
