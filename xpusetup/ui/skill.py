"""The page for agents, and a text for an assistant: printed as they are."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from xpusetup.commands.prompt import Prompt
    from xpusetup.commands.self import Skill


def show_skill(_console: Console, data: Skill, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Write the page as it is."""
    sys.stdout.write(data.text + "\n")


def show_prompt(console: Console, data: Prompt, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Write the text as it is: it is piped or copied."""
    console.out(data.prompt, end="")
