"""skill and self: one page for agents, and what this program is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer  # noqa: TC002 - Typer reads annotations when it runs

from xpusetup.cli import options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.commands.result import AnyResult


@options.spread
def skill(*, context: typer.Context, told: options.Output) -> None:
    """Print one page for agents: how to ask, which way to go, what not to do, all commands."""

    def work() -> AnyResult:
        from xpusetup.commands.skill import make_skill

        return make_skill(dict(_summaries(context.find_root().command)))

    told.finish("skill", work)


@options.spread
def show_self(*, told: options.Output) -> None:
    """Say which xpusetup this is, how a newer one comes, and where builds, sources and settings lie."""

    def work() -> AnyResult:
        from xpusetup.commands.self import describe

        return describe()

    told.finish("self", work)


def _summaries(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Give what each command does, by its name, groups opened."""
    below = getattr(command, "commands", {})
    for name, each in below.items():
        yield from _summaries(each, (*words, name))
    if not below:
        yield " ".join(words), (command.help or "").partition("\n\n")[0].replace("\n", " ").strip()
