"""What releases of Python's packages took out or brought: a row refines each failure that only names it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xpusetup.base.values import Strict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


PATTERNS = (
    r"cannot import name <q>(?P<name>(?-i:{names}))<q> from <q>(?P<module>(?-i:{modules}))<q>",
    r"module <q>(?P<module>(?-i:{modules}))<q> has no attribute <q>(?P<name>(?-i:{names}))<q>?(?![\w.])",
    r"<q>(?P<module>(?-i:{modules}))<q> object has no attribute <q>(?P<name>(?-i:{names}))<q>?(?![\w.])",
)
OPTION = r"(?P<function>(?-i:{functions}))\(\) got an unexpected keyword argument <q>(?P<name>(?-i:{names}))<q>"
MODULE = r"No module named <q>(?P<name>(?-i:{names}))<q>?(?![\w])"
ASKING = r"(?:site|dist)-packages[/\\](?P<who>[A-Za-z]\w+)[/\\][^\n]*\n[^\n]*\n?[^\n]*\n?[^\n]{0,40}"
"""The frame of the package that asks, right above."""


@dataclass(frozen=True, kw_only=True)
class Gone(Strict):
    """Names that a release took out: of which modules, since which release, and what stands in their place.

    Without `modules` the names are modules themselves; with `functions` they are options of those. `install` is what an
    older release is asked for by.
    """

    what: str
    since: str
    names: str
    modules: str = ""
    functions: str = ""
    instead: str = ""
    install: str = ""
    commands: list[str] = field(default_factory=list)
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class Came(Strict):
    """Names that a release brought: of which modules or functions, and since which release.

    `functions` take an option of that name since then.
    """

    what: str
    since: str
    names: str
    modules: str = ""
    functions: str = ""
    source: str = ""
    commands: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Refuse a row that says of nothing to what its names belong."""
        if not (self.modules or self.functions):
            raise ValueError(f"{self.names}: modules or functions are missing")


def refine_came(came: Came) -> dict[str, Any]:
    """Give the refinement of a row for failures that name what is missing."""
    forms = [*(PATTERNS[:2] if came.modules else ()), *((OPTION,) if came.functions else ())]
    fills = {"{names}": came.names, "{modules}": came.modules, "{functions}": came.functions}
    return {
        "patterns": [_fill(each, fills) for each in forms],
        "where": "line",
        "confidence": "medium",
        "cause": f"<name> came with {came.what} {came.since}, and the {came.what} here is older",
        "fix": f"Take {came.what} {came.since} or newer (a program's launcher may hold an old one: its venv is made"
        " anew then), or a release of the program from before.",
        "commands": came.commands,
        "source": came.source,
    }


def _fill(form: str, fills: Mapping[str, str]) -> str:
    """Put the names of a row into a pattern."""
    for place, names in fills.items():
        form = form.replace(place, names)
    return form


def refine_gone(gone: Gone) -> Iterator[dict[str, Any]]:
    """Give the refinements of a row for failures that name what is missing: with the package that asks, and without."""
    forms = (OPTION,) if gone.functions else PATTERNS if gone.modules else (MODULE,)
    fills = {"{names}": gone.names, "{modules}": gone.modules, "{functions}": gone.functions}
    patterns = [_fill(each, fills) for each in forms]
    in_place = f" ({gone.instead} in its place)" if gone.instead else ""
    taken = f"was taken out of {gone.what} in {gone.since}{in_place}"
    asked = "<module> for <name>" if gone.modules else "for <name>"
    named = "<module>.<name>" if gone.modules else "<name>"
    if gone.functions:
        asked, named = "<function> for <name>", "the option <name> of <function>"
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
