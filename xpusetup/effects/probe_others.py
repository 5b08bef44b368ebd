"""Accelerators of other makers: Intel Gaudi and Huawei Ascend. What is not there is empty, never a fault."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from xpusetup.effects.notes import ask
from xpusetup.facts import Ascend, Gaudi
from xpusetup.outputs.tools import parse_hl_smi, parse_npu_smi

if TYPE_CHECKING:
    from xpusetup.effects.notes import Notes
    from xpusetup.effects.sysroot import Sysroot

GAUDI_VENDOR = "0x1da3"
QUERY = "index,name,driver_version,memory.used,memory.total"
CANN = ("/usr/local/Ascend/ascend-toolkit/set_env.sh", "/usr/local/Ascend/cann/set_env.sh")
ASCEND_NODES = ("davinci", "devmm_svm", "hisi_hdc")


def probe_gaudi(sysroot: Sysroot, notes: Notes) -> Gaudi:
    """Look at Gaudi's nodes and driver, and ask hl-smi. /sys/class/accel holds other makers' devices too."""
    nodes = [
        f"/dev/accel/{path.name}"
        for path in sysroot.listing("/sys/class/accel")
        if (sysroot.read(f"/sys/class/accel/{path.name}/device/vendor") or "").strip() == GAUDI_VENDOR
    ]
    old = [f"/dev/{path.name}" for path in sysroot.listing("/sys/class/habanalabs")]
    path = shutil.which("hl-smi")
    text = ask(notes, "gaudi.hl-smi", (path, "-Q", QUERY, "-f", "csv,noheader")) if path else None
    driver, cards = parse_hl_smi(text) if text is not None else (None, None)
    version = (sysroot.read("/sys/module/habanalabs/version") or "").strip()
    return Gaudi(nodes=nodes or old, driver=version or driver, cards=cards)


def probe_ascend(sysroot: Sysroot, notes: Notes) -> Ascend:
    """Look at Ascend's nodes, driver and toolkits, and ask npu-smi."""
    path = shutil.which("npu-smi")
    text = ask(notes, "ascend.npu-smi", (path, "info")) if path else None
    driver, cards = parse_npu_smi(text) if text is not None else (None, None)
    said = sysroot.read("/usr/local/Ascend/driver/version.info") or ""
    version = next((line.partition("=")[2] for line in said.splitlines() if line.startswith("Version=")), driver)
    nodes = [path.name for path in sysroot.listing("/dev") if path.name.startswith(ASCEND_NODES)]
    return Ascend(
        nodes=[f"/dev/{name}" for name in nodes],
        driver=version,
        scripts=[script for script in CANN if sysroot.path(script).exists()],
        cards=cards,
    )
