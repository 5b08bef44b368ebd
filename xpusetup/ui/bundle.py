"""What is in a bundle, what it lacks, and which steps asked for the network all the same."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.text import render_size
from xpusetup.bundle.contents import asked_words, create_again
from xpusetup.system.environment import short_path
from xpusetup.ui.console import name_file, prose
from xpusetup.ui.unverified import show_unverified

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from xpusetup.bundle.offline import NetworkAttempt
    from xpusetup.commands.bundle import BundleContents, CreatedBundle, VerifiedBundle


SHOWN = 6
"""So many addresses are named."""
VENDOR = "what a profile names under [[components.vendored]] is fetched before (docs/profiles.md)"


OWN = "~/.local/share/xpusetup/app"
"""The environment that a person makes for this program alone, where neither uv nor pipx is (README)."""


def show_created(console: Console, data: CreatedBundle, *, verbose: bool) -> None:
    console.print(f"\n [green]✓[/] {escape(short_path(data.file))} · {render_size(data.bytes)}")
    _show_contents(console, data)
    show_unverified(console, data.unverified if verbose else ())
    file = shlex.quote(data.file.rpartition("/")[2])
    console.print("\n where there is no network:")
    python = f"python{'.'.join(data.python.split('.')[:2])}"  # whose wheels it holds
    console.print("   install this program:")
    for line in (
        f"tar -xf {file} program",
        f"{python} -m venv {OWN}",
        f"{OWN}/bin/pip install --no-index program/*.whl",
        f"mkdir -p ~/.local/bin && ln -sf {OWN}/bin/xpusetup ~/.local/bin/",
    ):
        console.print(f"     {escape(line)}", soft_wrap=True)
    console.print(f"   {data.purpose}:")
    console.print(f"     ~/.local/bin/xpusetup {data.purpose} --bundle {escape(file)}", soft_wrap=True)


def show_verified(console: Console, data: VerifiedBundle, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    console.print(f"\n {escape(short_path(data.file))} · made by xpusetup {data.created_by}")
    _show_contents(console, data)
    for what in data.missing:
        console.print(f" [red]✗[/] lacks {escape(what)}")
    if data.missing:
        console.print(f"   [bold]fix[/]  create it again: {escape(_create(data))}")
    else:
        console.print(f" [green]✓[/] all {data.files} files as they were, every commit whole, every wheel there")


def _create(data: BundleContents) -> str:
    words = asked_words(data.profile, data.revs, data.takes, data.toolkit)
    return create_again(data.file, data.purpose, words)


def _show_contents(console: Console, data: BundleContents) -> None:
    with_revs = "".join(f" {name}={ref}" for name, ref in (*data.revs.items(), *data.takes.items()))
    with_revs += f" --toolkit {data.toolkit}" if data.toolkit else ""
    console.print(f"   {data.profile}{escape(with_revs)} for Python {data.python} on {data.machine}")
    commits = sum(len(each.commits) for each in data.repositories)
    told = [f"{_count(commits, 'commit')} of {_count(len(data.repositories), 'repository', 'repositories')}"]
    told = told if commits else []
    told += [_count(len(data.wheels), "wheel"), f"this program ({_count(len(data.program), 'wheel')})"]
    told += [data.installer] if data.installer else []
    console.print(f"   {escape(' · '.join(told))}")


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def show_attempts(console: Console, attempts: Sequence[NetworkAttempt]) -> None:
    """Print which steps asked for the network, for what, and how to find the places of their sources that may have."""
    for row in attempts:
        named = ", ".join(row.addresses[:SHOWN])
        told = (
            f"asked for {named}, which was not fetched for it"
            if named
            else "asked for the network without naming an address"
        )
        prose(console, "   ", f"{row.step} {told}", first=" [yellow]![/] ")
        console.print("   where its source may have:", style="dim")
        console.print(f"   {escape(row.look)}")
    if attempts:
        prose(console, "   ", VENDOR)


def brief_created(data: CreatedBundle) -> str:
    return name_file(data.file)


def brief_verified(data: VerifiedBundle) -> str:
    return f"{name_file(data.file)} is whole"
