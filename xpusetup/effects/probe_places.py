"""Where this runs: in a container or not, in a source tree or not, and where compilers keep their results."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from xpusetup.effects.files import read_text
from xpusetup.facts import Cache, Container, Tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.effects.sysroot import Sysroot

Kind = Literal["", "docker", "podman", "apptainer", "kubernetes", "lxc", "wsl2"]
WSL_FILES = ("/dev/dxg", "/usr/lib/wsl/lib/libdxcore.so")
TREE = ("version.txt", "torch/version.py", "torch/__init__.py", "third_party", "caffe2")
CACHED = ("CMAKE_HOME_DIRECTORY", "CMAKE_CACHEFILE_DIR", "CMAKE_CXX_COMPILER", "USE_XPU")
ENTRY = re.compile(rf"^({'|'.join(CACHED)}):[A-Z]+=(.*)$", re.MULTILINE)
SUBMODULE = re.compile(r"^\s*path\s*=\s*(\S+)", re.MULTILINE)


def probe_container(sysroot: Sysroot) -> Container:
    """Say what this runs in, from the files and variables that each kind leaves."""
    kind = next((kind for kind, here in _signs(sysroot) if here), "")
    details = {path: "there" if sysroot.path(path).exists() else "not there" for path in WSL_FILES}
    return Container(kind=kind, details=details if kind == "wsl2" else {})


def _signs(sysroot: Sysroot) -> Iterator[tuple[Kind, bool]]:
    version = (sysroot.read("/proc/sys/kernel/osrelease") or "").lower()
    yield "wsl2", "microsoft" in version
    yield "kubernetes", bool(os.environ.get("KUBERNETES_SERVICE_HOST"))
    yield "apptainer", bool(os.environ.get("APPTAINER_CONTAINER") or os.environ.get("SINGULARITY_CONTAINER"))
    yield "podman", sysroot.path("/run/.containerenv").exists()
    yield "docker", sysroot.path("/.dockerenv").exists()
    yield "lxc", "container=lxc" in (sysroot.read("/proc/1/environ") or "")


def probe_tree() -> Tree | None:
    """Look whether this was started in a PyTorch source tree; None where it was not."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if all((folder / name).exists() for name in (TREE[0], TREE[2], TREE[3])):
            return look_at_tree(folder, in_use=folder == here)
    return None


def look_at_tree(folder: Path, *, in_use: bool) -> Tree:
    """Look at a source tree: how it was fetched, which submodules are empty, and what its build folder remembers."""
    version = read_text(folder / TREE[0])
    modules = SUBMODULE.findall(read_text(folder / ".gitmodules") or "")
    cache = read_text(folder / "build/CMakeCache.txt")
    return Tree(
        path=str(folder),
        version=version.strip() if version else None,
        git=(folder / ".git").exists(),
        in_use=in_use,
        submodules=[name for name in modules if _is_empty(folder / name)],
        cache=None if cache is None else dict(ENTRY.findall(cache)),
        setup_py=(folder / "setup.py").exists(),
    )


def _is_empty(folder: Path) -> bool:
    try:
        return next(folder.iterdir(), None) is None
    except OSError:
        return True


def probe_caches() -> list[Cache]:
    """Look at the folders in which drivers and compilers keep what they compiled."""
    home = Path(os.environ.get("HOME", "/"))
    base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    places = {
        "driver": os.environ.get("NEO_CACHE_DIR") or str(base / "neo_compiler_cache"),
        "triton": os.environ.get("TRITON_CACHE_DIR") or str(home / ".triton"),
        "inductor": os.environ.get("TORCHINDUCTOR_CACHE_DIR") or "",
    }
    return [_cache(name, Path(path)) for name, path in places.items() if path]


def _cache(name: str, path: Path) -> Cache:
    there = next(folder for folder in (path, *path.parents) if folder.exists())
    return Cache(name=name, path=str(path), writable=os.access(there, os.W_OK), free=shutil.disk_usage(there).free)
