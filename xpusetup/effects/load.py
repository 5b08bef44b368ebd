"""What compiling steps do to the memory, looked at now and then: how much they take, whether they stand still."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xpusetup.effects.memory import read_memory, read_pressure
from xpusetup.jobs import STALL, Strain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xpusetup.effects.memory import Memory
    from xpusetup.effects.running import Running

EVERY = 5.0
"""Seconds between two looks: each reads a few small files of the kernel."""
STANDS_STILL = "it stands still: its processes wait for memory"


@dataclass(kw_only=True)
class Watch:
    """Looks at the memory while steps run. `patience`: seconds without a new result before one is stopped.

    `keep` is given what is in use.
    """

    patience: float = STALL
    looked: float = 0.0
    strains: dict[str, Strain] = field(default_factory=dict)
    keep: Callable[[Memory], None] = lambda _memory: None

    def look(self, running: Sequence[Running], time: float) -> list[Running]:
        """Note what the compiling steps take, and give those that fewer jobs would help. Now and then; else nothing."""
        if not running or time - self.looked < min(EVERY, self.patience):
            return []
        self.looked = time
        memory, pressure = read_memory(), read_pressure()
        compiling = [one for one in running if one.jobs]
        for one in compiling:
            one.most = max(one.most, memory.used if memory else 0)
        if memory:
            self.keep(memory)
        return [one for one in compiling if one.jobs > 1 and self._lasts(one, pressure, time)]

    def _lasts(self, one: Running, pressure: float, time: float) -> bool:
        strain = self.strains.setdefault(f"{one.step.id} {one.jobs}", Strain(patience=self.patience))
        return strain.lasts(count=one.count, pressure=pressure, time=time)
