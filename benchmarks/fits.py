"""The rows fits: `xpusetup wheel fits` of a real wheel and torch, beside one reading of it and torch's libraries."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.rows import Row, make_row
from benchmarks.timing import Command, FailedError, take_processor_turns, take_turns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROUNDS = 7
HELPERS = Path(__file__).resolve().parents[1] / "xpusetup/helpers"
READ = """
import sys, zipfile
for path in sys.argv[2:]:
    with open(path, "rb", 0) as stream:
        while stream.read(1 << 20):
            pass
with zipfile.ZipFile(sys.argv[1]) as archive:
    for name in archive.namelist():
        archive.read(name)
"""


def measure_fits(folder: Path, env: Mapping[str, str]) -> Iterator[Row]:
    """Time the look in turns with the reading: from the disk by the clock, and in memory by the processor's time."""
    prefix, wheels = folder / "env", folder / "wheels"
    pip = ("-m", "pip", "--disable-pip-version-check")
    python = str(prefix / "bin/python")
    run(env, sys.executable, "-m", "venv", str(prefix))
    run(env, python, *pip, "install", "-q", "--no-deps", "torch==2.13.0+cpu")
    run(env, python, *pip, "download", "-q", "--no-deps", "-d", str(wheels), "torchvision==0.28.0")
    (wheel,) = map(str, wheels.iterdir())
    libraries = sorted(map(str, prefix.glob("lib/python3*/site-packages/torch/lib/*.so*")))
    look = (sys.executable, "-m", "xpusetup", "wheel", "fits", wheel, "--into", str(prefix), "--json")
    helper = (sys.executable, str(HELPERS / "inspect_fit.py"), wheel, "--prefix", str(prefix))
    fits = ("bash", "-c", '"$@"; test $? = 1', "fits", *look)  # it does not fit
    read = (sys.executable, "-c", READ, wheel, *libraries)
    cold = [Command(argv, dict(env), before=lambda: forget([wheel, *libraries])) for argv in (fits, helper, read)]
    whole, alone, once = take_turns(ROUNDS, *((each, ROUNDS) for each in cold))
    yield make_row("fits", whole, once, goal=2.0, unit="s")
    yield make_row("fits_helper", alone, once, goal=2.0, unit="s")
    warm = [Command(argv, dict(env)) for argv in (fits, helper, read)]
    whole, alone, once = take_processor_turns(ROUNDS, *warm)
    yield make_row("fits_cached", whole, once, goal=2.0, unit="s")
    yield make_row("fits_helper_cached", alone, once, goal=2.0, unit="s")


def run(env: Mapping[str, str], *words: str) -> None:
    done = subprocess.run(words, env=env, check=False, capture_output=True, text=True)
    if done.returncode:
        raise FailedError(f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr[-2000:]}")


def forget(paths: Sequence[str]) -> None:
    """Let the system drop what it holds of files in memory."""
    for path in paths:
        number = os.open(path, os.O_RDONLY)
        os.fsync(number)
        os.posix_fadvise(number, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(number)
