"""Verifies that devices of several nodes compute together, within a job of Slurm, and writes what it saw as JSON.

The document is that of verify_device.py: a check for each rank, which says where it ran and what it saw, and one for
all. A rank that hangs, fails or never begins is named, and what the others lost by it follows from that.
"""

import argparse
import json
import math
import os
import platform
import socket
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from helperlib.checks.collectives import ERROR, LOOPBACK, MODULES, SCRIPT, RankReport, launch, read_ranks
from helperlib.env.distributions import find_version
from helperlib.output import NOT_READY, count, say_summary, write_json, write_text
from helperlib.verify.verdicts import BenchResult, describe, render_junit

OPERATIONS = 6
"""More than a rank has after it met the others, so that it ends by its own clock."""
ALL = "collectives.nodes"


@dataclass(frozen=True)
class Job:
    """What Slurm says of the job that this runs in."""

    ranks: int
    nodes: int


@dataclass(frozen=True)
class RankEnd:
    """How a rank came to its end: what it saw, in which level, and when its trouble began (seconds since the epoch).

    `follows`: it may have come from another rank's trouble.
    """

    level: str
    seen: str
    when: float = math.inf
    follows: bool = False


def start_ranks(order: dict[str, Any], log: Path) -> bool:
    """Run the ranks of the whole job to their end, also where one fails; say whether that came in time."""
    command = (
        *("srun", "--label", "--wait=0", "--kill-on-bad-exit=0", "--distribution=block", "--input=none"),
        *(sys.executable, "-B", str(SCRIPT), json.dumps(order)),
    )
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]  # one that nobody listens on now
    usual = {
        "OMP_NUM_THREADS": LOOPBACK["OMP_NUM_THREADS"],
        "MASTER_ADDR": socket.gethostname(),  # this is the first node of the job, where the first rank is
        "MASTER_PORT": str(port),
    }
    mine = {name: text for name, text in usual.items() if name not in os.environ}
    return launch(command, mine, log, order["start"] + OPERATIONS * order["each"])


def judge_rank(one: RankReport, order: dict[str, Any]) -> RankEnd:
    """Say how a rank ended."""
    stack = f", {', '.join(one.stack)}" if one.stack else ""
    wrong = [f"{name}: {event['seen']}" for name, event in one.done.items() if event["level"] != "ok"]
    if math.isinf(one.last):
        return RankEnd("fail", "never began", one.last)
    if one.error:
        return RankEnd("fail", f"{one.at}: {one.error}{stack}", one.when, follows=not math.isinf(one.when))
    if one.stack:
        within = order["start" if one.at == "start" else "each"]
        return RankEnd("crash", f"no answer within {within:g} s at {one.at}{stack}", one.last + within, follows=True)
    if "end" not in one.done:
        return RankEnd("crash", f"its process ended at {one.at or 'an operation'} without a word", one.last)
    if wrong:
        return RankEnd("fail", "; ".join(wrong), one.last)
    shown = ", ".join(f"{name} ({event['seen']})" for name, event in one.done.items() if event["seen"])
    return RankEnd("ok", f"over {one.backend}: {shown}")


def judge_job(ranks: list[RankReport], order: dict[str, Any], job: Job, log: str) -> list[BenchResult]:
    """Give a result for each rank, and one for all of them."""
    ended = [judge_rank(one, order) for one in ranks]
    troubled = [at for at, one in enumerate(ended) if one.level != "ok"]
    first = min(troubled, key=lambda at: ended[at].when, default=None)
    results = []
    for at, (told, one) in enumerate(zip(ranks, ended, strict=True)):
        lost = first not in (None, at) and one.follows and not (one.level == ended[first or 0].level == "crash")
        title = f"rank {at} on {told.node}" if told.node else f"rank {at}"
        cause = f"collectives.rank_{first}" if lost else None
        results.append(BenchResult(f"collectives.rank_{at}", title, one.level, one.seen, caused_by=cause))
    nodes = sorted({one.node for one in ranks} - {""})
    return [*results, judge_all(results, first, job, nodes, log)]


