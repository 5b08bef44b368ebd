"""Bundles, what lies on the disk, and what a project keeps."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.text import render_size
from xpusetup.system.environment import short_path
from xpusetup.ui.console import prose, show_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from xpusetup.bundle.offline import NetworkAttempt
    from xpusetup.commands.adopt import AdoptedProject
    from xpusetup.commands.build_result import UnverifiedOrigin
    from xpusetup.commands.bundle import BundleContents, CreatedBundle, VerifiedBundle
    from xpusetup.commands.cache import CacheSize, PrunedCache
    from xpusetup.commands.remove import Removed
    from xpusetup.commands.self import Self
    from xpusetup.commands.toolkit import MadeToolkit


# The screens of cache: what lies on the disk, and what was removed.


SIZES = ("sources and builds", "environment", "wheels", "other")
TOLD = 100 << 20
"""Bytes from which on what is kept beside the sources is told without -v."""


def show_size(console: Console, data: CacheSize, *, verbose: bool) -> None:
    """Print the sizes of the store and of the roots."""
    count = len(data.repositories)
    console.print(f"\n [bold]sources[/] {render_size(data.bytes)} in {_repositories(count)} · {escape(data.store)}")
    if data.freed:
        console.print(f"   {render_size(data.freed)} of it no tree uses: xpusetup cache prune")
    for one in data.repositories if verbose else ():
        console.print(f"   {render_size(one.bytes):>9}  {escape(one.name)}{'' if one.used else '  (unused)'}")
    if data.site:
        site = data.site
        there = _repositories(len(site.repositories))
        console.print(f" [bold]of this site[/] {render_size(site.bytes)} in {there} · {escape(site.store)}")
    others = [each for each in data.others if verbose or each.bytes is None or each.bytes >= TOLD]
    if others:
        console.print()
        rows = [[each.what, render_size(each.bytes), escape(each.path)] for each in others]
        show_table(console, ("kept besides", "size", "folder"), rows, right=("size",))
        console.print("\n remove one, while no command is at work: rm -rf FOLDER", style="dim")
    if data.roots:
        rows = [[escape(root.path), *(render_size(size) for size in root.parts.values())] for root in data.roots]
        console.print()
        show_table(console, ("root", *SIZES), rows, right=SIZES)
        console.print("\n remove one: xpusetup remove --root ROOT", style="dim")


def show_prune(console: Console, data: PrunedCache, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Print what was removed, and what is busy."""
    removed, busy = len(data.removed), len(data.busy)
    console.print(f"\n [green]✓[/] {_repositories(removed)} removed, {render_size(data.freed)} freed")
    if busy:
        console.print(f" [yellow]![/] {_repositories(busy)} left: a fetch is writing there, or it may not be written")


def _repositories(count: int) -> str:
    return f"{count} {'repository' if count == 1 else 'repositories'}"


# toolkit: a tool chain made from wheels.


def show_toolkit(console: Console, data: MadeToolkit, *, verbose: bool) -> None:
    """Print where it lies, how it is switched on, and whose terms hold."""
    sizes = f"{len(data.wheels)} wheels, {render_size(data.bytes)}"
    said = {"made": f"made of {sizes}", "updated": "its driver is a newer one now", "unchanged": "as it was"}
    folder = escape(short_path(data.folder))
    console.print(f"\n [green]✓[/] {folder} · SYCL {data.version} of {escape(data.profile)}, {said[data.state]}")
    for name, version in data.wheels.items() if verbose else ():
        console.print(f"   {escape(name)} {escape(version)}", style="dim")
    console.print(f"   switch it on: [cyan]. {escape(short_path(data.activate))}[/]", soft_wrap=True)
    if data.state == "made":
        terms = escape(short_path(data.terms))
        console.print(f"   the libraries are Intel's, under its terms: {terms}", soft_wrap=True)


# self: this program, and where what it keeps lies.


