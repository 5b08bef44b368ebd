"""Runs workloads on a device and writes which operators ran on the CPU instead, as one JSON document.

Three witnesses: PyTorch's dispatcher (recorder.py of helperlib/fallbacks), Python's warnings, and what C++ writes to
stderr.
"""

import argparse
import os
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from helperlib.env.distributions import AUTOLOAD
from helperlib.fallbacks.messages import find_messages, whole_name
from helperlib.fallbacks.workloads import WORKLOADS, Workload
from helperlib.output import count, say_summary, write_json
from helperlib.verify.bench import DeviceBench, describe_error

XPU_VARIABLES = {"PYTORCH_DEBUG_XPU_FALLBACK": "1", "PYTORCH_ENABLE_XPU_FALLBACK": "1"}
"""Read when torch is loaded. The second lets a workload go on at an operator that would end it."""
FORCED = "PYTORCH_XPU_FALLBACK_OP"
NO_DEVICE = 4


class HeardFallbacks(defaultdict[str, Counter[str]]):
    """What was said while a workload ran: by kind of message, how often each operator was named."""

    def __init__(self) -> None:
        super().__init__(Counter)

    def listen(self, text: str) -> None:
        for message in find_messages(text):
            self[message.kind][message.operator] += 1


@contextmanager
def listening(heard: HeardFallbacks) -> Iterator[None]:
    """Hear warnings and stderr; what was written to stderr is passed on afterwards."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as written, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        os.dup2(written.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)
            written.seek(0)
            text = written.read().decode(errors="replace")
            sys.stderr.write(text)
            heard.listen(text)
            for one in caught:
                heard.listen(str(one.message))


def run_parts(workload: Workload, bench: DeviceBench, heard: HeardFallbacks) -> tuple[dict[str, str], Counter[str]]:
    """Run each part; give the errors of those that ended, and the operators that ended them."""
    errors: dict[str, str] = {}
    refused: Counter[str] = Counter()
    for name, part in workload.parts.items():
        bench.torch.default_generator.manual_seed(20)
        try:
            part(bench.torch, bench.device)
            bench.synchronize()
        except Exception as error:  # noqa: BLE001, whatever a device throws is a finding about it
            named = [one.operator for one in find_messages(str(error)) if one.kind == "refused"]
            refused.update(named)
            if not named:
                errors[name] = describe_error(error)
            heard.listen(str(error))
    return errors, refused


def record(workload: Workload, bench: DeviceBench) -> dict[str, Any]:
    from helperlib.fallbacks.recorder import Recorder  # noqa: PLC0415 - it imports torch, after the variables are set

    heard = HeardFallbacks()
    with listening(heard), Recorder(bench.name) as recorder:
        errors, refused = run_parts(workload, bench, heard)
    rows = {name: recorder.row(name) for name in recorder.calls}
    fallen = {name: row for name, row in rows.items() if row is not None and row.is_fallback}
    announced = heard["announced"]
    found = {
        name: {
            "name": name,
            "calls": recorder.calls.get(name, 0) or announced[name] or refused[name],
            "announced": name in announced,
            "refused": name in refused,
            "kernel": row.kind if (row := rows.get(name)) else None,
            "registered": row.source if row else None,
        }
        for name in sorted({*fallen, *announced, *refused})
    }
    return {
        "title": workload.title,
        "operators": list(found.values()),
        "own": {name: calls for name, calls in sorted(recorder.calls.items()) if name not in found},
        "unseen": sorted(recorder.unseen),
        "unnamed": heard["once"].total(),
        "errors": errors,
    }


def collect(bench: DeviceBench) -> dict[str, Any]:
    from helperlib.fallbacks.recorder import why_blind  # noqa: PLC0415 - it imports torch, after the variables are set

    return {
        "device": bench.name,
        "torch": str(bench.torch.__version__),
        "blind": why_blind(),
        "forced": [whole_name(name.strip()) for name in os.environ.get(FORCED, "").split(",") if name.strip()],
        "workloads": [record(workload, bench) for workload in WORKLOADS],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", required=True, help="xpu, simxpu, cpu, cuda, hpu, npu, ...")
    parser.add_argument("--out", type=Path, required=True, help="where the JSON document goes")
    options = parser.parse_args()
    os.environ[AUTOLOAD] = "1"
    for name, value in XPU_VARIABLES.items() if options.device == "xpu" else ():
        os.environ.setdefault(name, value)
    bench = DeviceBench(options.device)
    if bench.module is None or not bench.module.is_available():
        say_summary(f"no {options.device} device here")
        return NO_DEVICE
    document = collect(bench)
    write_json(options.out, document)
    names = {one["name"] for workload in document["workloads"] for one in workload["operators"]}
    say_summary(f"{count(len(names), 'operator')} on the CPU")
    return 0


if __name__ == "__main__":
    sys.exit(main())
