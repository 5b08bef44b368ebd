"""Slurm: what a login node fetches, and jobs that build and verify every cell of a matrix."""

from collections.abc import Sequence
from math import ceil

from xpusetup.base.model import ROOT
from xpusetup.config.settings import ONE_GPU, Scheduler
from xpusetup.config.toolkit import begin
from xpusetup.emit.matrix import Cell, say_toolkits
from xpusetup.emit.script import memory_per_job, render_driver, render_parts, render_script
from xpusetup.emit.template import render_template
from xpusetup.plan.verify import FIRST, lacks_collectives, make_nodes

OF_BUILDS = ("SBATCH_PARTITION", "SBATCH_TIMELIMIT", "SBATCH_MEM_PER_NODE", "SBATCH_MEM_PER_CPU")
"""Variables by which a person changes a build; the partition is shared where verifications have none of their own."""


def render_slurm(cells: Sequence[Cell], scheduler: Scheduler) -> dict[str, str]:
    """Give the jobs of a matrix, by file name; the folders of its cells lie beside them."""
    files = {f"{cell.name}/{name}": text for cell in cells for name, text in render_parts(cell).items()}
    verified = any(name.endswith("/verify.sh") for name in files)
    together = [number for number, cell in enumerate(cells) if _why_alone(cell, scheduler) is None]
    files |= {name: text for number in together for name, text in _render_nodes(cells[number]).items()}
    jobs = {"build": _build_options(cells, scheduler)}
    jobs |= {"verify": _verify_options(cells, scheduler)} if verified else {}
    jobs |= {"nodes": _nodes_options(cells, together, scheduler)} if together else {}
    several = {"nodes": scheduler.nodes, "together": bool(together)}
    unset = OF_BUILDS if scheduler.gpu_partition else OF_BUILDS[1:]
    elsewhere = any(not cell.plan.layout.src.startswith(ROOT) for cell in cells)
    return {
        **files,
        "common.sh": render_template(
            "slurm/common.sh",
            cells=[cell.name for cell in cells],
            memory=[memory_per_job(cell) for cell in cells],
            modules=scheduler.modules,
            scratch="" if elsewhere else scheduler.scratch,
        ),
        "fetch.sh": render_template("slurm/fetch.sh"),
        "submit.sh": render_template("slurm/submit.sh", verified=verified, unset=unset, **several),
        **{f"{job}.sbatch": render_template("slurm/job.sbatch", job=job, options=each) for job, each in jobs.items()},
        "README.md": render_template(
            "slurm/README.md",
            cells=[_row(cell, scheduler) for cell in cells],
            needs=[begin(told) for told in say_toolkits(cells)],
            unset=unset,
            **several,
        ),
    }


def _why_alone(cell: Cell, scheduler: Scheduler) -> str | None:
    """Say why collectives of a cell are not verified over several nodes; None where they are."""
    if scheduler.nodes == 1 or all(step.id != FIRST for step in cell.plan.steps):
        return "-"
    return lacks_collectives(cell.profile, cell.plan.target) or None


def _render_nodes(cell: Cell) -> dict[str, str]:
    """Give what the job over several nodes runs in a cell: its step, and the script that calls it."""
    step = make_nodes(cell.plan)
    text = render_driver(f"Verifies {cell.name} over the nodes of a job", [step], "verify", device_required=True)
    return {f"{cell.name}/steps/{step.id}.sh": render_script(step, cell.plan), f"{cell.name}/nodes.sh": text}


def _row(cell: Cell, scheduler: Scheduler) -> tuple[str, ...]:
    target, alone = cell.plan.target, _why_alone(cell, scheduler)
    over = f"over {scheduler.nodes} nodes" if alone is None else alone
    return cell.name, cell.profile.name, target.python_version, ", ".join(target.arch) or "-", over


def _options(
    name: str, cells: Sequence[Cell], array: str, scheduler: Scheduler, options: dict[str, str]
) -> dict[str, str]:
    """Give the options of a job; squeue shows what it is of, where all cells are of one profile."""
    profiles = {cell.profile.name for cell in cells}
    return {
        "job-name": f"{name}-{profiles.pop()}" if len(profiles) == 1 else name,
        "array": array,
        "nodes": "1",
        "ntasks": "1",
        "output": f"logs/{name}-%A_%a.log",
        "open-mode": "append",
        "account": scheduler.account,
        "qos": scheduler.qos,
        **options,
    }


def _build_options(cells: Sequence[Cell], scheduler: Scheduler) -> dict[str, str]:
    """Ask for memory as the hungriest cell needs it, unless the site says how much a job may have."""
    gib = scheduler.memory_gib or ceil(scheduler.cpus * max(cell.profile.memory_per_job_gib for cell in cells))
    options = {
        "cpus-per-task": str(scheduler.cpus),
        "mem": f"{gib}G",
        "time": scheduler.time,
        "partition": scheduler.partition,
    }
    return _options("build", cells, f"0-{len(cells) - 1}", scheduler, options)


def _verify_options(cells: Sequence[Cell], scheduler: Scheduler) -> dict[str, str]:
    options = _of_verification(scheduler, 1, _gres(cells, scheduler))
    return _options("verify", cells, f"0-{len(cells) - 1}", scheduler, options)


def _gres(cells: Sequence[Cell], scheduler: Scheduler) -> str:
    """Give what the site says, else one GPU where a cell computes on a device that not every node has."""
    if scheduler.gres is not None:
        return scheduler.gres
    return "" if all(cell.plan.target.device_expected for cell in cells) else ONE_GPU


def _of_verification(scheduler: Scheduler, ranks: int, gres: str) -> dict[str, str]:
    """Give what a verification asks for on a node, for so many processes that compute there."""
    return {
        "cpus-per-task": str(scheduler.verify_cpus),
        "mem": f"{scheduler.verify_memory_gib * ranks}G",
        "time": scheduler.verify_time,
        "partition": scheduler.gpu_partition or scheduler.partition,
        "gres": gres,
    }


def _nodes_options(cells: Sequence[Cell], together: Sequence[int], scheduler: Scheduler) -> dict[str, str]:
    """Ask on each node for what a verification asks for, and for a rank for each device of it."""
    gres = _gres([cells[number] for number in together], scheduler)
    ranks = count_devices(gres)
    options = {
        "nodes": str(scheduler.nodes),
        "ntasks": str(scheduler.nodes * ranks),
        "ntasks-per-node": str(ranks),
        **_of_verification(scheduler, ranks, gres),
    }
    return _options("nodes", cells, ",".join(map(str, together)), scheduler, options)


def count_devices(gres: str) -> int:
    """Give how many devices a node is asked for: of a list the GPUs, whatever else stands in it; at least one."""
    asked = [each.split(":") for each in gres.removeprefix("gres/").split(",")]
    devices = [words for words in asked if words[0] == "gpu"] or asked[:1]
    return max(1, sum(int(words[-1]) if words[-1].isdigit() else 1 for words in devices))
