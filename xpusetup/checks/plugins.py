"""What `import torch` loads by itself, and the accelerators that come that way: Gaudi and Ascend."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xpusetup.checks.hardware import weight
from xpusetup.checks.question import Answer, Question
from xpusetup.checks.seen import distribution, messages, numbers, variable

if TYPE_CHECKING:
    from xpusetup.facts import EntryPoint, Gpu

BROKEN = re.compile(r"Failed to load the backend extension: (\S+?)\.\s")
HARDWARE = {"torch_npu": "19e5", "npu": "19e5", "hpu": "1da3", "device_backend": "1da3"}
"""The maker (PCI) of what an entry serves."""
GAUDI, ASCEND = "1da3", "19e5"
ASCEND_IDS = ("d100", "d500", "d801", "d802", "d803")
EAGER_SINCE = (1, 21)
"""Gaudi's first release that is eager where nothing is set."""
PARTS = ("habanalabs", "habanalabs_cn", "habanalabs_en", "habanalabs_ib")


def _off(question: Question) -> bool:
    return variable(question, "TORCH_DEVICE_BACKEND_AUTOLOAD") == "0"


def _idle(question: Question, entry: EntryPoint) -> bool:
    """Say whether an entry serves hardware that is not here."""
    vendor = HARDWARE.get(entry.name) or HARDWARE.get(entry.value.partition(":")[0].partition(".")[0])
    hardware = question.facts.hardware
    return vendor is not None and hardware is not None and all(gpu.vendor != vendor for gpu in hardware.gpus)


def check_entries(question: Question) -> Answer | None:
    """Look for entries that break the import of torch, or serve what is not here."""
    torch = question.facts.torch
    if torch is None or not torch.entry_points:
        return None
    seen = ", ".join(f"{entry.name} of {entry.distribution} {entry.version}".rstrip() for entry in torch.entry_points)
    broken = BROKEN.search(torch.report.error) if torch.report else None
    if broken is not None:
        found = next((each.distribution for each in torch.entry_points if each.name == broken[1]), broken[1])
        reason = torch.report.error.rpartition("; because ")[2] if torch.report else ""
        return Answer("fail", f"{broken[1]} of {found}: {reason}", {"python": torch.python, "distribution": found})
    idle = [entry for entry in torch.entry_points if _idle(question, entry)]
    if _off(question):
        return Answer("info", f"switched off by TORCH_DEVICE_BACKEND_AUTOLOAD=0: {seen}")
    words = {"python": torch.python, "distribution": idle[0].distribution if idle else ""}
    return Answer("warn", f"{idle[0].name} serves hardware that is not here", words) if idle else Answer("ok", seen)


def check_autoload_builds(question: Question) -> Answer | None:
    """Say what builds do about such entries."""
    torch = question.facts.torch
    return Answer("info", "builds switch it off") if torch is not None and torch.entry_points else None


def _cards(question: Question, vendor: str, ids: tuple[str, ...] = ()) -> list[Gpu]:
    hardware = question.facts.hardware
    found = hardware.gpus if hardware else []
    return [gpu for gpu in found if gpu.vendor == vendor and (not ids or gpu.device in ids)]


def _title(question: Question, gpu: Gpu) -> str:
    product = question.gpus.find(gpu.vendor, gpu.device) if question.gpus else None
    return product.title() if product else f"{gpu.vendor}:{gpu.device}"


def check_gaudi(question: Question) -> Answer | None:
    """Say which Gaudi cards are here."""
    cards = _cards(question, GAUDI)
    return Answer("info", f"{len(cards)} x {_title(question, cards[0])}") if cards else None


def check_gaudi_modules(question: Question) -> Answer | None:
    """Look for Gaudi's kernel modules and nodes."""
    kernel, gaudi = question.facts.kernel, question.facts.gaudi
    if not _cards(question, GAUDI) or kernel is None:
        return None
    lacking = [name for name in PARTS if name not in kernel.modules]
    if "habanalabs" in lacking or (gaudi is not None and not gaudi.nodes):
        seen = f"not loaded: {', '.join(lacking)}" if lacking else "no device node"
        return Answer(weight(question), f"{seen}{_said(question)}")
    version = (gaudi.driver if gaudi else None) or kernel.modules.get("habanalabs") or "loaded"
    return Answer("warn", f"not loaded: {', '.join(lacking)}") if lacking else Answer("ok", version)


