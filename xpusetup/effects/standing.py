"""How far a root is: which steps of its profile are done, which are left, and whether someone is at work there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xpusetup.effects.lock import is_held
from xpusetup.effects.manifest import read_manifest
from xpusetup.effects.root import read_lock, read_stamps

if TYPE_CHECKING:
    from xpusetup.effects.root import Root

BEGUN = "inputs/.begun."
VERIFYING = "verify."
INSTALLING = "wheels.install"
"""The step by which the plan of `install` is known in roots that an older program or an emitted form made."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How far a root is. `left` are steps that are not done, but for verification; `at_work` those that run now.

    `command` made it, with the further options `words`; `held` says whether it is at work.
    """

    command: str
    words: tuple[str, ...]
    steps: tuple[str, ...]
    done: tuple[str, ...]
    left: tuple[str, ...]
    at_work: tuple[str, ...]
    held: bool

    @property
    def installed(self) -> bool:
        """Whether all of the profile is in its environment."""
        return not self.left


def read_standing(root: Root) -> Standing:
    """Read how far a root is, from its files alone."""
    lock, done = read_lock(root) or {}, tuple(read_stamps(root))
    scripts = sorted(path.stem for path in (root / "steps").glob("*.sh"))
    named = lock.get("steps")
    steps = tuple(map(str, named)) if isinstance(named, list) else tuple(scripts)
    held, guess = is_held(root / "lock"), "install" if INSTALLING in steps else "build"
    return Standing(
        words=tuple(map(str, lock.get("words") or ())),
        command=str(_asked(lock).get("command") or read_manifest(root).get("made_by") or guess),
        steps=steps,
        done=done,
        left=tuple(step for step in steps if step not in done and not step.startswith(VERIFYING)),
        at_work=_begun(root) if held else (),
        held=held,
    )


def _asked(lock: dict[str, Any]) -> dict[str, Any]:
    asked = lock.get("asked")
    return asked if isinstance(asked, dict) else {}


def _begun(root: Root) -> tuple[str, ...]:
    """Give the steps that have begun and not ended, and have said something since the root was locked."""
    folder, _, prefix = BEGUN.rpartition("/")
    since = (root / "lock").stat().st_mtime
    names = sorted(path.name.removeprefix(prefix) for path in (root / folder).glob(f"{prefix}*"))
    return tuple(name for name in names if root.log(name).exists() and root.log(name).stat().st_mtime >= since)
