"""A script that verifies finished wheels on a machine that did not build them: in a new environment, from hashes up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.emit.activation import render_activation
from xpusetup.emit.words import comment, render_long_command, render_word
from xpusetup.model import ROOT
from xpusetup.plan.verify import verify_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.matrix import Cell

HEAD = """#!/usr/bin/env bash
# Installs the wheels of {name} into an environment of their own and computes with them on the device of this machine.
# shellcheck disable=SC1090,SC1091
set -eu
cd "$(dirname "${{BASH_SOURCE[0]}}")"
ROOT=$PWD
fail() {{ # MESSAGE FIX CODE
  printf '%s\\n  %s\\n' "$1" "$2" >&2
  exit "$3"
}}
shopt -s nullglob
wheels=(wheels/*.whl published/*.whl dist/*.whl)
[ "${{#wheels[@]}}" -gt 0 ] || fail "there are no wheels in $ROOT" "build them, or copy them here" 3
mkdir -p results
rm -rf check
"""


def render_check(cell: Cell) -> str:
    """Give the script. Exit codes are those of verify: 4 where there is no device."""
    return "\n".join([HEAD.format(name=comment(cell.name)), *_lines(cell)]) + "\n"


def _lines(cell: Cell) -> Iterator[str]:
    target, profile = cell.plan.target, cell.profile
    indexes = {part.index for part in profile.components if part.kind == "wheel" and part.index}
    indexes |= {profile.published.index} if profile.published else set()
    options = [word for index in sorted(indexes) for word in ("--extra-index-url", index)]
    pip: tuple[str, ...] = (
        "check/bin/python",
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "--quiet",
        *options,
    )
    yield f"{render_word(target.python)} -m venv check"
    if any("compiler" in step.needs for step in cell.plan.steps):  # published wheels name what they need themselves
        yield f"cat >check/constraints.txt <<'END'\n{_constraints(cell)}END"
        pip = (*pip, "--constraint", "check/constraints.txt")
    yield f'{render_long_command(pip)} "${{wheels[@]}}"'
    if target.toolkit and target.toolkit.at_run_time:
        yield render_activation(target.toolkit)
    verify = (f"{ROOT}/check/bin/python", f"{ROOT}/helpers/verify_device.py", *verify_options(target))
    yield render_long_command((*verify, "--level", profile.verify_level, "--out", f"{ROOT}/results/verify.json"))


def _constraints(cell: Cell) -> str:
    runtime = cell.profile.runtime_requirements
    pins = [*cell.profile.build_requirements.pins, *(runtime.pins if runtime else [])]
    return "".join(f"{pin}\n" for pin in pins)
