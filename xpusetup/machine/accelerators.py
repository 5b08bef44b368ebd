"""Which accelerators are here, which package serves each, and what `import torch` loads for them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from packaging.utils import canonicalize_name

from xpusetup.base.values import Table
from xpusetup.config.devices import Device
from xpusetup.machine.facts import Gpu, Hardware
from xpusetup.machine.gpus import GpuTable

# What `import torch` loads by itself in an environment, as helpers/load_extensions.py writes it down.


@dataclass(frozen=True, kw_only=True)
class LoadedEntryPoint(Table):
    """A line of `torch.backends` or `torch_dynamo_backends`, and the distribution that brings it.

    `requires` are that one's requirements of torch; `found`: the file of its module is there.
    """

    name: str
    value: str
    distribution: str = ""
    version: str = ""
    requires: list[str] = field(default_factory=list)
    found: bool = True


@dataclass(frozen=True, kw_only=True)
class Switch(Table):
    """Which texts of TORCH_DEVICE_BACKEND_AUTOLOAD this torch takes for yes, and whether no text is one."""

    enabling: list[str]
    unset: bool


@dataclass(frozen=True, kw_only=True)
class LoadOutcome(Table):
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


@dataclass(frozen=True, kw_only=True)
class Loads(Table):
    """Torch by itself, each entry by itself in the order of the entries, and torch with all of them."""

    torch: LoadOutcome
    each: list[LoadOutcome] = field(default_factory=list)
    together: LoadOutcome | None = None


@dataclass(frozen=True, kw_only=True)
class TorchFiles(Table):
    """A torch as its files show it. `said` holds the texts that its version.py assigns."""

    version: str | None = None
    said: dict[str, str] = field(default_factory=dict)
    place: str


@dataclass(frozen=True, kw_only=True)
class Extensions(Table):
    """An environment. `switch` is the caller's TORCH_DEVICE_BACKEND_AUTOLOAD; `loads` is None: nothing was tried."""

    python: str
    prefix: str
    switch: str | None = None
    torch: TorchFiles | None = None
    entries: list[LoadedEntryPoint] = field(default_factory=list)
    compilers: list[LoadedEntryPoint] = field(default_factory=list)
    loads: Loads | None = None


# Which accelerators are here, and which package serves each: device files held against what was seen.


@dataclass(frozen=True)
class Presence:
    """What of a device was seen here: cards, files below /dev, the vendor's program and script, and what it says.

    `ready`: the variables of the vendor's environment are set; None where none is known.
    """

    cards: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    tool: str = ""
    says: tuple[str, ...] = ()
    script: str = ""
    ready: bool | None = None


@dataclass(frozen=True, kw_only=True)
class AcceleratorRow:
    """An accelerator, or an entry that no device file knows, whose `title` is empty. None: not tried, or not known."""

    name: str
    title: str = ""
    present: bool | None = None
    seen: Presence = Presence()
    entry: str | None = None
    package: str | None = None
    version: str | None = None
    loads: bool | None = None
    error: str | None = None


def cards_of(device: Device, hardware: Hardware, table: GpuTable) -> tuple[str, ...]:
    """Give the cards of a device: the ids that its file names, else all of its makers that are not another's."""
    return tuple(_title(gpu, device, table) for gpu in hardware.gpus if _is_of(gpu, device, table))


def _is_of(gpu: Gpu, device: Device, table: GpuTable) -> bool:
    if gpu.vendor not in device.pci_vendors:
        return False
    if device.hardware and device.hardware.devices:
        return gpu.device in device.hardware.devices
    product = table.find(gpu.vendor, gpu.device)
    return product is None or product.family.accelerator == device.name


def _title(gpu: Gpu, device: Device, table: GpuTable) -> str:
    product = table.find(gpu.vendor, gpu.device)
    own = device.hardware.devices.get(gpu.device, "") if device.hardware else ""
    return f"{product.title() if product else own or f'{gpu.vendor}:{gpu.device}'} at {gpu.address}"


def owner_of(entry: LoadedEntryPoint, devices: Sequence[Device]) -> Device | None:
    """Give the device that an entry serves: by its package or module, and only then by its name, which may be plain."""
    extended = [(device, device.extension) for device in devices if device.extension]
    top = entry.value.partition(":")[0].partition(".")[0]
    name = canonicalize_name(entry.distribution)
    by_package = (d for d, own in extended if name == canonicalize_name(own.distribution))
    by_module = (d for d, own in extended if top == own.module.partition(".")[0])
    by_entry = (d for d, own in extended if own.entry == entry.name)
    return next((device for found in (by_package, by_module, by_entry) for device in found), None)


def make_rows(devices: Sequence[Device], seen: Mapping[str, Presence], look: Extensions | None) -> list[AcceleratorRow]:
    """Give a row for each device, and one for each entry that serves none of them."""
    owned = [(entry, owner_of(entry, devices), load) for entry, load in loads_of(look)]
    rows = []
    for device in devices:
        mine = [(entry, load) for entry, owner, load in owned if owner is device]
        rows += [_of_device(device, seen.get(device.name, Presence()), *pair) for pair in mine]
        rows += [] if mine else [_built_in(device, seen.get(device.name, Presence()), look)]
    strange = [(entry, load) for entry, owner, load in owned if owner is None]
    return [*rows, *(_of_entry(*pair) for pair in strange)]


def loads_of(look: Extensions | None) -> Iterator[tuple[LoadedEntryPoint, LoadOutcome | None]]:
    """Give each entry with what loading it did; None where that was not tried."""
    if look is None:
        return
    loads: list[LoadOutcome | None] = [*(look.loads.each if look.loads else ())] or [None] * len(look.entries)
    yield from zip(look.entries, loads, strict=True)


def is_built_in(device: Device, look: Extensions | None) -> bool:
    """Say whether torch itself brings a device."""
    if look is None or look.torch is None:
        return False
    return device.built_in == "always" or (device.built_in == "builds" and bool(look.torch.said.get(device.name)))


def _of_entry(entry: LoadedEntryPoint, load: LoadOutcome | None) -> AcceleratorRow:
    return AcceleratorRow(
        name=entry.name,
        entry=f"{entry.name} = {entry.value}",
        package=entry.distribution or None,
        version=entry.version or None,
        loads=load.imported if load else None,
        error=(load.error or None) if load else None,
    )


def _of_device(device: Device, seen: Presence, entry: LoadedEntryPoint, load: LoadOutcome | None) -> AcceleratorRow:
    present = _is_present(device, seen, installed=True)
    return replace(_of_entry(entry, load), name=device.name, title=device.title, present=present, seen=seen)


def _built_in(device: Device, seen: Presence, look: Extensions | None) -> AcceleratorRow:
    there = is_built_in(device, look)
    load = look.loads.torch if there and look is not None and look.loads else None
    return AcceleratorRow(
        name=device.name,
        title=device.title,
        present=_is_present(device, seen, installed=device.built_in == "always"),
        seen=seen,
        package="torch" if there else None,
        version=look.torch.version if there and look is not None and look.torch else None,
        loads=load.imported if load else None,
        error=(load.error or None) if load else None,
    )


def _is_present(device: Device, seen: Presence, *, installed: bool) -> bool:
    """Say whether a device is here; one that no bus and no file shows is here with its software."""
    shown = bool(device.pci_vendors or (device.hardware and device.hardware.nodes))
    return bool(seen.cards or seen.nodes) if shown else device.expected and installed