def judge_all(results: list[BenchResult], first: int | None, job: Job, nodes: list[str], log: str) -> BenchResult:
    """Say whether all ranks were right, on as many nodes as the job has; `log` is srun's."""
    title, limit = "nodes compute together", f"{count(job.ranks, 'rank')} on {count(job.nodes, 'node')}"
    if first is not None:
        said = ERROR.findall(log) or [line for line in log.splitlines() if line.startswith("srun: error")]
        why = "".join(f"; {line}" for line in said[-1:] if not nodes)
        seen = f"{results[first].title}: {results[first].seen}{why}"
        return BenchResult(ALL, title, "fail", seen, limit, caused_by=f"collectives.rank_{first}")
    if len(nodes) != job.nodes:
        return BenchResult(ALL, title, "fail", f"all ranks ran on {', '.join(nodes)}", limit)
    return BenchResult(ALL, title, "ok", f"{limit}: {', '.join(nodes)}", limit)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", required=True, help="xpu, simxpu, cpu, cuda, hpu, npu, ...")
    parser.add_argument("--collectives", default="", metavar="NAME", help="back end of torch.distributed")
    parser.add_argument("--extension", default="", metavar="MODULE", help="imported where torch does not load it")
    parser.add_argument("--start", type=float, default=300, metavar="SECONDS", help="until all ranks have met")
    parser.add_argument("--each", type=float, default=60, metavar="SECONDS", help="for each operation")
    parser.add_argument("--shared", type=Path, required=True, metavar="DIR", help="a folder that all nodes see")
    parser.add_argument("--out", type=Path, required=True, help="where the JSON document goes")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="the same as JUnit XML")
    return parser.parse_args()


def verify(options: argparse.Namespace, job: Job) -> list[BenchResult]:
    with tempfile.TemporaryDirectory(prefix="ranks-", dir=options.shared, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        module = MODULES.get(options.device) or options.extension
        order = {"device": options.device, "backend": "", "collectives": options.collectives, "module": module}
        order |= {"folder": str(folder.absolute()), "start": options.start, "each": options.each}
        in_time = start_ranks(order, folder / "log")
        log = (folder / "log").read_text(encoding="utf-8", errors="replace")
        print(log, end="", flush=True)
        results = judge_job(read_ranks(folder, job.ranks), order, job, log)
    if in_time or results[-1].level != "ok":
        return results
    return [*results[:-1], replace(results[-1], level="fail", seen="all ranks ended, and srun did not")]


def main() -> int:
    options = parse_options()
    told = [os.environ.get(name, "") for name in ("SLURM_NTASKS", "SLURM_JOB_NUM_NODES")]
    if not all(map(str.isdigit, told)):
        print("error: this runs within a job of Slurm over several nodes: sbatch nodes.sbatch", file=sys.stderr)
        return NOT_READY
    job = Job(*map(int, told))
    results = verify(options, job)
    versions = {"python": platform.python_version(), "torch": find_version("torch"), "numpy": find_version("numpy")}
    document = {
        "device": options.device,
        "devices": [],
        "versions": {**versions, "extensions": {}},
        "checks": [describe(one) for one in results],
        "verified": all(one.level == "ok" for one in results),
        "level": "nodes",
        "not_checked": ["anything beside collectives", "speed"],
    }
    for one in results:
        after = f" (follows from {one.caused_by})" if one.caused_by else ""
        print(f"{one.level:5} {one.title}: {one.seen}{after}")
    write_json(options.out, document)
    if options.junit:
        write_text(options.junit, render_junit(document))
    bad = sum(one.level != "ok" for one in results[:-1])
    ranks = count(job.ranks, "rank")
    say_summary(f"{bad} of {ranks} failed" if bad else f"{ranks} on {count(job.nodes, 'node')}")
    return 0 if document["verified"] else 1


if __name__ == "__main__":
    sys.exit(main())
