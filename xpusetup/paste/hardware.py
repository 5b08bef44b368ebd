"""The GPUs and nodes of what was pasted: from the bus, from messages, or by the names that programs show. Pure."""

import re
from collections.abc import Sequence
from typing import Any

from xpusetup.machine.facts import SEEN_ELSEWHERE
from xpusetup.machine.gpus import ONLY_XE, GpuTable, age_of, find_device, find_devices
from xpusetup.machine.versions import BUILD, DRIVER_PACKAGES, WITHOUT_OLD
from xpusetup.paste import lines
from xpusetup.paste.lines import Pasted, PastedGpu, PastedNode
from xpusetup.paste.others import other_accelerators

UNKNOWN_GROUP = 1 << 31
"""Stands for the number of a group of which only the name was told, and so on upwards."""


def hardware_of(got: Pasted, table: GpuTable) -> dict[str, Any] | None:
    """Give the devices and nodes that were told of; None where nothing was."""
    named = list(dict.fromkeys(find_devices(got.named, table)))
    placed = {each.vendor for each in got.gpus if ":" in each.address}
    gpus = [_gpu(each, got, table) for each in got.gpus if ":" in each.address or each.vendor not in placed]
    if len(named) == 1 and len(gpus) == 1 and not gpus[0]["device"]:
        gpus[0]["device"] = named[0]
    names = [*got.seen, *got.onboard, *(of_sycl(line) for line in got.sycl if ":gpu]" in line)]
    if not any(gpu["vendor"] == "8086" for gpu in gpus):
        seen = got.seen or [of_sycl(line) for line in got.sycl if "level_zero:gpu" in line]
        ids = find_devices(seen, table) or find_devices(got.onboard or names[:1], table)
        ids = ids or _by_number([*seen, *got.onboard]) or ([] if got.displays == "all" else named[:1])
        old = [] if ids else _old_by_name(got)
        ids = ids or ([] if old or "hardware.gpus" in got.told else find_devices(got.chips[:1], table))
        module = None if _loads_none(got) else got.said_module or SEEN_ELSEWHERE
        gpus += [_plain_gpu(device, place, module) for place, device in enumerate(ids)]
        gpus += [{**_plain_gpu("", place, module), "name": name} for place, name in enumerate(old[:1])]
    if not any(gpu["vendor"] == "8086" for gpu in gpus):
        there = {gpu["vendor"] for gpu in gpus}
        gpus += [each for each in other_accelerators(got.everything) if each["vendor"] not in there]
    if not gpus and not got.nodes and not got.fakes and not got.told & {"hardware.nodes", "hardware.gpus"}:
        return None
    return {"gpus": gpus, "nodes": [_node(each, got, gpus) for each in got.nodes.values()], "fakes": got.fakes}


NUMBERS = {"130V": "64a0", "140V": "64a0", "130T": "7d51", "140T": "7d51"}
"""Graphics of processors that programs call by a number of their own (Lunar Lake, Arrow Lake-H), each with its id."""
OF_PROCESSOR = re.compile(r"\bArc(?:\(TM\))? (?:Graphics )?(1[34]0[VT])\b")


def _by_number(names: Sequence[str]) -> list[str]:
    """Give the graphics that a program lists by such a number; a card of another machine is not taken for them."""
    return [NUMBERS[found[1]] for name in names if (found := OF_PROCESSOR.search(name))][:1]


def _old_by_name(got: Pasted) -> list[str]:
    """Give graphics before Xe that words name, where PyTorch was asked and no list tells what is there."""
    builds = (BUILD.match(got.packages.get(name, "")) for name in DRIVER_PACKAGES)
    served = any(found and int(found[1]) < WITHOUT_OLD for found in builds)
    compute = got.no_platform or "userland.sycl" in got.told
    about = got.available is not None or (compute and not served)
    return [name for name in got.named if age_of("", name)] if about and "hardware.gpus" not in got.told else []


def of_sycl(line: str) -> str:
    """Give the name of a device in a line of sycl-ls."""
    return line.partition("Level-Zero")[2] or line.rpartition("]")[2] or line


def _gpu(each: PastedGpu, got: Pasted, table: GpuTable) -> dict[str, Any]:
    device = each.device or find_device(each.name, table) or _of_chip(each, table)
    return {
        "address": each.address,
        "vendor": each.vendor,
        "device": device,
        "pci_class": each.kind,
        "driver": each.driver or (None if _loads_none(got) or _is_free(each, device, got, table) else SEEN_ELSEWHERE),
        "bar": each.bar,
        "name": "" if device else each.name,
    }


def _of_chip(each: PastedGpu, table: GpuTable) -> str:
    """Give the id by the processor that a name of lspci begins with, where the table has none of that name."""
    ids = [f"[0x{device}]" for form, device in lines.CHIPS if each.vendor == "8086" and form.search(each.name)]
    return next(iter(find_devices(ids[:1], table)), "")


def _loads_none(got: Pasted) -> bool:
    """Say whether the modules were listed, and neither driver was among them, nor was a GPU seen to work."""
    return "kernel.modules" in got.told and not got.modules and not got.seen and not got.lists_gpu()


def _is_free(each: PastedGpu, device: str, got: Pasted, table: GpuTable) -> bool:
    """Say whether it was told that no driver has a GPU.

    That xe does not take by itself what i915 drives is usual, and says nothing of i915.
    """
    if each.detailed or each.refused != "xe" or each.blocked == "i915":
        return each.detailed or bool(each.refused)
    product = table.find("8086", device)
    asked = re.search(rf"\b(?:xe\.force_probe=[^\s!]*|i915\.force_probe=\S*!){re.escape(device)}\b", got.cmdline)
    return bool(asked) or (product is not None and product.family.id.startswith(ONLY_XE))


def _plain_gpu(device: str, place: int, module: str | None) -> dict[str, Any]:
    return {
        "address": f"GPU {place}",
        "vendor": "8086",
        "device": device,
        "pci_class": "030000",
        "driver": module,
    }


def _node(each: PastedNode, got: Pasted, gpus: list[dict[str, Any]]) -> dict[str, Any]:
    vendor = next((gpu["vendor"] for gpu in gpus if gpu["address"] == each.address), None)
    others = list(dict.fromkeys(n.group for n in got.nodes.values() if n.group and n.group not in got.groups))
    unknown = others.index(each.group) if each.group in others else len(others)
    gid = int(each.group) if each.group.isdecimal() else got.groups.get(each.group, UNKNOWN_GROUP + unknown)
    return {"path": each.path, "vendor": vendor, "gid": gid, "openable": opens(each, got), "address": each.address}


def opens(node: PastedNode, got: Pasted) -> bool:
    """Say whether who asks may open a node; who is not known is taken for one who may."""
    if node.closed or (node.group == "nogroup" and node.mode[7:9] != "rw"):
        return False
    if not node.mode or node.mode[7:9] == "rw" or got.uid == 0 or "system.groups" not in got.told:
        return True
    listed = got.available or got.seen or got.lists_gpu("level_zero")
    own = node.group in got.groups or node.group in map(str, got.groups.values())
    return own or not node.group or (node.mode.endswith("+") and bool(listed))
