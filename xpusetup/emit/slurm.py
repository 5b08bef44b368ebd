"""Slurm: what a login node fetches, and jobs that build and verify every cell of a matrix."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from xpusetup.base.model import ROOT
from xpusetup.base.text import markdown_text, render_command
from xpusetup.config.toolkit import begin
from xpusetup.emit.matrix import say_toolkits
from xpusetup.emit.script import memory_per_job, render_driver, render_parts, render_script
from xpusetup.plan.verify import FIRST, lacks_collectives, make_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xpusetup.config.settings import Scheduler
    from xpusetup.emit.matrix import Cell


COMMON = """# shellcheck shell=bash
# What the jobs share. Each task is one cell: a folder beside this file that holds a whole build.
# shellcheck disable=SC2034  # read by who sources this
CELLS=({cells})
MEMORY_PER_JOB=({memory}) # MiB that one compile job takes, cell by cell
MODULES=({modules})
SCRATCH="{scratch}" # on the node's own disk; empty: sources are compiled where they were fetched

load_modules() {{
  [ "${{#MODULES[@]}}" -gt 0 ] || return 0
  set +eu
  local file
  for file in /etc/profile.d/lmod.sh /etc/profile.d/modules.sh; do
    type module >/dev/null 2>&1 && break
    # shellcheck disable=SC1090
    [ -r "$file" ] && . "$file"
  done
  module load "${{MODULES[@]}}" || {{ echo "module load ${{MODULES[*]}} failed" >&2; exit 3; }}
  set -eu
}}

# As many compile jobs as the task has cores, but no more than its memory holds.
choose_jobs() {{ # MIB
  local jobs=${{SLURM_CPUS_PER_TASK:-1}} memory=${{SLURM_MEM_PER_NODE:-0}}
  if [ "$memory" -gt 0 ] && [ $((memory / $1)) -lt "$jobs" ]; then jobs=$((memory / $1)); fi
  if [ "$jobs" -lt 1 ]; then jobs=1; fi
  export MAX_JOBS=${{MAX_JOBS:-$jobs}}
  export CMAKE_BUILD_PARALLEL_LEVEL=$MAX_JOBS
}}

# On the node's disk the sources have the same path as before, by a mount that this task alone sees: keys, compiler
# flags and wheels stay what they are. Where the node allows no such mount, only temporary files are kept there.
compile_cell() {{ # CELL
  if [ -z "$SCRATCH" ]; then
    bash "$1/compile.sh"
    return
  fi
  local code=0
  NODE_FOLDER=$SCRATCH/xpusetup-$SLURM_JOB_ID
  mkdir -p "$NODE_FOLDER/tmp" "$NODE_FOLDER/src"
  trap 'rm -rf "$NODE_FOLDER"' EXIT
  export TMPDIR=$NODE_FOLDER/tmp
  if [ -d "$1/src" ] && unshare --map-root-user --mount true 2>/dev/null; then
    cp -a "$1/src/." "$NODE_FOLDER/src/"
    # shellcheck disable=SC2016  # for the inner shell
    unshare --map-root-user --mount bash -c 'mount --bind "$1" "$2" && exec bash "$3"' \\
      bash "$NODE_FOLDER/src" "$PWD/$1/src" "$1/compile.sh" || code=$?
  else
    bash "$1/compile.sh" || code=$?
  fi
  return "$code"
}}

