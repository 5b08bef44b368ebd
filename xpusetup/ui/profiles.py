"""Profiles on the screen, and their locks."""

import json
import re
import sys
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

from rich.console import Console
from rich.markup import escape

from xpusetup.base.text import bash_on_one_line
from xpusetup.commands.profiles import (
    CheckedProfile,
    ListedProfile,
    LockedProfile,
    NewProfile,
    ProfileList,
    ProfileSchema,
    ShownProfile,
    TrustedFiles,
)
from xpusetup.config.profile import Component, Patched
from xpusetup.ui.console import name_file, prose

# Locks on the screen: what each part is pinned to now, and where that is known from.


def show_lock(console: Console, data: LockedProfile, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    given = ", ".join(f"{name} {ref}" for name, ref in data.revs.items())
    what = f"with {given}" if given else "with every commit as it is, and the hashes that indexes publish"
    console.print(f"\n {data.profile} {escape(what)}{chr(10) * bool(data.components)}")
    for change in data.components:
        version = f" · {change.version}" if change.version not in ("", change.now) else ""
        if change.now == change.was:
            console.print(f" {change.name:<14} {escape(change.now)}{escape(version)}, as before")
        else:
            console.print(f" {change.name:<14} [bold]{escape(change.now)}[/]{escape(version)}")
            console.print(f"                [dim]was {escape(change.was)} · {escape(change.source)}[/]")
    for note in data.notes:
        console.print()
        prose(console, "   ", note, first=" ! ")
    written = f"written: {data.file} · " if data.file else ""
    console.print(f"\n {escape(written)}build it: {escape(data.follows)}")


def show_new(console: Console, data: NewProfile, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    file = escape(bash_on_one_line(data.file))
    console.print(f" [green]✓[/] {escape(data.file)}, begun from {escape(data.from_)}")
    console.print("   for editors:  xpusetup profiles schema > profile.schema.json")
    console.print(f"   check it:     xpusetup profiles check {file}")
    console.print(f"   build it:     xpusetup build {file}")


# Profiles on the screen: the list, and all that one says with where it is known from.


CONFIDENCE = {"confirmed": "[green]✓[/]", "likely": "[yellow]~[/]", "unconfirmed": "[red]?[/]"}

HEADER = ("profile", "for", "torch", "toolkit", "python")
TIERS = {
    "demo": "the whole road, without a GPU",
    "own": "made here",
    "new": "released, but their pins are not confirmed: only by name",
    "current": "the newest releases",
    "kept": "the releases before them",
    "reference": "the releases of the first guides",
    "moving": "branches: the first build locks the commits of that day",
    "other": "accelerators of other makers, with what they publish themselves",
    "test": "for tests",
}


def show_list(console: Console, data: ProfileList, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Print what ships, tier by tier, with what was tried said once for all that it holds for."""
    rows = [HEADER, *(_cells(row) for row in (*data.profiles, *data.stacks))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    console.print(f"   [dim]{_line(HEADER, widths)}[/]")
    for tier, members in groupby(data.profiles, key=attrgetter("tier")):
        console.print(f"\n [bold]{tier}[/]  [dim]{TIERS[tier]}[/]")
        alike: dict[str, list[str]] = {}
        for row in members:
            console.print(f"   {escape(_line(_cells(row), widths))}")
            alike.setdefault(row.tried, []).append(row.name)
        for tried, names in alike.items():
            told = f"{', '.join(names)}: {tried}" if len(alike) > 1 else tried
            prose(console, "     ", told, style="dim")
    if data.stacks:
        console.print("\n [bold]stacks[/]  [dim]what stands on the torch of a profile: --stack NAME[/]")
    for stack in data.stacks:
        console.print(f"   {escape(_line(_cells(stack), widths))}")
        had = {"wheels": stack.wheels, "from source": stack.sources, "left out": stack.left_out}
        told = "; ".join(f"{what}: {', '.join(names)}" for what, names in had.items() if names)
        prose(console, "     ", f"on {stack.stands_on}; {told}")
        prose(console, "     ", stack.tried, style="dim")


def _cells(row: ListedProfile) -> tuple[str, ...]:
    return (row.name, row.accelerator, row.torch or "-", row.toolkit or "-", _minors(row.python))


def _minors(python: str) -> str:
    """Shorten `>=3.10,<3.15,!=3.14.1` to `3.10 to 3.14`; one release less is for `profiles show`."""
    found = re.match(r">=3\.(\d+),<3\.(\d+)(,|$)", python)
    return f"3.{found[1]} to 3.{int(found[2]) - 1}" if found else python


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def show_one(console: Console, data: ShownProfile, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    console.print(f"\n {data.name}")
    prose(console, " ", data.summary)
    console.print(f"\n tried    {escape(data.tried)}")
    _show_needs(console, data)
    console.print()
    if installer := data.installer:
        console.print(f" {CONFIDENCE[installer.confidence]} {installer.program} {installer.release}")
        console.print(f"     {escape(installer.url)}")
        brings = ", ".join(f"{name} {version}" for name, version in installer.brings.items())
        prose(console, "     ", f"brings {brings}; {installer.note}", style="dim")
        prose(console, "     ", f"{installer.confidence}: {installer.source}", style="dim")
    for part in data.components:
        _show_component(console, part)
    console.print("\n [dim]✓ confirmed   ~ likely   ? unconfirmed   - left out[/]")


def _show_needs(console: Console, data: ShownProfile) -> None:
    kit, requirements = data.toolkit, data.build_requirements
    console.print(f" python   {data.python}     gcc {data.gcc or 'any'}     cmake {data.cmake or 'any'}")
    if kit:
        console.print(f" toolkit  {kit.kind} {kit.preferred} (accepted: {kit.accepts}), {kit.confidence}")
    for other in data.other_toolkits:
        lost = f"; gives up {other.gives_up}" if other.gives_up else ""
        said = f"or --toolkit {other.called}: {other.title} (accepted: {other.accepts}), {other.confidence}{lost}"
        prose(console, "          ", said)
    if data.arch:
        console.print(f" targets  {','.join(data.arch.default)}, {data.arch.confidence}")
        if data.costs:
            prose(console, "          ", data.costs.describe(data.arch.default), style="dim")
    if data.published and (told := data.published.collectives):
        said = f"the published ones {'hold' if told.built else 'have no'} XCCL, {told.confidence}: {told.source}"
        prose(console, "          ", said, first=" wheels   ")
    console.print(f" pins     {len(requirements.pins)} for the build")
    prose(console, "          ", requirements.note, style="dim")


def _show_component(console: Console, part: Component) -> None:
    if part.kind == "skip":
        console.print(f" [dim]-[/] {part.name}")
        prose(console, "     ", part.reason, style="dim")
        return
    console.print(f" {CONFIDENCE[part.confidence]} {part.distribution} {part.version}")
    where = f"{part.repo} {part.tag or part.ref} {part.rev or ''}" if part.kind == "source" else part.index
    if where.strip():
        console.print(f"     {escape(where.strip())}")
    known = "; ".join(text for text in (part.source, part.reason if part.kind == "source" else "") if text)
    prose(console, "     ", f"{part.confidence}: {known}", style="dim")
    if part.kind == "wheel":
        return
    _show_patches(console, part)
    for item in part.vendored:
        which = item.rev or item.tag or f"as {item.pin_file} names it"
        console.print(f"   {CONFIDENCE[item.confidence]} with {item.name} {which}")
        prose(console, "     ", f"{item.confidence}: {item.reason or item.source}", style="dim")
        _show_patches(console, item)
    for archive in part.archives:
        console.print(f"   {CONFIDENCE[archive.confidence]} with {archive.name}, ready made, in {archive.variable}")
        console.print(f"     {escape(archive.url)}")
        known = "; ".join(text for text in (archive.reason, archive.source) if text)
        prose(console, "     ", f"{archive.confidence}: {known}", style="dim")


def _show_patches(console: Console, source: Patched) -> None:
    for patch in source.patches:
        prose(console, "     ", f"patched by {patch.file}: {patch.source}")


def show_checked(console: Console, data: CheckedProfile, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    console.print(f" [green]✓[/] {data.profile}: {', '.join(data.components)}")


def show_trusted(console: Console, data: TrustedFiles, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    for each in data.files:
        why = f", though {each.why}" if each.why else ", which is yours alone"
        prose(console, "   ", f"{each.path} is trusted as it is now{why}", first=" [green]✓[/] ")
        console.print(f"   sha256 {each.sha256}", style="dim")
    console.print(f"   written down in {escape(data.record)}", style="dim")


def show_schema(_console: Console, data: ProfileSchema, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    sys.stdout.write(json.dumps(data, indent=2) + "\n")


def brief_profile(data: LockedProfile | NewProfile) -> str:
    return name_file(data.file) if data.file else ""
