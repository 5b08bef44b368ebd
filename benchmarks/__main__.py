"""`python -m benchmarks [NAME]`: measure, print the table, write results.json."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.conflicts import measure_conflicts, measure_onemkl
from benchmarks.doctor import measure_doctor
from benchmarks.editable import measure_editable
from benchmarks.emit import measure_emit
from benchmarks.explain import measure_explain
from benchmarks.fetch import measure_fetch
from benchmarks.fits import measure_fits
from benchmarks.forecast import measure_forecast
from benchmarks.help import measure_help
from benchmarks.jobs import measure_jobs
from benchmarks.lanes import measure_lanes
from benchmarks.noop import RECIPES, measure_noop
from benchmarks.place import caller, make_place
from benchmarks.report import measure_report
from benchmarks.rows import make_document, render_table
from benchmarks.runner import make_runner_rows, measure_rebuilds
from benchmarks.startup import measure_startup
from benchmarks.steps import measure_steps
from benchmarks.suites import measure_suites
from benchmarks.timing import FailedError
from benchmarks.verify import measure_verify
from benchmarks.vision import empty_cache, measure_warm, write_profile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from benchmarks.rows import Row

NAMES = (
    "help",
    "startup",
    "emit",
    "explain",
    "report",
    "noop",
    "editable",
    "runner",
    "doctor",
    "verify",
    "lanes",
    "steps",
    "jobs",
    "fetch",
    "conflicts",
    "onemkl",
    "fits",
    "forecast",
    "suites",
    "vision",
)
SHORT = ("help", "startup", "emit", "explain", "report", "noop", "editable", "runner", "doctor", "verify", "lanes")
SHARING = {"startup", "noop", "editable", "runner", "doctor", "verify"}
RESULTS = Path(__file__).parent / "results.json"


def main(only: str = "") -> int:
    """Measure what was asked for; 1 when a goal is missed, 2 when there is no such row."""
    names = [name for name in NAMES if only == name or only.startswith(f"{name}_")] if only else list(SHORT)
    if not names:
        sys.stderr.write(f"there is no row {only!r}; known: {', '.join(NAMES)}\n")
        return 2
    with tempfile.TemporaryDirectory(prefix="xpusetup-bench-") as folder:
        rows = [row for row in measure(Path(folder), names) if not only or row.name.startswith(only)]
    RESULTS.write_text(make_document(rows))
    print(render_table(rows))
    return 0 if all(row.ok for row in rows) else 1


ALONE: dict[str, Callable[[Path, Mapping[str, str]], Iterable[Row]]] = {
    "help": measure_help,
    "emit": measure_emit,
    "explain": measure_explain,
    "lanes": measure_lanes,
    "steps": lambda folder, env: measure_steps(folder / "steps", env),
    "jobs": lambda folder, env: measure_jobs(folder / "jobs", env),
    "fetch": lambda folder, _env: measure_fetch(folder),
    "conflicts": measure_conflicts,
    "onemkl": measure_onemkl,
    "fits": lambda folder, env: measure_fits(folder / "fits", env),
    "forecast": lambda folder, env: measure_forecast(folder / "forecast", env),
    "report": measure_report,
    "suites": lambda folder, env: measure_suites(folder / "suites", env),
}
"""The rows that need nothing of the others."""


def measure(folder: Path, names: list[str]) -> Iterator[Row]:
    """Give the rows of the names; what needs a finished build shares one."""
    env = caller(folder)
    for name in names:
        if name in ALONE:
            yield from ALONE[name](folder, env)
    if SHARING & set(names):
        yield from measure_built(folder, names, env)
    if "vision" in names:
        profile, redirected = write_profile(folder, env)
        place, usage = make_place(folder, profile, "vision", {**redirected, **empty_cache(folder)})
        yield from make_runner_rows([usage], "vision_")
        yield from measure_noop(place, "vision_", goal=1 / 500, cleans=1)
        yield measure_warm(place)


def measure_built(folder: Path, names: list[str], env: Mapping[str, str]) -> Iterator[Row]:
    """Give the rows that share one finished build."""
    place, _ = make_place(folder, "sim", "simxpu", env)
    if "startup" in names:
        yield from measure_startup(folder, place, env)
    if "noop" in names:
        yield from measure_noop(place, "", goal=1 / 50, cleans=RECIPES)
    if "editable" in names:
        yield measure_editable(place)
    if "runner" in names:
        yield from make_runner_rows(measure_rebuilds(place), "")
    if "doctor" in names:
        yield from measure_doctor(folder, place, env)
    if "verify" in names:
        yield from measure_verify(place, ("quick", "smoke") if len(names) == 1 else ("quick",))


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except FailedError as error:
        sys.exit(f"error: {error}")
