"""The torch that an add-on is built for: what it says of itself, and whether it can take one."""

from __future__ import annotations

import json
import mmap
import os
import re
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

from helperlib.elf.file import SYMBOL, SYMTAB, Elf, NotElfError

ASK = """
import json, sysconfig, torch
about = {name: getattr(torch._C, f"_PYBIND11_{name}", None) for name in ("COMPILER_TYPE", "STDLIB", "BUILD_ABI")}
paths, variables = sysconfig.get_paths(), sysconfig.get_config_vars()
print(json.dumps({
    "version": torch.__version__, "git": torch.version.git_version or "", "xpu": bool(torch._C._has_xpu),
    "cxx11_abi": int(torch._C._GLIBCXX_USE_CXX11_ABI), "pybind": {k: v for k, v in about.items() if v},
    "folder": torch.__path__[0], "headers": paths["include"], "suffix": variables["EXT_SUFFIX"],
    "python": "cp{py_version_nodot}".format_map(variables), "platform": sysconfig.get_platform(),
}))
"""
LOOK_UP = "_ZN2at6native16DispatchStubImpl16try_get_call_ptrEN3c1010DeviceTypeEPvS4_S4_"
"""The function that finds the kernel of a device: DispatchStubImpl::try_get_call_ptr with its three CPU kernels."""
JUMPS, JUMPS_SIZE = 23, 2
"""DT_JMPREL and DT_PLTRELSZ: the relocations of the table by which a library calls functions."""
RELOCATION = struct.Struct("<QQq")


class AddonError(Exception):
    """What cannot be built, and why; `fix` says what mends it."""

    def __init__(self, why: str, fix: str) -> None:
        super().__init__(why)
        self.fix = fix


class BaseTorch(NamedTuple):
    """A torch: version, commit, whether XPU is in it, its C++ ABI (1: the new one), pybind11's ABI words, its folder.

    `headers` are Python's, `suffix` is that of extension modules, `python` and `platform` are tags of wheels.
    """

    version: str
    git: str
    xpu: bool
    cxx11_abi: int
    pybind: dict[str, str]
    folder: Path
    headers: Path
    suffix: str
    python: str
    platform: str

    @property
    def release(self) -> str:
        """Give its version without what a build added: 2.6.0 of 2.6.0+cu124."""
        return release_of(self.version)

    @property
    def libraries(self) -> Path:
        """Give the folder of its libraries."""
        return self.folder / "lib"


def release_of(version: str) -> str:
    """Give the numbers of a version; empty where it does not begin with three of them."""
    found = re.match(r"\d+\.\d+\.\d+", version.strip())
    return found[0] if found else ""


def ask_torch(python: Path) -> BaseTorch:
    """Import the torch of an environment, without what loads itself into it. Raises AddonError where that fails."""
    quiet = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    words = (str(python), "-c", ASK)
    done = subprocess.run(words, env=quiet, capture_output=True, text=True, check=False, cwd="/")
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"])[-1]
        raise AddonError(f"torch cannot be imported by {python}: {last}", "install torch in that environment first")
    about = json.loads(done.stdout.splitlines()[-1])
    platform = about["platform"].replace("-", "_").replace(".", "_")
    places = {"folder": Path(about["folder"]), "headers": Path(about["headers"]), "platform": platform}
    return BaseTorch(**{**about, **places})


def check_torch(torch: BaseTorch, release: str) -> None:
    """Raise AddonError where a torch cannot take the add-on of a release."""
    if torch.xpu:
        fix = "it needs no add-on; a torch of the package index has no XPU"
        raise AddonError(f"torch {torch.version} was built with XPU", fix)
    if torch.release != release:
        fix = f"name the sources of {torch.release}, or install torch {release}"
        raise AddonError(f"torch {torch.version} is installed, and the sources are those of {release}", fix)
    library = torch.libraries / "libtorch_cpu.so"
    if not calls_by_table(library, LOOK_UP):
        why = f"{library} calls DispatchStubImpl::try_get_call_ptr in a way that cannot be redirected"
        raise AddonError(why, "build this release whole, with XPU:\n    xpusetup build")


def calls_by_table(library: Path, name: str) -> bool:
    """Say whether a library calls a function by its table of procedures, where the entry can be replaced."""
    with library.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            elf = Elf(data)
            wanted = f"\0{name}\0".encode()
            place = elf.strings().find(wanted) + 1
            return bool(place) and place in _jumps(elf)
        except (NotElfError, struct.error):
            return False


def _jumps(elf: Elf) -> set[int]:
    """Give where the names of the functions stand that are called by the table."""
    start, size = elf.offset_of(elf.value(JUMPS)), elf.value(JUMPS_SIZE)
    symbols = elf.offset_of(elf.value(SYMTAB))
    rows = RELOCATION.iter_unpack(bytes(elf.data[start : start + size]))
    return {SYMBOL.unpack_from(elf.data, symbols + (info >> 32) * SYMBOL.size)[0] for _, info, _ in rows}
