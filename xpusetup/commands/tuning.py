"""The number of compile jobs, lowered after memory ran out. No key of a step holds it."""

from collections.abc import Callable

from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.run.compiler_caches import Launcher, choose_launcher, find_closed, render_launcher
from xpusetup.run.prepare import PreparedPlan
from xpusetup.run.root import Root
from xpusetup.run.runner import JOBS
from xpusetup.run.step_process import Running
from xpusetup.run.workspace import Workspace
from xpusetup.system import files
from xpusetup.system.environment import variable, variables, which


def choose_tuning(workspace: Workspace, prepared: PreparedPlan, asked: int) -> dict[str, str]:
    """Give the variables that say how many jobs a compiling step runs: as asked for, else by memory."""
    from xpusetup.machine.jobs import choose_jobs  # noqa: PLC0415 - a build that is done needs none

    jobs = asked or workspace.settings.jobs or _max_jobs(variable("MAX_JOBS"))
    if not jobs and prepared.facts is not None and prepared.facts.resources is not None:
        jobs = choose_jobs(prepared.facts.resources, memory_per_job(workspace, prepared))
    return render_jobs(jobs) if jobs else {}


ELSEWHERE = "CCACHE_DIR=DIR names another folder"


def ready_launcher(prepared: PreparedPlan, asked: str) -> tuple[Launcher | None, str]:
    """Give the compiler cache as this build uses it, and what is worth saying where it is left out.

    Raises NotReadyError where a cache that is asked for cannot be written. A build in which nothing is to be compiled
    does not look.
    """
    launcher = choose_launcher(asked, which)
    if launcher is None:
        return None, ""
    todo = {status.id for status in prepared.statuses() if status.state != "done"}
    if not any("compiler" in step.needs for step in prepared.plan.steps if step.id in todo):
        return launcher, ""
    closed = find_closed(launcher, variables())
    if closed and asked == launcher.name:
        raise NotReadyError(f"{asked} cannot write {closed}", fix=f"{ELSEWHERE}; without it: --launcher none")
    if closed:
        return None, f"{launcher.name} is left out, because it cannot write {closed}; {ELSEWHERE}"
    return launcher, ""


def cache_variables(prepared: PreparedPlan, launcher: Launcher | None) -> dict[str, str]:
    """Give the variables that put it before the compilers."""
    return render_launcher(launcher, str(prepared.root.path), variables())


def render_jobs(jobs: int) -> dict[str, str]:
    return dict.fromkeys(JOBS, str(jobs))


def memory_per_job(workspace: Workspace, prepared: PreparedPlan) -> float:
    """Give the bytes that a compile job needs: as earlier builds of the profile measured it, else its own guess.

    The guess stands until every step that compiles was measured: a configure alone says nothing of the build after it.
    """
    from xpusetup.machine.jobs import GIB, measured_per_job  # noqa: PLC0415 - same
    from xpusetup.run.manifest import read_history  # noqa: PLC0415 - a build that is done needs none

    profile = workspace.profile
    guess = profile.memory_per_job_gib * GIB
    loads = read_history(prepared.root.path, profile.name, prepared.plan.steps).loads
    compiling = [step.id for step in prepared.plan.steps if "compiler" in step.needs]
    return measured_per_job((loads[name] for name in compiling), guess) if loads.keys() >= set(compiling) else guess


def _max_jobs(text: str) -> int:
    if text and not text.isdigit():
        raise UsageError(f"MAX_JOBS is {text!r}, which is no number of jobs", fix="unset MAX_JOBS, or use --jobs N")
    return int(text or 0)


NOT_FOR_MEMORY = "note: killed, and the kernel counts no kill for lack of memory while this step ran"
"""What is known of a process that was killed by somebody else; `build.killed_by_other` of the catalogue reads it."""


def make_fewer(root: Root) -> Callable[[Running], int]:
    """Give what says with how many jobs a step that failed is tried again: half as many, where memory was the cause.

    Where a process was killed and that was not for lack of memory, as the kernel counts, the log is told so.
    """

    def fewer(one: Running) -> int:
        from xpusetup.commands.explain import lacked_memory, tells_of_kill  # noqa: PLC0415 - failures only
        from xpusetup.machine.jobs import fewer_jobs  # noqa: PLC0415 - same

        log = root.log(one.step.id)
        if not one.mem_stalled and one.was_spared() and tells_of_kill(log):
            files.append_line(log, NOT_FOR_MEMORY)
            return 0
        if "compiler" not in one.step.needs or fewer_jobs(one.jobs) == 0:
            return 0
        return fewer_jobs(one.jobs) if one.mem_stalled or lacked_memory(log) else 0

    return fewer
