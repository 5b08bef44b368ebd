"""A folder laid out as oneAPI's compiler, made from Intel's run-time wheels: which files go in, and which are links.

A wheel holds no links, so that libsycl.so, libsycl.so.9 and libsycl.so.9.0.0 are three copies in it: three times the
space, and a process that loads two of the names has two run times. Here the longest name is the file. Nothing in a
file of Intel's is changed.
"""

from __future__ import annotations

import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

DATA = ".data/data/"
"""What a wheel puts below the prefix of an environment."""
ABOUT = ".dist-info/"
LICENCES = "licensing"
"""The folder of the licences, as Intel calls it."""
LEFT_OUT = (
    "lib/icx-lto.so",  # the linker's plug-in for -flto of icpx itself: 114 MiB
    "etc/OpenCL",  # .icd files that name a folder which pip never makes
    "etc/compiler",  # variables of a conda environment
    "etc/modulefiles",  # same
    "bin",  # hidden scripts that conda runs
)
"""What nothing that we compile or run asks for."""


@dataclass(frozen=True)
class FolderEntry:
    """A file that goes into the folder: from which wheel, its path there and here, its size in bytes, its CRC."""

    wheel: Path
    member: str
    path: str
    size: int
    crc: int


@dataclass(frozen=True)
class Contents:
    """What goes into the folder: the files, and the links by path, each with the name beside it that it leads to."""

    files: tuple[FolderEntry, ...]
    links: dict[str, str]

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(entry.size for entry in self.files)


def read_contents(wheels: Iterable[Path]) -> Contents:
    """Read what the wheels bring. Raises ValueError for what is no wheel, or where two bring different files."""
    found: dict[str, FolderEntry] = {}
    for wheel in wheels:
        for entry in _entries(wheel):
            there = found.setdefault(entry.path, entry)
            if (there.size, there.crc) != (entry.size, entry.crc):
                raise ValueError(f"{there.wheel.name} and {wheel.name} have different files {entry.path}")
    links = find_links(found)
    return Contents(tuple(entry for path, entry in found.items() if path not in links), links)


def _entries(wheel: Path) -> list[FolderEntry]:
    try:
        with zipfile.ZipFile(wheel) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
    except (zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"{wheel.name} is damaged: {error}") from error
    placed = ((info, _place(wheel, info.filename)) for info in infos)
    return [FolderEntry(wheel, info.filename, path, info.file_size, info.CRC) for info, path in placed if path]


def _place(wheel: Path, member: str) -> str:
    """Say where a member goes; empty for what is left out."""
    _, data, path = member.partition(DATA)
    if not data:
        _, about, name = member.partition(ABOUT)
        licence = about and name.upper().startswith("LICEN")
        return f"{LICENCES}/{wheel.name.split('-')[0]}/{PurePosixPath(name).name}" if licence else ""
    if ".." in PurePosixPath(path).parts:
        raise ValueError(f"{wheel.name} holds {member}, which leads out of the folder")
    return "" if any(path == each or path.startswith(f"{each}/") for each in LEFT_OUT) else path


def find_links(found: dict[str, FolderEntry]) -> dict[str, str]:
    """Give the copies of shared libraries as links: each name to the next longer one of the same bytes."""
    libraries = sorted(path for path in found if ".so" in path)
    links = {}
    for path in libraries:
        same = (found[path].size, found[path].crc)
        longer = [other for other in libraries if other.startswith(f"{path}.") and _bytes(found[other]) == same]
        if longer:
            links[path] = PurePosixPath(min(longer, key=len)).name
    return links


def _bytes(entry: FolderEntry) -> tuple[int, int]:
    return entry.size, entry.crc


