"""How distributions get into this environment and out of it: pip, uv, and what their settings hold pip to."""

import configparser
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from helperlib.output import fail, whole

# What can install into the environment of the interpreter that runs this: uv where it is on PATH, and pip.


QUIET = "--disable-pip-version-check"
SAME = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_EXTRA_INDEX_URL": "UV_INDEX",
    "PIP_FIND_LINKS": "UV_FIND_LINKS",
    "PIP_NO_INDEX": "UV_NO_INDEX",
    "PIP_CERT": "SSL_CERT_FILE",
}
"""How uv calls what pip's variables say. It reads none of pip's settings by itself."""


class EnvironmentInstaller(NamedTuple):
    """One installer: its name, and how its commands begin."""

    name: str
    command: tuple[str, ...]
    python: tuple[str, ...]
    agreed: tuple[str, ...]


def pip() -> tuple[str, ...]:
    """Give how a pip command for this environment begins."""
    if not importlib.util.find_spec("pip"):
        fail(f"{sys.prefix} has no pip", f"{sys.executable} -m ensurepip, or install uv; then the same command again")
    return (sys.executable, "-m", "pip", QUIET)


def ways() -> Iterator[EnvironmentInstaller]:
    """Give the installers that there are, in the order in which they are to be tried.

    What its settings lead elsewhere is no way: uv has no option that says to take the environment after all.
    """
    found = shutil.which("uv")
    led = find_led() if found else ""
    if led and not importlib.util.find_spec("pip"):
        fail(f"{led}: what uv installs goes there", "take that line out, or leave all out: export UV_NO_CONFIG=1")
    if led:
        print(f"note: uv is left out, for what it installs goes elsewhere: {led}", flush=True)
    elif found:
        yield EnvironmentInstaller("uv", (found, "pip"), ("--python", sys.executable), ())
    yield EnvironmentInstaller("pip", pip(), (), ("--yes",))


LED = re.compile(r"(?:(?P<dotted>[\w.]+)\.)?(?:target|prefix)\s*=|(?P<inline>[\w.]+)\s*=\s*\{.*\b(?:target|prefix)\s*=")
"""A line of uv's settings by which what it installs goes elsewhere, in one of these tables."""
UV_TABLES = ("pip", "tool.uv.pip")


def find_led() -> str:
    """Give the line of uv's settings that leads what it installs elsewhere, with its file; empty where none does."""
    found = ((path, line) for path in uv_files() for line in led_by(path.read_text("utf-8", errors="replace")))
    return next((f"{path} says {line}" for path, line in found), "")


def led_by(text: str) -> Iterator[str]:
    """Give the lines of a file of uv's settings that lead what it installs elsewhere."""
    table = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            table = re.sub(r"[\"'\s]", "", line.strip("[").partition("]")[0])
        elif (found := LED.match(line)) and ".".join(filter(None, (table, *found.groups()))) in UV_TABLES:
            yield line


def uv_files() -> list[Path]:
    """Give the files of settings that uv reads: the one that is named, else the folder's, the user's, the system's."""
    if os.environ.get("UV_NO_CONFIG", "").lower() in {"1", "true", "yes", "on", "y", "t"}:
        return []
    if named := os.environ.get("UV_CONFIG_FILE"):
        return [path for path in (Path(named),) if path.is_file()]
    own = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111 - also without a home
    shared = (os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":")
    usual = (Path(folder, "uv/uv.toml") for folder in (own, *shared, "/etc"))
    return [*_of_project(Path.cwd()), *(path for path in usual if path.is_file())]


def _of_project(folder: Path) -> list[Path]:
    """Give the nearest file of a folder, or of one above it, that has settings of uv."""
    for path in (place / name for place in (folder, *folder.parents) for name in ("uv.toml", "pyproject.toml")):
        if path.is_file() and (path.name == "uv.toml" or "[tool.uv" in path.read_text("utf-8", errors="replace")):
            return [path]
    return []


def places_of(index: str) -> list[tuple[str, ...]]:
    """Give the options by which an installer looks for files: in its own places, else with an index added."""
    return [(), ("--extra-index-url", index)] if index else [()]


def environment(way: EnvironmentInstaller, ours: str = "") -> dict[str, str]:
    """Give the variables of an installer: what constrains it, except our own constraints, which it is to renew."""
    kept = [name for name in os.environ.get("PIP_CONSTRAINT", "").split() if name != ours]
    kept = kept or constraints_in_force(ours)
    if way.name == "pip":
        return {**os.environ, "PIP_CONSTRAINT": " ".join(kept) or os.devnull}
    told = {theirs: os.environ[name] for name, theirs in SAME.items() if name in os.environ}
    kept = [name for name in os.environ.get("UV_CONSTRAINT", "").split() if name != ours]
    told["UV_INDEX_STRATEGY"] = "unsafe-best-match"  # as pip: an index that has a name need not have the version
    return {**told, **os.environ, "UV_CONSTRAINT": " ".join(kept)}


