"""What `import torch` loads by itself in an environment, as helpers/load_extensions.py writes it down."""

from __future__ import annotations

from xpusetup.facts.base import Fact


class Entry(Fact):
    """A line of `torch.backends` or `torch_dynamo_backends`, and the distribution that brings it.

    `requires` are that one's requirements of torch; `found`: the file of its module is there.
    """

    name: str
    value: str
    distribution: str = ""
    version: str = ""
    requires: list[str] = []
    found: bool = True


class Switch(Fact):
    """Which texts of TORCH_DEVICE_BACKEND_AUTOLOAD this torch takes for yes, and whether no text is one."""

    enabling: list[str]
    unset: bool


class Load(Fact):
    """What happened in one child. `imported`: torch and what was to be loaded with it; seconds of the clock.

    `error` without it says why not, with it what came after. `switch` is None where torch has none (before 2.5).
    """

    imported: bool
    error: str = ""
    switch: Switch | None = None
    seconds: float
    version: str | None = None
    accelerator: str | None = None
    count: int = 0


class Loads(Fact):
    """Torch by itself, each entry by itself in the order of the entries, and torch with all of them."""

    torch: Load
    each: list[Load] = []
    together: Load | None = None


class TorchFiles(Fact):
    """A torch as its files show it. `said` holds the texts that its version.py assigns."""

    version: str | None = None
    said: dict[str, str] = {}
    place: str


class Extensions(Fact):
    """An environment. `switch` is the caller's TORCH_DEVICE_BACKEND_AUTOLOAD; `loads` is None: nothing was tried."""

    python: str
    prefix: str
    switch: str | None = None
    torch: TorchFiles | None = None
    entries: list[Entry] = []
    compilers: list[Entry] = []
    loads: Loads | None = None