def unpack(contents: Contents, into: Path) -> None:
    """Write files and links into an empty folder. zipfile holds each file to its CRC. Raises OSError."""
    by_wheel: dict[Path, list[FolderEntry]] = {}
    for entry in contents.files:
        by_wheel.setdefault(entry.wheel, []).append(entry)
    for wheel, entries in by_wheel.items():
        with zipfile.ZipFile(wheel) as archive:
            for entry in entries:
                target = into / entry.path
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(entry.member) as source, target.open("wb") as written:
                    shutil.copyfileobj(source, written, 1 << 20)
    for path, name in contents.links.items():
        (into / path).parent.mkdir(parents=True, exist_ok=True)
        (into / path).symlink_to(name)


def find_compiler(contents: Contents) -> str:
    """Give the path of the library that compiles; empty where the wheels have none."""
    named = [entry.path for entry in contents.files if entry.path.startswith("lib/libsycl-jit.so")]
    return max(named, key=len, default="")


# What is written beside Intel's files: commands, and a script that switches the folder on.


LAUNCHER = """\
#!/bin/sh
# {name}: Intel's SYCL compiler as a library, and the compiler of this machine for the host.
here=$(dirname -- "$(readlink -f -- "$0")")
driver=$here/../libexec/xpusetup/sycl_driver.py
[ ! -x '{python}' ] || exec '{python}' -I "$driver" {name} "$@"
exec /usr/bin/env python3 -I "$driver" {name} "$@"
"""
COMMANDS = ("icpx", "icx")
ENV = """\
# Switches this SYCL tool chain on, in sh, bash or zsh: . FOLDER/env.sh
# The place of this file is computed, so that the folder can be moved; a plain sh cannot say which file it reads.
_sycl_home='{place}'
if [ -n "${{BASH_VERSION:-}}" ]; then
    _sycl_file=${{BASH_SOURCE:-}}
elif [ -n "${{ZSH_VERSION:-}}" ]; then
    eval '_sycl_file=${{(%):-%x}}'
else
    _sycl_file=
fi
if [ -n "$_sycl_file" ]; then
    _sycl_home=$(CDPATH='' cd -- "$(dirname -- "$_sycl_file")" >/dev/null && pwd -P)
fi
if [ ! -x "$_sycl_home/bin/icpx" ]; then
    echo "the SYCL tool chain is no longer in $_sycl_home: source this file from bash or zsh" >&2
    unset _sycl_home _sycl_file
    return 1
fi
_sycl_first() {{ # VARIABLE FOLDER: put it first, once
    eval "_sycl_rest=:\\${{$1:-}}:"
    while :; do
        case $_sycl_rest in
            *":$2:"*) _sycl_rest=${{_sycl_rest%%":$2:"*}}:${{_sycl_rest#*":$2:"}} ;;
            *) break ;;
        esac
    done
    _sycl_rest=${{_sycl_rest#:}}
    _sycl_rest=${{_sycl_rest%:}}
    export "$1=$2${{_sycl_rest:+:$_sycl_rest}}"
}}
# The two that PyTorch's CMake looks at (FindSYCLToolkit.cmake).
export SYCL_ROOT="$_sycl_home" CMPLR_ROOT="$_sycl_home"
_sycl_first PATH "$_sycl_home/bin"
# libOpenCL.so.1 of 2026.2 needs libsvml.so beside it and has no run path.
_sycl_first LD_LIBRARY_PATH "$_sycl_home/lib"
# The processor as a SYCL device; a name without a folder would not be found.
[ ! -e "$_sycl_home/lib/libintelocl.so" ] || _sycl_first OCL_ICD_FILENAMES "$_sycl_home/lib/libintelocl.so"
unset _sycl_home _sycl_file _sycl_rest
unset -f _sycl_first
"""


def write_commands(into: Path, python: str, place: Path) -> None:
    """Write the commands and env.sh. `python`: the interpreter that starts the driver; `place`: where it will lie."""
    (into / "bin").mkdir(exist_ok=True)
    for name in COMMANDS:
        path = into / "bin" / name
        path.write_text(LAUNCHER.format(name=name, python=python), encoding="utf-8")
        path.chmod(0o755)
    (into / "env.sh").write_text(ENV.format(place=place), encoding="utf-8")
