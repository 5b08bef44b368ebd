"""A plan as scripts: the small bash script of a step, the shell form, its three parts, and recipes to read."""

from __future__ import annotations

import re
import shlex
from math import ceil
from typing import TYPE_CHECKING, Literal

from xpusetup.base.model import BUILD_PATH, ROOT, Layout, Need, Plan, Step, Target
from xpusetup.base.text import break_command, comment, render_command, render_long_command, render_word
from xpusetup.emit.template import render_template
from xpusetup.machine.activation import LEFT_BY_ENVIRONMENT, render_activation, render_first
from xpusetup.plan.requirements import requirement_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xpusetup.emit.matrix import Cell


# A Step as the small bash script that every caller runs.


ALWAYS = "HOME PATH LANG TMPDIR TERM"
KEPT: dict[Need, str] = {
    "network": "PIP_* UV_* GIT_CONFIG_* GIT_SSL_* SSL_CERT_* REQUESTS_CA_BUNDLE *_proxy *_PROXY SSH_AUTH_SOCK"
    " XDG_CACHE_HOME",
    "device": "ZE_* ONEAPI_DEVICE_SELECTOR SYCL_* HABANA_* ASCEND_* SIMXPU_*",
    "nodes": "SLURM_* MASTER_ADDR MASTER_PORT GLOO_* CCL_* FI_* I_MPI_* UCX_* NCCL_* HCCL_*",
    "compiler": "MAX_JOBS CMAKE_BUILD_PARALLEL_LEVEL COMPILER_LAUNCHER CMAKE_*_COMPILER_LAUNCHER CCACHE_* SCCACHE_*",
}
"""What passes into a step's clean environment, by need (the last line: tuning, which no key sees)."""


def render_scripts(plan: Plan) -> dict[str, str]:
    return {f"steps/{step.id}.sh": render_script(step, plan) for step in plan.steps}


def render_script(step: Step, plan: Plan) -> str:
    """Give one step's script. The same step gives the same bytes wherever its root lies."""
    parts = [
        _header(step, plan),
        *_activated(step, plan.target),
        *_environment(step, plan),
        f"cd {render_word(step.cwd)}",
        *(f"run {render_long_command(argv)}" for argv in step.run),
        "finish",
    ]
    return "\n".join(parts) + "\n"


def kept_patterns(step: Step, target: Target) -> str:
    """Give the patterns of the variables that pass into the step."""
    kept = [ALWAYS, *(KEPT[need] for need in step.needs if need in KEPT)]
    if _uses_toolkit(step, target) and target.toolkit and target.toolkit.provider == "environment":
        kept.append(LEFT_BY_ENVIRONMENT)
    if any(word.endswith("/fetch_archive.py") for argv in step.run for word in argv[:2]):
        kept.append("XPUSETUP_ARCHIVES")
    return " ".join(kept)


def sees_build_path(step: Step, layout: Layout) -> bool:
    """Say whether a step may see its root at BUILD_PATH: it compiles, and all that it compiles lies in its root."""
    own = all(folder.startswith(f"{ROOT}/") for folder in (layout.src, layout.venv))
    above = any(word.startswith(f"{ROOT}/..") for argv in step.run for word in argv)  # not there, seen from BUILD_PATH
    return "compiler" in step.needs and own and not above and not step.protected_trees


def _header(step: Step, plan: Plan) -> str:
    target = plan.target
    kit = target.toolkit if _uses_toolkit(step, target) else None
    needs = [need for need in step.needs if need != "toolkit" or target.toolkit]
    lines = [
        "#!/usr/bin/env bash",
        "# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034",
        f"# {comment(f'{step.id}: {step.title}')}",
        f"# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash {comment(step.id)}.sh",
        "set -eu",
        f"STEP={render_word(step.id)}",
        f"AFTER={render_word(' '.join(step.after))}",
        f"NEEDS={render_word(' '.join(needs))}",
        f"KEEP={render_word(kept_patterns(step, target))}",
        *((f"CXX={render_word(target.cxx)}",) if "compiler" in step.needs else ()),
        *((f"TOOLKIT={render_word(kit.compiler)}",) if kit and not kit.made else ()),
        *(("ALWAYS=1",) if step.always else ()),
        *((f"BUILD_PATH={BUILD_PATH}",) if sees_build_path(step, plan.layout) else ()),
        '. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"',
        *((f"TOOLKIT={render_word(kit.compiler)}",) if kit and kit.made else ()),
        f"MAKES=({render_command(step.makes)})",
        "begin",
    ]
    return "\n".join(lines)