# Wheels and what was found out about them, of all cells in one place; wheels as links where the file system has them.
collect() {{ # CELL
  mkdir -p "results/$1"
  cp -fl "$1"/wheels/*.whl* "results/$1/" 2>/dev/null || cp -f "$1"/wheels/*.whl* "results/$1/" 2>/dev/null || true
  cp -f "$1"/results/*.json "$1/profile.lock.json" "results/$1/" 2>/dev/null || true
}}
"""

BUILD = """set -eu
cd "${SLURM_SUBMIT_DIR:-.}"
# shellcheck disable=SC1091  # it lies in this folder
. ./common.sh
# shellcheck disable=SC2153
CELL=${CELLS[$SLURM_ARRAY_TASK_ID]}
echo "$CELL on $(uname -n)"
load_modules
choose_jobs "${MEMORY_PER_JOB[$SLURM_ARRAY_TASK_ID]}"
compile_cell "$CELL"
collect "$CELL"
"""

VERIFY = """set -eu
cd "${SLURM_SUBMIT_DIR:-.}"
# shellcheck disable=SC1091  # it lies in this folder
. ./common.sh
# shellcheck disable=SC2153
CELL=${CELLS[$SLURM_ARRAY_TASK_ID]}
echo "$CELL on $(uname -n), devices ${ZE_AFFINITY_MASK:-not said}"
load_modules
code=0
bash "$CELL/verify.sh" || code=$?
collect "$CELL"
exit "$code"
"""

NODES = """set -eu
cd "${SLURM_SUBMIT_DIR:-.}"
# shellcheck disable=SC1091  # it lies in this folder
. ./common.sh
# shellcheck disable=SC2153
CELL=${CELLS[$SLURM_ARRAY_TASK_ID]}
echo "$CELL on ${SLURM_JOB_NODELIST:-$(uname -n)}"
load_modules
code=0
bash "$CELL/nodes.sh" || code=$?
collect "$CELL"
exit "$code"
"""

FETCH = """#!/usr/bin/env bash
# For the login node: fetches what every cell is built from. Compute nodes need no network then. It can be run again.
# Names of cells as arguments: those alone.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck disable=SC1091  # it lies in this folder
. ./common.sh
load_modules
[ $# -gt 0 ] || set -- "${CELLS[@]}"
for cell in "$@"; do
  echo "== $cell"
  bash "$cell/fetch.sh"
done
"""

SUBMIT = """#!/usr/bin/env bash
# Submits the builds, and for each its verification when it went well. Submitted again, each goes on where it stopped.
# Names of cells as arguments: those alone.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck disable=SC1091  # it lies in this folder
. ./common.sh
refuse() { # WHAT FIX CODE
  printf '%s\\n  %s\\n' "$1" "$2" >&2
  exit "$3"
}

[ $# -gt 0 ] || set -- "${CELLS[@]}"
tasks=''
for cell in "$@"; do
  index=''
  for i in "${!CELLS[@]}"; do [ "${CELLS[$i]}" != "$cell" ] || index=$i; done
  [ -n "$index" ] || refuse "there is no cell $cell" "there is: ${CELLS[*]}" 2
  [ "$(cat "$cell/fetched" 2>/dev/null)" = "$(sha256sum <"$cell/fetch.sh")" ] ||
    refuse "$cell was not fetched, or is another since" "where there is a network: bash fetch.sh $cell" 3
  tasks=$tasks${tasks:+,}$index
done
command -v sbatch >/dev/null || refuse "there is no sbatch here" "go to a login node of the cluster" 3
mkdir -p logs
build=$(sbatch --parsable --array="$tasks" build.sbatch)
build=${build%%;*} # a federation adds the name of the cluster
"""
SUBMIT_VERIFY = """verify=$(sbatch --parsable --array="$tasks" --dependency="aftercorr:$build" \\
  --kill-on-invalid-dep=yes verify.sbatch)
echo "verifications ${verify%%;*}, each after its build"
"""
SUBMIT_END = """echo "builds $build; what came of them: xpusetup status --root $PWD"
"""
SUBMIT_NODES = """together=''
for index in ${tasks//,/ }; do
  [ ! -f "${CELLS[$index]}/nodes.sh" ] || together=$together${together:+,}$index
done
[ -n "$together" ] || exit 0
# A job that waits for another is taken also where it could never begin.
said=$(sbatch --test-only --array="$together" nodes.sbatch 2>&1) ||
  refuse "no job over COUNT nodes was submitted beside the others: $said" \\
    "[scheduler] nodes, gres and gpu_partition of the site file say what it asks for; nodes = 1 leaves it out" 3
nodes=$(sbatch --parsable --array="$together" --dependency="aftercorr:${verify%%;*}" \\
  --kill-on-invalid-dep=yes nodes.sbatch)
echo "collectives over COUNT nodes ${nodes%%;*}, each after its verification"
"""

README = """# {count} for Slurm

{rows}
{needs}
    bash fetch.sh       on the login node: sources, wheels and build requirements of every cell
    bash submit.sh      one array of builds, one of verifications that wait for their builds{together}
    xpusetup status --root .

Each folder holds a whole build, whose steps can be run by hand: `bash CELL/steps/STEP.sh`. `logs/` has what the jobs
printed, `CELL/logs/` what each step did, `results/` the wheels and the verdicts of all. A job that was killed or ran
out of time is submitted again by `bash submit.sh CELL`, and goes on after the last step that was finished. Other limits
for one submission: as variables, `SBATCH_ACCOUNT=other SBATCH_TIMELIMIT=20:00:00 bash submit.sh`.
"""


def render_slurm(cells: Sequence[Cell], scheduler: Scheduler) -> dict[str, str]:
    """Give the jobs of a matrix, by file name; the folders of its cells lie beside them."""
    files = {f"{cell.name}/{name}": text for cell in cells for name, text in render_parts(cell).items()}
    count = f"{len(cells)} {'build' if len(cells) == 1 else 'builds'}"
    verified = any(name.endswith("/verify.sh") for name in files)
    together = [number for number, cell in enumerate(cells) if _why_alone(cell, scheduler) is None]
    files |= {name: text for number in together for name, text in _render_nodes(cells[number]).items()}
    jobs = [SUBMIT, *([SUBMIT_VERIFY] if verified else []), SUBMIT_END]
    jobs += [SUBMIT_NODES.replace("COUNT", str(scheduler.nodes))] if together else []
    needs = "".join(f"\n{begin(markdown_text(told))}.\n" for told in say_toolkits(cells))
    also = f", one of collectives over {scheduler.nodes} nodes" if together else ""
    return {
        **files,
        "common.sh": _common(cells, scheduler),
        "fetch.sh": FETCH,
        "submit.sh": "".join(jobs),
        "build.sbatch": "\n".join([*_build_header(cells, scheduler), BUILD]),
        **({"verify.sbatch": "\n".join([*_verify_header(cells, scheduler), VERIFY])} if verified else {}),
        **({"nodes.sbatch": "\n".join([*_nodes_header(together, scheduler), NODES])} if together else {}),
        "README.md": README.format(count=count, rows="\n".join(_rows(cells, scheduler)), needs=needs, together=also),
    }


def _why_alone(cell: Cell, scheduler: Scheduler) -> str | None:
    """Say why collectives of a cell are not verified over several nodes; None where they are."""
    if scheduler.nodes == 1 or all(step.id != FIRST for step in cell.plan.steps):
        return "-"
    return lacks_collectives(cell.profile, cell.plan.target) or None


def _render_nodes(cell: Cell) -> dict[str, str]:
    """Give what the job over several nodes runs in a cell: its step, and the script that calls it."""
    step = make_nodes(cell.plan)
    text = render_driver(f"Verifies {cell.name} over the nodes of a job", [step], device_required=True)
    return {f"{cell.name}/steps/{step.id}.sh": render_script(step, cell.plan), f"{cell.name}/nodes.sh": text}


def _rows(cells: Sequence[Cell], scheduler: Scheduler) -> Iterator[str]:
    yield "| cell | profile | Python | device targets | collectives |\n|---|---|---|---|---|"
    for cell in cells:
        target, alone = cell.plan.target, _why_alone(cell, scheduler)
        words = (cell.name, cell.profile.name, target.python_version, ", ".join(target.arch) or "-")
        over = f"over {scheduler.nodes} nodes" if alone is None else alone
        yield f"| {' | '.join(map(markdown_text, (*words, over)))} |"


def _common(cells: Sequence[Cell], scheduler: Scheduler) -> str:
    elsewhere = any(not cell.plan.layout.src.startswith(ROOT) for cell in cells)
    return COMMON.format(
        cells=render_command(cell.name for cell in cells),
        memory=" ".join(str(memory_per_job(cell)) for cell in cells),
        modules=render_command(scheduler.modules),
        scratch="" if elsewhere else scheduler.scratch,
    )


def _header(name: str, array: str, scheduler: Scheduler, options: dict[str, str]) -> list[str]:
    common = {
        "job-name": name,
        "array": array,
        "nodes": "1",
        "ntasks": "1",
        "output": f"logs/{name}-%A_%a.log",
        "open-mode": "append",
        "account": scheduler.account,
        "qos": scheduler.qos,
        **options,
    }
    return ["#!/usr/bin/env bash", *(f"#SBATCH --{key}={value}" for key, value in common.items() if value)]


def _build_header(cells: Sequence[Cell], scheduler: Scheduler) -> list[str]:
    """Ask for memory as the hungriest cell needs it, unless the site says how much a job may have."""
    gib = scheduler.memory_gib or ceil(scheduler.cpus * max(cell.profile.memory_per_job_gib for cell in cells))
    options = {
        "cpus-per-task": str(scheduler.cpus),
        "mem": f"{gib}G",
        "time": scheduler.time,
        "partition": scheduler.partition,
    }
    lines = _header("build", f"0-{len(cells) - 1}", scheduler, options)
    return [*lines, "#SBATCH --requeue", "# Builds one cell in each task, from what fetch.sh got."]


def _verify_header(cells: Sequence[Cell], scheduler: Scheduler) -> list[str]:
    partition = scheduler.gpu_partition or scheduler.partition
    options = {"time": scheduler.verify_time, "partition": partition, "gres": scheduler.gres}
    return [*_header("verify", f"0-{len(cells) - 1}", scheduler, options), "# Computes on a device of the node."]


def _nodes_header(together: Sequence[int], scheduler: Scheduler) -> list[str]:
    """Ask on each node for what a verification asks for, and for a rank for each device of it."""
    last = scheduler.gres.rpartition(":")[2]
    ranks = int(last) if last.isdigit() else 1
    options = {
        "nodes": str(scheduler.nodes),
        "ntasks": str(scheduler.nodes * ranks),
        "ntasks-per-node": str(ranks),
        "time": scheduler.verify_time,
        "partition": scheduler.gpu_partition or scheduler.partition,
        "gres": scheduler.gres,
    }
    array = ",".join(map(str, together))
    return [*_header("nodes", array, scheduler, options), "# Computes together on the devices of several nodes."]
