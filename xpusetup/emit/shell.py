"""The shell form: the step scripts and one build.sh that calls them in order; bash alone runs it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from xpusetup.emit.script import render_scripts

if TYPE_CHECKING:
    from xpusetup.model import Plan

HEAD = """#!/usr/bin/env bash
# Builds {profile} in this folder, without xpusetup. Run again, it goes on where it stopped.
# MAX_JOBS sets how many compilers run at once; logs/ holds what each step printed.
set -eu
cd "$(dirname "${{BASH_SOURCE[0]}}")"
mkdir -p logs
# shellcheck disable=SC1091  # it lies in this folder
. helpers/lock.sh
lock_folder "$PWD" || {{ printf '%s\\n  %s\\n' "$LOCK_SAYS" "$LOCK_FIX" >&2; exit 3; }}
export XPUSETUP_LOCKED=1

step() {{ # ID TITLE
  printf '%s: %s\\n' "$1" "$2"
  local code=0
  bash "steps/$1.sh" >"logs/$1.log" 2>&1 || code=$?
  if [ "$code" -eq 4 ] && [ "$1" = verify.smoke ]; then
    echo "built, not verified: there is no device here"
  elif [ "$code" -ne 0 ]; then
    tail -n 12 "logs/$1.log" >&2
    printf 'failed: %s (exit %s)\\n' "$1" "$code" >&2
    printf '  all of it: logs/%s.log\\n  again:     bash steps/%s.sh\\n' "$1" "$1" >&2
    exit 1
  fi
}}
"""


def render_shell(plan: Plan) -> dict[str, str]:
    """Give build.sh and the scripts, by file name."""
    calls = [f"step {step.id} {shlex.quote(step.title)}" for step in plan.steps]
    text = "\n".join([HEAD.format(profile=plan.profile), *calls, 'echo "the wheels are in $PWD/wheels"']) + "\n"
    return {**render_scripts(plan), "build.sh": text}
