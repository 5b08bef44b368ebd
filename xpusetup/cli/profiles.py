"""profiles: what ships, what one says, and whether a file is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options
from xpusetup.cli.finish import finish

if TYPE_CHECKING:
    from xpusetup.commands.result import Result


def profiles_list(json: options.Json = False) -> None:
    """List the profiles that ship with the program."""

    def work() -> Result:
        from xpusetup.commands.profiles import list_profiles

        return list_profiles()

    finish("profiles list", work, json=json)


def profiles_show(name: str, json: options.Json = False) -> None:
    """Show all that a profile says, with the source of each pin."""

    def work() -> Result:
        from xpusetup.commands.profiles import show_profile

        return show_profile(name)

    finish("profiles show", work, json=json)


def profiles_check(name: Annotated[str, typer.Argument(metavar="NAME|FILE")], json: options.Json = False) -> None:
    """Check a profile: every error of the file at once."""

    def work() -> Result:
        from xpusetup.commands.profiles import check_profile

        return check_profile(name)

    finish("profiles check", work, json=json)
