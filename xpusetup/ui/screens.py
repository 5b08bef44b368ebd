"""Results and errors as text for people: each command has one screen in this package.

Every screen reads the same without colour, at any width from 60 to 100, and as plain lines when it is no terminal.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.text import bash_on_one_line, csh_word, fish_word, hide, hide_all
from xpusetup.commands.result import AS_IT_IS
from xpusetup.system.environment import short_path
from xpusetup.ui.console import is_command, literal, make_console, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from xpusetup.base.errors import XpuError
    from xpusetup.commands.emit import Emitted
    from xpusetup.commands.environment import ShellEnvironment
    from xpusetup.commands.profiles import ProfileSchema
    from xpusetup.commands.prompt import Prompt
    from xpusetup.commands.result import AnyResult
    from xpusetup.commands.self import Skill
    from xpusetup.commands.site import SiteFile


VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


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


def show_env(console: Console, data: ShellEnvironment, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Print what a shell evaluates, in its language."""
    unset, export, quote = LANGUAGES[data.shell]
    for name in filter(VARIABLE.fullmatch, data.unset):
        console.out(unset.format(name))
    for name, value in data.set_.items():
        if VARIABLE.fullmatch(name):
            console.out(export.format(name, quote(value)))


def _sh_word(text: str) -> str:
    kept = plain(text) == text and "\t" not in text  # the console makes blanks of a tab
    return shlex.quote(text) if kept else bash_on_one_line(text)


LANGUAGES: dict[str, tuple[str, str, Callable[[str], str]]] = {
    "sh": ("unset {}", "export {}={}", _sh_word),
    "fish": ("set -e {}", "set -gx {} {}", fish_word),
    "csh": ("unsetenv {};", "setenv {} {};", csh_word),  # its `eval` takes all lines for one
}
"""How a shell unsets a variable, exports one, and quotes a word."""


def show_emit(console: Console, data: Emitted, *, verbose: bool) -> None:
    """Print what was written and how it is used."""
    console.print(f" [green]✓[/] {len(data.files)} files")
    for label, line in (("begin with", data.start), *(("then", each) for each in data.then)):
        console.print(f"   {label:<12}{escape(line)}", soft_wrap=True)
    for note in data.notes:
        console.print(f"   · {escape(note)}", style="dim")
    for name in data.files if verbose else ():
        console.print(f"     {escape(name)}", style="dim")


def show_site(console: Console, data: SiteFile, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Print the file that was written, and what looks at it."""
    console.print(f"\n [green]✓[/] {escape(short_path(data.file))}\n", soft_wrap=True)
    for line in data.text.splitlines():
        console.print(f"   {escape(line)}", style="dim", soft_wrap=True)
    console.print(f"\n see what it does:  {'  ·  '.join(data.checks)}\n")


def show_schema(_console: Console, data: ProfileSchema, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Write a schema as editors read it."""
    sys.stdout.write(json.dumps(data, indent=2) + "\n")


def show_skill(_console: Console, data: Skill, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Write the page as it is."""
    sys.stdout.write(data.text + "\n")


def show_prompt(console: Console, data: Prompt, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Write the text as it is: it is piped or copied."""
    console.out(data.prompt, end="")


SCREENS = {
    "AdoptedProject": "storage:show_adopted",
    "BuildList": "list:show_list",
    "BuildResult": "build:show_build",
    "BuildStatus": "build:show_status",
    "ExplainResult": "explain:show_explained",
    "InstallOffer": "offer:show_offer",
    "InstallResult": "build:show_install",
    "PlanResult": "build:show_plan",
    "CheckList": "doctor:show_checks",
    "Comparison": "doctor:show_comparison",
    "Diagnosis": "doctor:show_doctor",
    "Overview": "doctor:show_way",
    "SiteFile": "screens:show_site",
    "SetupResult": "doctor:show_setup",
    "Prompt": "screens:show_prompt",
    "Skill": "screens:show_skill",
    "UpstreamReport": "doctor:show_report",
    "Emitted": "screens:show_emit",
    "ShellEnvironment": "screens:show_env",
    "Self": "storage:show_self",
    "CacheSize": "storage:show_size",
    "PrunedCache": "storage:show_prune",
    "Removed": "storage:show_removed",
    "ProfileSchema": "screens:show_schema",
    "DeviceCheckList": "verify:show_list",
    "DeviceVerification": "verify:show_verify",
    "FallbackTables": "verify:show_fallbacks",
    "GeneratedCode": "verify:show_codegen",
    "SuiteList": "verify:show_suite_list",
    "SuiteResult": "verify:show_suites",
    "ProofComparison": "verify:show_comparison",
    "DeviceTable": "verify:show_table",
    "DeviceList": "devices:show_devices",
    "Bisection": "bisect:show_bisect",
    "WrittenReport": "bisect:show_report",
    "LibraryClosure": "devices:show_closure",
    "WheelVerification": "devices:show_wheel",
    "RebuildResult": "devices:show_rebuild",
    "SignedWheels": "devices:show_signed",
    "FitResult": "devices:show_fits",
    "CreatedBundle": "storage:show_created",
    "VerifiedBundle": "storage:show_verified",
    "MadeToolkit": "storage:show_toolkit",
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
