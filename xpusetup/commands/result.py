"""What every command returns, and the one envelope in which it leaves as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xpusetup.errors import XpuError

SCHEMA = 1


@dataclass(frozen=True)
class Result:
    """The outcome of a command: what it found, and the exit code that follows."""

    command: str
    data: dict[str, Any]
    code: int = 0


def make_document(result: Result) -> str:
    """Give a result as one JSON document."""
    return json.dumps(
        {"schema": SCHEMA, "command": result.command, "ok": result.code == 0, "result": result.data}, indent=2
    )


def make_error_document(command: str, error: XpuError) -> str:
    """Give an error as one JSON document."""
    told = {"message": error.message, "fix": error.fix, "code": error.code}
    return json.dumps({"schema": SCHEMA, "command": command, "ok": False, "error": told}, indent=2)
