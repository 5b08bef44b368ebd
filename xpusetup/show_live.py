"""The build as it runs: a live line for the step at work on a terminal, plain lines elsewhere."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.live import Live
from rich.markup import escape
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from xpusetup.effects.clock import now
from xpusetup.show import duration, make_console

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from types import TracebackType

    from rich.console import RenderableType

    from xpusetup.events import Event

REFRESH = 4
BAR = 18
SAID = {"no-device": "no device here", "interrupted": "interrupted"}
MARKS = {"ran": "[green]✓[/]", "failed": "[red]✗[/]", "no-device": "[yellow]![/]", "interrupted": "[yellow]![/]"}


class BuildView:
    """Draws events. With `quiet` everything goes to stderr as plain lines, because stdout carries JSON."""

    def __init__(self, *, quiet: bool, verbose: bool) -> None:
        self._console = make_console(stderr=quiet)
        self._moving = self._console.is_terminal and not quiet
        self._verbose = verbose
        self._step: Event | None = None
        self._output: Event | None = None
        self._count = self._total = self._left = 0
        self._spinner = Spinner("dots")
        self._live = Live(console=self._console, refresh_per_second=REFRESH, transient=True, get_renderable=self._draw)

    def __enter__(self) -> BuildView:  # noqa: PYI034 - Self is not in 3.10
        if self._moving:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._moving:
            self._live.stop()

    def observe(self, event: Event) -> None:
        """Take in one event."""
        if event.kind == "plan":
            self._left = event.total
            self._console.print(f"\n {escape(event.text)}\n")
        elif event.kind == "note":
            self._console.print(f" [yellow]![/] {escape(event.text)}")
        elif event.kind == "start":
            self._begin(event)
        elif event.kind == "output":
            self._take_output(event)
        elif event.kind == "end":
            self._end(event)

    def _begin(self, event: Event) -> None:
        self._step, self._output = event, None
        self._count = self._total = 0
        if not self._moving:
            self._console.print(f" … {event.step:<20} {escape(event.title)}")

    def _take_output(self, event: Event) -> None:
        self._output = event
        if event.total:
            self._count, self._total = event.count, event.total
        if self._verbose and event.text.startswith("+ "):
            self._console.print(f"     {escape(event.text)}", style="dim")

    def _end(self, event: Event) -> None:
        self._step, self._left = None, self._left - 1
        if event.state == "done" or not event.seconds:
            return
        what = SAID.get(event.state, event.title)
        mark = MARKS[event.state]
        self._console.print(f" {mark} {event.step:<20} {duration(event.seconds):>7}    {escape(what)}")

    def _draw(self) -> RenderableType:
        if self._step is None:
            return Text("")
        head = Table.grid(padding=(0, 1))
        spent = duration(now() - self._step.time)
        head.add_row(" ", self._spinner, f"{self._step.step:<20} {spent:>7}   ", self._bar())
        grid = Table.grid()
        grid.add_row(head)
        last = self._output.text.strip() if self._output else self._step.text
        grid.add_row(Text(f"     {last}", style="dim", no_wrap=True, overflow="ellipsis"))
        if self._left > 1:
            grid.add_row(Text(f" · {self._left - 1} steps to come", style="dim"))
        return grid

    def _bar(self) -> str:
        if not self._total:
            return escape(self._step.title) if self._step else ""
        full = self._count * BAR // self._total
        return (
            f"\\[{self._count}/{self._total}] {'█' * full}{'░' * (BAR - full)} {self._count * 100 // self._total:3d} %"
        )


def waiting(text: str, *, quiet: bool) -> AbstractContextManager[object]:
    """Show a spinner beside a text for as long as the block runs."""
    return make_console(stderr=True).status(f" {text}", spinner="dots") if not quiet else _Silence()


@contextmanager
def asking(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show a spinner beside what is being asked, for as long as the block runs; plain lines where it is no terminal."""
    console = make_console(stderr=True)
    if quiet:
        yield lambda _text: None
    elif not console.is_terminal:
        yield lambda text: console.print(f" … {escape(text)}")
    else:
        with console.status(" …", spinner="dots") as status:
            yield lambda text: status.update(f" {escape(text)}")


class _Silence:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None
