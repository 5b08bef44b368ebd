"""What is left of a screen with --quiet: of work that went well its result in one line, and what warns.

A command that is not here answers a question: its screen is what was asked for. So is that of work that failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.text import render_size
from xpusetup.system.environment import short_path
from xpusetup.ui import remove
from xpusetup.ui.build import in_one_line
from xpusetup.ui.bundle import show_attempts

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from xpusetup.commands.bisect import Bisection
    from xpusetup.commands.build_result import BuildResult
    from xpusetup.commands.bundle import CreatedBundle, VerifiedBundle
    from xpusetup.commands.cache import PrunedCache
    from xpusetup.commands.devices import DeviceList
    from xpusetup.commands.emit import Emitted
    from xpusetup.commands.profiles import LockedProfile, NewProfile
    from xpusetup.commands.remove import Removed
    from xpusetup.commands.report import WrittenReport
    from xpusetup.commands.result import AnyResult
    from xpusetup.commands.setup import SetupResult
    from xpusetup.commands.suites import SuiteResult
    from xpusetup.commands.toolkit import MadeToolkit
    from xpusetup.commands.verify import DeviceVerification
    from xpusetup.commands.wheel_check import WheelVerification
    from xpusetup.commands.wheel_rebuild import RebuildResult


DONE = "[green]✓[/] "


def show_in_brief(console: Console, result: AnyResult, data: object) -> bool:
    """Print the result of work in one line; False where the whole screen has to be shown."""
    render = BRIEF.get(type(data).__name__)
    line = render(data) if render and result.code == 0 else ""
    if line:
        console.print(f" {line}")
        show_attempts(console, getattr(data, "reached_out", ()))
    return bool(line)


def _built(data: BuildResult) -> str:
    return in_one_line(data, "built")


def _installed(data: BuildResult) -> str:
    return in_one_line(data, "installed")


def _checked(data: DeviceList) -> str:
    return f"{DONE}nothing breaks `import torch` here" if data.checked else ""


def _emitted(data: Emitted) -> str:
    return f"{DONE}{len(data.files)} files; begin with: {escape(data.start)}"


def _removed(data: Removed) -> str:
    return remove.in_one_line(data) if data.removed else ""


def _set_up(data: SetupResult) -> str:
    return f"{DONE}{len(data.ran)} steps are done" if data.ran and not data.stopped else ""


def _inspected(data: WheelVerification) -> str:
    return f"{DONE}{escape(data.wheel)}: {len(data.checks)} checks, none fails"


def _whole(data: VerifiedBundle) -> str:
    return f"{DONE}{escape(short_path(data.file))} is whole"


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


def _toolkit(data: MadeToolkit) -> str:
    return f"{DONE}{escape(short_path(data.folder))}: {data.state}, {data.version}"


def _file(data: CreatedBundle | LockedProfile | NewProfile | WrittenReport) -> str:
    return f"{DONE}{escape(short_path(data.file))}" if data.file else ""


BRIEF: dict[str, Callable[..., str]] = {
    "BuildResult": _built,
    "InstallResult": _installed,
    "Bisection": _found,
    "DeviceList": _checked,
    "DeviceVerification": _verified,
    "Emitted": _emitted,
    "PrunedCache": _pruned,
    "RebuildResult": _same,
    "Removed": _removed,
    "SetupResult": _set_up,
    "SuiteResult": _tested,
    "WheelVerification": _inspected,
    "CreatedBundle": _file,
    "LockedProfile": _file,
    "MadeToolkit": _toolkit,
    "NewProfile": _file,
    "VerifiedBundle": _whole,
    "WrittenReport": _file,
}
"""The line of each type of result that has one."""
