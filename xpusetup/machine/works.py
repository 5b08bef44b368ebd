"""Whether a GPU works, by the facts: what torch has, what Level Zero lists, what fails. Pure."""

import re
from collections.abc import Callable, Collection

from xpusetup.machine.facts import Facts, Network

PROCESSORS = re.compile(
    r"(?i)\bcpu\b|processor|\bfpga\b|emulation|\bcore\(tm\)|\bcore (?:i\d|ultra)|xeon|ryzen|epyc|threadripper|pentium"
    r"|celeron|athlon|pthread|\bpocl\b|cortex|\bi[3579]-\d{4,5}"
)
"""How OpenCL names what is no GPU."""


def torch_works(facts: Facts) -> bool:
    seen = facts.torch.report if facts.torch else None
    return seen is not None and bool(seen.available) and seen.count != 0 and not computes_on_processor(facts)


def computes_on_processor(facts: Facts) -> bool:
    """Say whether all that torch calls XPU here is the processor, as it is with an add-on that was built for that."""
    seen = facts.torch.report if facts.torch else None
    return seen is not None and bool(seen.devices) and all(name.endswith("(processor)") for name in seen.devices)


def fails(facts: Facts) -> bool:
    """Say whether it was seen that the GPU does not work here."""
    ladder = facts.userland.level_zero if facts.userland else None
    seen = facts.torch.report if facts.torch else None
    without = ladder is not None and not lists_gpu(facts)
    refused = seen is not None and (seen.available is False or bool(seen.error))
    shown = facts.userland.clinfo if facts.userland else None
    blank = shown is not None and not any(map(is_gpu_line, shown)) and not lists_gpu(facts)
    return not torch_works(facts) and (without or refused or blank or bool(facts.refused))


def cut_off(facts: Facts, besides: Collection[str] = ()) -> str:
    """Say why nothing can be fetched here: hosts that do not answer, but for those besides, or no route out."""
    network = facts.network
    if network is None:
        return ""
    silent = [host for host, answers in (network.reach or {}).items() if not answers and host not in besides]
    if silent:
        return f"no answer from {', '.join(silent)}"
    return "no route leads out of this machine" if network.routed is False and not network.proxies else ""


def find_mirrors(facts: Facts, hosts: Collection[str] = ()) -> list[str]:
    """Name what may stand for the network: settings of pip, and of git for each of these hosts; none where one lacks.

    Without a route only what lies on this machine's own disks counts.
    """
    network = facts.network
    if network is None:
        return []
    of_pip = [name for name, told in network.indexes.items() if any(map(_is_near(network), told.split()))]
    of_git = [old for new, old in network.redirects.items() if _is_near(network)(new)]
    whole = all(any(host in old for old in of_git) for host in hosts)
    return of_pip if whole else []


def _is_near(network: Network) -> Callable[[str], bool]:
    return lambda address: network.routed is not False or address.startswith(("file:", "/"))


def is_gpu_line(line: str) -> bool:
    """Say whether a line of clinfo or sycl-ls names something else than a processor or an emulation."""
    if line.startswith("["):
        return ":gpu]" in line
    return ": " in line and not PROCESSORS.search(line.rpartition(": ")[2])


def lists_gpu(facts: Facts) -> bool:
    """Say whether Level Zero lists a GPU: what it needs is well then."""
    ladder = facts.userland.level_zero if facts.userland else None
    return ladder is not None and any(device.kind in ("gpu", "") for device in ladder.devices)
