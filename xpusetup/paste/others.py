"""Gaudi and Ascend in what people paste: what their own programs and nodes tell. Pure."""

import re
from collections.abc import Sequence
from typing import Any

GAUDI, ASCEND = "1da3", "19e5"
TELLS_GAUDI = re.compile(
    r"\bHL-SMI\b|\bhl-smi\b|habana-torch-plugin|habana_frameworks|/dev/hl\d|gaudi-docker|--runtime[= ]habana|habanalabs"
    r"|\bHABANA_VISIBLE_DEVICES\b|\bHPU\b.{0,40}\bGaudi"
)
TELLS_ASCEND = re.compile(
    r"\bnpu-smi\b|/dev/davinci\d|\bASCEND_\w+|\btorch[-_]npu\b|/usr/local/Ascend\b|\bvllm-ascend\b|\bdcmi\b"
)
PRODUCTS: tuple[tuple[str, str, str], ...] = (
    (GAUDI, r"\bGaudi ?3\b|\bHL-3\d\d", "1060"),
    (GAUDI, r"\bGaudi ?2\b|\bHL-2(?:2|8)\d", "1020"),
    (GAUDI, r"\bHL-20\d|\bGaudi ?1\b|\bdl1\.", "1000"),
    (ASCEND, r"\b910(?:C|_93)\b|\bA3\b", "d803"),
    (ASCEND, r"\b910 ?B\d?\b", "d802"),
    (ASCEND, r"\b310 ?P\d?\b|\b300I Duo\b", "d500"),
    (ASCEND, r"\b910\b", "d801"),
    (ASCEND, r"\b310\b", "d100"),
)
NAMES = {GAUDI: "Gaudi", ASCEND: "Ascend"}
DRIVER = re.compile(r"\bDriver Version:?\s{0,60}v?(\d+\.\d+\.\d+)")


def other_accelerators(text: Sequence[str]) -> list[dict[str, Any]]:
    """Give the card of another maker that lines tell of, its product where that is named; nothing without one."""
    for vendor, form in ((GAUDI, TELLS_GAUDI), (ASCEND, TELLS_ASCEND)):
        if any(form.search(line) for line in text):
            whole = "\n".join(text)
            device = next(
                (device for maker, form, device in PRODUCTS if maker == vendor and re.search(form, whole)), ""
            )
            name = "" if device else NAMES[vendor]
            return [
                {"address": "card 0", "vendor": vendor, "device": device, "pci_class": "120000", "name": name},
            ]
    return []


def gaudi_of(text: Sequence[str]) -> dict[str, Any] | None:
    """Give the release of Gaudi's driver, as hl-smi tells it."""
    found = next(filter(None, (DRIVER.search(line) for line in text if "nvidia" not in line.lower())), None)
    about = any(TELLS_GAUDI.search(line) for line in text)
    return {"driver": found[1]} if found and about else None