def _uses_toolkit(step: Step, target: Target) -> bool:
    at_run_time = "device" in step.needs and target.toolkit is not None and target.toolkit.at_run_time
    return "toolkit" in step.needs or at_run_time


def _activated(step: Step, target: Target) -> Iterator[str]:
    if _uses_toolkit(step, target) and target.toolkit:
        yield f"\n# the {comment(target.toolkit.version)} toolkit\n{render_activation(target.toolkit)}"
    if "device" in step.needs and target.scripts:
        yield f"\n# what the device's libraries need\n{render_first(target.scripts)}"


def _environment(step: Step, plan: Plan) -> Iterator[str]:
    yield ""
    if plan.layout.adopted:
        yield "export PYTHONNOUSERSITE=1"  # unlike a venv, other environments see what lies below the user's home
    if step.after:
        yield f'export PATH={render_word(plan.layout.venv)}/bin:"$PATH" VIRTUAL_ENV={render_word(plan.layout.venv)}'
    if step.source_date_from:
        date = f"git -C {render_word(step.source_date_from)} log -1 --format=%ct"
        if step.source_date_from.endswith(".date"):
            date = f"cat {render_word(step.source_date_from)}"
        yield f"SOURCE_DATE_EPOCH=$({date})\nexport SOURCE_DATE_EPOCH"
    yield from (f"export {name}={render_word(value)}" for name, value in step.env)
    if step.wrap_compilers:
        yield "launch_compilers"
    if step.protected_trees:
        yield f"hold_git {render_command(step.protected_trees)}"


# The shell form: the step scripts and one build.sh that calls them in order; bash alone runs it.


Part = Literal["build", "fetch", "compile", "verify"]
"""What a driver does of a build: all of it, or one of the three parts."""


def render_shell(plan: Plan, *, device_required: bool = False) -> dict[str, str]:
    """Give build.sh and the scripts, by file name; `device_required` as of render_driver."""
    what = f"Builds {plan.profile} in this folder, without xpusetup"
    text = render_driver(what, plan.steps, "build", device_required=device_required, end=_end_of(plan))
    return {**render_scripts(plan), "build.sh": text}


def render_readme(plan: Plan) -> str:
    """Give the README of a folder of scripts."""
    return render_template("shell/README.md", profile=plan.profile, venv=plan.layout.venv.removeprefix(f"{ROOT}/"))


def _end_of(plan: Plan) -> str:
    """Say where what the last step made lies: nothing of wheels where none is built."""
    made = [step.id for step in plan.steps] or ["none"]
    if any(step.endswith(".build") for step in made):
        return f"the wheels are in {ROOT}/wheels"
    return f"it is installed in {plan.layout.venv}" if "guard" in made else f"done: {made[-1]} is the last step here"


def render_driver(
    what: str,
    steps: Sequence[Step],
    part: Part,
    *,
    device_required: bool = False,
    download: tuple[int, tuple[str, ...]] = (0, ()),
    end: str = "",
) -> str:
    """Give a script that runs steps in order; `download` is how many wheels it fetches after them, and the command.

    `end` is what it says in the end.

    `device_required`: without a device to verify on it fails, else it says so and goes on.
    """
    modes = sum(step.id.startswith("verify.") for step in steps)
    return render_template(
        "shell/driver.sh",
        what=what,
        steps=steps,
        part=part,
        tolerates="" if device_required else "modes" if modes > 1 else "smoke",
        pins=download[0],
        download=download[1],
        end=end,
    )


