"""skill: one page for agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer  # noqa: TC002 - Typer reads the annotation when it runs

from xpusetup.cli import options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.commands.result import AnyResult


@options.command("skill", "xpusetup skill > SKILL.md", "xpusetup skill --json")
def skill(*, context: typer.Context, told: options.ResultOutput) -> AnyResult:
    """Print a page that teaches an AI assistant to use xpusetup."""
    from xpusetup.commands.self import make_skill

    return make_skill(dict(_summaries(context.find_root().command)))


def _summaries(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Give what each command does, by its name, groups opened."""
    below = getattr(command, "commands", {})
    for name, each in below.items():
        yield from _summaries(each, (*words, name))
    if not below:
        yield " ".join(words), (command.help or "").partition("\n\n")[0].replace("\n", " ").strip()
