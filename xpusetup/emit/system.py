"""Steps of system setup as one script for root: for a container's recipe, a machine's first boot, or to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.emit.words import comment, render_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.model import Step

HEAD = """#!/usr/bin/env bash
# What {what} lacks. Made by xpusetup setup; run it as root.
set -eu
export DEBIAN_FRONTEND=noninteractive
"""


def render_system(steps: Sequence[Step], what: str) -> str:
    """Give the script. Every command can be run again."""
    parts = ("\n".join([f"# {comment(f'{step.id}: {step.title}')}", *map(render_command, step.run)]) for step in steps)
    return "\n".join([HEAD.format(what=comment(what)), *(f"{part}\n" for part in parts)])
