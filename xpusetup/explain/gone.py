"""What releases of Python's packages have taken out: one row becomes refinements of each failure that only names it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xpusetup.base.values import Strict

if TYPE_CHECKING:
    from collections.abc import Iterator


PATTERNS = (
    r"cannot import name <q>(?P<name>(?-i:{names}))<q> from <q>(?P<module>(?-i:{modules}))<q>",
    r"module <q>(?P<module>(?-i:{modules}))<q> has no attribute <q>(?P<name>(?-i:{names}))<q>?(?![\w.])",
    r"<q>(?P<module>(?-i:{modules}))<q> object has no attribute <q>(?P<name>(?-i:{names}))<q>?(?![\w.])",
)
MODULE = r"No module named <q>(?P<name>(?-i:{names}))<q>?(?![\w])"
ASKING = r"(?:site|dist)-packages[/\\](?P<who>[A-Za-z]\w+)[/\\][^\n]*\n[^\n]*\n?[^\n]*\n?[^\n]{0,40}"
"""The frame of the package that asks, right above."""


@dataclass(frozen=True, kw_only=True)
class Gone(Strict):
    """Names that a release took out: of which modules, since which release, and what stands in their place.

    Without `modules` the names are modules themselves. `install` is what an older release is asked for by.
    """

    what: str
    since: str
    names: str
    modules: str = ""
    instead: str = ""
    install: str = ""
    commands: list[str] = field(default_factory=list)
    source: str = ""


def refine_gone(gone: Gone) -> Iterator[dict[str, Any]]:
    """Give the refinements of a row for failures that name what is missing: with the package that asks, and without."""
    forms = PATTERNS if gone.modules else (MODULE,)
    patterns = [each.replace("{names}", gone.names).replace("{modules}", gone.modules) for each in forms]
    in_place = f" ({gone.instead} in its place)" if gone.instead else ""
    taken = f"was taken out of {gone.what} in {gone.since}{in_place}"
    asked = "<module> for <name>" if gone.modules else "for <name>"
    named = "<module>.<name>" if gone.modules else "<name>"
    older = f"an older {gone.what}" if gone.install else f"a {gone.what} before {gone.since}"
    commands = [*gone.commands, *([f"pip install '{gone.install}'"] if gone.install else [])]
    common = {"confidence": "medium", "source": gone.source}
    yield common | {
        "patterns": [ASKING + each for each in patterns],
        "where": "near",
        "cause": f"the package <who> asks {asked}, which {taken}",
        "fix": f"Take a newer release of <who>, else {older}.",
        "commands": ["pip install --upgrade <who>", *commands],
    }
    yield common | {
        "patterns": patterns,
        "where": "line",
        "cause": f"{named} {taken}: what asks for it was written for an earlier one",
        "fix": f"Take a newer release of what asks for it (the last frames name it), else {older}.",
        "commands": commands,
    }
