"""What every command returns, and the one envelope in which it leaves as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xpusetup.redact import hide, hide_all

if TYPE_CHECKING:
    from xpusetup.errors import XpuError

SCHEMA = 1
AS_IT_IS = {"env", "profiles schema"}
"""Read by a shell and by editors: each text as it is."""


@dataclass(frozen=True)
class Result:
    """The outcome of a command: what it found, and the exit code that follows."""

    command: str
    data: dict[str, Any]
    code: int = 0


def make_document(result: Result) -> str:
    """Give a result as one JSON document."""
    data = result.data if result.command in AS_IT_IS else hide_all(result.data)
    return json.dumps({"schema": SCHEMA, "command": result.command, "ok": result.code == 0, "result": data}, indent=2)


def make_error_document(command: str, error: XpuError) -> str:
    """Give an error as one JSON document."""
    told = {"message": hide(error.message), "fix": hide(error.fix), "code": error.code}
    return json.dumps({"schema": SCHEMA, "command": command, "ok": False, "error": told}, indent=2)
