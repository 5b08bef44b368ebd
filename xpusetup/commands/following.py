"""status --log: what a step says, as it says it, from another terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.commands.default import open_built
from xpusetup.commands.result import Result
from xpusetup.effects.following import follow
from xpusetup.effects.lock import is_held
from xpusetup.effects.root import Root
from xpusetup.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from xpusetup.commands.places import Where


def show_log(where: Where, step: str, *, more: bool, say: Callable[[str], None]) -> Result:
    """Say the text of a step's log; with `more` go on for as long as a build is at work in the root."""
    root = Root(open_built(where).root)
    path = root.log(step)
    if not path.exists():
        names = sorted(log.name.removesuffix(".log") for log in path.parent.glob("*.log"))
        has = f"there are logs of: {', '.join(names)}" if names else "nothing ran there yet"
        raise UsageError(f"no step {step!r} has a log in {root.path}", fix=has)
    for piece in follow(path, lambda: more and is_held(root / "lock")):
        say(piece)
    return Result("status log", {"step": step, "log": str(path)})
