"""oneAPI as Intel lays it out: the true headers and libraries, a compiler of the host alone; 2025.0 whole, for a root.

Headers and libraries come from the package index. The device compiler is not to be had: `host_pass` stands for it, and
ocloc's stand-in for the offline compiler, which only says what it takes. Activation is that of the stand-in toolkit,
PTI's is Intel's own script, which its wheel brings.
"""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from real.host_pass import INTEGRATION, INTEGRATION_TEXT, VERSION
from real.outside import outer_environment, run
from standins.oneapi import COMPILER_MORE
from standins.repository import FILES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = "opt/intel/oneapi"
HOST_PASS = Path(__file__).with_name("host_pass.py")
DRIVER = """\
#!/bin/sh
exec /usr/bin/python3 -IS "$(dirname "$(readlink -f "$0")")/compiler/host_pass.py" "${0##*/}" "$@"
"""
"""What lies at bin/icpx. Where this file changes a build is done anew, so it says nothing but where the rest is."""
WHEN = 1733356800  # the day of 2025.0.4: steps know a compiler by the time of its file too


class Part(NamedTuple):
    """A component of the toolkit: its folder and version, the variable that it sets, and the wheels that it is of."""

    name: str
    version: str
    variable: str
    wheels: tuple[str, ...]


PARTS = (
    Part(
        "compiler",
        "2025.0",
        "CMPLR_ROOT",
        ("intel-sycl-rt==2025.0.4", "intel-cmplr-lib-rt==2025.0.4", "intel-cmplr-lib-ur==2025.0.4"),
    ),
    Part("umf", "0.9", "UMF_ROOT", ("umf==0.9.1",)),
    Part("tcm", "1.2", "TCM_ROOT", ("tcmlib==1.2.0",)),
    Part("pti", "0.10", "PTI_ROOT", ("intel-pti==0.10.0",)),
)


COMPILER = ("intel-sycl-rt", "intel-cmplr-lib-rt", "intel-cmplr-lib-ur", "umf", "tcmlib")
"""Wheels that together hold what of the compiler is to be had, with the libraries that those need."""


def compiler_of(pins: Iterable[str]) -> Part:
    """Give the compiler that the run-time requirements of a profile belong to."""
    wheels = tuple(pin for name in COMPILER for pin in pins if pin.startswith(f"{name}=="))
    return Part("compiler", wheels[0].partition("==")[2], "CMPLR_ROOT", wheels)


def write_own(compiler: Part, place: Path, wheels: Path) -> Path:
    """Lay out a compiler alone, at a place of its own; gives its folder."""
    write_part(compiler, place, wheels)
    home = place / "compiler/latest"
    write_compiler(home.resolve(), compiler.version)
    return home


def write_toolkit(root: Path, wheels: Path) -> None:
    """Lay it out below a root, or go on where an earlier call stopped; the wheels stay in their folder."""
    for part in PARTS:
        write_part(part, root / ROOT, wheels)
    write_compiler(root / ROOT / "compiler/2025.0", VERSION)


def write_part(part: Part, place: Path, wheels: Path) -> None:
    """Lay out one component and the link to its newest version."""
    home = place / part.name / part.version
    if not home.exists():
        _unpack(part, home, _download(part.wheels, wheels))
    latest = home.parent / "latest"
    if not latest.is_symlink():
        latest.symlink_to(part.version)


def write_compiler(home: Path, version: str) -> None:
    """Put the drivers of a version into their place, and beside them what they run."""
    texts = {
        "bin/icpx": DRIVER,
        "bin/icx": DRIVER,
        "bin/ocloc": (FILES / "oneapi/ocloc").read_text(),
        "bin/compiler/host_pass.py": HOST_PASS.read_text().replace(VERSION, version),
        INTEGRATION: INTEGRATION_TEXT,
    }
    for name, text in texts.items():
        path = home / name
        if path.is_file() and path.read_text() == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        os.utime(path, (WHEN, WHEN))
    opencl = home / "lib/libOpenCL.so"
    if not opencl.is_symlink():
        opencl.symlink_to("/usr/lib/x86_64-linux-gnu/libOpenCL.so.1")


def _download(pins: Iterable[str], wheels: Path) -> list[Path]:
    wheels.mkdir(parents=True, exist_ok=True)
    found: list[Path] = []
    for pin in pins:
        name, _, version = pin.partition("==")
        pattern = f"{name.replace('-', '_')}-{version}-*.whl"
        if not list(wheels.glob(pattern)):
            told = ("--no-deps", "--only-binary=:all:", "-d", str(wheels))
            run(("python3", "-m", "pip", "download", "-q", *told, pin), env=_environment(), seconds=600)
        found += wheels.glob(pattern)
    return found


def _environment() -> dict[str, str]:
    """Give what pip is told of the network."""
    return {**outer_environment(), **{name: value for name, value in os.environ.items() if name.startswith("PIP_")}}


def _unpack(part: Part, home: Path, wheels: Iterable[Path]) -> None:
    """Fill a folder beside the place with what the wheels put into an environment, and move it there at once."""
    made = home.with_name(f"{home.name}.part")
    shutil.rmtree(made, ignore_errors=True)
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as opened:
            for member, inside in _data(opened.namelist()):
                (made / inside).parent.mkdir(parents=True, exist_ok=True)
                (made / inside).write_bytes(opened.read(member))
    script = made / "env/vars.sh"
    if not script.exists():
        words = {"COMPONENT": part.name, "VARIABLE": part.variable}
        words["MORE"] = COMPILER_MORE if part.name == "compiler" else ""
        text = (FILES / "oneapi-component/vars.sh").read_text()
        for word, value in words.items():
            text = text.replace(f"@{word}@", value)
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(text.rstrip() + "\n")
    made.rename(home)


def _data(names: Iterable[str]) -> Iterator[tuple[str, PurePosixPath]]:
    """Give the members that a wheel puts below an environment, with their places there."""
    for name in names:
        folder, _, inside = name.partition(".data/data/")
        if inside and "/" not in folder and not name.endswith("/"):
            yield name, PurePosixPath(inside)
