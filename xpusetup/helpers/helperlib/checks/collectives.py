"""Whether ranks on the device compute together: torchrun with two of them, on this machine alone.

What the ranks do is in collective_rank.py. Each of its operations has a bound, so a hang ends with the ranks' stacks.
"""

import importlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from helperlib.verify.bench import FRAME, Absent, BenchCheck, BenchOutcome, DeviceBench

RANKS = 2
START, EACH, ALL = 120, 60, 280
"""Seconds: until all ranks have imported torch and met, for each operation, for everything."""
BACKENDS = {"cpu": "gloo", "cuda": "nccl", "hpu": "hccl", "npu": "hccl", "xpu": "xccl"}
MODULES = {"hpu": "habana_frameworks.torch.distributed.hccl"}
"""What has to be imported before torch knows the back end."""
SINCE = {"xccl": "2.8"}
SHARING, ALONE = ("gloo", "simccl"), ("nccl", "hccl")
"""Back ends whose ranks can, and cannot, use one device together. Of others it is found out."""
LOOPBACK = {"GLOO_SOCKET_IFNAME": "lo", "NCCL_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
ERROR = re.compile(r"^\S*(?:Error|Exception): .+$", re.MULTILINE)
SCRIPT = Path(__file__).parents[2] / "collective_rank.py"
FATAL = "Fatal Python error: "
SHOWN = 4


@dataclass
class RankReport:
    """What a rank left: its results by operation, the operation it was at, its error and when that came, and its stack.

    A stack without an error is that of a hang. `node` is the machine that it ran on, as Slurm calls it; `last` when it
    said the last thing, in seconds since the epoch; `backend` is what it met the others over.
    """

    node: str = ""
    backend: str = ""
    last: float = -math.inf
    done: dict[str, dict[str, str]] = field(default_factory=dict)
    at: str = ""
    error: str = ""
    when: float = math.inf
    stack: list[str] = field(default_factory=list)


def choose_backend(bench: DeviceBench) -> str:
    """Give the back end for the device.

    Raises NotImplementedError where none is known, Absent where this torch was built without it.
    """
    dist = bench.torch.distributed
    if not dist.is_available():
        raise Absent("torch.distributed: this torch was built without it")
    if bench.name in MODULES:
        with suppress(ImportError):
            importlib.import_module(MODULES[bench.name])
    registered = getattr(dist.Backend, "default_device_backend_map", {}).get(bench.name)
    backend = str(bench.collectives or BACKENDS.get(bench.name) or registered or "")
    if not backend:
        raise NotImplementedError(f"no back end of torch.distributed for {bench.name}")
    if not dist.is_backend_available(backend):
        raise Absent(f"{backend}: this torch was built without it", SINCE.get(backend, ""))
    return backend


def launch(command: tuple[str, ...], environment: dict[str, str], log: Path, seconds: float) -> bool:
    """Run what starts the ranks to its end; say whether that came in time. `environment` is added to the caller's."""
    with log.open("wb") as stream:
        # In the session of its caller, who ends that where it must; ranks end by their own clocks.
        running = subprocess.Popen(command, env={**os.environ, **environment}, stdout=stream, stderr=subprocess.STDOUT)
        try:
            running.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        finally:
            running.kill()
            running.wait()
    return True


def read_rank(events: str, stacks: str) -> RankReport:
    told = RankReport(stack=read_stack(stacks))
    for event in map(json.loads, events.splitlines()):
        told.node = event.get("node", told.node)
        told.backend = event.get("backend", told.backend)
        told.last = event.get("time", told.last)
        told.at = event.get("start", told.at)
        told.error = event.get("error", told.error)
        told.when = event.get("time", told.when) if "error" in event else told.when
        if "done" in event:
            told.done[event["done"]] = event
            told.at = ""
    if stacks.startswith(FATAL):
        told.error, told.when = stacks.splitlines()[0].removeprefix(FATAL), -math.inf
    return told


def read_stack(text: str) -> list[str]:
    """Give the calls of the thread that ran the operation, innermost first."""
    for thread in text.split("\n\n"):
        calls = [match.groups() for match in map(FRAME.match, thread.splitlines()) if match]
        if any(path.endswith(SCRIPT.name) for path, _, _ in calls):
            return [f"{'/'.join(Path(path).parts[-2:])}:{line} {name}" for path, line, name in calls[:SHOWN]]
    return []


def read_ranks(folder: Path, count: int) -> list[RankReport]:
    """Give what each rank left; a rank that never began left nothing."""
    found = []
    for rank in range(count):
        files = [folder / f"{kind}.{rank}" for kind in ("events", "stacks")]
        texts = [file.read_text(encoding="utf-8", errors="replace") if file.exists() else "" for file in files]
        found.append(read_rank(*texts))
    return found


def find_trouble(ranks: list[RankReport], order: dict[str, Any]) -> str:
    """Say what kept the ranks from their end: a hang with all stacks, else the first error, else how they ended."""
    hung = [one for one in ranks if one.stack and not one.error]
    if hung:
        within = order["start" if hung[0].at == "start" else "each"]
        stacks = "; ".join(f"rank {at}: {', '.join(one.stack) or 'no stack'}" for at, one in enumerate(ranks))
        return f"no answer within {within:g} s at {hung[0].at}: {stacks}"
    first = min(range(len(ranks)), key=lambda at: ranks[at].when)  # what follows is that the others lost it
    if ranks[first].error:
        where = f", {ranks[first].stack[0]}" if ranks[first].stack else ""
        return f"rank {first} at {ranks[first].at}: {ranks[first].error}{where}"
    ended = [f"rank {at} ended at {one.at or 'its beginning'}" for at, one in enumerate(ranks) if "end" not in one.done]
    return ", ".join(ended)


def judge_ranks(ranks: list[RankReport], order: dict[str, Any], log: str) -> BenchOutcome:
    """Give the outcome of all ranks. Where they share a device, what keeps them from their end may be just that."""
    backend, trouble = order["backend"], find_trouble(ranks, order)
    limit = f"{RANKS} ranks over {backend}: known sums, a step that equals that of one process"
    for at, one in enumerate(ranks):
        for name, event in one.done.items():
            if event["level"] != "ok":
                return BenchOutcome("fail", f"{name}, rank {at}: {event['seen']}", limit)
    if trouble:
        seen = trouble if any(one.at or one.done for one in ranks) else "; ".join([trouble, *ERROR.findall(log)[-1:]])
        if order["device"] != "cpu" and order["devices"] < RANKS and backend not in SHARING:
            return BenchOutcome("skip", f"{RANKS} ranks on the one device, which {backend} may refuse: {seen}", limit)
        return BenchOutcome("fail", seen, limit)
    shown = ", ".join(f"{name} ({event['seen']})" for name, event in ranks[0].done.items() if event["seen"])
    return BenchOutcome("ok", f"{RANKS} ranks over {backend}: {shown}", limit)


def check_ranks(bench: DeviceBench, each: float = EACH) -> BenchOutcome:
    backend = choose_backend(bench)
    devices = bench.module.device_count()
    if devices < RANKS and backend in ALONE:
        return BenchOutcome("skip", f"{backend} needs a device for each of {RANKS} ranks; there is {devices}")
    with tempfile.TemporaryDirectory(prefix="ranks-") as name:
        folder = Path(name)
        order = {"device": bench.name, "devices": devices, "backend": backend, "module": MODULES.get(bench.name)}
        order |= {"folder": name, "start": START, "each": each}
        usual = {name: text for name, text in LOOPBACK.items() if name not in os.environ}
        torchrun = ("-m", "torch.distributed.run", "--standalone", "--local-addr", "127.0.0.1")  # loopback alone
        words = ("--nproc-per-node", str(RANKS), str(SCRIPT), json.dumps(order))
        in_time = launch((sys.executable, *torchrun, *words), usual, folder / "log", ALL)
        log = (folder / "log").read_text(encoding="utf-8", errors="replace")
        outcome = judge_ranks(read_ranks(folder, RANKS), order, log)
    if not in_time and outcome.level == "ok":
        return BenchOutcome("fail", f"{outcome.seen}; torchrun did not end within {ALL} s", outcome.limit)
    return outcome


CHECKS = (BenchCheck("collectives.two_ranks", "two ranks compute together", check_ranks, "smoke"),)
