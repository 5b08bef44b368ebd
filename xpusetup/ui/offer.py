"""What an installation would do on the screen: what, from where, how much of it, and the device that is here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.text import render_size
from xpusetup.system.environment import short_path
from xpusetup.ui.console import prose, show_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from xpusetup.commands.offer import InstallOffer, WheelToFetch


def show_offer(console: Console, data: InstallOffer, *, verbose: bool) -> None:
    """Print what would be fetched and where it goes, and that nothing was; after a no that alone."""
    if data.declined:
        console.print(" nothing was installed")
        return
    print_before(console, data, verbose=verbose)
    console.print("\n nothing was fetched: the same command without --dry-run installs it\n")


def print_before(console: Console, data: InstallOffer, *, verbose: bool) -> None:
    """Print what is fetched from where, how much room it takes, and why it cannot be verified here."""
    console.print(f"\n install [bold]{escape(data.profile)}[/] for {escape(data.device)}, Python {data.python}")
    console.print(f" into {escape(short_path(data.environment))}\n", soft_wrap=True)
    if data.wheels:
        show_table(console, ("", "from", "to fetch"), list(_rows(data.wheels, verbose=verbose)), right=("to fetch",))
        least = "at least " if data.unread else ""
        more = f"to fetch: {least}{render_size(data.fetch)} · on disk: {least}{render_size(data.disk)}"
        console.print(f"\n {more}, {render_size(data.free)} free there")
    elif not data.why:
        console.print(" nothing is to be fetched" if data.steps else " all of it is installed")
    if data.why:
        prose(console, "   ", f"sizes are not known: {data.why}", first=" [yellow]![/] ")
    if data.trouble:
        prose(console, "   ", f"{data.trouble}: it will be installed, and not verified", first=" [yellow]![/] ")


def _rows(wheels: Sequence[WheelToFetch], *, verbose: bool) -> Iterator[tuple[str, ...]]:
    """Give a row for each wheel that the profile names, and one for all that these require."""
    shown = [each for each in wheels if verbose or not each.by]
    for each in shown:
        size = "here" if each.here else render_size(each.bytes)
        yield escape(f"{each.name} {each.version}"), escape(each.place), size
    rest = [each for each in wheels if each not in shown]
    if rest:
        places = dict.fromkeys(each.place for each in rest)
        place = next(iter(places)) if len(places) == 1 else f"{len(places)} places"
        what = f"+ {len(rest)} that {'they require' if len(rest) > 1 else 'is required'}"
        yield what, escape(place), render_size(sum(each.bytes or 0 for each in rest))
