"""The catalogue of failures as values: how each shows in a log, what it means, what to do, where that is known from."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from pydantic import Field, model_validator

from xpusetup.tomltext import parse_toml
from xpusetup.values import Strict

Phase = Literal["clone", "submodule", "configure", "compile", "link", "import", "runtime", "triton", "test", "install"]
Weight = Literal["error", "warning", "pointer"]
Certainty = Literal["high", "medium", "low"]

QUOTE = "['\"`´‘’“”«»„]?"


System = Literal["windows", "debian", "fedora", "suse", "arch", "wsl", "docker"]


class Advice(Strict):
    """What to do on one kind of system; what is empty is as everywhere."""

    fix: str = ""
    commands: list[str] = []


class Signature(Strict):
    """One failure. data/signatures.toml says what each key means."""

    id: str = Field(pattern=r"^[a-z]+\.[a-z_0-9]+$")
    phase: Phase
    level: Weight = "error"
    abort: bool = False
    memory: bool = False
    cause: str
    fix: str
    commands: list[str] = []
    words: list[str] = Field(min_length=1)
    local: list[str] = []
    patterns: list[str] = Field(min_length=1)
    never: str = ""
    follows: list[str] = []
    cleared: list[str] = []
    on: dict[System, Advice] = {}
    source: str
    confidence: Certainty
    example: str

    def search(self, text: str) -> re.Match[str] | None:
        """Find the failure in a few lines of a log."""
        return next((found for pattern in self.patterns if (found := make_regex(pattern).search(text))), None)


class _SignatureFile(Strict):
    signature: list[Signature]

    @model_validator(mode="after")
    def names_are_known(self) -> _SignatureFile:
        """Refuse a name that stands twice, and one in `follows` that nothing has."""
        names = [signature.id for signature in self.signature]
        twice = {name for name in names if names.count(name) > 1}
        unknown = {name for signature in self.signature for name in signature.follows} - set(names)
        if twice or unknown:
            raise ValueError(f"names that stand twice: {sorted(twice)}; that nothing has: {sorted(unknown)}")
        return self


def parse_signatures(text: str) -> tuple[Signature, ...]:
    """Read data/signatures.toml. Raises pydantic's ValidationError on anything that it does not know."""
    return tuple(_SignatureFile.model_validate(parse_toml(text)).signature)


@cache
def make_regex(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of the catalogue: a space is any white space, <q> any quote or none, case does not matter.

    Compiled when first needed: a log needs a few of the hundreds.
    """
    spaced = re.sub(r" ([?*+]?)", lambda found: r"\s*" if found[1] in {"?", "*"} else r"\s+", pattern)
    return re.compile(spaced.replace("<q>", QUOTE), re.IGNORECASE | re.MULTILINE)
