"""Runs a suite of tests on a device, shard by shard, with the python of the environment under test.

    python run_suite.py ORDER.json

What is to be run is in one JSON file (Order); what came of it goes to `results.json` in the folder that it names.
"""

import hashlib
import importlib.util
import json
import os
import platform
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from helperlib.env.distributions import AUTOLOAD, find_version, look_at_torch
from helperlib.output import NOT_READY, write_json
from helperlib.suites.counts import KINDS
from helperlib.suites.shards import GRACE, RESERVE, Shard, ShardOutcome, Terms, find_tests, make_shards, run_shard

REPLACED = 5
NEEDED = ("pytest",)
TELLING = (
    *("SIMXPU_", "ZE_", "ONEAPI_", "SYCL_", "XPU_", "PYTORCH_", "TORCH_"),
    *("HABANA_", "PT_", "ASCEND_", "HF_", "RUN_"),
)
"""How variables of the caller begin that change what tests come to, beside those of the suite."""


@dataclass(frozen=True, kw_only=True)
class SuiteOrder:
    """What to run: the tests below `places` of the source, but for those that are `excluded`.

    `whole`: the places that are a row of the table each; `entries`: of the source, where not all of it is to be seen;
    `spec`: a device file's name and text; `seconds`: what a test may take; `workers` of pytest-xdist, 0 for none;
    `parts` of each directory.
    """

    suite: str
    device: str
    source: str
    folder: str
    places: list[str]
    whole: list[str] = field(default_factory=list)
    excluded: list[dict[str, Any]] = field(default_factory=list)
    keyword: str = ""
    options: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    spec: list[str] = field(default_factory=list)
    distribution: str = ""
    entries: list[str] = field(default_factory=list)
    workers: int = 0
    parts: int = 1
    seconds: float = 600
    grace: float = GRACE
    reserve: int = RESERVE
    again: bool = False

    @property
    def ignored(self) -> list[str]:
        return [place for one in self.excluded for place in one["places"]]


def main() -> int:
    """Run what the order says. 3: cannot begin; 5: torch is another one now."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    order = SuiteOrder(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    if lacking := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        print(f"not in this environment: {', '.join(lacking)}", file=sys.stderr)
        return NOT_READY
    source, folder = Path(order.source), Path(order.folder)
    ignored = tuple(f"{place}/" for place in order.ignored)
    tests = [name for name in find_tests(source, order.places) if not f"{name}/".startswith(ignored)]
    before = look_at_torch()
    began = time.monotonic()
    outcomes = list(run_all(order, make_shards(tests, order.places, order.parts, order.whole), make_key(order, before)))
    after = look_at_torch()
    document = {
        **describe(order, outcomes),
        "seconds": round(time.monotonic() - began, 1),
        "replaced": [
            {"name": name, "before": before.get(name), "after": after.get(name)}
            for name in sorted({*before, *after})
            if before.get(name) != after.get(name)
        ],
    }
    write_json(folder / "results.json", document, indent=None)
    return REPLACED if document["replaced"] else 0


def make_key(order: SuiteOrder, torch: dict[str, str]) -> str:
    """Give what results depend on beside the tests themselves: with another torch or device they are others."""
    suite = find_version(order.distribution) if order.distribution else None
    told = {name: value for name, value in os.environ.items() if name.startswith((*TELLING, f"{order.suite.upper()}_"))}
    asked = (order.device, order.spec, order.environment, order.keyword, order.options, order.ignored, order.seconds)
    text = json.dumps([told, *asked, torch, suite, platform.python_version(), find_version("pytest")], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def key_of(shard: Shard, source: Path, key: str) -> str:
    """Give the key of a shard: the run's, and names, sizes and times of its files and of the files beside the tests."""
    names = {*find_tests(source, shard.paths), *(path.name for path in source.glob("conftest.py"))}
    seen = [(name, found.st_size, found.st_mtime_ns) for name in sorted(names) for found in [(source / name).stat()]]
    return hashlib.sha256(json.dumps([key, shard.paths, seen]).encode()).hexdigest()[:16]


