"""A script that verifies finished wheels on a machine that did not build them: in a new environment, from hashes up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.emit.activation import render_activation
from xpusetup.emit.words import comment, render_long_command, render_word
from xpusetup.model import ROOT
from xpusetup.plan.install import published_wheels
from xpusetup.plan.requirements import requirement_options, requirements_of
from xpusetup.plan.verify import verify_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.matrix import Cell
    from xpusetup.profile import Profile

PYTHON = f"{ROOT}/check/bin/python"
QUIET = "--disable-pip-version-check install --quiet"
OWN = f"""own=(dist/*.whl)
[ "${{#own[@]}}" -eq 0 ] || {render_word(PYTHON)} -m pip {QUIET} "${{own[@]}}\""""
"""A package of someone's own; what it requires beside torch is its own affair, and no profile pins it."""
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
    yield f"{render_word(target.python)} -m venv check"
    compiled = any("compiler" in step.needs for step in cell.plan.steps)
    yield from _install_built(profile) if compiled else _install_published(profile)
    yield OWN
    if target.toolkit and target.toolkit.at_run_time:
        yield render_activation(target.toolkit)
    verify = (PYTHON, f"{ROOT}/helpers/verify_device.py", *verify_options(target))
    yield render_long_command((*verify, "--level", profile.verify_level, "--out", f"{ROOT}/results/verify.json"))


def _install_built(profile: Profile) -> Iterator[str]:
    """Install what the profile pins, by its hashes: it holds all that its wheels require; then the wheels."""
    helper = (PYTHON, f"{ROOT}/helpers/pinned_wheels.py", "install")
    purposes = [name for name in ("build", "runtime") if name in requirements_of(profile)]
    yield render_long_command((*helper, *requirement_options(profile, *purposes))) if purposes else ":"
    yield f"{render_word(PYTHON)} -m pip {QUIET} --no-deps --no-index wheels/*.whl"


def _install_published(profile: Profile) -> Iterator[str]:
    """Install published wheels as `install` does, which holds what they require to hashes too."""
    helper = (PYTHON, f"{ROOT}/helpers/install_published.py", "--wheels", f"{ROOT}/published")
    named = (word for pin in published_wheels(profile).values() for word in ("--wheel", "==".join(pin)))
    index = ("--index", profile.published.index) if profile.published else ()
    places = (*index, *requirement_options(profile, "published"), "--out", f"{ROOT}/results/check.json")
    yield render_long_command((*helper, *named, *places))