# A plan in three parts for places where not every machine may do everything: fetch, compile, verify.
#
# What fetches runs where there is a network, what compiles where there are cores, what verifies where there is
# a device; all three in the same folder, with the same step scripts, keys and stamps.


MIB_PER_GIB = 1024


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
            "fetch",
            download=_download(cell),
        ),
        "compile.sh": render_driver(
            f"Builds {name} from what was fetched",
            [step for step in steps if "device" not in step.needs],
            "compile",
        ),
    }
    if on_device := [step for step in steps if "device" in step.needs]:
        what = f"Verifies {name} on the device of this machine"
        parts["verify.sh"] = render_driver(what, on_device, "verify", device_required=True)
    return parts


def memory_per_job(cell: Cell) -> int:
    """Give the MiB that one compile job takes."""
    return ceil(cell.profile.memory_per_job_gib * MIB_PER_GIB)


def fetching(steps: Sequence[Step]) -> set[str]:
    """Give the steps that fetch and those before them, but none that has to wait for a compiler or a device."""
    heavy, late = {"compiler", "toolkit", "device"}, set[str]()
    for step in steps:
        if not heavy.isdisjoint(step.needs) or not late.isdisjoint(step.after):
            late.add(step.id)
    found = {step.id for step in steps if "network" in step.needs} - late
    for step in reversed(steps):
        if step.id in found:
            found |= {*step.after}
    return found


def fetched_late(steps: Sequence[Step]) -> set[str]:
    """Give the steps that ask for the network after something was compiled."""
    return {step.id for step in steps if "network" in step.needs} - fetching(steps)


def _download(cell: Cell) -> tuple[int, tuple[str, ...]]:
    """Give how many wheels `runtime` will install, and what fetches them: that step has to wait for torch itself."""
    runtime = cell.profile.runtime_requirements
    if runtime is None or "runtime" not in fetched_late(cell.plan.steps):
        return 0, ()
    layout = cell.plan.layout
    helper = (layout.python, f"{layout.helpers}/pinned_wheels.py", "download")
    named = requirement_options(cell.profile, "runtime")
    return len(runtime.pins), (*helper, *named, "--into", f"{ROOT}/wheelhouse")


# A plan as a person reads a recipe: what each step sources, exports and types, without the care of a script.


def recipe_of(step: Step, target: Target) -> tuple[str, ...]:
    """Give the lines of one step in the order in which they take effect."""
    kit = target.toolkit if "toolkit" in step.needs else None
    sourced = (*kit.prelude, *(f"source {_quote(script)}" for script in kit.scripts)) if kit else ()
    scripts = target.scripts[:1] if "device" in step.needs else ()
    sourced = (*sourced, *(f"source {_quote(script)}" for script in scripts))
    exports = (f"export {name}={_quote(value)}" for name, value in step.env)
    folder = () if step.cwd == ROOT else (f"cd {_quote(step.cwd)}",)
    return (*sourced, *exports, *folder, *(line for argv in step.run for line in break_command(map(_quote, argv))))


def _quote(word: str) -> str:
    """Quote a word for bash, doubly where a single quote or the root is in it: that reads better."""
    if shlex.quote(word) == word or not ("'" in word or ROOT in word):
        return shlex.quote(word)
    return '"' + re.sub(r'(["$`\\])', r"\\\1", word) + '"'


# Steps of system setup as one script for root: for a container's recipe, a machine's first boot, or to read.


def render_system(
    steps: Sequence[Step],
    what: str,
    *,
    keep: bool = False,
    refresh: bool = False,
    user: int = 0,
    caches: Sequence[str] = (),
) -> str:
    """Give the script. Every command can be run again.

    Of an image: it may `keep` apt's packages for a cache, `refresh` its lists, make a `user`, and empty `caches`.
    """
    return render_template(
        "shell/system.sh", steps=steps, what=what, keep=keep, refresh=refresh, user=user, caches=caches
    )
