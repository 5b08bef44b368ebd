"""Containers, WSL2 and permissions: whether this user, in this place, may open the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.checks.hardware import weight
from xpusetup.checks.question import Answer, Question
from xpusetup.checks.seen import DRIVERS, gpus, intel_gpus, is_xpu, nodes

if TYPE_CHECKING:
    from xpusetup.facts import Node

FREE_MEMORY = "doesn't support querying the available free memory"


def check_container_device(question: Question) -> Answer | None:
    """Look for a container that sees the GPU on the bus and has no node of it."""
    container = question.facts.container
    if container is None or container.kind in ("", "wsl2"):
        return None
    driven = [gpu for gpu in intel_gpus(question) if gpu.driver in DRIVERS]
    if not driven:
        return None
    if not nodes(question):
        return Answer(weight(question), f"{container.kind} without /dev/dri", {"container": container.kind})
    return Answer("ok", f"{container.kind} with {len(nodes(question))} node(s)")


def check_wsl(question: Question) -> Answer | None:
    """Look for the way to Windows' driver."""
    container = question.facts.container
    if container is None or not container.details or not question.facts.in_wsl or not is_xpu(question):
        return None
    lacking = [path for path, state in container.details.items() if state != "there"]
    return Answer(weight(question), f"no {', '.join(lacking)}") if lacking else Answer("ok", "/dev/dxg, libdxcore.so")


def check_wsl_driver(question: Question) -> Answer | None:
    """Look for the abort of a guest driver that does not fit Windows' driver."""
    userland = question.facts.userland
    if not question.facts.in_wsl or userland is None or userland.sycl is None:
        return None
    ends = [line for line in userland.sycl if line.startswith("Abort was called")]
    return Answer("fail", ends[0]) if ends else Answer("ok", "sycl-ls runs")


def check_wsl_limit(question: Question) -> Answer | None:
    """Say what is known of large allocations under WSL2."""
    return Answer("info", "WSL2") if question.facts.in_wsl and is_xpu(question) else None


def _applies(question: Question) -> bool:
    return question.device.nodes == "render" and not question.facts.in_wsl


def check_render_node(question: Question) -> Answer | None:
    """Look for render nodes; the compute driver opens nothing else."""
    if not _applies(question) or question.facts.hardware is None:
        return None
    found = nodes(question)
    if not found:
        drivers = ", ".join(f"{gpu.address}: {gpu.driver or 'no driver'}" for gpu in gpus(question))
        return Answer(weight(question), f"no /dev/dri/renderD* ({drivers or 'no GPU'})")
    return Answer("ok", ", ".join(node.path for node in found))


def _closed(question: Question) -> list[Node]:
    return [node for node in nodes(question) if not node.openable] if _applies(question) else []


def check_container_group(question: Question) -> Answer | None:
    """Look for a node in a container whose group's number this user does not have."""
    container, closed = question.facts.container, _closed(question)
    if container is None or container.kind in ("", "wsl2") or not nodes(question):
        return None
    if not closed:
        return Answer("ok", "the node's group is one of this user's")
    words = {"gid": str(closed[0].gid), "container": container.kind}
    return Answer(weight(question), f"{closed[0].path} belongs to group {closed[0].gid} of the host", words)


def check_session(question: Question) -> Answer | None:
    """Look for a group that the user has joined, but not this session."""
    system, closed = question.facts.system, _closed(question)
    if system is None or not closed:
        return None
    late = [node for node in closed if node.gid in system.joined and node.gid not in system.groups]
    if not late:
        return None
    return Answer(weight(question), f"{system.user} is in group {late[0].gid}; this session began before")


def check_render_group(question: Question) -> Answer | None:
    """Try the nodes; a group that was joined counts only in sessions that began afterwards."""
    if not _applies(question) or not nodes(question):
        return None
    closed = _closed(question)
    user = question.facts.system.user if question.facts.system else "$USER"
    if closed:
        seen = ", ".join(f"{node.path} belongs to group {node.gid}" for node in closed)
        return Answer(weight(question), f"{user} may not open it: {seen}", {"user": user})
    return Answer("ok", f"{user} may open it", {"user": user})


def check_free_memory(question: Question) -> Answer | None:
    """Look for torch's complaint that the driver does not tell how much memory is free."""
    torch = question.facts.torch
    if torch is None or torch.report is None:
        return None
    lines = [line for line in torch.report.messages if FREE_MEMORY in line]
    return Answer("info", lines[0]) if lines else None
