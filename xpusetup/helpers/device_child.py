"""Runs the checks in child processes: one that hangs or kills its process is a finding, and the next one goes on."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from device_checks import GATES, PASSING
from device_verdicts import TITLES, Result

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
GRACE = 15
"""Seconds that a child has beyond its own watchdog, and for its end. One that needs more hangs inside the kernel."""
FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$')
DEEP = 12
TOO_LONG = b"Timeout"
"""How the stacks of a watchdog begin; for a child whose own could not end it."""


@dataclass(frozen=True)
class Order:
    """What to check, on what, and for how many seconds each. `sink` and `stacks` are the child's descriptors."""

    device: str
    checks: tuple[str, ...]
    patience: float
    compile_backend: str = ""
    collectives: str = ""
    extension: str = ""
    loader: str = ""
    sink: int = -1
    stacks: int = -1


def run_checks(order: Order) -> Generator[Result, None, None]:
    """Give each result as it comes. After a hang or a death a new child passes the gates again before it goes on."""
    done: set[str] = set()
    while left := tuple(name for name in order.checks if name not in done):
        before = len(done)
        with closing(run_child(replace(order, checks=(*GATES, *left)))) as results:
            for result in results:
                order = replace(order, device=result.facts.get("device", order.device))
                if result.id not in done:
                    done.add(result.id)
                    yield result
                if result.id in GATES and result.level not in PASSING:
                    return
        if len(done) == before:
            return


def run_child(order: Order) -> Generator[Result, None, None]:
    """Give the results of one child; where it ends too early, the last is that of the check that it was at."""
    source, sink = os.pipe()
    with tempfile.TemporaryFile() as stacks:
        child = start_child(replace(order, sink=sink, stacks=stacks.fileno()))
        os.close(sink)
        started: dict[str, Any] = {}
        try:
            for event in read_events(source):
                started = event if "start" in event else {}
                if not started:
                    yield Result(title=TITLES[event["id"]], **event)
            code = end_child(child, GRACE)
        except TimeoutError:
            code = end_child(child, 0)
            stacks.write(TOO_LONG)
        finally:
            end_child(child, 0)
            os.close(source)
        if started:
            stacks.seek(0)
            yield describe_end(started, code, stacks.read().decode(errors="replace"))


def start_child(order: Order) -> subprocess.Popen[bytes]:
    script = str(Path(__file__).with_name("device_checks.py"))
    return subprocess.Popen(
        (sys.executable, script, json.dumps(asdict(order))),
        env={**os.environ, AUTOLOAD: "1"},  # only the exact string "1" turns it on
        pass_fds=(order.sink, order.stacks),
        stdout=sys.stderr.fileno(),
        start_new_session=True,  # so that what it leaves running can be ended with it
    )


def read_events(source: int) -> Iterator[dict[str, Any]]:
    """Give events until the child closes its end. Raises TimeoutError where it outlives its own watchdog."""
    rest, within = b"", 60.0
    while select.select([source], [], [], within + GRACE)[0]:
        data = os.read(source, 1 << 16)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        for event in map(json.loads, lines):
            within = event.get("within", within)
            yield event
    raise TimeoutError


def end_child(child: subprocess.Popen[bytes], wait: float) -> int | None:
    """Wait for the child, then kill whatever is left of it; give its exit code, None where it cannot be killed."""
    with suppress(subprocess.TimeoutExpired):
        child.wait(wait)
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        return child.wait(GRACE)
    return None


def describe_end(started: dict[str, Any], code: int | None, stacks: str) -> Result:
    frames = read_stack(stacks)
    where = f", at {frames[0]}" if frames else ""
    if stacks.startswith(TOO_LONG.decode()):
        seen = f"no answer within {started['within']:g} s{where}"
        if code is None:
            seen += "; it hangs inside the kernel, where no signal reaches it"
    elif code and code < 0:
        seen = f"the process was ended: {signal.strsignal(-code)}{where}"
    else:
        seen = f"the process ended with exit code {code}"
    name = started["start"]
    return Result(name, TITLES[name], "crash", seen, verdict="wrong", stack=tuple(frames))


def read_stack(text: str) -> list[str]:
    """Give the calls of the thread that ran the checks, innermost first, down to the check itself."""
    for thread in re.split(r"\n\s*\n", text):
        calls = [match.groups() for match in map(FRAME.match, thread.splitlines()) if match]
        names = [name for _, _, name in calls]
        if "perform" in names:
            kept = calls[: min(names.index("perform"), DEEP)]
            return [f"{'/'.join(Path(path).parts[-2:])}:{line} {name}" for path, line, name in kept]
    return []
