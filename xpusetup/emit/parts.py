"""A plan in three parts for places where not every machine may do everything: fetch, compile, verify.

What fetches runs where there is a network, what compiles where there are cores, what verifies where there is a device;
all three in the same folder, with the same step scripts, keys and stamps.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from xpusetup.emit.shell import render_driver
from xpusetup.emit.words import render_long_command
from xpusetup.model import ROOT
from xpusetup.plan.requirements import requirement_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xpusetup.matrix import Cell
    from xpusetup.model import Step

MIB_PER_GIB = 1024
WHEELHOUSE = "wheelhouse"
OFFLINE = f"""if [ -d {WHEELHOUSE} ]; then # fetched already: what is installed between two compiles asks no network
  export PIP_NO_INDEX=1 PIP_FIND_LINKS=$PWD/{WHEELHOUSE}
fi"""


def render_parts(cell: Cell) -> dict[str, str]:
    """Give fetch.sh, compile.sh and verify.sh of one build, by file name; the last only where something verifies.

    `fetched` says afterwards what was fetched: the hash of the script that did.
    """
    name, steps = cell.name, cell.plan.steps
    early = fetching(steps)
    parts = {
        "fetch.sh": render_driver(
            f"Fetches what {name} is built from",
            [step for step in steps if step.id in early],
            end="\n".join([*_wheelhouse(cell), "sha256sum <fetch.sh >fetched"]),
        ),
        "compile.sh": render_driver(
            f"Builds {name} from what was fetched",
            [step for step in steps if "device" not in step.needs],
            begin=OFFLINE,
        ),
    }
    if on_device := [step for step in steps if "device" in step.needs]:
        what = f"Verifies {name} on the device of this machine"
        parts["verify.sh"] = render_driver(what, on_device, device_required=True)
    return parts


def memory_per_job(cell: Cell) -> int:
    """Give the MiB that one compile job takes."""
    return ceil(cell.profile.memory_per_job_gib * MIB_PER_GIB)


def fetching(steps: Sequence[Step]) -> set[str]:
    """Give the steps that fetch and those before them, but none that has to wait for a compiler or a device."""
    late: set[str] = set()
    for step in steps:
        if _is_heavy(step) or not late.isdisjoint(step.after):
            late.add(step.id)
    found = {step.id for step in steps if "network" in step.needs} - late
    for step in reversed(steps):
        if step.id in found:
            found |= {*step.after}
    return found


def fetched_late(steps: Sequence[Step]) -> set[str]:
    """Give the steps that ask for the network after something was compiled."""
    return {step.id for step in steps if "network" in step.needs} - fetching(steps)


def _is_heavy(step: Step) -> bool:
    return bool({"compiler", "toolkit", "device"} & {*step.needs})


def _wheelhouse(cell: Cell) -> Iterator[str]:
    """Give the lines that fetch what `runtime` will install: that step has to wait for torch itself."""
    runtime = cell.profile.runtime_requirements
    if runtime is None or "runtime" not in fetched_late(cell.plan.steps):
        return
    layout = cell.plan.layout
    helper = (layout.python, f"{layout.helpers}/pinned_wheels.py", "download")
    named = requirement_options(cell.profile, "runtime")
    argv = (*helper, *named, "--into", f"{ROOT}/{WHEELHOUSE}")
    yield f"""ROOT=$PWD
echo "{WHEELHOUSE}: {len(runtime.pins)} pinned run-time requirements"
{render_long_command(argv)} >logs/{WHEELHOUSE}.log 2>&1 || {{
  tail -n 12 logs/{WHEELHOUSE}.log >&2
  echo "failed: {WHEELHOUSE}, all of it: logs/{WHEELHOUSE}.log" >&2
  exit 1
}}"""
