"""A plan as a person reads a recipe: what each step sources, exports and types, without the care of a script."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from xpusetup.model import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from xpusetup.model import Plan, Step, Target


def render_recipe(plan: Plan) -> str:
    """Give the whole plan as text; `$ROOT` stands for the root."""
    parts = [_render_target(plan.profile, plan.target)]
    for step in plan.steps:
        parts.append(f"\n{step.id}: {step.title}\n")
        parts += [f"    {line}\n" for line in recipe_of(step, plan.target)]
    return "".join(parts).replace(ROOT, "$ROOT")


def recipe_of(step: Step, target: Target) -> tuple[str, ...]:
    """Give the lines of one step in the order in which they take effect."""
    kit = target.toolkit if "toolkit" in step.needs else None
    sourced = (*kit.prelude, *(f"source {_quote(script)}" for script in kit.scripts)) if kit else ()
    scripts = target.scripts[:1] if "device" in step.needs else ()
    sourced = (*sourced, *(f"source {_quote(script)}" for script in scripts))
    exports = (f"export {name}={_quote(value)}" for name, value in step.env)
    folder = () if step.cwd == ROOT else (f"cd {_quote(step.cwd)}",)
    return (*sourced, *exports, *folder, *(line for argv in step.run for line in _broken(argv)))


def _render_target(profile: str, target: Target) -> str:
    kit = f"oneAPI {target.toolkit.version}" if target.toolkit else "no toolkit"
    return f"{profile}: Python {target.python_version}, {target.cc} and {target.cxx}, {kit}\n"


def _quote(word: str) -> str:
    """Quote a word for bash, doubly where a single quote or the root is in it: that reads better."""
    if shlex.quote(word) == word or not ("'" in word or ROOT in word):
        return shlex.quote(word)
    return '"' + re.sub(r'(["$`\\])', r"\\\1", word) + '"'


def _broken(argv: Iterable[str], width: int = 110) -> Iterator[str]:
    """Break a long command between its words."""
    line = ""
    for word in map(_quote, argv):
        if line and len(line) + len(word) > width:
            yield f"{line} \\"
            line = "  "
        line += word if not line.strip() else f" {word}"
    yield line
