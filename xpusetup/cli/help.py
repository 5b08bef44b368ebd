"""The help of a command: arguments and common options first, all others below, examples at its end."""

import inspect
import re
import shutil
from collections.abc import Iterable
from functools import partial
from typing import Any

ALWAYS = {"--name", "--into", "--json", "--quiet", "--verbose", "--help", "--yes", "--dry-run"}
"""Options that are common wherever they are."""
SECTIONS = ("Arguments", "Options", "Advanced")
GENERAL = {"--json", "--quiet", "--verbose", "--root"}
"""Options with one variable for all commands; that of --root names the folder that holds the builds."""
AS_IT_STANDS = "\b\n"
"""What keeps help from filling the lines of a paragraph anew."""
NARROWEST, BELOW = 20, 6
"""Columns that a help has at least, and how long a word may be in a narrow one with its meaning beside it."""


def name_values(parameters: Iterable[Any]) -> None:
    """Let the help say what an option or argument takes in one word, and nothing of a flag, which takes none."""
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda **_words: None  # beside its word it would say str
        parameter.metavar = parameter.metavar or (
            "" if getattr(parameter, "is_flag", False) else parameter.name.upper()
        )
        parameter.show_envvar = False


def fit(formatter: Any) -> None:
    """Let a help be as narrow as the terminal: what a word means stands below it then."""
    width = shutil.get_terminal_size().columns - 2
    if width < formatter.width:
        formatter.width = max(width, NARROWEST)
        formatter.write_dl = partial(formatter.write_dl, col_max=BELOW)


def list_pieces(command: Any, context: Any) -> list[str]:
    """Give the words behind a command's name: its arguments as people write them, and the command that it runs."""
    words = [_usage_of(each) for each in command.get_params(context) if each.param_type_name == "argument"]
    return ["[OPTIONS]", *words, *(["--", "COMMAND..."] if command.follows else [])]


def _usage_of(argument: Any) -> str:
    word = argument.metavar or argument.name.upper()
    return f"{word if argument.required else f'[{word}]'}{'...' if argument.nargs == -1 else ''}"


def write_help(command: Any, context: Any, formatter: Any) -> None:
    """Write the help of a command."""
    parameters = command.get_params(context)
    name_values(parameters)
    fit(formatter)
    command.format_usage(context, formatter)
    command.format_help_text(context, formatter)
    rows: dict[str, list[tuple[str, str]]] = {title: [] for title in SECTIONS}
    for each in parameters:
        record = each.get_help_record(context)
        if record is not None:
            rows[section_of(command, each)].append((record[0], _in_words(record[1], each)))
    for title, records in rows.items():
        if records:
            with formatter.section(title):
                formatter.write_dl(records)
    command.epilog = _end(command, context.command_path.partition(" ")[2], parameters)
    command.format_epilog(context, formatter)


def _in_words(told: str, parameter: Any) -> str:
    """Give the meaning of an option with its default and its limits in words, and whether it can be repeated."""
    told = told.replace("\\[", "[")  # Typer before 0.29 writes it for rich
    told = re.sub(r"(?<=default: )\((.*?)\)(?=[;\]])", r"\1", told)
    told = re.sub(r"(?:; |(?<=\[))x>=([\d.]+)(?=[;\]])", "", told).replace("  []", "")
    return f"{told}  [repeatable]" if getattr(parameter, "multiple", False) else told


def section_of(command: Any, parameter: Any) -> str:
    """Give the heading below which a parameter of a command stands."""
    if parameter.param_type_name == "argument":
        return "Arguments"
    common = parameter.required or not {*ALWAYS, *command.common}.isdisjoint(parameter.opts)
    return "Options" if common else "Advanced"


def _end(command: Any, name: str, parameters: Iterable[Any]) -> str:
    """Give the end of a command's help: examples, and how its options are called as variables."""
    options = (max(each.opts, key=len) for each in parameters if each.param_type_name == "option" and not each.hidden)
    own = next((each for each in options if each not in {*GENERAL, "--help"}), "")
    variable = f"xpusetup_{name}{own.removeprefix('-')}".upper().replace(" ", "_").replace("-", "_")
    said = f"Each option is a variable too: {variable} for {own}, and so on. " if own else ""
    general = "XPUSETUP_JSON, XPUSETUP_QUIET and XPUSETUP_VERBOSE hold for all commands."
    return "\n\n".join(("Examples:", AS_IT_STANDS + "\n".join(command.examples), said + general))


def first_sentence(command: Any) -> str:
    """Give the first sentence of what a command does."""
    return inspect.cleandoc(command.help or "").partition("\n\n")[0].replace("\n", " ")
