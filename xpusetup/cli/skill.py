"""skill: one page for agents."""

from collections.abc import Iterator
from typing import Any

import typer

from xpusetup.cli import options


@options.command("skill", "xpusetup skill > SKILL.md", "xpusetup skill --json")
def skill(*, context: typer.Context, told: options.ResultOutput) -> options.Answer:
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
