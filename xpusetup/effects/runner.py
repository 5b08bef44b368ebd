"""Runs the steps of a plan here: one script after the other, a log for each, what is done is skipped.

A step writes its log itself and holds the root's lock, so that it goes on to its stamp even when this program is
killed; this program only follows the log.
"""

from __future__ import annotations

import os
import select
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xpusetup.effects.files import append_line, cannot_write
from xpusetup.effects.root import Root, see, write_absent
from xpusetup.errors import InterruptedRunError
from xpusetup.events import Event, parse_progress
from xpusetup.keys import NO_DEVICE as NO_DEVICE_HERE
from xpusetup.keys import current_key, make_statuses

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import BinaryIO

    from xpusetup.model import Plan, Step

PAUSE = 0.1
GRACE = 1.5
NO_DEVICE = 4


@dataclass(kw_only=True)
class Outcome:
    """What a run did: the steps that ran, those that were done already, and how it ended."""

    ran: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    failed: str = ""
    no_device: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one run of a plan works with. `tuning` are variables that no key sees, such as MAX_JOBS."""

    root: Root
    plan: Plan
    scripts: Mapping[str, str]
    identities: Mapping[str, str]
    lock: int
    tuning: Mapping[str, str]
    observe: Callable[[Event], None]
    require_device: bool = False


def run_plan(run: Run) -> Outcome:
    """Run what is not done, in order, until something fails. Raises InterruptedRunError on Ctrl-C."""
    outcome, began = Outcome(), time.monotonic()
    for step in run.plan.steps:
        state, seconds = _run_if_needed(run, step)
        (outcome.ran if seconds else outcome.skipped).append(step.id)
        _observe(run, "end", step, state=state, seconds=seconds)
        outcome.no_device = state == "no-device"
        if state == "failed":
            outcome.failed = step.id
            break
    outcome.seconds = time.monotonic() - began
    return outcome


def _run_if_needed(run: Run, step: Step) -> tuple[str, float]:
    seen = see(run.root, run.plan, run.scripts, run.identities)
    status = next(status for status in make_statuses(run.plan.steps, seen) if status.id == step.id)
    if status.state == "done" and not (run.require_device and status.why == NO_DEVICE_HERE):
        return ("no-device" if status.why == NO_DEVICE_HERE else "done"), 0.0
    _observe(run, "start", step, text=status.why)
    began = time.monotonic()
    code = _run_script(run, step)
    seconds = time.monotonic() - began
    state = {0: "ran", NO_DEVICE: "no-device" if "device" in step.needs else "failed"}.get(code, "failed")
    if state == "no-device":
        write_absent(run.root, step.id, current_key(step, seen))
    _journal(run, step, current_key(step, seen), state, seconds)
    return state, seconds


def _run_script(run: Run, step: Step) -> int:
    log = run.root.log(step.id)
    if log.exists():
        log.replace(log.with_suffix(".log.old"))
    try:
        stream = log.open("ab")
    except OSError as error:
        raise cannot_write(log, error) from error
    with stream, log.open("rb") as reader:
        process = subprocess.Popen(
            ("bash", str(run.root.script(step.id))),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            cwd=run.root.path,
            env={**os.environ, **run.tuning, "XPUSETUP_LOCKED": "1"},
            start_new_session=True,
            pass_fds=(run.lock,),
        )
        try:
            return _follow(run, step, process, reader)
        except KeyboardInterrupt as error:
            end_tree(process.pid)
            _observe(run, "end", step, state="interrupted")
            raise InterruptedRunError(f"interrupted during {step.id}", fix="the same command goes on there") from error


def _follow(run: Run, step: Step, process: subprocess.Popen[bytes], reader: BinaryIO) -> int:
    rest = b""
    while True:
        code = process.poll()
        rest += reader.read()
        *lines, rest = rest.split(b"\n")
        if lines:
            _say_output(run, step, [line.decode(errors="replace") for line in lines])
        if code is not None:
            return code
        _wait(process.pid)


def _wait(pid: int) -> None:
    """Sleep until the process ends or a pause is over; Popen.wait would poll all the while."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:  # a kernel before 5.3, or a process that is gone
        time.sleep(PAUSE)
        return
    try:
        select.select([handle], [], [], PAUSE)
    finally:
        os.close(handle)


def _say_output(run: Run, step: Step, lines: list[str]) -> None:
    for command in [line for line in lines[:-1] if line.startswith("+ ")]:
        _observe(run, "output", step, text=command)
    counts = [found for line in lines if (found := parse_progress(line)) != (0, 0)]
    count, total = counts[-1] if counts else (0, 0)
    last = next((line for line in reversed(lines) if line.strip()), "")
    _observe(run, "output", step, text=last, count=count, total=total)


def _observe(run: Run, kind: str, step: Step, **values: object) -> None:
    run.observe(Event(kind=kind, time=time.time(), step=step.id, title=step.title, **values))  # type: ignore[arg-type]


def _journal(run: Run, step: Step, key: str, state: str, seconds: float) -> None:
    import json  # noqa: PLC0415 - a run in which nothing runs needs none
    from dataclasses import asdict  # noqa: PLC0415

    from xpusetup.model import Record  # noqa: PLC0415

    record = Record(step=step.id, key=key, state=state, time=time.time(), seconds=round(seconds, 3), made=step.makes)
    append_line(run.root / "journal.jsonl", json.dumps(asdict(record)))


def end_tree(pid: int) -> None:
    """End a process and all it started, within about two seconds."""
    import psutil  # noqa: PLC0415 - slow to import, and seldom needed

    with suppress(psutil.NoSuchProcess):
        parent = psutil.Process(pid)
        tree = [*parent.children(recursive=True), parent]
        for process in tree:
            with suppress(psutil.NoSuchProcess):
                process.terminate()
        _gone, alive = psutil.wait_procs(tree, timeout=GRACE)
        for process in alive:
            with suppress(psutil.NoSuchProcess):
                process.kill()
