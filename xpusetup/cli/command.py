"""The command that is at work, and what it was given: what advice needs to be whole."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

_AT_WORK: dict[str, Any] = {}


class Command(TyperCommand):
    """A command that remembers its options for as long as it is at work."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help: examples at its end, and the rule of the variables instead of a line for each."""
        from xpusetup.cli.examples import explain_end

        for parameter in self.params:
            parameter.show_envvar = False  # type: ignore[attr-defined]
        self.epilog = explain_end(ctx.command_path.partition(" ")[2])
        super().format_help(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        """Run it."""
        _AT_WORK.clear()
        _AT_WORK.update({**ctx.find_root().params, **ctx.params})
        return super().invoke(ctx)


def situation() -> dict[str, list[str]]:
    """Give the options that say which build is meant, as the command line or a variable names them."""
    from xpusetup.advice import OF_BUILD

    given = {option: _AT_WORK.get(option[2:].replace("-", "_")) for option in OF_BUILD}
    texts = {option: [value] for option, value in given.items() if isinstance(value, str) and value}
    lists = {option: list(value) for option, value in given.items() if isinstance(value, list | tuple) and value}
    return {**texts, **{option: found for option, found in lists.items() if option == "--rev" or len(found) == 1}}


def is_verbose() -> bool:
    """Say whether more is to be said: -v after the command, or before one that has no such option itself."""
    return bool(_AT_WORK.get("verbose"))
