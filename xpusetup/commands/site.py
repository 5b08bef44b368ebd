"""setup site: writes the file that says what a place has of its own, from KEY=VALUE words."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import NamedTuple

from xpusetup.base.command import Command
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.base.text import hint_at_nearest
from xpusetup.commands.result import Result
from xpusetup.config.settings import SettingsFile, merge_settings
from xpusetup.run.workspace import settings_files
from xpusetup.system import files
from xpusetup.system.environment import which


class SiteKey(NamedTuple):
    """A word of the command: its table and key in the file, what a person is asked, and what it takes.

    `several`: a list.
    """

    table: str
    key: str
    question: str
    takes: str
    several: bool = False


WORD = "one word of letters, digits and _ . : , / + @ -"
FOLDER = "a whole path, as /shared/xpusetup"
ADDRESS = "an address without spaces"
FOR_ALL = "/etc/xpusetup/site.toml"
"""The site file of all users of a machine."""
KEYS = {
    "modules": SiteKey("toolkit", "modules", "modules that bring oneAPI, with commas between", WORD, several=True),
    "toolkit": SiteKey("toolkit", "root", "or the folder of oneAPI", FOLDER),
    "root": SiteKey("", "root", "folder of the builds", FOLDER),
    "prefix": SiteKey("", "prefix", "folder of the environments, for all who use them", FOLDER),
    "scratch": SiteKey("scheduler", "scratch", "folder on a node's own disk", FOLDER),
    "account": SiteKey("scheduler", "account", "account of Slurm's jobs", WORD),
    "partition": SiteKey("scheduler", "partition", "partition that compiles", WORD),
    "gpu_partition": SiteKey("scheduler", "gpu_partition", "partition that has GPUs", WORD),
    "gres": SiteKey("scheduler", "gres", "what a job asks for to get a GPU (gres)", WORD),
    "index": SiteKey("network", "pip_index", "mirror of the Python package index", ADDRESS),
    "mirror": SiteKey("network.git", "https://github.com/", "mirror of https://github.com/", ADDRESS),
    "ca": SiteKey("network", "ca_bundle", "file of this place's certificates", FOLDER),
}
"""The words that `setup site` takes, in the order in which it asks for them."""
SCHEDULERS = ("slurm", "none")


@dataclass(frozen=True)
class SiteFile:
    """The site file that was written, its text, and the commands that look at what it says."""

    file: str
    text: str
    checks: list[Command]


def list_questions() -> Iterator[tuple[str, str]]:
    """Give each word with its question; those of a scheduler only where Slurm is here."""
    slurm = which("sbatch") is not None
    yield from ((name, key.question) for name, key in KEYS.items() if slurm or key.table != "scheduler")


def write_site(words: Sequence[str], out: str) -> Result[SiteFile]:
    """Write the site file of this user, or the one that is named.

    Raises UsageError for a word that is none, for what the file may not say, and where a file is there.
    """
    given = parse_words(words)
    file = find_place(out, given)
    text = render_site(given)
    try:
        files.write_text(file, text)
    except NotReadyError as error:
        if str(file) != FOR_ALL:
            raise
        line = Command(shlex.join(("xpusetup", "setup", "site", *(f"{name}={value}" for name, value in given.items()))))
        raise NotReadyError(
            error.message, fix="without root, write your own, which others can copy: ", command=line
        ) from error
    checks = [Command("xpusetup plan -v"), Command("xpusetup doctor --for build")]
    return Result("setup site", SiteFile(str(file), text, checks))


def find_place(out: str, given: Mapping[str, str]) -> Path:
    """Give the file that is to be written. Raises UsageError where one is there."""
    file = Path(out) if out else settings_files()[1]
    if file.exists():
        words = shlex.join(f"{name}={value}" for name, value in given.items())
        line = Command(" ".join(filter(None, ("xpusetup setup site", words, "--out FILE"))), open=True)
        raise UsageError(f"{file} is there", fix="edit it, or write another one: ", command=line)
    return file


def find_wrong(name: str, value: str) -> str:
    """Say what a value should be, where it is none that the site file takes; empty for a good one."""
    takes = KEYS[name].takes
    relative = takes == FOLDER and not value.startswith(("/", "~", "$"))
    try:
        merge_settings([("", render_site({name: value}))])
    except UsageError:
        relative = True
    return takes if relative else ""


def parse_words(words: Sequence[str]) -> dict[str, str]:
    """Read KEY=VALUE words; one without a value is left out. Raises UsageError for one that is none."""
    for word in (word for word in words if "=" not in word and word in KEYS):
        raise UsageError(f"{word} needs a value", fix=f"give {KEYS[word].takes}: {word}=VALUE")
    given = dict(word.partition("=")[::2] for word in words)
    for name in (name for name in given if name not in (*KEYS, "scheduler")):
        hint = hint_at_nearest(name, [*KEYS, "scheduler"], "{}=...")
        raise UsageError(f"setup site knows no {name!r}{hint}", fix=f"use: {', '.join(f'{key}=VALUE' for key in KEYS)}")
    scheduler = given.pop("scheduler", "")
    if scheduler and scheduler not in SCHEDULERS:
        fix = "use scheduler=slurm, and for another one: "
        line = Command("xpusetup emit shell --out DIR", open=True)
        raise UsageError(f"jobs are written for Slurm, and not for {scheduler}", fix=fix, command=line)
    idle = [name for name in given if KEYS[name].table == "scheduler"] if scheduler == "none" else []
    if idle:
        raise UsageError(f"{idle[0]} is for a scheduler, and scheduler=none", fix=f"leave {idle[0]}= out")
    given = {name: value for name, value in given.items() if value}
    for name, wrong in ((name, find_wrong(name, value)) for name, value in given.items()):
        if wrong:
            raise UsageError(f"{name} cannot be {given[name]!r}", fix=f"give {wrong}: {name}=VALUE")
    return given


def render_site(given: Mapping[str, str]) -> str:
    tables: dict[str, list[str]] = {}
    for name, value in given.items():
        key = KEYS[name]
        told = [each.strip() for each in value.split(",") if each.strip()] if key.several else value
        bare = key.key if re.fullmatch(r"\w+", key.key) else json.dumps(key.key)
        tables.setdefault(key.table, []).append(f"{bare} = {json.dumps(told, ensure_ascii=False)}")
    lines = [*_list_keys(), *tables.pop("", [])]
    for table, rows in sorted(tables.items()):
        lines += ["", f"[{table}]", *rows]
    return "\n".join(lines) + "\n"


def _list_keys() -> Iterator[str]:
    """Give the comment at the head of the file: all that may stand in it."""
    yield "# What this place has of its own, for all profiles. What is in use: xpusetup plan -v"
    own = [each for each in fields(SettingsFile) if not is_dataclass(each.default)]
    yield f"# Keys: {', '.join(each.name for each in own)}"
    for each in fields(SettingsFile):
        if is_dataclass(each.default):
            yield f"# [{each.name}]: {', '.join(key.name for key in fields(each.default))}"
