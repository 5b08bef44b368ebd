"""The build as it runs: events in, screen text out; on a terminal frame by frame, elsewhere line by line."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest

from golden import hold_one
from xpusetup.base.model import Event
from xpusetup.run.time_left import Forecast, History
from xpusetup.system.memory import Memory
from xpusetup.ui import live
from xpusetup.ui.console import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

GIB = 1 << 30
HEAD = "torch-2.5 · Intel GPU (pvc) · oneAPI 2024.1.4 · 14 jobs · ~/.local/share/xpusetup/torch-2.5"
TITLES = {
    "venv": "Python 3.11 environment",
    "torch.fetch": "torch v2.5.1 a8d6afb51",
    "torch.configure": "configure torch, and read what CMake decided",
    "torch.build": "torch 2.5.1+xpu from source",
    "vision.fetch": "vision v0.20.1 3ac97aa91",
    "audio.fetch": "audio v2.5.1 1661daf10",
}
FOUND = {
    "torch.fetch": "v2.5.1 a8d6afb · 412 MiB, 71 MiB of it from the store · 38 submodules",
    "torch.configure": "XPU on · C++11 ABI · pvc",
    "vision.fetch": "v0.20.1 3ac97aa · 12 MiB",
}


class Screen:
    """A view with a clock of its own, and what it has drawn so far."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, width: int = 100) -> None:
        self.time = 0.0
        self.file = StringIO()
        console = Terminal(width=width, no_color=True, file=self.file, highlight=False, soft_wrap=True, _environ={})
        monkeypatch.setattr(live, "make_console", lambda **_words: console)
        self.console = console
        memory = Memory(41 * GIB, 64 * GIB)
        self.view = live.BuildView(json=False, verbose=False, clock=lambda: self.time, memory=lambda: memory)
        self.forecast = Forecast((), History({}))
        self.say("plan", text=HEAD, total=16, jobs=14)

    def say(self, kind: Any, step: str = "", **words: Any) -> None:
        event = Event(kind=kind, time=self.time, step=step, title=TITLES.get(step, ""), **words)
        self.view.observe(event if event.left else self.forecast.tell(event))

    def start(self, step: str) -> None:
        self.say("start", step)

    def end(self, step: str, seconds: float, state: Any = "ran", **words: Any) -> None:
        self.say("end", step, seconds=seconds, state=state, **{"text": FOUND.get(step, ""), **words})

    def build(self, until: float, *, begin: float, total: int = 7561, step: str = "torch.build") -> None:
        """Let ninja say a line for each object: 1.43 of them in a second."""
        while self.time < until:
            self.time += 10
            count = min(total, int((self.time - begin) * 1.43))
            line = f"[{count}/{total}] Building SYCL object src/ATen/sycl/Kernel{count}.cpp.o"
            self.say("output", step, text=line, count=count, total=total)

    def frame(self, title: str) -> None:
        """Draw what a terminal would show below the lines that stay."""
        self.file.write(f"\n---- {title}\n")
        self.console.print(self.view.draw())

    @property
    def text(self) -> str:
        return "".join(f"{line.rstrip()}\n" for line in self.file.getvalue().splitlines())


def frames(screen: Screen) -> None:
    """Go through a build up to its longest step."""
    screen.view._moving = True
    screen.end("venv", 0, "done")
    screen.start("torch.fetch")
    words = "[6123/13456] objects, 180 MiB, 12 of 39 repositories"
    screen.say("output", "torch.fetch", text=words, count=6123, total=13456)
    screen.time = 61
    screen.frame("a fetch, after a minute")
    screen.end("torch.fetch", 72)
    screen.time = 72
    screen.start("torch.configure")
    screen.end("torch.configure", 51)
    screen.time = 123
    screen.start("torch.build")
    screen.frame("a build that has said nothing yet")
    screen.build(130, begin=123)
    screen.start("vision.fetch")
    screen.frame("two lanes, too early for an estimate")
    screen.end("vision.fetch", 9)
    screen.build(3000, begin=123)
    screen.frame("a build at half")
    screen.start("audio.fetch")
    screen.end("audio.fetch", 70, "failed")
    screen.say("note", text="torch.build goes on to its end, so that nothing of it is lost")
    screen.build(5400, begin=123)
    screen.frame("a build near its end")


def test_a_known_build_says_what_is_left_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """What earlier builds tell goes before a step's own pace, and goes on falling between two lines."""
    screen = Screen(monkeypatch)
    screen.view._moving = True
    screen.start("torch.build")
    screen.time = 600
    words = "[10/7561] Building SYCL object Kernel10.cpp.o"
    screen.say("output", "torch.build", text=words, count=10, total=7561, left=3000.0, left_of_all=5400.0)
    screen.frame("as told")
    screen.time = 1200
    screen.frame("ten minutes later, without a line")
    screen.say("output", "torch.build", text=words, count=900, total=7561, left=2400.0)
    screen.frame("when what is left of all is no longer known")
    hold_one("screens/build-live-known.txt", screen.text)


