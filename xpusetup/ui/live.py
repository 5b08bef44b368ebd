"""The build as it runs: a live block for each step at work on a terminal, plain lines elsewhere."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

from rich.live import Live
from rich.markup import escape
from rich.spinner import Spinner
from rich.text import Text

from xpusetup.base.model import Event, Kind
from xpusetup.base.text import hide, render_duration
from xpusetup.run.time_left import describe_line, render_left
from xpusetup.system.environment import now
from xpusetup.system.memory import Memory, read_memory
from xpusetup.ui.console import make_console, moves, steps_coming

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from types import TracebackType

    from rich.console import Console, RenderableType


REFRESH = 4
BAR = 18
SHORTEST_BAR = 4
GIB = 1 << 30
TENTH = 60.0
"""Plain lines: a tenth of the work is told no more often than once in so many seconds."""
SIGN_OF_LIFE = 300.0
"""Plain lines: a step that has no more to say than that it is at work says so once in so many seconds."""
SHORT = 60.0
"""Where all of it takes fewer seconds, as it did before, what was done before is told at the end alone."""
SOON = 5.0
"""Plain lines: a step that took fewer seconds before is told when it ends alone."""
FETCH = ".fetch"
"""How the steps are called that count objects: neither memory nor jobs matter to them."""
SAID = {"no-device": "no device here", "interrupted": "interrupted", "failed": "failed"}
MARKS = {"ran": "[green]✓[/]", "failed": "[red]✗[/]", "no-device": "[yellow]![/]", "interrupted": "[yellow]![/]"}


@dataclass
class _AtWork:
    """A step at work, as its events have told. `said`, `told`: the last plain line's time and percent.

    `ends`: when it will have ended; 0 where that is not known.
    """

    id: str
    title: str
    began: float
    said: float
    beside: tuple[str, ...]
    text: str = ""
    count: int = 0
    total: int = 0
    told: int = 0
    ends: float = 0.0

    def share(self) -> int:
        """Give how much is done, in percent."""
        return min(100, self.count * 100 // self.total) if self.total else 0

    def left(self, time: float) -> str:
        """Say what is left, where that is known."""
        return f"  {render_left(max(0.0, self.ends - time))}" if self.ends else ""


class BuildView:
    """Draws events.

    With `json` or `stderr` everything goes to stderr as plain lines, because stdout carries something else. With
    `quiet` nothing is said.
    """

    def __init__(
        self,
        *,
        json: bool,
        verbose: bool,
        quiet: bool = False,
        stderr: bool = False,
        clock: Callable[[], float] = now,
        memory: Callable[[], Memory | None] = read_memory,
    ) -> None:
        beside = json or quiet or stderr
        self._console = make_console(stderr=beside, progress=True)
        self._moving = moves(self._console) and not beside
        self._says = () if quiet else get_args(Kind)
        self._verbose, self._clock, self._memory = verbose, clock, memory
        self._steps: dict[str, _AtWork] = {}
        self._jobs = self._left = self._skipped = 0
        self._began = self._ends = 0.0
        self._spinner = Spinner("dots")
        self._live = Live(console=self._console, refresh_per_second=REFRESH, transient=True, get_renderable=self.draw)

    def __enter__(self) -> BuildView:  # noqa: PYI034 - Self is not in 3.10
        if self._moving:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._moving:
            self._live.stop()

    @contextmanager
    def aside(self) -> Iterator[Console | None]:
        """Give the console for a while, to show or ask something; None where nothing is to be said."""
        if self._moving:
            self._live.stop()
        yield self._console if self._says == get_args(Kind) else None
        if self._moving:
            self._live.start()

    def observe(self, event: Event) -> None:
        """Take in one event."""
        if event.kind not in self._says:
            return
        event = replace(event, text=hide(event.text), title=hide(event.title))
        if event.kind in {"start", "output", "end"}:
            self._ends = event.time + event.left_of_all if event.left_of_all else 0.0
        if event.kind == "plan":
            self._left, self._jobs, self._began = event.total, event.jobs, event.time
            self._console.print(f"\n {escape(event.text)}\n")
        elif event.kind == "note":
            if self._verbose or event.state != "done":
                self._console.print(f" [yellow]![/] {escape(event.text)}")
        elif event.kind == "progress":
            self._console.print(f" … {escape(event.text)}")
        elif event.kind == "start":
            self._begin(event)
        elif event.kind == "output":
            self._take_output(event, self._steps[event.step])
        elif event.kind == "end":
            self._end(event)

    def _begin(self, event: Event) -> None:
        if self._skipped and not self._steps and not 0 < event.left_of_all < SHORT:
            done = "1 step was" if self._skipped == 1 else f"{self._skipped} steps were"
            self._console.print(f" [dim]· {done} done before[/]")
        self._skipped = 0
        beside = tuple(self._steps)
        self._steps[event.step] = _AtWork(event.step, event.title, event.time, event.time, beside, event.text)
        if not self._moving and not 0 < event.left < SOON:
            self._console.print(f" … {escape(event.step):<20}            {escape(event.title)}")

    def _take_output(self, event: Event, step: _AtWork) -> None:
        step.text = describe_line(event.text) or step.text
        if event.total:
            step.count, step.total = event.count, event.total
        step.ends = event.time + event.left if event.left else 0.0
        if self._verbose and event.text.startswith("+ "):
            self._console.print(f"     {escape(event.text)}", style="dim")
        waited = event.time - step.said
        counting = step.count < step.total  # the last command may fail yet, and what follows is not counted
        due = waited >= SIGN_OF_LIFE or (counting and waited >= TENTH and step.share() // 10 > step.told // 10)
        if due and not self._moving:
            step.said, step.told = event.time, step.share()
            what = f"[{step.count}/{step.total}] {step.share():3d} %{step.left(event.time)}" if counting else step.text
            took = render_duration(event.time - step.began)
            self._console.print(f"   {step.id:<20} {took:>7}    {what}", markup=False)

    def _end(self, event: Event) -> None:
        step, self._left = self._steps.pop(event.step, None), self._left - 1
        if event.state == "done" or not event.seconds:
            self._skipped += event.state == "done"
            return
        if self._moving:
            self._live.refresh()  # what has ended is not drawn again below its own end
        words = [SAID.get(event.state, ""), event.text or ("" if event.state in SAID else event.title)]
        words += [f"beside {other}" for other in (step.beside if step else ()) if other in self._steps]
        what = " · ".join(word for word in words if word)
        self._console.print(
            f" {MARKS[event.state]} {escape(event.step):<20} {render_duration(event.seconds):>7}    {escape(what)}"
        )

    def draw(self) -> RenderableType:
        """Give the block that moves: the steps at work, and how many are still to come."""
        time, width = self._clock(), self._console.width
        lines = [line for step in self._steps.values() for line in self._block(step, time, width)]
        lines += [Text(f" · {text}", style="dim") for text in self._to_come(time, width)]
        for line in lines:
            line.no_wrap, line.overflow = True, "ellipsis"
            line.truncate(width, overflow="ellipsis")
        return Text("\n").join(lines)

    def _to_come(self, time: float, width: int) -> Iterator[str]:
        """Say how many steps are still to come, and how far all of it is where that is known."""
        coming = self._left - len(self._steps)
        if not self._steps or coming <= 0:
            return
        steps = steps_coming(coming)
        gone, left = time - self._began, max(0.0, self._ends - time)
        if not self._ends:
            yield steps
            return
        percent = int(100 * gone / (gone + left)) if gone + left else 0
        before, rest = f"{steps} · in all", f"{percent} %  {render_left(left)}"
        yield _with_bar(before, percent, rest, width - 3)

    def _block(self, step: _AtWork, time: float, width: int) -> list[Text]:
        frame = self._spinner.render(time)
        head = Text.assemble(" ", frame if isinstance(frame, Text) else "", f" {step.id:<20} ")
        head.append(f"{render_duration(time - step.began):>7}    ")
        head.append(_bar(step, time, width - head.cell_len) or step.title)
        lines = [head]
        if step.text:
            lines.append(Text(f"     {step.text}", style="dim"))
        if step.total and not step.id.endswith(FETCH) and (resources := self._resources()):
            lines.append(Text(f"     {resources}", style="dim"))
        return lines

    def _resources(self) -> str:
        memory = self._memory()
        used = f"memory {memory.used / GIB:.0f} of {memory.total / GIB:.0f} GiB" if memory else ""
        return " · ".join(word for word in (used, f"{self._jobs} jobs" if self._jobs > 1 else "") if word)


def _bar(step: _AtWork, time: float, room: int) -> str:
    """Draw how far a step is, with a bar as long as there is room for; empty where nothing is counted."""
    if not step.total:
        return ""
    rest = f"{step.share():3d} %{step.left(time)}"
    return _with_bar(f"[{step.count}/{step.total}]", step.share(), rest, room)


def _with_bar(before: str, percent: int, rest: str, room: int) -> str:
    """Give a line in which the bar, then what stands before it, goes where there is no room: never the figures."""
    size = min(BAR, room - len(before) - len(rest) - 2)
    parts = (before, _draw(percent, size if size >= SHORTEST_BAR else 0), rest)
    line = " ".join(part for part in parts if part)
    return line if len(line) <= room else rest.strip()


def _draw(percent: int, size: int) -> str:
    full = percent * size // 100
    return "█" * full + "░" * (size - full)


def waiting(text: str, *, quiet: bool) -> AbstractContextManager[object]:
    """Show a spinner beside a text for as long as the block runs."""
    return (
        nullcontext() if quiet else make_console(stderr=True, progress=True).status(f" {escape(text)}", spinner="dots")
    )


@contextmanager
def asking(*, quiet: bool, plain: bool = True) -> Iterator[Callable[[str], None]]:
    """Show a spinner beside what is being asked, for as long as the block runs; plain lines where nothing can move.

    Without `plain` there are none: the answer says the same.
    """
    console = make_console(stderr=True, progress=True)
    if quiet or not (plain or moves(console)):
        yield lambda _text: None
    elif not moves(console):
        yield lambda text: console.print(f" … {escape(text)}")
    else:
        with console.status(" …", spinner="dots") as status:
            yield lambda text: status.update(f" {escape(text)}")
