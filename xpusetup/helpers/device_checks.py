"""The checks of verify_device.py, in order, in a process of their own, so that a device that hangs or dies ends alone.

A check takes a Bench and returns an Outcome or raises; each event is one line of JSON on the descriptor that the caller
names. Checks of one matter live in a module of their own, which lists them.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import time
from dataclasses import asdict
from functools import partial

import checks_numbers
import device_suite
from device_bench import Bench, Check, Outcome, describe_device, describe_error

PASSING = ("ok", "info", "warn")
GATES = ("autoload.import", "device.available")
"""Nothing can be checked after one of these did not pass."""


def check_import(bench: Bench) -> Outcome:
    version = str(bench.torch.__version__)
    return Outcome("ok", f"torch {version}", facts={"torch": version})


def check_available(bench: Bench) -> Outcome:
    module = bench.module
    if module is None:
        return Outcome("skip", f"this torch knows no device named {bench.name}")
    if not module.is_available() or not module.device_count():
        return Outcome("skip", f"no {bench.name} device here")
    devices = [describe_device(bench, index) for index in range(module.device_count())]
    return Outcome("ok", ", ".join(device["name"] for device in devices), facts={"devices": devices})


CHECKS = (
    Check("autoload.import", "import torch", check_import),
    Check("device.available", "available", check_available),
    *checks_numbers.CHECKS,
    *device_suite.CHECKS,
)


def perform(check: Check, bench: Bench) -> Outcome:
    """Whatever a driver or an extension throws is a finding about the device, never the end of the verifier."""
    try:
        if check.id not in GATES:
            bench.torch.default_generator.manual_seed(20)
        outcome = check.run(bench)
        if outcome.level != "skip" and check.id not in GATES:
            bench.synchronize()
    except Exception as error:  # noqa: BLE001, see above
        return Outcome("crash", describe_error(error))
    return outcome


def main(name: str, descriptor: str, patience: str) -> None:
    bench = Bench(name)
    with os.fdopen(int(descriptor), "w") as events, open(os.devnull, "w") as nowhere:  # noqa: PTH123, a device
        emit = partial(print, file=events, flush=True)
        for check in CHECKS:
            emit(json.dumps({"start": check.id}))
            # The only clock that also ends a process whose native code holds the interpreter.
            faulthandler.dump_traceback_later(float(patience), exit=True, file=nowhere)
            began = time.perf_counter()
            outcome = perform(check, bench)
            faulthandler.cancel_dump_traceback_later()
            seconds = round(time.perf_counter() - began, 3)
            emit(json.dumps({"id": check.id, "seconds": seconds, **asdict(outcome)}))
            if check.id in GATES and outcome.level not in PASSING:
                return


if __name__ == "__main__":
    main(*sys.argv[1:])
