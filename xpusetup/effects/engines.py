"""sccache's distributed mode here: ask whether its scheduler answers, and write the launcher that stays local."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.effects import files
from xpusetup.effects.process import run_process
from xpusetup.engines import parse_engine, render_local_configuration, render_local_launcher

if TYPE_CHECKING:
    from xpusetup.effects.root import Root
    from xpusetup.engines import Engine
    from xpusetup.launcher import Launcher

PATIENCE = 30.0
LOCAL = "launcher/local"


def ask_engine(launcher: Launcher) -> Engine | None:
    """Give the scheduler to which a cache sends compiles; None where it sends none.

    Raises NotReadyError where it would send them and nobody takes them: sccache would compile all here, silently.
    """
    if launcher.name != "sccache":
        return None
    done = run_process((launcher.path, "--dist-status"), seconds=PATIENCE)
    try:
        return parse_engine(done.out) if done.code == 0 else None
    except ValueError:
        return None  # a version without that mode


def keep_devices_here(launcher: Launcher, root: Root) -> Launcher:
    """Give the launcher with another one for what compiles for devices; `write_local` makes it."""
    return replace(launcher, device=str(root / f"{LOCAL}/sccache"))


def write_local(launcher: Launcher, root: Root) -> None:
    """Write the launcher of device compiles, and its configuration, into a root whose lock the caller holds."""
    source = _configuration()
    text = render_local_configuration(files.read_text(source) or "", str(source))
    configuration = root / f"{LOCAL}/sccache.toml"
    files.write_text(configuration, text)
    script = render_local_launcher(launcher.path, str(configuration), os.environ)
    files.write_text(Path(launcher.device), script, executable=True)


def _configuration() -> Path:
    """Give the file that sccache reads."""
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return Path(os.environ.get("SCCACHE_CONF") or home / "sccache/config")
