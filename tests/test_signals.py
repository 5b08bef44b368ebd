"""What asks the program to end, at any time from its first line on."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from xpusetup import cli
from xpusetup.cli.finish import Finished, finish, heed_signals, interrupt

if TYPE_CHECKING:
    from collections.abc import Iterator

NUMBERS = (signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = {number: signal.signal(number, signal.SIG_DFL) for number in NUMBERS}  # nohup has SIGHUP ignored
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def ask(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)
    signal.sigpending()  # a call in which Python looks at what came


@pytest.mark.parametrize("number", NUMBERS)
def test_before_any_command_began(number: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "app", lambda **_words: ask(number))
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 130


@pytest.mark.parametrize("number", NUMBERS)
def test_while_a_command_works(
    number: signal.Signals, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["xpusetup", "status", "my build"])
    with pytest.raises(Finished) as ended:
        finish("status", lambda: ask(number), json=False)  # type: ignore[arg-type, return-value]
    assert ended.value.code == 130
    assert capsys.readouterr().err == " ✗ interrupted\n   fix  it goes on with: xpusetup status 'my build'\n"


def test_what_the_caller_ignores_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    heed_signals(interrupt)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGTERM) is interrupt
