"""The catalogue of checks as values: what each means, how to mend it, where that is known from."""

from __future__ import annotations

from pydantic import Field

from xpusetup.model import Fix
from xpusetup.tomltext import parse_toml
from xpusetup.values import Confidence, Strict


class CheckText(Strict):
    """What stands behind a check: why it matters, how to mend it by distribution family, and the source."""

    id: str = Field(pattern=r"^[a-z]+\.[a-z_0-9]+$")
    area: str
    title: str
    why: str
    say: str = ""
    commands: dict[str, list[str]] = {}
    source: str
    confidence: Confidence
    follows: list[str] = []

    def reason(self, words: dict[str, str]) -> str:
        """Give why it matters, with the words of this machine and profile filled in."""
        return _fill(self.why, words)

    def fix(self, words: dict[str, str]) -> Fix:
        """Give the fix with the words of this machine and profile filled in."""
        filled = {family: tuple(_fill(line, words) for line in lines) for family, lines in self.commands.items()}
        return Fix(say=_fill(self.say, words), commands=tuple(sorted(filled.items())))


def _fill(text: str, words: dict[str, str]) -> str:
    for name, value in words.items():
        text = text.replace(f"<{name}>", value)
    return text


class _CheckFile(Strict):
    check: list[CheckText]


def parse_check_texts(text: str) -> dict[str, CheckText]:
    """Read data/checks.toml."""
    return {check.id: check for check in _CheckFile.model_validate(parse_toml(text)).check}
