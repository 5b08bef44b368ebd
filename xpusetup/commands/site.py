"""setup site: writes the file that says what a place has of its own, from KEY=VALUE words."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import tomlkit

from xpusetup.base.command import Command
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.base.text import hint_at_nearest
from xpusetup.commands.result import Result
from xpusetup.config.settings import SettingsFile, merge_settings
from xpusetup.run.workspace import settings_files
from xpusetup.system import files
from xpusetup.system.environment import which


class SiteKey(NamedTuple):
    """A word of the command: its table and key in the file, and what a person is asked; it is not where that is empty.

    `several`: a list, by commas; `number`: what stands without quotes.
    """

    table: str
    key: str
    question: str = ""
    several: bool = False
    number: bool = False


FOR_ALL = "/etc/xpusetup/site.toml"
"""The site file of all users of a machine."""
KEYS = {
    "modules": SiteKey("toolkit", "modules", "modules that bring oneAPI, with commas between", several=True),
    "toolkit": SiteKey("toolkit", "root", "or the folder of oneAPI"),
    "root": SiteKey("", "root", "folder of the builds"),
    "prefix": SiteKey("", "prefix", "folder of the environments, for all who use them"),
    "scratch": SiteKey("scheduler", "scratch", "folder on a node's own disk"),
    "account": SiteKey("scheduler", "account", "account of Slurm's jobs"),
    "partition": SiteKey("scheduler", "partition", "partition that compiles"),
    "gpu_partition": SiteKey("scheduler", "gpu_partition", "partition that has GPUs"),
    "gres": SiteKey("scheduler", "gres", "what a job asks for to get a GPU (gres)"),
    "index": SiteKey("network", "pip_index", "mirror of the Python package index"),
    "mirror": SiteKey("network.git", "https://github.com/", "mirror of https://github.com/"),
    "ca": SiteKey("network", "ca_bundle", "file of this place's certificates"),
}
"""The words that `setup site` asks for, in this order."""


def _list_words() -> dict[str, SiteKey]:
    """Give every word that is taken: those above, and each key of the file, with its table before it and without."""
    found = dict(KEYS)
    tables: dict[str, Any] = {
        each.name: type(each.default) for each in fields(SettingsFile) if is_dataclass(each.default)
    }
    for table, model in {"": SettingsFile, **tables}.items():
        for each in (each for each in fields(model) if not is_dataclass(each.default)):
            made = each.default_factory() if each.default_factory is not MISSING else each.default
            if isinstance(made, dict):
                continue
            number = made is None and each.name != "provider"
            number |= isinstance(made, int | float)
            key = SiteKey(table, each.name, several=isinstance(made, list), number=number)
            found |= {f"{table}.{each.name}": key} if table else {}
            found.setdefault(each.name, key)
    return found


WORDS = _list_words()
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
    """Write the site file of this user, or the one that is named; what one says that is there stays.

    Raises UsageError for a word that is none, and for what the file may not say.
    """
    given = parse_words(words)
    file = find_place(out)
    text = render_site(given, files.read_input(file) or "", str(file))
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


def find_place(out: str) -> Path:
    return Path(out) if out else settings_files()[1]


def find_wrong(name: str, value: str) -> str:
    """Say what is wrong with a value, as of the file that it would stand in; empty for a good one."""
    try:
        render_site({name: value})
    except UsageError as error:
        return error.message.rpartition(f"{WORDS[name].key}: ")[2] or error.message
    return ""


def parse_words(words: Sequence[str]) -> dict[str, str]:
    """Read KEY=VALUE words; one without a value is left out. Raises UsageError for one that is none."""
    for word in (word for word in words if "=" not in word and word in WORDS):
        raise UsageError(f"{word} needs a value", fix=f"{word}=VALUE")
    given = dict(word.partition("=")[::2] for word in words)
    for name in (name for name in given if name not in (*WORDS, "scheduler")):
        hint = hint_at_nearest(name, [*WORDS, "scheduler"], "{}=...")
        asked = ", ".join(f"{key}=VALUE" for key in KEYS)
        raise UsageError(f"setup site knows no {name!r}{hint}", fix=f"use: {asked}, or a key of the file")
    scheduler = given.pop("scheduler", "")
    if scheduler and scheduler not in SCHEDULERS:
        fix = "use scheduler=slurm, and for another one: "
        line = Command("xpusetup emit shell --out DIR", gaps=("DIR",))
        raise UsageError(f"jobs are written for Slurm, and not for {scheduler}", fix=fix, command=line)
    idle = [name for name in given if WORDS[name].table == "scheduler"] if scheduler == "none" else []
    if idle:
        raise UsageError(f"{idle[0]} is for a scheduler, and scheduler=none", fix=f"leave {idle[0]}= out")
    given = {name: value for name, value in given.items() if value}
    for name, wrong in ((name, find_wrong(name, value)) for name, value in given.items()):
        if wrong:
            raise UsageError(f"{name} {wrong}", fix=f"give another value: {name}=VALUE")
    return given


def render_site(given: Mapping[str, str], text: str = "", name: str = "") -> str:
    """Give the text of a file with these words in it; comments and other keys of it stay.

    Raises UsageError for a file that says what none may.
    """
    merge_settings([(name, text)])  # what is wrong with it already is told of it alone
    document = tomlkit.parse(text or "".join(f"{line}\n" for line in _list_keys()))
    for word, value in given.items():
        key = WORDS[word]
        table: Any = document
        for part in filter(None, key.table.split(".")):
            table = table.setdefault(part, tomlkit.table())
        table[key.key] = _read_value(key, value)
    made = tomlkit.dumps(document)
    merge_settings([(name, made)])
    return made


def _read_value(key: SiteKey, value: str) -> object:
    if key.several:
        between = "\n" if key.key == "prelude" else ","  # a line of a shell may have commas in it
        return [each.strip() for each in value.split(between) if each.strip()]
    return float(value) if key.number and "." in value else int(value) if key.number and value.isdigit() else value


def _list_keys() -> Iterator[str]:
    """Give the comment at the head of the file: all that may stand in it."""
    yield "# What this place has of its own, for all profiles. What is in use: xpusetup plan -v"
    own = [each for each in fields(SettingsFile) if not is_dataclass(each.default)]
    yield f"# Keys: {', '.join(each.name for each in own)}"
    for each in fields(SettingsFile):
        if is_dataclass(each.default):
            yield f"# [{each.name}]: {', '.join(key.name for key in fields(each.default))}"
