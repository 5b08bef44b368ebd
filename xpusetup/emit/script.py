"""A Step as the small bash script that every caller runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.emit.activation import LEFT_BY_ENVIRONMENT, render_activation, render_first
from xpusetup.emit.words import comment, render_command, render_long_command, render_word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.model import Need, Plan, Step, Target

ALWAYS = "HOME PATH LANG TMPDIR TERM"
KEPT: dict[Need, str] = {
    "network": "PIP_* UV_* GIT_CONFIG_* GIT_SSL_* SSL_CERT_* REQUESTS_CA_BUNDLE *_proxy *_PROXY SSH_AUTH_SOCK"
    " XDG_CACHE_HOME",
    "device": "ZE_* ONEAPI_DEVICE_SELECTOR SYCL_* HABANA_* ASCEND_* SIMXPU_*",
    "compiler": "MAX_JOBS CMAKE_BUILD_PARALLEL_LEVEL COMPILER_LAUNCHER CMAKE_*_COMPILER_LAUNCHER CCACHE_* SCCACHE_*",
}
"""What passes into a step's clean environment, by need (the last line: tuning, which no key sees)."""


def render_scripts(plan: Plan) -> dict[str, str]:
    """Give every step's script, by file name below the root."""
    return {f"steps/{step.id}.sh": render_script(step, plan) for step in plan.steps}


def render_script(step: Step, plan: Plan) -> str:
    """Give one step's script. The same step gives the same bytes wherever its root lies."""
    parts = [
        _header(step, plan.target),
        *_activated(step, plan.target),
        *_environment(step, plan),
        *_commands(step),
        "finish",
    ]
    return "\n".join(parts) + "\n"


def kept_patterns(step: Step, target: Target) -> str:
    """Give the patterns of the variables that pass into the step."""
    kept = [ALWAYS, *(KEPT[need] for need in step.needs if need in KEPT)]
    if _uses_toolkit(step, target) and target.toolkit and target.toolkit.provider == "environment":
        kept.append(LEFT_BY_ENVIRONMENT)
    return " ".join(kept)


def _header(step: Step, target: Target) -> str:
    lines = [
        "#!/usr/bin/env bash",
        "# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034",
        f"# {comment(f'{step.id}: {step.title}')}",
        f"# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash {comment(step.id)}.sh",
        "set -eu",
        f"STEP={render_word(step.id)}",
        f"AFTER={render_word(' '.join(step.after))}",
        f"NEEDS={render_word(' '.join(_needs(step, target)))}",
        f"KEEP={render_word(kept_patterns(step, target))}",
        *_identified(step, target),
        *(("ALWAYS=1",) if step.always else ()),
        '. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"',
        f"MAKES=({render_command(step.makes)})",
        "begin",
    ]
    return "\n".join(lines)


def _identified(step: Step, target: Target) -> Iterator[str]:
    if "compiler" in step.needs:
        yield f"CXX={render_word(target.cxx)}"
    if _uses_toolkit(step, target) and target.toolkit:
        yield f"TOOLKIT={render_word(target.toolkit.compiler)}"


def _needs(step: Step, target: Target) -> list[str]:
    return [need for need in step.needs if need != "toolkit" or target.toolkit]


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
    if step.dated_by:
        date = f"git -C {render_word(step.dated_by)} log -1 --format=%ct"
        if step.dated_by.endswith(".date"):
            date = f"cat {render_word(step.dated_by)}"
        yield f"SOURCE_DATE_EPOCH=$({date})\nexport SOURCE_DATE_EPOCH"
    yield from (f"export {name}={render_word(value)}" for name, value in step.env)
    if step.launched:
        yield "launch_compilers"
    if step.held:
        yield f"hold_git {render_command(step.held)}"


def _commands(step: Step) -> Iterator[str]:
    yield f"cd {render_word(step.cwd)}"
    yield from (f"run {render_long_command(argv)}" for argv in step.run)
