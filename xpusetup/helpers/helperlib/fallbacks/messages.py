"""Finds in any text what PyTorch says of operators that run on the CPU; the wordings are in messages.json."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

QUIET = "always:.*The operator .+ backend .*fall(ing)? back"
"""For pytest: each test has to say it anew, and a suite that makes warnings errors ends as on another device."""


class FallbackMessage(NamedTuple):
    """A message: its kind as the data file has it, the operator's whole name ("" where it tells none), the backend."""

    kind: str
    operator: str
    backend: str


@cache
def patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    data = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    # A space is read as any white space: terminals break lines.
    texts = ((one["kind"], one["pattern"].replace(" ?", r"\s*").replace(" ", r"\s+")) for one in data["messages"])
    return tuple((kind, re.compile(text)) for kind, text in texts)


def find_messages(text: str) -> Iterator[FallbackMessage]:
    for kind, pattern in patterns():
        for found in pattern.finditer(text):
            groups = found.groupdict()
            yield FallbackMessage(kind, whole_name(groups.get("operator") or ""), groups.get("backend", "").lower())


def whole_name(operator: str) -> str:
    return operator if "::" in operator or not operator else f"aten::{operator}"
