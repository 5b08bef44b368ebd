"""One who knows nothing of this program: runs the first command of `next`, reads what it writes, and so on.

Another program's end says nothing of what comes after it: then the next of the same list is run.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FIRST = ("xpusetup",)
MOST = 8
"""Commands, the bare one among them."""


@dataclass(frozen=True)
class Journey:
    """The commands that were run, where they ended (verified, or cannot), and why."""

    commands: list[str]
    end: str
    why: str


def follow(answer: Callable[[Sequence[str]], dict[str, Any] | None]) -> Journey:
    """Follow `next` from the bare command to a verified build, or to where nothing leads on.

    `answer` runs a command and gives its document, None for another program's. Fails where it takes more commands
    than MOST, or where a command says again what it said before.
    """
    ran: list[str] = []
    said: list[dict[str, Any]] = []
    coming: list[Sequence[str]] = [FIRST]
    while coming:
        argv = coming.pop(0)
        ran.append(shlex.join(argv))
        assert len(ran) <= MOST, f"more than {MOST} commands: {ran}"
        document = answer(argv)
        if document is None:
            continue
        assert document not in said, f"sent in a circle: {ran}"
        said.append(document)
        told = document.get("result") or document["error"]
        if told.get("verified") is True:
            return Journey(ran, "verified", "")
        coming = [each["argv"] for each in told["next"]]
    return Journey(ran, "cannot", reason(said[-1]))


def reason(document: dict[str, Any]) -> str:
    """Give why nothing leads on, as the document says it; empty where it does not."""
    if "error" in document:
        return str(document["error"]["message"])
    told = document["result"]
    if told.get("causes"):
        return str(told["causes"][0]["cause"])
    return str((told.get("way") or {}).get("why") or told.get("first_error_line") or "")
