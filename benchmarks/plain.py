"""A plain Typer program with as many commands, options and texts as ours, and nothing in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer.main

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = "from typing import Annotated\n\nimport typer\n"
TAIL = "\n\ndef main() -> None:\n    app()\n"
GROUP = "{name} = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, help={help!r})"


def render_plain(app: typer.Typer) -> str:
    """Give the text of a module whose `main` is such a program."""
    return "\n".join([HEAD, *_group(typer.main.get_command(app), "app"), TAIL])


def _group(group: Any, name: str) -> Iterator[str]:
    yield GROUP.format(name=name, help=group.help)
    for word, command in group.commands.items():
        variable = f"{name}_{word.replace('-', '_')}"
        if hasattr(command, "commands"):
            yield from _group(command, variable)
            yield f"{name}.add_typer({variable}, name={word!r})"
        else:
            yield _command(name, variable, word, command)


def _command(group: str, function: str, word: str, command: Any) -> str:
    parameters = "".join(f"    {_parameter(param)},\n" for param in command.params)
    head = f"\n\n@{group}.command({word!r}, help={command.help!r})\n"
    return f"{head}def {function}(\n{parameters}) -> None:\n    pass\n"


def _parameter(param: Any) -> str:
    kind = param.type_descriptor.annotation
    texts = f"help={param.help!r}, metavar={param.metavar!r}"
    if param.param_type_name == "argument":
        return f"{param.name}: Annotated[{_name(kind)}, typer.Argument({texts})]"
    names = "".join(f"{name!r}, " for name in param.opts)
    return f"{param.name}: Annotated[{_name(kind)}, typer.Option({names}{texts})] = {param.default!r}"


def _name(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind)
