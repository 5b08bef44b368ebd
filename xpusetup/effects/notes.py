"""Why something was not seen: what probes write down beside the facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.effects.process import run_process

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PATIENCE = 3.0
"""Seconds that any outside program may take; one that takes longer is a note, and its fact stays None."""
Notes = dict[str, str]


def ask(
    notes: Notes,
    name: str,
    argv: Sequence[str],
    *,
    seconds: float = PATIENCE,
    env: Mapping[str, str] | None = None,
) -> str | None:
    """Give what a program prints when it ends well; else None, and a note under `name` that says why."""
    output = run_process(argv, seconds=seconds, env=env)
    if output.code == 0:
        return output.out
    last = next(reversed((output.err or output.out).strip().splitlines()), "nothing")
    notes[name] = output.why or f"{argv[0]} ended with {output.code} and said: {last}"
    return None
