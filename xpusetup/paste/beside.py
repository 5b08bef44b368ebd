"""What things tell that stand beside each other: cards that others hold, a container's driver and its host's. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xpusetup.machine.facts import Shown
from xpusetup.machine.versions import BUILD, DRIVER_PACKAGES, is_stock
from xpusetup.machine.works import is_gpu_line
from xpusetup.paste.hardware import opens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.paste.lines import Pasted


# Cards of which another process has the memory, or that it has wholly.


FULL, IDLE = 0.6, 0.25
"""A card is taken from so much of its memory on, and free up to so much."""
OF_NPU = re.compile(r"^\| *(\d+) +(?:910|310|Ascend)\S* +\|(?: *OK| *Warning| *Alarm)?")
HELD = re.compile(r"(\d+) */ *(\d+) *\|\s*$")
REFUSED_NPU = re.compile(
    r"(?P<free>[\d.]+)/(?P<total>[\d.]+) GiB\) on startup is less"
    r"|(?P<of>[\d.]+) GiB total capacity; (?P<own>[\d.]+) [MG]iB already allocated"
)
PROCESS = re.compile(r"^\| +(?P<card>\d+) +(?P<pid>\d{2,8}) +[A-Z+]+ +(?P<name>\S+) +(?P<used>\d+ ?MiB) *\|")
REFUSED_HPU = re.compile(
    r"synStatus=\d+ \[[^\]\n]*\] Device acquire failed|Device (?:is )?(?:already )?(?:in use|busy)"
)


def cards_in_use(text: Sequence[str]) -> dict[str, Shown]:
    """Give the cards that others hold, where a program asks for memory, or for a card, and gets none."""
    return {**_npus(text), **_gaudis(text)}


def _npus(text: Sequence[str]) -> dict[str, Shown]:
    error = next((line for line in text if _is_others(line)), "")
    shares = _shares(text) if error else {}
    full = [card for card, share in shares.items() if share >= FULL]
    free = [card for card, share in shares.items() if share <= IDLE]
    if not full:
        return {}
    those = ",".join(map(str, free))
    means = (
        f"NPU {', '.join(map(str, full))} is taken by other processes (npu-smi shows its memory in use), and a program"
        " to which nothing else is said begins with the first that it sees; in a privileged container that is every"
        " NPU of the host, whatever --device names"
    )
    mend = (
        f"Leave it the free ones: -e ASCEND_VISIBLE_DEVICES={those} to docker run without --privileged, and export"
        f" ASCEND_RT_VISIBLE_DEVICES={those} before the program starts."
        if free
        else "No other is free here: see who has them (npu-smi info shows the processes), and end what is not needed."
    )
    same = ["vllm.kv_cache", "rt.oom", "ascend.device", "ascend.init", "ascend.code", "vllm.engine"]
    return {"npu.busy": Shown(line=error.strip()[:160], means=means, mend=mend, firm=True, same=same)}


def _is_others(line: str) -> bool:
    """Say whether an error tells that the memory was taken before the program had any."""
    found = REFUSED_NPU.search(line)
    if found is None:
        return False
    if found["total"]:
        return float(found["free"]) < float(found["total"]) / 2
    own = float(found["own"]) / (1024 if " MiB already" in line else 1)
    return own < float(found["of"]) / 4


def _shares(text: Sequence[str]) -> dict[int, float]:
    """Give how much of its memory each NPU has in use, by npu-smi."""
    shares: dict[int, float] = {}
    card = None
    for line in text:
        if found := OF_NPU.match(line):
            card = int(found[1])
        elif card is not None and (held := HELD.search(line)) and int(held[2]):
            shares[card] = max(shares.get(card, 0.0), int(held[1]) / int(held[2]))
            card = None
    return shares


def _gaudis(text: Sequence[str]) -> dict[str, Shown]:
    error = next((line for line in text if REFUSED_HPU.search(line)), "")
    holds = [found for line in text if error and (found := PROCESS.match(line))]
    if not holds or not any("HL-SMI" in line or "hl-smi" in line for line in text):
        return {}
    who = ", ".join(f"{each['name']} ({each['pid']}) has card {each['card']}" for each in holds[:4])
    means = f"The card already belongs to another process: {who}. A Gaudi card serves one process at a time"
    mend = (
        "End that process, or take cards that are free: HABANA_VISIBLE_MODULES=NUMBER (in a container"
        " HABANA_VISIBLE_DEVICES)."
    )
    shown = Shown(line=error.strip()[:160], means=means, mend=mend, firm=True, same=["hpu.acquire", "hpu.driver"])
    return {"hpu.busy": shown}


# A container's driver and that of its host.


def outdone(inner: Pasted, outer: Sequence[Pasted]) -> dict[str, Shown]:
    """Give a container's driver that is older than the host's, where that one lists a GPU and the container's fails."""
    there = _driver(inner)
    ended = any(line.startswith("Abort") for each in outer for line in each.sycl)
    if there is None or not (ended or _is_blind(inner)):
        return {}
    for host in outer:
        other = _driver(host)
        if not _lists(host) or (other is None and not _may_be_older(inner, there[1])):
            continue
        if other is None:
            return _by_its_host(there[0])
        if other[1] <= there[1]:
            continue
        line = f"the container has {there[0]}; the host has {other[0]}, and lists the GPU with it"
        means = (
            "The driver in user space is the container's own, and it is older than the GPU, or than the kernel: the"
            " host's newer one works on the same kernel and GPU"
        )
        mend = (
            f"Take a newer tag of the image, or install the driver in it that the host has ({other[0]}) or a newer one"
            " with its graphics compiler (a Dockerfile upon the image, or its folder for start scripts)."
        )
        same = ["rt.neo_abort", "rt.neo_query", "ocl.no_platform", "ze.no_device", "ze.uninitialized", "ov.no_gpu"]
        return {"container.older_than_gpu": Shown(line=line, means=means, mend=mend, same=same)}
    return {}


