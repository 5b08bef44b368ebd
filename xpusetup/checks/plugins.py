"""What `import torch` loads by itself, and the accelerators that come that way: Gaudi and Ascend."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xpusetup.checks.hardware import weight
from xpusetup.checks.question import Answer, Question
from xpusetup.checks.seen import distribution, numbers, variable

if TYPE_CHECKING:
    from xpusetup.facts import EntryPoint, Gpu

BROKEN = re.compile(r"Failed to load the backend extension: (\S+?)\.\s")
HARDWARE = {"torch_npu": "19e5", "npu": "19e5", "hpu": "1da3", "device_backend": "1da3"}
"""The maker (PCI) of what an entry serves."""
GAUDI, ASCEND = "1da3", "19e5"
ASCEND_IDS = ("d100", "d500", "d801", "d802", "d803")
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
    """Look for Gaudi's kernel modules and nodes, all of one release."""
    kernel, gaudi = question.facts.kernel, question.facts.gaudi
    if not _cards(question, GAUDI) or kernel is None:
        return None
    lacking = [name for name in PARTS if name not in kernel.modules]
    plugin = distribution(question, "habana-torch-plugin")
    version = (gaudi.driver if gaudi else None) or kernel.modules.get("habanalabs") or ""
    load = {"mend": "sudo modprobe ib_uverbs && sudo modprobe habanalabs_ib"}
    if "habanalabs" in lacking or (gaudi is not None and not gaudi.nodes):
        return Answer(weight(question), f"not loaded: {', '.join(lacking)}" if lacking else "no device node", load)
    if plugin and version and numbers(plugin) != numbers(version):
        words = {"mend": "habanalabs-installer.sh install --type base"}
        return Answer(weight(question), f"driver {version}, habana-torch-plugin {plugin}", words)
    return Answer("warn", f"not loaded: {', '.join(lacking)}", load) if lacking else Answer("ok", version or "loaded")


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
    if value == "2":
        return Answer("warn", "PT_HPU_LAZY_MODE=2")
    return Answer("info", f"PT_HPU_LAZY_MODE={value}" if value else "PT_HPU_LAZY_MODE is not set")


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