def run(command: tuple[str, ...], env: dict[str, str]) -> tuple[int, list[str]]:
    """Run a command, printing its lines as they come, and give its exit code and the last hundred of them."""
    print(f"+ {' '.join(command)}", flush=True)
    lines: list[str] = []
    with subprocess.Popen(command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            lines = [*lines[-99:], line.rstrip()]
    return process.returncode, lines


def uninstall(names: list[str]) -> None:
    """Take distributions out of this environment, or end with what stands in the way."""
    for way in ways():
        code, lines = run((*way.command, "uninstall", *way.python, *way.agreed, *names), environment(way))
        if code == 0:
            return
    last = lines[-1] if lines else "it gave no message"
    fail(f"{', '.join(names)} cannot be uninstalled: {last}", "remove it by the tool that installed it, then again")


# Where pip takes constraints from, and the one file through which an environment adds its own.
#
# pip reads `<environment>/pip.conf` after the files of the system and of the user; a key of `[install]` goes before
# the same key of `[global]`, a variable before both, and several constraints stand in one value. So whoever adds a
# constraint has to repeat those that are in force.


def site_file() -> Path:
    return Path(sys.prefix) / "pip.conf"


def settings_files() -> list[Path]:
    """Give the files that pip reads, the strongest last."""
    home = Path.home()
    shared = os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    own = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    system = [*(Path(folder) / "pip/pip.conf" for folder in shared.split(":")), Path("/etc/pip.conf")]
    named = [Path(name) for name in (os.environ.get("PIP_CONFIG_FILE"),) if name]
    return [*system, home / ".pip/pip.conf", own / "pip/pip.conf", site_file(), *named]


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
    path, words = site_file(), [*constraints_in_force(ours), ours]
    if sorted(read(path).get("install", "constraint", fallback="").split()) != sorted(words):
        text = with_constraints(path.read_text(encoding="utf-8") if path.exists() else "", words)
        with whole(path) as draft:
            draft.write_text(text, encoding="utf-8")
            if path.exists():
                draft.chmod(path.stat().st_mode)  # it may hold the password of an index
    return path


HEAD = re.compile(r"\s*\[(.+)\]")
KEY = re.compile(r"\s*constraint\s*[=:]", re.IGNORECASE)


def with_constraints(text: str, words: list[str]) -> str:
    """Give settings whose `[install]` has these constraints: all else stays as it is written, comments too."""
    lines = [line if line.endswith("\n") else f"{line}\n" for line in text.splitlines(keepends=True)]
    section, head, key = "", None, None
    for number, line in enumerate(lines):
        if found := HEAD.match(line):
            section = found[1]
            head = number if section == "install" else head
        elif section == "install" and KEY.match(line):
            key = number
    if key is not None:
        there = parsed(text).get("install", {}).get("constraint", "").split()
        lines[key] = " ".join((lines[key].rstrip(), *(word for word in words if word not in there))) + "\n"
    else:
        new = [f"constraint = {' '.join(words)}\n"]
        lines = [*lines, "[install]\n", *new] if head is None else [*lines[: head + 1], *new, *lines[head + 1 :]]
    edited, wanted = "".join(lines), {**parsed(text)}
    wanted["install"] = {**wanted.get("install", {}), "constraint": " ".join(words)}
    return edited if alike(edited, wanted) else rendered(wanted)


def parsed(text: str) -> dict[str, dict[str, str]]:
    """Read settings as pip does. Raises configparser.Error."""
    settings = configparser.RawConfigParser()
    settings.read_string(text)
    return {name: dict(settings.items(name)) for name in settings.sections()}


def alike(text: str, wanted: dict[str, dict[str, str]]) -> bool:
    """Say whether pip reads the same in a text, in whatever order its constraints stand."""
    try:
        found = parsed(text)
    except configparser.Error:
        return False
    words = [each.get("install", {}).get("constraint", "").split() for each in (found, wanted)]
    found.setdefault("install", {})["constraint"] = wanted["install"]["constraint"]
    return sorted(words[0]) == sorted(words[1]) and found == wanted


def rendered(settings: dict[str, dict[str, str]]) -> str:
    """Write settings anew, without comments: where lines alone do not say what belongs to what."""
    written = configparser.RawConfigParser()
    written.read_dict(settings)
    with io.StringIO() as stream:
        written.write(stream)
        return stream.getvalue()
