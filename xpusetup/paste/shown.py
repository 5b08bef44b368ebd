"""What lines that programs wrote tell, together with others of the same paste (data/shown.toml). Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

from xpusetup.base.values import Limits, Name, Strict, Text
from xpusetup.config.load import parse_data
from xpusetup.machine.facts import Shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xpusetup.paste.lines import Pasted


LONGEST = 160
"""As many characters of a line are shown."""


@dataclass(frozen=True, kw_only=True)
class Showing(Strict):
    """What one kind of line tells: the check, what else has to be or may not be there, what it means and what mends it.

    `same` are entries of explain's catalogue that say no more, `firm`: it counts where torch has a device too. `adds`:
    it tells more of a failure that the check saw itself, with `commands` in place of the check's; by itself it proves
    nothing, but where it is `firm` too.
    """

    id: Name
    tells: Annotated[str, Limits(pattern=r"^[a-z]+\.[a-z_0-9]+$")]
    says: Annotated[list[Text], Limits(min_length=1)]
    needs: list[Text] = field(default_factory=list)
    unless: list[Text] = field(default_factory=list)
    means: Text
    mend: Text
    same: list[Text] = field(default_factory=list)
    firm: bool = False
    adds: bool = False
    commands: list[Text] = field(default_factory=list)
    source: Text

    @cached_property
    def forms(self) -> tuple[re.Pattern[str], ...]:
        """Give the patterns of its line."""
        return _compiled(self.says)

    @cached_property
    def conditions(self) -> tuple[tuple[re.Pattern[str], ...], tuple[re.Pattern[str], ...]]:
        """Give the patterns that have to be, and those that may not be."""
        return _compiled(self.needs), _compiled(self.unless)


def _compiled(patterns: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(each, re.IGNORECASE | re.MULTILINE) for each in patterns)


@dataclass(frozen=True, kw_only=True)
class _ShownFile(Strict):
    shown: list[Showing]


def parse_showings(text: str, origin: str = "shown.toml") -> tuple[Showing, ...]:
    """Read data/shown.toml. Raises UsageError for a file that is wrong."""
    return tuple(parse_data(text, _ShownFile, origin).shown)


def what_is_shown(lines: Sequence[str], showings: Iterable[Showing]) -> dict[str, Shown]:
    """Give what lines tell, by check; of two entries for one check the first counts."""
    text, told = "\n".join(lines), dict[str, Shown]()
    for each in showings:
        if each.tells not in told and (found := _find(each, text)):
            told[each.tells] = found
    return told


def _find(each: Showing, text: str) -> Shown | None:
    found = next(filter(None, (form.search(text) for form in each.forms)), None)
    needs, unless = each.conditions
    if found is None or not all(form.search(text) for form in needs) or any(form.search(text) for form in unless):
        return None
    words = {name: value.strip() for name, value in found.groupdict().items() if value}
    line = _line_at(text, found)[:LONGEST]
    return Shown(
        line=line,
        means=_fill(each.means, words),
        mend=_fill(each.mend, words),
        same=each.same,
        firm=each.firm,
        adds=each.adds,
        commands=[_fill(command, words) for command in each.commands],
    )


def _line_at(text: str, found: re.Match[str]) -> str:
    """Give the line in which the group `found` begins; without one that in which the match ends."""
    at = found.start("found") if found.groupdict().get("found") else found.start() + len(found[0].rstrip()) - 1
    start, end = text.rfind("\n", 0, max(at, 0)) + 1, text.find("\n", max(at, 0))
    return text[start : end if end >= 0 else None].strip()


def _fill(text: str, words: dict[str, str]) -> str:
    return re.sub(r"<(\w+)>", lambda gap: words.get(gap[1], "it"), text)


REFUSED = re.compile(
    r"\b0xC0000005\b|\bSegmentation fault\b|\bLLVM ERROR\b|\bAborted \(core dumped\)"
    r"|\b(?:ZE|UR|PI)_(?:RESULT_)?ERROR_(?!UNSUPPORTED_FEATURE)\w+|\bNative API failed\b"
)


def take_failure(got: Pasted) -> None:
    """Note that a program was refused by the driver: the GPU does not work then."""
    line = next((each for each in got.everything if REFUSED.search(each)), "")
    if line:
        got.said.setdefault("fails", line.strip()[:200])
