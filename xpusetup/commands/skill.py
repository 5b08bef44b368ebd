"""skill: one page for agents: how to ask this program, which way to go, and what not to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xpusetup.commands.result import Result
from xpusetup.system.files import package_text

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGE = "data/skill.md"
COMMANDS = "@COMMANDS@"


@dataclass(frozen=True)
class Skill:
    """The page, as Markdown."""

    text: str


def make_skill(commands: Mapping[str, str]) -> Result[Skill]:
    """Give the page with the commands that there are, by name, and what each does."""
    rows = [f"- `xpusetup {name}`: {said}" for name, said in commands.items()]
    return Result("skill", Skill(package_text(PAGE).replace(COMMANDS, "\n".join(rows))))
