"""The user-mode driver: packages, libraries, the Level Zero ladder, and what the vendors' programs list."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from xpusetup.base.document import read_as
from xpusetup.machine.facts import NOT_THERE, LevelZero, Userland
from xpusetup.machine.parsers import (
    PACKAGES,
    parse_clinfo,
    parse_dpkg,
    parse_ldconfig,
    parse_pacman,
    parse_rpm,
    parse_sycl_ls,
)
from xpusetup.system import files
from xpusetup.system.files import Sysroot
from xpusetup.system.process import TIMEOUT_S, Notes, ask, run_process

LIBRARIES = (
    *("libze_loader.so.1", "libze_intel_gpu.so.1", "libigc.so.1", "libigc.so.2", "libigdgmm.so.12"),
    *("libOpenCL.so.1", "libsycl.so.7", "libsycl.so.8", "libsycl.so.9", "libur_loader.so.0", "libstdc++.so.6"),
    *("libhccl.so", "libascendcl.so", "libascend_hal.so", "libSynapse.so"),
)
HEADER = "level_zero/ze_api.h"
LADDER = "helpers/level_zero_ladder.py"


def probe_userland(sysroot: Sysroot, notes: Notes) -> Userland:
    """Look at the driver's parts in parallel; the ladder loads them, in a process of its own."""
    libraries = probe_libraries(sysroot, notes)
    tasks: dict[str, Callable[[], object]] = {
        "level_zero": lambda: _climb(libraries, notes),
        "sycl": lambda: _listed("sycl-ls", (), parse_sycl_ls, notes),
        "clinfo": lambda: _listed("clinfo", ("-l",), parse_clinfo, notes),
        "opencl": lambda: _icds(sysroot, notes),
        "headers": lambda: _headers(sysroot),
    }
    with ThreadPoolExecutor(len(tasks)) as pool:
        waiting = {name: pool.submit(task) for name, task in tasks.items()}
        seen = {name: task.result() for name, task in waiting.items()}
    packages, broken = _packages(sysroot, notes)
    return read_as(Userland, {**seen, "packages": packages, "broken": broken, "libraries": libraries})


def _packages(sysroot: Sysroot, notes: Notes) -> tuple[dict[str, str] | None, list[str]]:
    text = sysroot.read("/var/lib/dpkg/status")
    if text is not None:
        return parse_dpkg(text, PACKAGES)
    pacman = shutil.which("pacman")
    if pacman is not None and not sysroot.text:
        said = ask(notes, "userland.packages", (pacman, "-Q"))
        return (None if said is None else parse_pacman(said, PACKAGES)), []
    rpm = shutil.which("rpm")
    if rpm is None:
        notes["userland.packages"] = "neither dpkg's status file nor pacman nor rpm is here"
        return None, []
    root = ("--dbpath", str(sysroot.path("/var/lib/rpm"))) if sysroot.text else ()
    argv = (rpm, *root, "-q", "--qf", "%{NAME} %{VERSION}-%{RELEASE}\\n", *PACKAGES)
    output = run_process(argv, seconds=TIMEOUT_S)  # ends with the number of packages that are absent
    if output.code is None:
        notes["userland.packages"] = output.why
        return None, []
    return parse_rpm(output.out, PACKAGES), []


def probe_libraries(sysroot: Sysroot, notes: Notes) -> dict[str, str] | None:
    """Say where the dynamic linker would take the watched libraries from: LD_LIBRARY_PATH first, then its cache."""
    program = next((path for path in ("/sbin/ldconfig", "/usr/sbin/ldconfig") if os.access(path, os.X_OK)), "ldconfig")
    cache = sysroot.path("/etc/ld.so.cache")
    text = ask(notes, "userland.libraries", (program, "-p", "-C", str(cache))) if cache.exists() else ""
    named = [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
    first = {name: f"{folder}/{name}" for folder in reversed(named) for name in LIBRARIES if _there(folder, name)}
    return None if text is None else {**parse_ldconfig(text, LIBRARIES), **first}


def _there(folder: str, name: str) -> bool:
    return os.path.exists(f"{folder}/{name}")  # noqa: PTH110 - hundreds of them, and a path is costly


def _climb(libraries: Mapping[str, str] | None, notes: Notes) -> LevelZero | None:
    """Try Level Zero in a process of its own: its drivers may crash."""
    if libraries is not None and "libze_loader.so.1" not in libraries:
        return LevelZero(error="libze_loader.so.1 is not here")
    output = run_process((sys.executable, "-I", "-S", str(files.package_file(LADDER))), seconds=TIMEOUT_S)
    if output.code is None:
        notes["userland.level_zero"] = output.why
        return None
    lines = output.out.strip().splitlines()
    try:
        return read_as(LevelZero, {**json.loads(lines[-1]), **_end(output.code)})
    except (IndexError, ValueError):
        return LevelZero(error=f"it ended with {output.code} before it said anything")


def _end(code: int) -> dict[str, str]:
    return {} if code == 0 else {"error": f"the driver ended the process: {code}"}


def _listed(name: str, words: tuple[str, ...], parse: Callable[[str], list[str]], notes: Notes) -> list[str] | None:
    path = shutil.which(name)
    if path is None:
        return None
    output = run_process((path, *words), seconds=TIMEOUT_S)
    if output.code is None:
        notes[f"userland.{name}"] = output.why
        return None
    return parse(f"{output.out}\n{output.err}")


def _icds(sysroot: Sysroot, notes: Notes) -> dict[str, str]:
    """Read which library each registered driver names, and note one that is not there."""
    found = _registered(sysroot, "/etc/OpenCL/vendors")
    named = os.environ.get("OCL_ICD_VENDORS", "")
    for name, library in (_registered(sysroot, named) if named.startswith("/") else found).items():
        if library.startswith("/") and not sysroot.path(library).exists():
            notes["userland.opencl"] = f"{name} names {library}{NOT_THERE}"
    return found


def _registered(sysroot: Sysroot, folder: str) -> dict[str, str]:
    paths = [path for path in sysroot.listing(folder) if path.suffix == ".icd"]
    return {path.name: (sysroot.read(f"{folder}/{path.name}") or "").strip() for path in paths}


def _headers(sysroot: Sysroot) -> list[str]:
    named = [os.environ.get(name, "") for name in ("ZE_PATH", "LEVEL_ZERO_V1_SDK_PATH")]
    places = [f"{folder}/include/{HEADER}" for folder in named if folder]
    usual = [f"{folder}/{HEADER}" for folder in ("/usr/include", "/usr/local/include")]
    return [*(path for path in places if Path(path).exists()), *(each for each in usual if sysroot.path(each).exists())]
