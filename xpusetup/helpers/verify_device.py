"""Verifies that a device computes the right numbers, and writes what it saw as one JSON document.

The checks run in a child (device_checks.py), so that a hang, a signal or a broken extension is a finding as well.
"""

from __future__ import annotations

import argparse
import difflib
import io
import json
import os
import platform
import re
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from helperlib.addon.pack import KEPT
from helperlib.env.distributions import AUTOLOAD, find_version
from helperlib.output import count, say_summary, write_json, write_text
from helperlib.verify.bench import FRAME
from helperlib.verify.verdicts import (
    CHECKS,
    FAILING,
    GATES,
    LEVELS,
    PASSING,
    TITLES,
    BenchResult,
    choose_checks,
    describe,
    fill_in,
    find_cause,
    is_verified,
    judge_result,
    list_gaps,
    render_junit,
)

ALONE = "import faulthandler; faulthandler.dump_traceback_later(300, exit=True); import torch"
LOADER = "data.loader"
"""Asked where the device has a data loader of its own."""
NOT_CHECKED = ("several devices at once", "accuracy on real data", "speed beside other machines")


def explain_import(failed: BenchResult, extensions: dict[str, str]) -> BenchResult:
    """Say whose fault it is that torch cannot be imported: with autoload off, only torch itself is left."""
    environment = {**os.environ, AUTOLOAD: "0"}
    command = (sys.executable, "-c", ALONE)
    alone = subprocess.run(command, env=environment, cwd=Path(__file__).parent, capture_output=True, check=False)
    if alone.returncode:
        return replace(failed, level="fail", seen=f"torch itself cannot be imported: {failed.seen}")
    named = re.search(r"backend extension: (\S+?)\.(?:\s|$)", failed.seen)
    names = [named[1]] if named else sorted(extensions)
    shown = ", ".join(f"{name} ({extensions.get(name, 'package unknown')})" for name in names) or "unknown"
    reason = failed.seen.split(" because ", 1)[-1]
    return replace(failed, level="fail", seen=f"extension {shown} cannot be loaded: {reason}; torch itself can")


OWN = ("cpu", "cuda", "xpu", "mps")
"""Devices of torch itself: who turns extensions off looks at one of these without them."""


def switch_for(device: str) -> str:
    """Give the switch of extensions with which a device is looked at; only the exact string "1" turns it on."""
    return os.environ.get(AUTOLOAD, "1") if device in OWN else "1"


def explain(result: BenchResult, device: str, extensions: dict[str, str], *, expected: bool) -> BenchResult:
    """Add to what the child saw what only its caller knows."""
    if result.id == "device.available" and result.level == "skip" and expected:
        return replace(result, level="fail")
    if result.id != "autoload.import":
        return result
    if result.level not in PASSING:
        return explain_import(result, extensions)
    loaded = "".join(f", extension {name} ({package})" for name, package in sorted(extensions.items()))
    switch = os.environ.get(AUTOLOAD, "1")
    if extensions and switch_for(device) != "1":
        return replace(result, seen=f"{result.seen}; {AUTOLOAD}={switch}: without {', '.join(sorted(extensions))}")
    if extensions and switch != "1":
        off = f"; {AUTOLOAD}={switch} here turns extensions off, these checks turned them on"
        return replace(result, level="warn", seen=result.seen + loaded + off)
    return replace(result, seen=result.seen + loaded)


def make_document(device: str, results: list[BenchResult], extensions: dict[str, str]) -> dict[str, Any]:
    facts = {key: value for one in results for key, value in one.facts.items()}
    devices, device = facts.get("devices", []), facts.get("device", device)
    versions = {"python": platform.python_version(), "torch": facts.get("torch") or find_version("torch")}
    skipped = [one.id for one in results if one.level == "skip"]
    ran = {one.id for one in results}
    others = [f"{device}:{one['index']}" for one in devices[1:]]
    return {
        "device": f"{device}:0" if devices and device != "cpu" else device,
        "devices": devices,
        "versions": {**versions, "numpy": find_version("numpy"), "extensions": extensions},
        "checks": [describe(one) for one in results],
        "verified": (verified := is_verified(results)),
        "verified_on": None if verified is None or not devices else devices[0].get("kind"),
        "not_checked": [*skipped, *(one.id for one in CHECKS if one.id not in ran), *others, *NOT_CHECKED],
    }


def summarise(document: dict[str, Any]) -> tuple[str, ...]:
    bad = sum(check["level"] in FAILING for check in document["checks"])
    checks = count(len(document["checks"]), "check")
    names = [str(one.get("name", "")) for one in document["devices"][:1]]
    return (f"{bad} of {checks} failed" if bad else checks, *names)


def verify(order: VerifyOrder, gaps: dict[str, str], *, expected: bool) -> dict[str, Any]:
    """Run the checks. The absence of an expected device is a failure, a listed gap (id: reason) is none."""
    loaded = entry_points(group="torch.backends")  # what `import torch` loads, here as package and version
    extensions = {one.name: describe_package(one) for one in loaded}
    results: list[BenchResult] = []
    device, torch = order.device, find_version("torch") or ""
    with closing(run_checks(order)) as found:
        for result in found:
            device, torch = (result.facts.get(name, known) for name, known in (("device", device), ("torch", torch)))
            gaps = {**list_gaps(device, result.facts), **gaps}
            one = judge_result(explain(result, order.device, extensions, expected=expected), gaps, torch)
            cause = find_cause(one, results)
            results.append(replace(one, caused_by=cause))
            after = f" (follows from {cause})" if cause else ""
            print(f"{one.level:5} {one.title}: {one.seen}{after}", flush=True)
    return make_document(order.device, fill_in(results, order.checks), extensions)


