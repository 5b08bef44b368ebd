"""What is left of a screen with --quiet: of work that went well its result in one line, and what warns.

A command that is not here answers a question: its screen is what was asked for. So is that of work that failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from xpusetup.base.text import render_size
from xpusetup.system.environment import short_path
from xpusetup.ui import storage
from xpusetup.ui.build import in_one_line
from xpusetup.ui.storage import show_attempts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rich.console import Console

    from xpusetup.commands.cache import PrunedCache
    from xpusetup.commands.emit import Emitted
    from xpusetup.commands.remove import Removed
    from xpusetup.commands.result import AnyResult
    from xpusetup.commands.setup import SetupResult


DONE = "[green]✓[/] "


def show_in_brief(console: Console, result: AnyResult, data: Any) -> bool:
    """Print the result of work in one line; False where the whole screen has to be shown."""
    render = BRIEF.get(type(data).__name__) or LINES.get(result.command)
    line = render(data) if render and result.code == 0 else ""
    if line:
        console.print(f" {line}")
        show_attempts(console, getattr(data, "reached_out", ()), verbose=False)
    return bool(line)


def _verified(data: Mapping[str, Any]) -> str:
    skipped = sum(check["level"] == "skip" for check in data.get("checks", ()))
    told = f"verified on {escape(data['device'])}: {len(data['checks']) - skipped} checks" if "checks" in data else ""
    return f"{DONE}{told}" if told and data["verified"] else ""


def _tested(data: Mapping[str, Any]) -> str:
    if "suites" not in data:
        return ""
    passed = sum(row["passed"] for row in data["suites"])
    against = f" · not worse than {escape(data['against']['baseline'])}" if data["against"] else ""
    return f"{DONE}{escape(data['suite'])}: {passed} passed, {len(data['failed'])} failed{against}"


def _found(data: Mapping[str, Any]) -> str:
    found = data["inside"] if data["inside"] and data["inside"]["culprit"] else data
    if not found["culprit"]:
        return ""
    return f"{DONE}{found['component']} {found['culprit']['rev']} {escape(found['culprit']['subject'])}"


def _prepared(data: SetupResult) -> str:
    return f"{DONE}{len(data.ran)} steps are done" if data.ran and not data.stopped else ""


def _pruned(data: PrunedCache) -> str:
    return f"{DONE}{len(data.removed)} removed, {render_size(data.freed)} freed" if not data.busy else ""


def _emitted(data: Emitted) -> str:
    return f"{DONE}{len(data.files)} files; build it with: {escape(data.start)}"


def _removed(data: Removed) -> str:
    return storage.in_one_line(data) if data.removed else ""


def _file(data: Mapping[str, Any]) -> str:
    return f"{DONE}{escape(short_path(data['file']))}" if data["file"] else ""


BRIEF: dict[str, Callable[..., str]] = {
    "BuildResult": lambda data: in_one_line(data, "built"),
    "InstallResult": lambda data: in_one_line(data, "installed"),
    "Emitted": _emitted,
    "PrunedCache": _pruned,
    "Removed": _removed,
    "SetupResult": _prepared,
}
"""The line of each type of result that has one."""
LINES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "verify": _verified,
    "test": _tested,
    "bisect": _found,
    "bundle create": _file,
    "bundle verify": lambda data: f"{DONE}{escape(short_path(data['file']))} is whole",
    "report": _file,
    "profiles new": _file,
    "profiles lock": _file,
    "devices check": lambda _data: f"{DONE}nothing breaks `import torch` here",
    "verify-wheel": lambda data: f"{DONE}{escape(data['wheel'])}: {len(data['checks'])} checks, none fails",
}
