"""Results and errors as text for people: each command has one screen in this package.

Every screen reads the same without colour, at any width from 60 to 100, and as plain lines when it is no terminal.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.text import hide, hide_all
from xpusetup.commands.result import AS_IT_IS
from xpusetup.ui.console import is_command, literal, make_console

if TYPE_CHECKING:
    from rich.console import Console

    from xpusetup.base.errors import XpuError
    from xpusetup.commands.result import AnyResult


def show_result(result: AnyResult, *, verbose: bool, quiet: bool = False, stderr: bool = False) -> None:
    """Print a result; `quiet`: of work that went well one line."""
    data = result.data if result.command in AS_IT_IS else literal(hide_all(result.data))
    console = make_console(stderr=stderr)
    if quiet:
        from xpusetup.ui.brief import show_in_brief  # noqa: PLC0415 - only where it is asked for

        if show_in_brief(console, result, data):
            return
    show_data(console, data, verbose=verbose)


def show_error(error: XpuError) -> None:
    """Print an error on stderr: what happened, and below it what mends it."""
    console = make_console(stderr=True)
    first, *rest = hide(error.message).splitlines() or [""]
    console.print(f" [red]✗[/] {escape(first)}")
    for line in rest:
        console.print(f"   {escape(line)}")
    for number, line in enumerate(hide(error.fix).splitlines()):
        label = f"   [bold]{'fix' if number == 0 else '   '}[/]  "
        if is_command(line.strip()):
            console.print(f"{label}{escape(line.strip())}", soft_wrap=True)
        else:
            console.print(f"{label}{escape(line.strip())}")


SCREENS = {
    "AdoptedProject": "adopt:show_adopted",
    "BuildList": "list:show_list",
    "BuildResult": "build:show_build",
    "BuildStatus": "status:show_status",
    "ExplainResult": "explain:show_explained",
    "InstallResult": "build:show_install",
    "PlanResult": "plan:show_plan",
    "CheckList": "doctor:show_checks",
    "Comparison": "doctor:show_comparison",
    "Diagnosis": "doctor:show_doctor",
    "Overview": "way:show_way",
    "SetupResult": "setup:show_setup",
    "Prompt": "skill:show_prompt",
    "Skill": "skill:show_skill",
    "UpstreamReport": "doctor:show_report",
    "Emitted": "emit:show_emit",
    "ShellEnvironment": "env:show_env",
    "Self": "self:show_self",
    "CacheSize": "cache:show_size",
    "PrunedCache": "cache:show_prune",
    "Removed": "remove:show_removed",
    "ProfileSchema": "profiles:show_schema",
    "DeviceCheckList": "verify:show_list",
    "DeviceVerification": "verify:show_verify",
    "FallbackTables": "fallbacks:show_fallbacks",
    "GeneratedCode": "fallbacks:show_codegen",
    "SuiteList": "suites:show_suite_list",
    "SuiteResult": "suites:show_suites",
    "ProofComparison": "results:show_comparison",
    "DeviceTable": "results:show_table",
    "DeviceList": "devices:show_devices",
    "Bisection": "bisect:show_bisect",
    "WrittenReport": "report:show_report",
    "LibraryClosure": "wheel_check:show_closure",
    "WheelVerification": "wheel_check:show_wheel",
    "RebuildResult": "wheel_rebuild:show_rebuild",
    "SignedWheels": "wheel_sign:show_signed",
    "FitResult": "wheel_fits:show_fits",
    "CreatedBundle": "bundle:show_created",
    "VerifiedBundle": "bundle:show_verified",
    "MadeToolkit": "toolkit:show_toolkit",
    "ProfileList": "profiles:show_list",
    "ShownProfile": "profiles:show_one",
    "CheckedProfile": "profiles:show_checked",
    "NewProfile": "profiles:show_new",
    "NewRelease": "profiles:show_release",
    "LockedProfile": "profiles:show_lock",
    "TrustedFiles": "profiles:show_trusted",
}
"""The screen of each type of result, as module:function; a test holds them against the types that commands return.

A result that is not here has no screen: what it tells was said while the command was at work.
"""


def show_data(console: Console, data: object, *, verbose: bool = False) -> None:
    """Print the screen of a result."""
    module, _, function = SCREENS.get(type(data).__name__, "").partition(":")
    if module:
        getattr(import_module(f"xpusetup.ui.{module}"), function)(console, data, verbose=verbose)