@pytest.mark.parametrize("width", [100, 72])
def test_golden_frames(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    screen = Screen(monkeypatch, width=width)
    frames(screen)
    hold_one(f"screens/build-live-{width}.txt", screen.text)
    moving = screen.text.split("----")[1:]
    drawn = [line for block in moving for line in block.splitlines() if line.startswith((" ⠋", "     ", " ·"))]
    assert drawn
    assert max(map(len, drawn)) <= width


def test_golden_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a log a long step says where it is: at each tenth, and when it has been silent for long."""
    screen = Screen(monkeypatch)
    screen.start("torch.fetch")
    for tick in range(1, 67):
        screen.time, count = tick * 10.0, tick * 200
        words = f"[{count}/13456] objects, {tick * 6} MiB, {tick // 2} of 39 repositories"
        screen.say("output", "torch.fetch", text=words, count=count, total=13456)
    screen.end("torch.fetch", 660)
    screen.start("torch.build")
    screen.build(6000, begin=660)
    screen.end("torch.build", 5340, "failed", text="")
    hold_one("screens/build-lines-long.txt", screen.text)


def plain(screen: Screen) -> Iterator[str]:
    yield from (line for line in screen.text.splitlines() if line.startswith("   "))


def test_a_short_step_says_only_that_it_began_and_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(monkeypatch)
    screen.start("torch.build")
    screen.build(50, begin=0, total=72)
    screen.end("torch.build", 50)
    assert list(plain(screen)) == []


def test_a_silent_step_shows_life(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runner tells its watchers once a minute that a silent step is at work; once in five minutes it is printed."""
    screen = Screen(monkeypatch)
    screen.start("torch.fetch")
    for minute in range(1, 13):
        screen.time = minute * 60.0
        screen.say("output", "torch.fetch")
    assert [line.split()[:2] for line in plain(screen)] == [["torch.fetch", "5:00"], ["torch.fetch", "10:00"]]


@pytest.mark.parametrize("kind", ["dumb", "unknown"])
def test_a_terminal_without_a_cursor_gets_lines(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the shell of Emacs: what moves would never be drawn there, and hours pass without a sign of life."""
    file = StringIO()
    console = Terminal(width=100, force_terminal=True, file=file, soft_wrap=True, _environ={"TERM": kind})
    monkeypatch.setattr(live, "make_console", lambda **_words: console)
    with live.BuildView(json=False, verbose=False, clock=lambda: 0.0) as view:
        view.observe(Event(kind="start", time=0.0, step="torch.build", title="torch"))
        view.observe(Event(kind="output", time=700.0, step="torch.build", text="[1/2] x", count=1, total=2))
    with live.asking(quiet=False) as ask:
        ask("numbers")
    assert [line.split()[:2] for line in file.getvalue().splitlines()] == [
        ["…", "torch.build"],
        ["torch.build", "11:40"],
        ["…", "numbers"],
    ]


def test_progress_is_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(monkeypatch)
    screen.say("progress", text="packing https://example.org/x")
    assert " … packing https://example.org/x\n" in screen.text
    assert "!" not in screen.text


@pytest.mark.parametrize("json", [False, True])
def test_quiet_says_nothing_while_it_works(json: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(monkeypatch)
    screen.file.truncate(0)
    screen.file.seek(0)
    screen.view = live.BuildView(json=json, quiet=True, verbose=True)
    screen.say("plan", text=HEAD, total=16, jobs=14)
    screen.say("note", text="a note")
    screen.say("progress", text="asking https://example.org for main")
    screen.start("torch.build")
    screen.build(600, begin=0)
    screen.end("torch.build", 600)
    assert screen.text == ""


def test_a_short_loop_is_a_few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """What took seconds before is told when it ends, and what was done before at the end alone."""
    screen = Screen(monkeypatch)
    screen.file.truncate(0)
    screen.file.seek(0)
    screen.say("end", step="venv", state="done")
    screen.say("start", step="simxpu.fetch", left=1.0, left_of_all=20.0)
    screen.say("end", step="simxpu.fetch", state="ran", seconds=1.0)
    screen.say("start", step="simxpu.install", left=19.0, left_of_all=19.0)
    assert [line[:18] for line in screen.text.splitlines()] == [" ✓ simxpu.fetch   ", " … simxpu.install"]


@pytest.mark.parametrize("verbose", [True, False])
def test_what_the_build_before_said_is_said_again_only_where_it_is_asked_for(
    verbose: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Screen(monkeypatch)
    screen.view = live.BuildView(json=False, verbose=verbose)
    screen.say("note", text="of your tree", state="done")
    assert ("of your tree" in screen.text) == verbose


def test_no_figure_is_cut_where_it_is_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(monkeypatch, width=80)
    screen.view._moving = True
    screen.start("simxpu.build")
    screen.time = 20
    screen.say("output", "simxpu.build", text="[1/6] c++ a.o", count=1, total=6, left=180.0, left_of_all=3600.0 * 20)
    screen.frame("early")
    assert "[1/6]" in screen.text
    assert "16 %  about 3 min left" in screen.text
    assert "about 20 h left" in screen.text
    assert "…" not in screen.text


def test_the_last_command_is_not_told_as_done_before_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(monkeypatch)
    screen.start("torch.build")
    screen.time = 60.0
    screen.say("output", "torch.build", text="[1/1] c++ -c a.cpp", count=1, total=1)
    screen.end("torch.build", 61.0, state="failed", text="")
    assert "100 %" not in screen.file.getvalue()
