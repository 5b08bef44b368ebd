"""How this machine reaches others: proxies, what redirects git and pip, and on demand whether hosts answer."""

from __future__ import annotations

import os
import shutil
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from xpusetup.effects.files import read_text
from xpusetup.effects.notes import PATIENCE
from xpusetup.effects.process import run_process
from xpusetup.facts import Network
from xpusetup.outputs.tools import parse_pip_settings, parse_redirects
from xpusetup.redact import without_credentials

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from xpusetup.effects.notes import Notes
    from xpusetup.effects.sysroot import Sysroot

PROXIES = ("http_proxy", "https_proxy", "no_proxy", "all_proxy")
INDEXES = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX")
REPLY = 1.5
"""Seconds in which a host has to take a connection."""
HTTPS = 443


def probe_network(sysroot: Sysroot, hosts: tuple[str, ...], notes: Notes) -> Network:
    """Read settings; hosts are asked only where some are named. Passwords are left out of every address."""
    proxies = {name: os.environ[name] for name in _both_cases() if os.environ.get(name)}
    indexes = dict(_indexes(sysroot))
    redirects = _redirects()
    named = [*proxies.items(), *indexes.items(), *((address, address) for address in redirects)]
    return Network(
        proxies=_plain(proxies),
        credentials=sorted({without_credentials(name)[0] for name, value in named if without_credentials(value)[1]}),
        redirects={without_credentials(address)[0]: without_credentials(old)[0] for address, old in redirects.items()},
        indexes=_plain(indexes),
        reach=_reach(hosts, notes) if hosts else None,
    )


def _both_cases() -> list[str]:
    return [each for name in PROXIES for each in (name, name.upper())]


def _plain(addresses: Mapping[str, str]) -> dict[str, str]:
    return {name: without_credentials(value)[0] for name, value in addresses.items()}


def _indexes(sysroot: Sysroot) -> Iterator[tuple[str, str]]:
    yield from ((name, os.environ[name]) for name in INDEXES if os.environ.get(name))
    home, config = os.environ.get("HOME", ""), os.environ.get("XDG_CONFIG_HOME")
    own = [
        os.environ.get("PIP_CONFIG_FILE", ""),
        f"{config or f'{home}/.config'}/pip/pip.conf",
        f"{home}/.pip/pip.conf",
    ]
    texts = {path: read_text(Path(path)) for path in own if path} | {"/etc/pip.conf": sysroot.read("/etc/pip.conf")}
    for path, text in texts.items():
        yield from ((f"{path} {name}", value) for name, value in parse_pip_settings(text or "").items())


def _redirects() -> dict[str, str]:
    git = shutil.which("git")
    if git is None:
        return {}
    output = run_process((git, "config", "--get-regexp", r"^url\..*\.insteadof$"), seconds=PATIENCE)
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