def check_gaudi_release(question: Question) -> Answer | None:
    """Hold the driver's release against that of the bridge, and of the profile that was asked for."""
    gaudi = question.facts.gaudi
    driver = gaudi.driver if gaudi else None
    if not _cards(question, GAUDI) or driver is None:
        return None
    other = _other_release(question, driver)
    return Answer(weight(question), f"driver {driver}, {other}") if other else Answer("ok", f"driver {driver}")


def _said(question: Question) -> str:
    """Give the kernel's last word on why the driver did not take a card, where it can be read."""
    lines = messages(question, r"(?i)habanalabs.*(?:fail|error|timed? ?out|cannot)")
    return f"; the kernel says: {lines[-1]}" if lines else ""


def _other_release(question: Question, driver: str) -> str:
    """Name what is of another release than the driver: the bridge that is here, or the one that is asked for."""
    plugin = distribution(question, "habana-torch-plugin")
    if plugin and numbers(plugin) != numbers(driver):
        return f"habana-torch-plugin {plugin}"
    installer = question.profile.installer if question.profile.accelerator == "hpu" else None
    if installer is not None and numbers(installer.release) != numbers(driver):
        return f"{question.profile.name} is for {installer.release}"
    return ""


def check_gaudi_free(question: Question) -> Answer | None:
    """Look for torch's failure to take the device."""
    torch = question.facts.torch
    if torch is None or torch.report is None or not _cards(question, GAUDI):
        return None
    found = re.search(r"synStatus=\d+ \[[^]]+\] Device acquire failed", torch.report.error)
    return Answer("fail", found[0]) if found else Answer("ok", "no failure to take it")


def check_lazy_mode(question: Question) -> Answer | None:
    """Say which mode Gaudi's bridge runs in."""
    if not _cards(question, GAUDI) or question.facts.environment is None:
        return None
    value = variable(question, "PT_HPU_LAZY_MODE")
    if value:
        return Answer("warn" if value == "2" else "info", f"PT_HPU_LAZY_MODE={value}")
    plugin = distribution(question, "habana-torch-plugin")
    usual = f": {'lazy' if numbers(plugin) < EAGER_SINCE else 'eager'} mode" if plugin else ""
    return Answer("info", f"PT_HPU_LAZY_MODE is not set{usual}")


def check_gaudi_torch(question: Question) -> Answer | None:
    """Look for a torch that is not Habana's beside Habana's bridge."""
    torch, plugin = question.facts.torch, distribution(question, "habana-torch-plugin")
    if torch is None or torch.version is None or not plugin:
        return None
    local = torch.version.partition("+")[2]
    return Answer("warn" if local in ("cpu", "xpu") or local.startswith("cu") else "ok", f"torch {torch.version}")


def check_ascend(question: Question) -> Answer | None:
    """Say which Ascend cards are here; their maker also makes network cards."""
    cards = _cards(question, ASCEND, ASCEND_IDS)
    return Answer("info", f"{len(cards)} x {_title(question, cards[0])}") if cards else None


def check_cann(question: Question) -> Answer | None:
    """Look for the CANN environment in this shell."""
    ascend = question.facts.ascend
    if not _cards(question, ASCEND, ASCEND_IDS) or question.facts.environment is None:
        return None
    home = variable(question, "ASCEND_HOME_PATH") or variable(question, "ASCEND_TOOLKIT_HOME")
    if home:
        return Answer("ok", home)
    script = ascend.scripts[0] if ascend and ascend.scripts else "/usr/local/Ascend/ascend-toolkit/set_env.sh"
    return Answer(weight(question), "ASCEND_HOME_PATH is not set", {"script": script})


def check_two_accelerators(question: Question) -> Answer | None:
    """Look for torch_npu beside a torch that was built for another accelerator."""
    torch, npu = question.facts.torch, distribution(question, "torch-npu")
    if torch is None or torch.version is None or not npu:
        return None
    other = torch.xpu or torch.cuda
    bad = bool(other) and not _off(question)
    seen = f"torch-npu {npu} beside torch {torch.version}"
    return Answer("fail" if bad else "ok", seen, {"python": torch.python})
