"""What the facts say of the machine, in the words of the data files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from packaging.version import Version

from xpusetup.machine.facts import SEEN_ELSEWHERE, Facts, Gpu
from xpusetup.machine.gpus import MAKERS, GpuProduct, GpuTable, hide_integrated
from xpusetup.machine.tables import gpu_table
from xpusetup.machine.versions import LEVEL_ZERO_PACKAGES
from xpusetup.machine.works import lists_gpu, torch_works
from xpusetup.system.files import package_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xpusetup.machine.platforms import DistributionTable, LinuxDistribution, Platform, PlatformTable


INTEL = "8086"
KERNEL = re.compile(r"(\d+\.\d+)")
LIBRARY = "libze_intel_gpu.so.1"
CONTAINERS = ("docker", "podman", "apptainer", "kubernetes", "lxc")
DriverState = Literal["there", "missing", "old", "unknown"]


@dataclass(frozen=True)
class MachineTables:
    """The data files."""

    gpus: GpuTable
    platforms: PlatformTable
    distributions: DistributionTable


@dataclass(frozen=True)
class Card:
    """An accelerator of this machine; the platform is None for one that is no Intel GPU."""

    gpu: Gpu
    product: GpuProduct
    platform: Platform | None

    @property
    def served(self) -> bool:
        """Whether PyTorch may run on it."""
        return self.platform is not None

    @property
    def documented(self) -> bool:
        """Whether releases of PyTorch are made for it."""
        return self.platform is not None and not self.platform.undocumented

    @property
    def bound(self) -> bool:
        """Whether the kernel driver that it needs has it: then the kernel knows it, whatever its number."""
        return self.platform is not None and self.gpu.driver in (*self.platform.drivers, SEEN_ELSEWHERE)


def find_cards(facts: Facts, known: MachineTables) -> tuple[Card, ...]:
    """Give all accelerators that the table knows, in the order of the bus."""
    gpus = facts.hardware.gpus if facts.hardware else []
    found = ((gpu, known.gpus.find(gpu.vendor, gpu.device)) for gpu in gpus)
    platform_of = known.platforms.of_device
    return tuple(Card(gpu, each, platform_of(gpu.device, each.family.id)) for gpu, each in found if each)


def unknown_gpus(facts: Facts, known: MachineTables) -> tuple[str, ...]:
    """Give the ids of Intel GPUs that the table does not have."""
    gpus = facts.hardware.gpus if facts.hardware else []
    lost = (gpu for gpu in gpus if gpu.vendor == INTEL and known.gpus.find(gpu.vendor, gpu.device) is None)
    return tuple(f"{gpu.vendor}:{gpu.device}" for gpu in lost if gpu.device and gpu.pci_class.startswith("03"))


def choose_cards(cards: Iterable[Card]) -> tuple[Card, ...]:
    """Give the GPUs that PyTorch would use: discrete ones hide integrated ones; those that it is made for, if any."""
    found = tuple(card for card in cards if card.served)
    served = tuple(card for card in found if card.documented) or found
    return hide_integrated(served, lambda card: card.product.family)


def sees_devices(facts: Facts) -> bool:
    """Say whether Level Zero listed a GPU, or torch has one."""
    return torch_works(facts) or lists_gpu(facts)


def other_gpus(facts: Facts) -> tuple[str, ...]:
    """Give the GPUs of makers whose PyTorch is not for this program to bring."""
    gpus = facts.hardware.gpus if facts.hardware else []
    found = (f"{MAKERS[gpu.vendor]} GPU {gpu.vendor}:{gpu.device}" for gpu in gpus if gpu.vendor in MAKERS)
    return tuple(dict.fromkeys(found))


OF_PROXMOX = "-pve"
PROXMOX_BEHIND = 4
"""Proxmox VE 8 is made from Debian 12, 9 from 13."""


def in_container(facts: Facts) -> bool:
    """Say whether the kernel belongs to someone else."""
    return facts.container is not None and facts.container.kind in CONTAINERS


def kernel_version(facts: Facts) -> Version | None:
    """Give the running kernel's version, two numbers of it."""
    found = KERNEL.match(facts.system.kernel) if facts.system else None
    return Version(found[1]) if found else None


def find_distribution(facts: Facts, known: MachineTables) -> LinuxDistribution | None:
    """Give what is known of this distribution; of a host of Proxmox VE by its kernel, for it calls itself Debian."""
    system = facts.system
    if system is None:
        return None
    version = system.version or ""
    if system.kernel.endswith(OF_PROXMOX) and system.families[:1] == ["debian"] and not in_container(facts):
        older = str(int(version) - PROXMOX_BEHIND) if version.isdecimal() else ""
        return known.distributions.find(["proxmox"], older)
    return known.distributions.find(system.families, system.version)


def driver_state(facts: Facts, cards: Iterable[Card]) -> DriverState:
    """Judge the user-mode driver by its packages and its library."""
    userland = facts.userland
    if userland is None or (userland.packages is None and userland.libraries is None):
        return "there" if sees_devices(facts) else "unknown"
    packages = userland.packages or {}
    version = next((packages[name] for name in LEVEL_ZERO_PACKAGES if name in packages), "")
    if not version and LIBRARY not in (userland.libraries or {}):
        return "there" if lists_gpu(facts) else "missing"  # whatever it is called: Level Zero got to a GPU by it
    old = {each for card in cards if card.platform for each in card.platform.too_old}
    return "old" if any(version.startswith(f"{each}.") for each in old) else "there"


@cache
def known() -> MachineTables:
    from xpusetup.machine.platforms import parse_distributions, parse_platforms  # noqa: PLC0415 - a build asks for GPUs alone

    return MachineTables(
        gpu_table(),
        parse_platforms(package_text("data/platforms.toml")),
        parse_distributions(package_text("data/distributions.toml")),
    )
