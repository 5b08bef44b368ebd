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
    from collections.abc import Callable

    from rich.console import Console

    from xpusetup.commands.bisect import Bisection
    from xpusetup.commands.bundle import CreatedBundle
    from xpusetup.commands.cache import PrunedCache
    from xpusetup.commands.profiles import LockedProfile, NewProfile
    from xpusetup.commands.rebuild import RebuildResult
    from xpusetup.commands.report import WrittenReport
    from xpusetup.commands.result import AnyResult
    from xpusetup.commands.test import SuiteResult
    from xpusetup.commands.verify import DeviceVerification


DONE = "[green]✓[/] "


def show_in_brief(console: Console, result: AnyResult, data: Any) -> bool:
    """Print the result of work in one line; False where the whole screen has to be shown."""
    render = BRIEF.get(type(data).__name__)
    line = render(data) if render and result.code == 0 else ""
    if line:
        console.print(f" {line}")
        show_attempts(console, getattr(data, "reached_out", ()))
    return bool(line)


def _verified(data: DeviceVerification) -> str:
    done = sum(check.level != "skip" for check in data.checks)
    return f"{DONE}verified on {escape(data.device)}: {done} checks" if data.verified else ""


def _tested(data: SuiteResult) -> str:
    passed = sum(row.passed for row in data.suites)
    against = f" · not worse than {escape(data.against.baseline)}" if data.against else ""
    return f"{DONE}{escape(data.suite)}: {passed} passed, {len(data.failed)} failed{against}"


def _found(data: Bisection) -> str:
    found = data.inside if data.inside and data.inside.culprit else data
    if not found.culprit:
        return ""
    return f"{DONE}{found.component} {found.culprit.rev} {escape(found.culprit.subject)}"


def _pruned(data: PrunedCache) -> str:
    return f"{DONE}{len(data.removed)} removed, {render_size(data.freed)} freed" if not data.busy else ""


def _same(data: RebuildResult) -> str:
    return f"{DONE}{len(data.wheels)} {'wheel' if len(data.wheels) == 1 else 'wheels'}: the same bytes"


def _file(data: CreatedBundle | LockedProfile | NewProfile | WrittenReport) -> str:
    return f"{DONE}{escape(short_path(data.file))}" if data.file else ""


BRIEF: dict[str, Callable[..., str]] = {
    "BuildResult": lambda data: in_one_line(data, "built"),
    "InstallResult": lambda data: in_one_line(data, "installed"),
    "Bisection": _found,
    "DeviceList": lambda data: f"{DONE}nothing breaks `import torch` here" if data.checked else "",
    "DeviceVerification": _verified,
    "Emitted": lambda data: f"{DONE}{len(data.files)} files; begin with: {escape(data.start)}",
    "PrunedCache": _pruned,
    "RebuildResult": _same,
    "Removed": lambda data: storage.in_one_line(data) if data.removed else "",
    "SetupResult": lambda data: f"{DONE}{len(data.ran)} steps are done" if data.ran and not data.stopped else "",
    "SuiteResult": _tested,
    "WheelVerification": lambda data: f"{DONE}{escape(data.wheel)}: {len(data.checks)} checks, none fails",
    "CreatedBundle": _file,
    "LockedProfile": _file,
    "NewProfile": _file,
    "VerifiedBundle": lambda data: f"{DONE}{escape(short_path(data.file))} is whole",
    "WrittenReport": _file,
}
"""The line of each type of result that has one."""
