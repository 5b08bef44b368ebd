"""Where this runs: in a container or a source tree, behind which proxies."""

import os
import re
import shutil
import socket
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from xpusetup.base.text import without_credentials
from xpusetup.machine.environments import TorchTree
from xpusetup.machine.facts import Cache, Container, Network
from xpusetup.machine.parsers import parse_pip_settings, parse_redirects, parse_routes
from xpusetup.system.files import Sysroot, read_text
from xpusetup.system.process import TIMEOUT_S, Notes, run_process

# How this machine reaches others: proxies, what redirects git and pip, and on demand whether hosts answer.


PROXIES = ("http_proxy", "https_proxy", "no_proxy", "all_proxy")
INDEXES = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX")
REPLY = 1.5
"""Seconds in which a host has to take a connection."""
HTTPS = 443


def probe_network(sysroot: Sysroot, hosts: tuple[str, ...], notes: Notes, site: Mapping[str, str]) -> Network:
    """Read settings; hosts are asked only where some are named. Passwords are left out of every address.

    `site` are variables that steps get beside those of the caller.
    """
    given = {**os.environ, **site}
    proxies = {name: os.environ[name] for name in _both_cases() if os.environ.get(name)}
    indexes = dict(_indexes(sysroot, given))
    redirects = _redirects(given)
    named = [*proxies.items(), *indexes.items(), *((address, address) for address in redirects)]
    return Network(
        proxies=_plain(proxies),
        credentials=sorted({without_credentials(name)[0] for name, value in named if without_credentials(value)[1]}),
        redirects={without_credentials(address)[0]: without_credentials(old)[0] for address, old in redirects.items()},
        indexes=_plain(indexes),
        reach=_reach(hosts, notes) if hosts else None,
        routed=parse_routes(sysroot.read("/proc/net/route"), sysroot.read("/proc/net/ipv6_route")),
    )


def _both_cases() -> list[str]:
    return [each for name in PROXIES for each in (name, name.upper())]


def _plain(addresses: Mapping[str, str]) -> dict[str, str]:
    return {name: without_credentials(value)[0] for name, value in addresses.items()}


def _indexes(sysroot: Sysroot, given: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    yield from ((name, given[name]) for name in INDEXES if given.get(name))
    home, config = given.get("HOME", ""), given.get("XDG_CONFIG_HOME")
    own = [
        given.get("PIP_CONFIG_FILE", ""),
        f"{config or f'{home}/.config'}/pip/pip.conf",
        f"{home}/.pip/pip.conf",
    ]
    texts = {path: read_text(Path(path)) for path in own if path} | {"/etc/pip.conf": sysroot.read("/etc/pip.conf")}
    for path, text in texts.items():
        yield from ((f"{path} {name}", value) for name, value in parse_pip_settings(text or "").items())


def _redirects(given: Mapping[str, str]) -> dict[str, str]:
    git = shutil.which("git")
    if git is None:
        return {}
    output = run_process((git, "config", "--get-regexp", r"^url\..*\.insteadof$"), seconds=TIMEOUT_S, env=given)
    return parse_redirects(output.out)


def _reach(hosts: tuple[str, ...], notes: Notes) -> dict[str, bool]:
    """Try to connect to each host, or to the proxy that stands before all of them."""
    proxy = os.environ.get("https_proxy") or os.environ.get("HTTPS_PROXY") or ""
    front = urlsplit(proxy if "://" in proxy else f"//{proxy}")
    addresses = {host: (front.hostname or host, front.port or HTTPS) for host in hosts}
    if proxy:
        notes["network.reach"] = f"asked was the proxy, {front.hostname}"
    with ThreadPoolExecutor(len(hosts)) as pool:
        return dict(zip(addresses, pool.map(_answers, addresses.values()), strict=True))


def _answers(address: tuple[str, int]) -> bool:
    try:
        with socket.create_connection(address, timeout=REPLY):
            return True
    except OSError:
        return False


# Where this runs: in a container or not, in a source tree or not, and where compilers keep their results.


Kind = Literal["", "docker", "podman", "apptainer", "kubernetes", "lxc", "wsl2"]
WSL_FILES = ("/dev/dxg", "/usr/lib/wsl/lib/libdxcore.so")
TREE = ("version.txt", "torch/version.py", "torch/__init__.py", "third_party", "caffe2")
CACHED = ("CMAKE_HOME_DIRECTORY", "CMAKE_CACHEFILE_DIR", "CMAKE_CXX_COMPILER", "USE_XPU")
ENTRY = re.compile(rf"^({'|'.join(CACHED)}):[A-Z]+=(.*)$", re.MULTILINE)
SUBMODULE = re.compile(r"^\s*path\s*=\s*(\S+)", re.MULTILINE)


def probe_container(sysroot: Sysroot) -> Container:
    kind: Kind = next((kind for kind, here in _signs(sysroot) if here), "")
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


def probe_tree() -> TorchTree | None:
    """Look whether this was started in a PyTorch source tree; None where it was not."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if all((folder / name).exists() for name in (TREE[0], TREE[2], TREE[3])):
            return look_at_tree(folder, in_use=folder == here)
    return None


def look_at_tree(folder: Path, *, in_use: bool) -> TorchTree:
    """Look at a source tree: how it was fetched, which submodules are empty, and what its build folder remembers."""
    version = read_text(folder / TREE[0])
    modules = SUBMODULE.findall(read_text(folder / ".gitmodules") or "")
    cache = read_text(folder / "build/CMakeCache.txt")
    return TorchTree(
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