def show_self(console: Console, data: Self, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Print what this program is, how a newer one comes, and its places."""
    console.print(f"\n [bold]xpusetup {escape(data.version)}[/] · Python {data.python}")
    rows = [
        ("program", short_path(data.program)),
        (
            "installed",
            f"by {data.installer}, from {short_path(data.origin)}" if data.installer else "no: run where it is",
        ),
        ("upgrade", data.upgrade),
        ("" if data.upgrade else "upgrade", data.note),
        ("uninstall", data.uninstall),
    ]
    for name, said in rows:
        if said:
            console.print(f" [bold]{name:<12}[/]{escape(said)}", soft_wrap=True)
    console.print()
    for place in data.places:
        absent = "" if place.there else "  [dim](not there yet)[/]"
        console.print(f" {place.what:<32}{escape(short_path(place.path))}{absent}", soft_wrap=True)
    console.print("\n sizes: xpusetup cache size", style="dim")


# Lines of what came in, or will come in, without a published hash.


NAMED = 12
"""Digits of a hash that tell it from any other one here."""


def show_unverified(console: Console, rows: Sequence[UnverifiedOrigin]) -> None:
    """Print a line for each distribution or program of unverified origin."""
    for row in rows:
        held = f"held to its first use, sha256 {row.sha256[:NAMED]}" if row.sha256 else "held to its first use"
        console.print(f" [yellow]![/] {escape(row.name)}: unverified origin (no published hash is known); {held}")


# remove on the screen: what goes, what that frees, and what stays because it is not ours.


def show_before(console: Console, data: Removed) -> None:
    """Print what would go."""
    console.print(f"\n [bold]{escape(short_path(data.root))}[/] · frees {render_size(data.freed)}\n")
    inside = [path for path in data.places if path.startswith(f"{data.root}/")]
    names = sorted({path.removeprefix(f"{data.root}/").partition("/")[0] for path in inside})
    prose(console, "           ", ", ".join(names), first="   goes    ")
    for path in data.places:
        if path not in inside:
            console.print(f"   goes    {escape(short_path(path))}")
    _show_rest(console, data)
    console.print()


def show_removed(console: Console, data: Removed, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Print what became of it."""
    if not data.removed:
        console.print(" [yellow]![/] nothing was removed")
        return
    console.print(f" {in_one_line(data)}")
    _show_rest(console, data)


def in_one_line(data: Removed) -> str:
    """Say what was removed."""
    stays = "" if data.gone else ", but for what is not ours"
    return f"[green]✓[/] {escape(short_path(data.root))} is removed{stays}: {render_size(data.freed)} freed"


def _show_rest(console: Console, data: Removed) -> None:
    for row in data.left:
        console.print(f"   [yellow]stays[/]   {escape(short_path(row.path))}: {escape(row.why)}")
    if data.environment:
        console.print(f"   [yellow]stays[/]   {escape(short_path(data.environment))}, without what guarded it")
    if data.uninstall:
        console.print(f"           its packages go with: {escape(data.uninstall)}")


# Bundles on the screen: what is in one, what it lacks, and which steps asked for the network all the same.


SHOWN = 6
"""So many addresses are named."""
VENDOR = "what a profile names under [[components.vendored]] is fetched before (docs/profiles.md)"


OWN = "~/.local/share/xpusetup/app"
"""The environment that a person makes for this program alone, where neither uv nor pipx is (README)."""


def show_created(console: Console, data: CreatedBundle, *, verbose: bool) -> None:
    """Print what was written, and how to use it."""
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
    """Print whether a bundle is whole, and what it lacks."""
    console.print(f"\n {escape(short_path(data.file))} · made by xpusetup {data.created_by}")
    _show_contents(console, data)
    for what in data.missing:
        console.print(f" [red]✗[/] lacks {escape(what)}")
    if data.missing:
        console.print(f"   [bold]fix[/]  create it again: {escape(_create(data))}")
    else:
        console.print(f" [green]✓[/] all {data.files} files as they were, every commit whole, every wheel there")


def _create(data: BundleContents) -> str:
    pairs = {"--rev": data.revs, "--take": data.takes}
    more = [word for option, each in pairs.items() for pair in each.items() for word in (option, "=".join(pair))]
    wheels = ("--from", "wheels") if data.purpose == "install" else ()
    kit = ("--toolkit", data.toolkit) if data.toolkit else ()
    return shlex.join(("xpusetup", "bundle", "create", data.file, "--profile", data.profile, *more, *kit, *wheels))


def _show_contents(console: Console, data: BundleContents) -> None:
    with_revs = "".join(f" {name}={ref}" for name, ref in (*data.revs.items(), *data.takes.items()))
    with_revs += f" --toolkit {data.toolkit}" if data.toolkit else ""
    console.print(f"   {data.profile}{escape(with_revs)} for Python {data.python} on {data.machine}")
    commits = sum(len(each.commits) for each in data.repositories)
    told = [f"{_count(commits, 'commit')} of {_count(len(data.repositories), 'repository', 'repositories')}"]
    told = told if data.purpose == "build" else []
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


# adopt on the screen: what stays, and each file as a diff.


COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def show_adopted(console: Console, data: AdoptedProject, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Print what was written or would be, and the command that takes it back."""
    if not (data.written or data.undone):
        show_changes(console, data)
        console.print(f"   write it:      {escape(data.apply)}", soft_wrap=True)
        return
    back = "ours is taken out" if data.notes else "as it was before"
    what = back if data.undone else f"{' '.join(each.pin for each in data.kept)} stays"
    console.print(f" [green]✓[/] {escape(data.project)}: {escape(what)}", soft_wrap=True)
    for each in data.changes:
        console.print(f"     {escape(each.path)}", style="dim", soft_wrap=True)
    _show_notes(console, data)
    if data.written:
        console.print(f"   take it back:  {escape(data.undo)}", soft_wrap=True)


def show_changes(console: Console, data: AdoptedProject) -> None:
    """Print what stays, from where, and the diff of each file."""
    console.print(f"\n {escape(data.project)} · torch of {escape(data.environment)}\n", soft_wrap=True)
    for each in data.changes:
        for line in each.diff.splitlines():
            console.print(f"   {escape(line)}", style=COLOURS.get(line[:1], ""), soft_wrap=True)
        console.print()
    if not data.changes:
        console.print(" [green]✓[/] nothing to change")
    _show_notes(console, data)


def _show_notes(console: Console, data: AdoptedProject) -> None:
    for note in data.notes:
        told, _, command = note.partition("\n")
        prose(console, "   ", told, first=" [yellow]![/] ")
        for line in command.splitlines():
            console.print(f"   {escape(line)}", soft_wrap=True)