def describe_package(extension: EntryPoint) -> str:
    """Give the package of an extension and its version, and whether libraries were put in the place of its own."""
    package = extension.dist
    if package is None:
        return extension.value
    replaced = any(path.name.endswith(KEPT) for path in package.files or ())
    return f"{package.name} {package.version}" + (", no longer as its wheel: replaced in place" if replaced else "")


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto", help="xpu, simxpu, cpu, cuda, hpu, npu, ...; auto: what is here")
    parser.add_argument("--expected", action="store_true", help="it has to be there: its absence is a failure")
    parser.add_argument("--level", choices=LEVELS, default="smoke", help="how much to check")
    parser.add_argument("--only", action="append", default=[], metavar="ID", help="these checks or areas, of any level")
    parser.add_argument("--skip", action="append", default=[], metavar="ID", help="not these checks or areas")
    parser.add_argument("--list", action="store_true", help="say which checks there are, as JSON")
    parser.add_argument("--which", action="store_true", help="say which device auto means here, as JSON")
    parser.add_argument("--patience", type=float, default=300, metavar="SECONDS", help="for each check")
    parser.add_argument("--gap", action="append", default=[], metavar="ID=REASON", help="what this device may lack")
    parser.add_argument("--compile-backend", default="", metavar="NAME", help="that of torch.compile")
    parser.add_argument("--collectives", default="", metavar="NAME", help="back end of torch.distributed")
    parser.add_argument("--extension", default="", metavar="MODULE", help="imported where torch does not load it")
    parser.add_argument("--loader", default="", metavar="MODULE:CLASS", help="the device's data loader")
    parser.add_argument("--out", type=Path, help="where the JSON document goes")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="the same as JUnit XML")
    return parser


def parse_options() -> argparse.Namespace:
    parser = make_parser()
    options = parser.parse_args()
    if not options.device.isidentifier():
        parser.error(f"--device {options.device}: the name of a device type, without an index")
    if options.patience <= 0:
        parser.error("--patience: more than 0 seconds")
    options.gaps = {name: reason for name, _, reason in (gap.partition("=") for gap in options.gap)}
    known = {part for check in CHECKS for part in (check.id, check.id.partition(".")[0])}
    for name in (*options.only, *options.skip, *options.gaps):
        if name not in known:
            near = difflib.get_close_matches(name, sorted(known), n=1)
            parser.error(f"there is no check {name}" + (f"; did you mean {near[0]}?" if near else "; see --list"))
    return options


def main() -> int:
    options = parse_options()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # the terminal's encoding is not the finding's matter
    if options.list:
        gates = dict.fromkeys(GATES, "gate")
        rows = [
            {"id": one.id, "area": one.id.partition(".")[0], "title": one.title, "level": gates.get(one.id, one.level)}
            for one in CHECKS
        ]
        print(json.dumps(rows, indent=2))
        return 0
    if options.which:
        with closing(run_checks(VerifyOrder("auto", GATES[:1], options.patience))) as found:
            facts = next(found).facts  # without a device where torch cannot be imported
        print(json.dumps({name: facts[name] for name in ("device", "why") if name in facts}))
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the child is ended as well
    lacking = () if options.loader else (LOADER,)
    chosen = choose_checks(options.level, options.only, (*options.skip, *lacking))
    named = (options.compile_backend, options.collectives, options.extension, options.loader)
    order = VerifyOrder(options.device, chosen, options.patience, *named)
    document = {**verify(order, options.gaps, expected=options.expected), "level": options.level}
    try:
        if options.out:
            write_json(options.out, document)
        if options.junit:
            write_text(options.junit, render_junit(document))
    except OSError as error:
        print(f"error: {error.filename} cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    say_summary(*summarise(document))
    return {True: 0, False: 1, None: 4}[document["verified"]]


# Runs the checks in child processes: one that hangs or kills its process is a finding, and the next one goes on.


GRACE = 15
"""Seconds that a child has beyond its own watchdog, and for its end. One that needs more hangs inside the kernel."""
DEEP = 12
TOO_LONG = b"Timeout"
"""How the stacks of a watchdog begin; for a child whose own could not end it."""


@dataclass(frozen=True)
class VerifyOrder:
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


def run_checks(order: VerifyOrder) -> Generator[BenchResult, None, None]:
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


def run_child(order: VerifyOrder) -> Generator[BenchResult, None, None]:
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
                    yield BenchResult(title=TITLES[event["id"]], **event)
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


def start_child(order: VerifyOrder) -> subprocess.Popen[bytes]:
    script = str(Path(__file__).with_name("device_checks.py"))
    return subprocess.Popen(
        (sys.executable, script, json.dumps(asdict(order))),
        env={**os.environ, AUTOLOAD: switch_for(order.device)},
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


def describe_end(started: dict[str, Any], code: int | None, stacks: str) -> BenchResult:
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
    return BenchResult(name, TITLES[name], "crash", seen, verdict="wrong", stack=tuple(frames))


def read_stack(text: str) -> list[str]:
    """Give the calls of the thread that ran the checks, innermost first, down to the check itself."""
    for thread in re.split(r"\n\s*\n", text):
        calls = [match.groups() for match in map(FRAME.match, thread.splitlines()) if match]
        names = [name for _, _, name in calls]
        if "perform" in names:
            kept = calls[: min(names.index("perform"), DEEP)]
            return [f"{'/'.join(Path(path).parts[-2:])}:{line} {name}" for path, line, name in kept]
    return []


if __name__ == "__main__":
    sys.exit(main())
