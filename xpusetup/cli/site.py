"""setup site: asks what a place has of its own, and writes that."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.commands.result import Result
    from xpusetup.commands.site import SiteFile


def make_site(words: Sequence[str], out: str, *, err: bool) -> Result[SiteFile]:
    """Write the site file; without KEY=VALUE words ask for each."""
    from xpusetup.base.errors import UsageError
    from xpusetup.commands.site import KEYS, list_questions, write_site

    if words[0] != "site":
        fix = "xpusetup setup, or: xpusetup setup site KEY=VALUE ..."
        raise UsageError(f"setup has no {words[0]!r}", fix=fix)
    if len(words) > 1:
        return write_site(words[1:], out)
    if not sys.stdin.isatty():
        keys = " ".join(f"{name}=VALUE" for name in KEYS)
        raise UsageError("nobody is here to be asked", fix=f"xpusetup setup site {keys}")
    typer.echo(" What this place has of its own; Enter leaves a thing out.", err=err)
    asked = (
        (name, typer.prompt(f" {question}", default="", show_default=False, err=err))
        for name, question in list_questions()
    )
    return write_site([f"{name}={value}" for name, value in asked], out)
