"""The product's table of GPUs beside what a true ocloc says of itself (`ocloc query SUPPORTED_DEVICES -concat`)."""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from xpusetup.machine.gpus import Family

wheel_images: Any = importlib.import_module("helperlib.wheel.images")
FILE = "ocloc_supported_devices_concat.yaml"
ROW = re.compile(r"- ip: (0x[0-9a-f]+)\s+revision_id: \d+\s+device_id: 0x([0-9a-f]+)")
NAME = re.compile(r"^    ([\w-]+): (\[?0x.*)$", re.MULTILINE)
WIDE = {"xe", "xe2", "xe3", "xe3p", "gen12lp"}
"""Words for whole generations: nobody compiles for one GPU by them."""


def version_of(number: str) -> str:
    """Give the version in an IP number: 10 bits of architecture, 8 of release, and what is left out."""
    value = int(number, 16)
    return f"{value >> 22}.{value >> 14 & 0xFF}"


def read_ids(text: str) -> dict[str, set[str]]:
    """Give the versions of each PCI id."""
    found: dict[str, set[str]] = {}
    for number, device in ROW.findall(text):
        found.setdefault(device.rjust(4, "0"), set()).add(version_of(number))
    return found


def read_names(text: str) -> dict[str, set[str]]:
    """Give the versions of each name that is no whole generation: those of GPUs, and of architectures."""
    rows = ((name, set(map(version_of, re.findall(r"0x[0-9a-f]+", numbers)))) for name, numbers in NAME.findall(text))
    return {name: versions for name, versions in rows if name not in WIDE}


def compare(text: str, families: Iterable[Family], versions: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    """Say what either side alone knows, and where both know something else."""
    ids, names = read_ids(text), read_names(text)
    ours = {device: family.device for family in families if family.accelerator == "xpu" for device, _ in family.ids()}
    versions_of = {
        name: {version for version, words in versions.items() if name in words} for name in {*names, *ours.values()}
    }
    return {
        "unknown to ocloc": sorted(ours.keys() - ids.keys()),
        "unknown to us": sorted(ids.keys() - ours.keys()),
        "another version": sorted(id_ for id_, name in ours.items() if id_ in ids and not ids[id_] & versions_of[name]),
        "names that lack a version": sorted(name for name, there in names.items() if there - versions_of[name]),
    }


def wrong_in(found: Mapping[str, list[str]]) -> str:
    """Say what must not be: GPUs that an ocloc has and we have not, and what is called otherwise."""
    kinds = ("unknown to us", "another version", "names that lack a version")
    return "; ".join(f"{kind}: {', '.join(found[kind])}" for kind in kinds if found[kind])
