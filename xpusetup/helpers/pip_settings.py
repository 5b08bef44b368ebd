"""Where pip takes constraints from, and the one file through which an environment adds its own.

pip reads `<environment>/pip.conf` after the files of the system and of the user; a key of `[install]` goes before the
same key of `[global]`, a variable before both, and several constraints stand in one value. So whoever adds a constraint
has to repeat those that are in force.
"""

from __future__ import annotations

import configparser
import os
import sys
from pathlib import Path

from whole_file import whole


def site_file() -> Path:
    """Give the settings file that pip reads in this environment alone."""
    return Path(sys.prefix) / "pip.conf"


def settings_files() -> list[Path]:
    """Give the files that pip reads, the strongest last."""
    home = Path.home()
    shared = os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    own = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    system = [*(Path(folder) / "pip/pip.conf" for folder in shared.split(":")), Path("/etc/pip.conf")]
    return [*system, home / ".pip/pip.conf", own / "pip/pip.conf", site_file()]


def read(path: Path) -> configparser.RawConfigParser:
    """Read a settings file; empty where there is none. Ends with ValueError when it is not one."""
    found = configparser.RawConfigParser()
    try:
        found.read(path, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as pip's settings: {error}") from error
    return found


def constraints_in_force(ours: str) -> list[str]:
    """Give the constraint files that `pip install` heeds here beside ours, as its settings files name them."""
    values = {"global": "", "install": ""}
    for path in settings_files():
        settings = read(path)
        values = {name: settings.get(name, "constraint", fallback=value) for name, value in values.items()}
    return [name for name in (values["install"] or values["global"]).split() if name != ours]


def write_constraint(ours: str) -> Path:
    """Name our constraint file, and those in force already, in the settings of this environment."""
    path, value = site_file(), " ".join((*constraints_in_force(ours), ours))
    settings = read(path)
    if settings.get("install", "constraint", fallback="") != value:
        if not settings.has_section("install"):
            settings.add_section("install")
        settings.set("install", "constraint", value)
        with whole(path) as draft, draft.open("w", encoding="utf-8") as stream:
            settings.write(stream)
    return path
