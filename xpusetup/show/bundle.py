"""Bundles on the screen: what is in one, what it lacks, and which steps asked for the network all the same."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from xpusetup.amounts import render_size
from xpusetup.effects.environment import short_path
from xpusetup.show.console import prose
from xpusetup.show.origins import show_unverified

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

SHOWN = 6
"""So many downloads are named before they are counted."""
VENDOR = "what a profile names under [[components.vendored]] is fetched before (docs/profiles.md)"


def show_created(console: Console, data: Mapping[str, Any], verbose: bool) -> None:
    """Print what was written, what its sources may still download, and how to use it."""
    console.print(f"\n [green]✓[/] {_file(data)} · {render_size(data['bytes'])}")
    _show_contents(console, data)
    show_unverified(console, data)
    if data["downloads"]:
        console.print("\n may download, as its own files say (what is vendored is there already):")
        _show_downloads(console, data["downloads"], verbose=verbose)
    file = shlex.quote(data["file"].rpartition("/")[2])
    console.print("\n where there is no network:")
    console.print(f"   install this program:  tar -xf {escape(file)} program && pip install --no-index program/*.whl")
    console.print(f"   build:                 xpusetup build --bundle {escape(file)}")


def show_verified(console: Console, data: Mapping[str, Any], verbose: bool) -> None:
    """Print whether a bundle is whole, and what it lacks."""
    console.print(f"\n {_file(data)} · made by xpusetup {data['created_by']}")
    _show_contents(console, data)
    if verbose and data["downloads"]:
        _show_downloads(console, data["downloads"], verbose=True)
    for what in data["missing"]:
        console.print(f" [red]✗[/] lacks {escape(what)}")
    if data["missing"]:
        console.print(f"   [bold]fix[/]  create it again: {escape(_create(data))}")
    else:
        console.print(f" [green]✓[/] all {data['files']} files as they were, every commit whole, every wheel there")


def _create(data: Mapping[str, Any]) -> str:
    revs = [word for name, ref in data["revs"].items() for word in ("--rev", f"{name}={ref}")]
    return shlex.join(("xpusetup", "bundle", "create", data["file"], "--profile", data["profile"], *revs))


def _file(data: Mapping[str, Any]) -> str:
    return escape(short_path(data["file"]))


def _show_contents(console: Console, data: Mapping[str, Any]) -> None:
    with_revs = "".join(f" {name}={ref}" for name, ref in data["revs"].items())
    console.print(f"   {data['profile']}{escape(with_revs)} for Python {data['python']} on {data['machine']}")
    commits = sum(len(each["commits"]) for each in data["repositories"])
    told = [f"{_count(commits, 'commit')} of {_count(len(data['repositories']), 'repository', 'repositories')}"]
    told += [_count(len(data["wheels"]), "wheel"), f"this program ({_count(len(data['program']), 'wheel')})"]
    told += [data["toolkit"].rpartition("/")[2]] if data["toolkit"] else []
    console.print(f"   {escape(' · '.join(told))}")


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def _show_downloads(console: Console, downloads: Sequence[Mapping[str, Any]], *, verbose: bool) -> None:
    shown = downloads if verbose else downloads[:SHOWN]
    for item in shown:
        console.print(f"   {escape(item['file'])}:{item['line']}  {escape(item['how'])}  {escape(item['what'])}")
    if len(shown) < len(downloads):
        console.print(f"   and {len(downloads) - len(shown)} more (-v)", style="dim")


def show_attempts(console: Console, data: Mapping[str, Any], *, verbose: bool) -> None:
    """Print which steps asked for the network, for what, and which places of their sources may have."""
    for row in data.get("reached_out", []):
        named = ", ".join(row["addresses"][:SHOWN])
        told = (
            f"asked for {named}, which was not fetched for it"
            if named
            else "asked for the network without naming an address"
        )
        prose(console, "   ", f"{row['step']} {told}", first=" [yellow]![/] ")
        if row["may_download"]:
            console.print("   places in its source that may have:", style="dim")
        _show_downloads(console, row["may_download"], verbose=verbose)
    if data.get("reached_out"):
        prose(console, "   ", VENDOR)