def run_all(order: SuiteOrder, shards: list[Shard], key: str) -> Iterator[ShardOutcome]:
    """Run the shards one after the other, and say how each ended."""
    source, folder = Path(order.source), Path(order.folder)
    work = folder / "work"
    link_tree(source, work, order.entries)
    if order.spec:  # a bare name in the working directory: a path of any kind is not found
        name, text = order.spec
        (work / name).write_text(text, encoding="utf-8")
    own = str(Path(__file__).parent)  # where the plugin is found
    path = os.pathsep.join(filter(None, (own, os.environ.get("PYTHONPATH", ""))))
    ours = {"PYTHONPATH": path, AUTOLOAD: "1"}  # only the exact string "1" turns it on
    variables = {**order.environment, **os.environ, **ours}
    options = (
        *(("-n", str(order.workers), "--max-worker-restart=100000") if order.workers and has_xdist() else ()),
        *(f"--ignore={name}" for name in order.ignored),
        *(("-k", order.keyword) if order.keyword else ()),
        *order.options,
    )
    terms = Terms(work, variables, order.seconds, options, order.grace, order.reserve)
    for number, shard in enumerate(shards, 1):
        print(f"[{number}/{len(shards)}] {shard.name}", flush=True)
        place = folder / "shards" / shard.name
        if order.again:
            shutil.rmtree(place, ignore_errors=True)
        outcome = run_shard(shard, place, key_of(shard, source, key), terms)
        told = ", ".join(f"{outcome.counts[kind]} {kind}" for kind in KINDS if outcome.counts[kind]) or "no tests"
        when = " (in an earlier run)" if outcome.kept else ""
        print(f"[{number}/{len(shards)}] {shard.name}: {outcome.why or told}{when}", flush=True)
        yield outcome


def has_xdist() -> bool:
    return importlib.util.find_spec("xdist") is not None


def describe(order: SuiteOrder, outcomes: list[ShardOutcome]) -> dict[str, Any]:
    rows: dict[str, list[ShardOutcome]] = {}
    for one in outcomes:
        rows.setdefault(one.row, []).append(one)
    names = {"suite": order.distribution, "pytest": "pytest", "xdist": "pytest-xdist", "torch": "torch"}
    return {
        "schema": 1,
        "suite": order.suite,
        "device": order.device,
        "versions": {name: find_version(one) if one else None for name, one in names.items()},
        "excluded": order.excluded,
        "workers": order.workers if has_xdist() else 0,
        "suites": [describe_row(name, parts) for name, parts in rows.items()],
        "crashed": {test: why for one in outcomes for test, why in one.crashed.items()},
        "tests": {test: word for one in outcomes for test, word in one.outcomes.items()},
        "heard": [message for one in outcomes for message in one.heard],
    }


def describe_row(name: str, parts: list[ShardOutcome]) -> dict[str, Any]:
    counts = {kind: sum(one.counts[kind] for one in parts) for kind in KINDS}
    notes = [note if len(parts) == 1 else f"{one.name}: {note}" for one in parts for note in one.notes]
    kept = [one for one in parts if one.kept]
    whys = [one.why if len(parts) == 1 else f"{one.name}: {one.why}" for one in parts if one.why]
    notes += [f"{len(kept)} of {len(parts)} parts from an earlier run (--again runs them anew)"] if kept else []
    return {"name": name, **counts, "seconds": round(sum(one.seconds for one in parts), 1), "why": whys, "notes": notes}


# Where a suite runs: a tree of links to its files, in which the device file lies too.


def link_tree(source: Path, work: Path, entries: list[str]) -> None:
    """Make folders as those of the source, whose files are links: what Python and the tests add goes there.

    pytest puts it on Python's path: `entries` keep what must not be imported from there out of it.
    """
    work.mkdir(parents=True, exist_ok=True)
    for path in [one for one in work.rglob("*") if one.is_symlink()]:
        path.unlink()
    for folder, below, files in os.walk(source):
        here = Path(folder)
        names = [*files, *(name for name in below if (here / name).is_symlink())]
        below[:] = [name for name in below if not name.startswith(".") and here / name != work.parent]
        inside = here.relative_to(source)
        if entries:
            below[:] = [name for name in below if is_seen(inside / name, entries)]
            names = [name for name in names if is_seen(inside / name, entries, whole=True)]
        place = work / inside
        place.mkdir(exist_ok=True)
        for name in names:
            if not (place / name).exists():
                (place / name).symlink_to(here / name)


def is_seen(path: Path, entries: list[str], *, whole: bool = False) -> bool:
    """Say whether a path is one of the entries or in it, or, unless `whole`, leads to one."""
    above = {path, *path.parents}
    return any(Path(entry) in above or (not whole and path in Path(entry).parents) for entry in entries)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
