"""What several checks ask of the facts: GPUs with what is known of them, nodes, versions, variables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xpusetup.gpus import MAKERS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xpusetup.checks.question import Question
    from xpusetup.facts import Gpu, Node
    from xpusetup.gpus import Family

INTEL = "8086"
DRIVERS = ("i915", "xe")


def is_xpu(question: Question) -> bool:
    """Say whether this is about Intel GPUs."""
    return INTEL in question.device.pci_vendors


def gpus(question: Question) -> list[Gpu]:
    """Give the devices of the accelerator's makers."""
    hardware = question.facts.hardware
    vendors = question.device.pci_vendors
    return [gpu for gpu in hardware.gpus if gpu.vendor in vendors] if hardware else []


def nodes(question: Question) -> list[Node]:
    """Give the render nodes that may be the accelerator's."""
    hardware = question.facts.hardware
    vendors = (*question.device.pci_vendors, None)
    return [node for node in hardware.nodes if node.vendor in vendors] if hardware else []


def unbound(question: Question) -> list[Gpu]:
    """Give the Intel GPUs that no driver of theirs has taken."""
    return [gpu for gpu in intel_gpus(question) if gpu.driver not in DRIVERS]


def intel_gpus(question: Question) -> list[Gpu]:
    """Give the Intel GPUs, where this is about such."""
    return [gpu for gpu in gpus(question) if gpu.vendor == INTEL] if is_xpu(question) else []


def family(question: Question, gpu: Gpu) -> Family | None:
    """Give what is known of a GPU's kind."""
    product = question.gpus.find(gpu.vendor, gpu.device) if question.gpus else None
    return product.family if product else None


def of_family(question: Question, *names: str) -> list[Gpu]:
    """Give the Intel GPUs whose family's id begins with one of the names."""
    kinds = ((gpu, family(question, gpu)) for gpu in intel_gpus(question))
    return [gpu for gpu, kind in kinds if kind is not None and kind.id.startswith(names)]


def name(question: Question, gpu: Gpu) -> str:
    """Give a GPU as people know it, or by its id."""
    product = question.gpus.find(gpu.vendor, gpu.device) if question.gpus else None
    if product:
        return product.title()
    return (
        f"{MAKERS[gpu.vendor]} GPU {gpu.vendor}:{gpu.device}" if gpu.vendor in MAKERS else f"{gpu.vendor}:{gpu.device}"
    )


def named(question: Question, those: Iterable[Gpu]) -> str:
    """Give GPUs as text: name and place of each."""
    return ", ".join(f"{name(question, gpu)} at {gpu.address}" for gpu in those)


def is_discrete(question: Question, gpu: Gpu) -> bool:
    """Say whether a GPU is a card of its own; one that is not known is judged by its place."""
    kind = family(question, gpu)
    return kind.discrete if kind is not None else not gpu.address.endswith(":00:02.0")


def numbers(text: str, least: int = 2) -> tuple[int, ...]:
    """Give a version's first numbers, as many as compare: 6.14.0-33-generic is (6, 14)."""
    return tuple(int(each) for each in re.findall(r"\d+", text)[:least])


def variable(question: Question, name: str) -> str:
    """Give a variable of the shell; empty when it is not set."""
    return (question.facts.environment or {}).get(name, "")


def distribution(question: Question, name: str) -> str:
    """Give the version of a distribution in the environment; empty when it is not there."""
    torch = question.facts.torch
    return torch.distributions.get(name, "") if torch else ""


def package(question: Question, *names: str) -> str:
    """Give the version of the first of these packages that is installed; empty without one."""
    userland = question.facts.userland
    packages = (userland.packages or {}) if userland else {}
    return next((packages[each] for each in names if each in packages), "")


def messages(question: Question, pattern: str) -> list[str]:
    """Give the kernel's messages that match a pattern."""
    kernel = question.facts.kernel
    return [line for line in (kernel.messages or []) if re.search(pattern, line)] if kernel else []
