"""The checks of verify_device.py, in order, in a process of their own, so that a device that hangs or dies ends alone.

A check takes a Bench and returns an Outcome or raises; each event is one line of JSON on the descriptor that the caller
names. Checks of one matter live in a module of their own, which lists them.
"""

import faulthandler
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import TextIO

from helperlib.verify.bench import Absent, BenchCheck, BenchOutcome, DeviceBench, describe_error, is_unsupported
from helperlib.verify.verdicts import CHECKS, GATES, PASSING

AT_IMPORT = 60
"""Seconds at least for importing torch, which may read a gigabyte from a network."""
VERDICTS = {"fail": "wrong", "crash": "wrong", "skip": "absent"}


def perform(check: BenchCheck, bench: DeviceBench) -> BenchOutcome:
    """Whatever a driver or an extension throws is a finding about the device, never the end of the verifier."""
    try:
        if check.id not in GATES:
            bench.torch.default_generator.manual_seed(20)
            bench.reset_peak()
        outcome = check.run(bench)
        if outcome.level != "skip" and check.id not in GATES:
            bench.synchronize()
    except Absent as error:
        return BenchOutcome("skip", str(error), verdict="absent", since=error.since)
    except Exception as error:  # noqa: BLE001, see above
        if is_unsupported(error):
            return BenchOutcome("fail", describe_error(error), verdict="unsupported")
        return BenchOutcome("crash", describe_error(error), verdict="wrong")
    return replace(outcome, verdict=outcome.verdict or VERDICTS.get(outcome.level, "ok"))


def run_all(bench: DeviceBench, ids: list[str], patience: float, emit: Callable[[str], None], stacks: TextIO) -> None:
    for check in CHECKS:
        if check.id not in ids:
            continue
        within = max(patience, AT_IMPORT) if check.id == GATES[0] else min(patience, check.patience or patience)
        emit(json.dumps({"start": check.id, "within": within}))
        # The only clock that also ends a process whose native code holds the interpreter: within so many seconds.
        faulthandler.dump_traceback_later(within, exit=True, file=stacks)
        began = time.perf_counter()
        outcome = perform(check, bench)
        seconds = round(time.perf_counter() - began, 3)
        faulthandler.cancel_dump_traceback_later()
        peak = None if check.id in GATES else bench.find_peak()
        bench = replace(bench, name=outcome.facts.get("device", bench.name))
        emit(json.dumps({"id": check.id, "seconds": seconds, "peak_bytes": peak, **asdict(outcome)}))
        if check.id in GATES and outcome.level not in PASSING:
            return


def main(text: str) -> None:
    """Run the checks of an order (verify_device.Order as JSON), whose descriptors take the events and the stacks."""
    order = json.loads(text)
    named = ("compile_backend", "collectives", "extension", "loader")
    bench = DeviceBench(order["device"], *(order[name] for name in named))
    for descriptor in (order["sink"], order["stacks"]):
        os.set_inheritable(descriptor, False)
    with os.fdopen(order["sink"], "w") as events, os.fdopen(order["stacks"], "w") as stacks:
        faulthandler.enable(stacks)
        run_all(bench, order["checks"], order["patience"], partial(print, file=events, flush=True), stacks)
        faulthandler.disable()


if __name__ == "__main__":
    main(sys.argv[1])