LAST_OF_ALL = 30872
"""Up to this build a driver that is passed over is older than the GPU: later ones have dropped graphics."""


def _may_be_older(inner: Pasted, build: int) -> bool:
    """Say whether a container's driver is what is left as the cause: it has the node and may open it."""
    render = [node for node in inner.nodes.values() if "renderD" in node.path]
    return build < LAST_OF_ALL and bool(render) and all(opens(node, inner) for node in render)


def _by_its_host(there: str) -> dict[str, Shown]:
    """Say that the container's driver is at fault, where of the host's only that it works was told."""
    means = (
        "The driver in user space is the container's own. On the host, with the same kernel and GPU, a GPU is listed,"
        " and the container has the node and may open it: what is left is its driver, which is older than the GPU"
    )
    mend = "Take a newer tag of the image, or install a newer driver in it with its graphics compiler."
    same = ["ocl.no_platform", "ze.no_device", "ze.uninitialized", "ov.no_gpu"]
    line = f"the container has {there}, and lists nothing; the host lists the GPU"
    return {"container.older_than_gpu": Shown(line=line, means=means, mend=mend, same=same)}


def _driver(got: Pasted) -> tuple[str, int] | None:
    """Give the driver of a place, as its package and its build."""
    for name in DRIVER_PACKAGES:
        if name in got.packages and not is_stock(got.packages[name]) and (found := BUILD.match(got.packages[name])):
            return f"{name} {got.packages[name]}", int(found[1])
    return None


def _is_blind(got: Pasted) -> bool:
    """Say whether a program found no GPU there, or ended."""
    return not _lists(got) and bool(got.no_platform or got.sycl or got.clinfo or got.init or "fails" in got.said)


def _lists(got: Pasted) -> bool:
    return any(is_gpu_line(line) for line in (*(each for each in got.sycl if each.startswith("[")), *got.clinfo))


# A container's node, and whose it is.


BY_PATH = re.compile(r"\bpci-(?:0000:)?(?P<slot>[\da-f]{2}:[\da-f]{2}\.\d)-render -> \.\./(?P<node>renderD\d+)")
ON_BUS = re.compile(r"^\W*(?:0000:)?(?P<slot>[\da-f]{2}:[\da-f]{2}\.\d) (?:VGA|3D|Display) [^:\n]*: (?P<maker>\w+)")
GIVEN = re.compile(
    r"(?:^\W*-\W+[\"']?|--device[= ]|\bdev\d: |-v )/dev/dri/(?P<node>renderD\d+)\b"
    r"|^\W*-\W+[\"']?/dev/dri(?P<whole>/?)(?=:|[\"']?\s*$)|--device[= ](?P<all>/dev/dri)(?![/\w])"
)
"""A node, or all of them, that a compose file, a command or a container's settings hand over."""


def another_makers_node(text: Sequence[str]) -> dict[str, Shown]:
    """Give a container that is handed the render node of another maker's card, and not the one of Intel's GPU."""
    nodes = {found["node"]: found["slot"] for line in text if (found := BY_PATH.search(line))}
    makers = {found["slot"]: found["maker"] for line in text if (found := ON_BUS.match(line))}
    given = [found for line in text if (found := GIVEN.search(line))]
    handed = {found["node"] for found in given}
    if not nodes or not handed or None in handed:
        return {}
    mine = [node for node, slot in nodes.items() if makers.get(slot) == "Intel"]
    wrong = [node for node in handed if makers.get(nodes.get(node, ""), "Intel") != "Intel"]
    if not mine or len(wrong) != len(handed):
        return {}
    maker = {"Advanced": "AMD"}.get(makers[nodes[wrong[0]]], makers[nodes[wrong[0]]])
    means = (
        f"The container is handed /dev/dri/{wrong[0]}, and that is the node of the {maker} card; Intel's GPU is"
        f" {mine[0]} (pci-0000:{nodes[mine[0]]}). The numbers follow the order in which drivers load, and change"
        " with another card or kernel"
    )
    mend = (
        f"Hand it /dev/dri/{mine[0]} in place of {wrong[0]}, or all of /dev/dri, and name that node in the program's"
        f" settings too; what stays the same at each start is /dev/dri/by-path/pci-0000:{nodes[mine[0]]}-render."
    )
    commands = ["ls -l /dev/dri/by-path", f"docker run --device /dev/dri/{mine[0]} ..."]
    same = ["va.init", "ov.no_gpu", "ocl.no_platform", "llama.no_gpu"]
    line = f"{given[0].group().strip()}: the node of pci-0000:{nodes[wrong[0]]} ({maker})"
    return {"container.no_device": Shown(line=line, means=means, mend=mend, commands=commands, firm=True, same=same)}
