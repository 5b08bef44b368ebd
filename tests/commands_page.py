"""docs/commands.md: every command with its options, their variables and examples, made from the command line itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from xpusetup.cli import app
from xpusetup.cli.help import SECTIONS, section_of

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = """\
# Commands, options and variables

Made from the program's own `--help`. An option goes before a variable, that before `xpusetup.toml` of the project, the
site file and the profile ([site.md](site.md)); `plan -v` says where a value came from. A list in a variable is parted
by spaces.

## Variables for all commands

| variable | meaning |
|---|---|
| `XPUSETUP_ROOT` | the folder in which roots lie, instead of `~/.local/share/xpusetup` |
| `XPUSETUP_JSON=1`, `XPUSETUP_QUIET=1`, `XPUSETUP_VERBOSE=1` | as the options, for every command |
| `XPUSETUP_FORCE=1` | a step script runs though its stamp says that it is done |
| `XPUSETUP_BUILD_PATH=real` | compiles see their root where it lies, not [at one path](build.md#one-path) |
| `XPUSETUP_SYSROOT` | a folder that stands for / where machines are probed (tests, support) |
| `NO_COLOR` | no colour |
| `XDG_DATA_HOME`, `XDG_CACHE_HOME`, `XDG_CONFIG_HOME` | where roots, caches and your own site file lie |
"""


def render_commands() -> str:
    """Give the page."""
    parts = [HEAD]
    for name, command in _commands(typer.main.get_command(app)):
        parts.append(f"## xpusetup {name}\n\n{_summary(command)}\n")
        parts.append("<!-- not run: examples, which a test parses -->\n")
        parts += [f"    {example}" for example in command.examples]
        shown = [each for each in command.params if each.name != "help" and not each.hidden]
        ordered = sorted(shown, key=lambda each: SECTIONS.index(section_of(command, each)))
        parts += ["", "| option | meaning | variable |", "|---|---|---|", *(_row(name, each) for each in ordered), ""]
    return "\n".join(parts).rstrip("\n") + "\n"


def list_commands() -> list[tuple[str, Any, str]]:
    """Give every command with its name and what it does, as the page for agents says it."""
    found = _commands(typer.main.get_command(app))
    return [(name, each, (each.help or "").partition("\n\n")[0].replace("\n", " ").strip()) for name, each in found]


def _commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", {})
    for name, each in below.items():
        yield from _commands(each, (*words, name))
    if not below:
        yield " ".join(words), command


def _summary(command: Any) -> str:
    return " ".join((command.help or "").split())


def _row(name: str, param: Any) -> str:
    said = " ".join((getattr(param, "help", "") or "").split()).replace("|", "\\|")
    shown_value = str(param.metavar or param.name).upper() if not param.metavar else str(param.metavar)
    if param.param_type_name == "argument":
        argument = shown_value.replace("|", "\\|")
        return f"| `{argument}` | {said} | |"
    value = "" if param.is_flag else shown_value
    words = ", ".join(f"`{each}`" for each in sorted((*param.opts, *param.secondary_opts), key=len, reverse=True))
    shown = f"{words} `{value}`".replace("|", "\\|") if value else words
    word = max(param.opts, key=len).removeprefix("--")
    variable = "XPUSETUP_" + f"{name} {word}".upper().replace(" ", "_").replace("-", "_")
    return f"| {shown} | {said} | {'' if param.name == 'root' else f'`{variable}`'} |"
