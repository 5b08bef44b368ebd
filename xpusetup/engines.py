"""Compiles on other machines by sccache's own distributed mode: whether it is on, and what it says of itself.

Only host C++ is sent. SYCL compiles its source twice, for host and device, and sccache sends it preprocessed once: so
what compiles for devices gets a launcher of its own, which has the same cache and no scheduler.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

import tomli_w

from xpusetup.errors import NotReadyError, UsageError
from xpusetup.tomltext import TomlError, parse_toml

if TYPE_CHECKING:
    from collections.abc import Mapping

PORT = 4226
"""On which sccache's server listens where nobody says otherwise."""
WITHOUT = "or build without it: --launcher ccache (or none)"


@dataclass(frozen=True)
class Engine:
    """The scheduler that was asked, and the machines and processors that serve it."""

    scheduler: str
    servers: int
    cpus: int


def parse_engine(text: str) -> Engine | None:
    """Read what `sccache --dist-status` prints; None where compiles stay here.

    Raises NotReadyError for a scheduler that does not answer or has no machines, ValueError for anything else.
    """
    document = json.loads(text)
    if not isinstance(document, dict) or len(document) != 1:
        raise ValueError("this is no status of sccache")
    (state, told), *_ = document.items()
    if state == "Disabled":
        return None
    if state != "SchedulerStatus":
        where, why = told if isinstance(told, list) and len(told) == 2 else ("the scheduler", told)  # noqa: PLR2004
        fix = f"start it, or look at [dist] in sccache's configuration; {WITHOUT}"
        raise NotReadyError(f"the scheduler of sccache, {where}, does not answer: {why}", fix=fix)
    engine = Engine(told[0], told[1]["num_servers"], told[1]["num_cpus"])
    if engine.servers == 0:
        fix = f"on each of them: sccache-dist server --config FILE; {WITHOUT}"
        raise NotReadyError(f"no machine compiles for the scheduler of sccache, {engine.scheduler}", fix=fix)
    return engine


def render_local_configuration(text: str, name: str) -> str:
    """Give sccache's configuration without what sends compiles away. Raises UsageError for one that is not TOML."""
    try:
        values = parse_toml(text)
    except TomlError as error:
        raise UsageError(f"{name} is not TOML: {error}", fix="mend the line") from error
    return tomli_w.dumps({key: value for key, value in values.items() if key != "dist"})


def render_local_launcher(sccache: str, configuration: str, told: Mapping[str, str]) -> str:
    """Give the script that compiles here: by a server of its own, beside the one that sends."""
    text = told.get("SCCACHE_SERVER_PORT", "")
    port = int(text) if text.isdigit() else PORT
    words = (f"SCCACHE_CONF={configuration}", f"SCCACHE_SERVER_PORT={port + 1}")
    command = ("env", "-u", "SCCACHE_SERVER_UDS", *words, sccache)
    return f'#!/usr/bin/env bash\n# What compiles for devices stays on this machine.\nexec {shlex.join(command)} "$@"\n'
