"""The shell form: the step scripts and one build.sh that calls them in order; bash alone runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.emit.script import render_scripts
from xpusetup.emit.words import comment, render_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.model import Plan, Step

HEAD = """#!/usr/bin/env bash
# {what}. Run again, it goes on where it stopped.
# MAX_JOBS sets how many compilers run at once; logs/ holds what each step printed.
set -eu
cd "$(dirname "${{BASH_SOURCE[0]}}")"
mkdir -p logs
# shellcheck disable=SC1091  # it lies in this folder
. helpers/lock.sh
lock_folder "$PWD" || {{ printf '%s\\n  %s\\n' "$LOCK_SAYS" "$LOCK_FIX" >&2; exit 3; }}
export XPUSETUP_LOCKED=1
rm -f failed

step() {{ # ID TITLE
  printf '%s: %s\\n' "$1" "$2"
  local code=0
  bash "steps/$1.sh" >"logs/$1.log" 2>&1 || code=$?
{ending}    tail -n 12 "logs/$1.log" >&2
    printf '%s\\n' "$1" >failed
    printf 'failed: %s (exit %s)\\n' "$1" "$code" >&2
    printf '  all of it: logs/%s.log\\n  again:     bash steps/%s.sh\\n' "$1" "$1" >&2
    exit 1
  fi
}}
"""
TOLERANT = """  if [ "$code" -eq 4 ] && [ WHICH ]; then
    echo "built, not verified: there is no device here"
  elif [ "$code" -ne 0 ]; then
"""
STRICT = """  if [ "$code" -ne 0 ]; then
"""


def render_shell(plan: Plan, *, device_required: bool = False) -> dict[str, str]:
    """Give build.sh and the scripts, by file name; `device_required` as of render_driver."""
    what = f"Builds {plan.profile} in this folder, without xpusetup"
    end = 'echo "the wheels are in $PWD/wheels"'
    text = render_driver(what, plan.steps, end=end, device_required=device_required)
    return {**render_scripts(plan), "build.sh": text}


def render_driver(
    what: str, steps: Sequence[Step], *, begin: str = "", end: str = "", device_required: bool = False
) -> str:
    """Give a script that runs steps in order; `begin` and `end` are lines before and after them.

    `device_required`: without a device to verify on it fails, else it says so and goes on.
    """
    modes = sum(step.id.startswith("verify.") for step in steps)
    which = '"${1%%.*}" = verify' if modes > 1 else '"$1" = verify.smoke'
    head = HEAD.format(what=comment(what), ending=STRICT if device_required else TOLERANT.replace("WHICH", which))
    calls = (f"step {render_word(step.id)} {render_word(step.title)}" for step in steps)
    return "\n".join([head, *([begin] if begin else []), *calls, *([end] if end else [])]) + "\n"
