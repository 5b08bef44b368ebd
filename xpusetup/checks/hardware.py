"""Hardware and permissions: whether there is a GPU, and this user may open it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.checks.question import Answer, Question

if TYPE_CHECKING:
    from xpusetup.facts import Gpu, Node
    from xpusetup.model import Level


def _gpus(question: Question) -> list[Gpu]:
    hardware = question.facts.hardware
    vendors = question.device.pci_vendors
    return [gpu for gpu in hardware.gpus if gpu.vendor in vendors] if hardware else []


def _nodes(question: Question) -> list[Node]:
    hardware = question.facts.hardware
    vendors = (*question.device.pci_vendors, None)
    return [node for node in hardware.nodes if node.vendor in vendors] if hardware else []


def _weight(question: Question) -> Level:
    return "fail" if question.goal == "run" else "warn"


def check_gpu_present(question: Question) -> Answer | None:
    """Look for the device; building needs none, running does."""
    if not question.device.pci_vendors or question.facts.hardware is None:
        return None
    gpus = _gpus(question)
    if not gpus:
        return Answer(_weight(question), f"no {question.device.title} on the PCI bus")
    return Answer("ok", ", ".join(f"{gpu.vendor}:{gpu.device} at {gpu.address}" for gpu in gpus))


def check_render_node(question: Question) -> Answer | None:
    """Look for render nodes; the compute driver opens nothing else."""
    if question.device.nodes != "render" or question.facts.hardware is None:
        return None
    nodes = _nodes(question)
    if not nodes:
        drivers = ", ".join(f"{gpu.address}: {gpu.driver or 'no driver'}" for gpu in _gpus(question))
        return Answer(_weight(question), f"no /dev/dri/renderD* ({drivers or 'no GPU'})")
    return Answer("ok", ", ".join(node.path for node in nodes))


def check_render_group(question: Question) -> Answer | None:
    """Try the nodes; a group that was joined counts only in sessions that began afterwards."""
    if question.device.nodes != "render" or not _nodes(question):
        return None
    closed = [node for node in _nodes(question) if not node.openable]
    user = question.facts.system.user if question.facts.system else "$USER"
    if closed:
        seen = ", ".join(f"{node.path} belongs to group {node.gid}" for node in closed)
        return Answer(_weight(question), f"{user} may not open it: {seen}", {"user": user})
    return Answer("ok", f"{user} may open it", {"user": user})
