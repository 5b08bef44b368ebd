"""Containers, WSL2 and permissions: whether this user, in this place, may open the device."""

from xpusetup.doctor.hardware import weight
from xpusetup.doctor.question import DRIVERS, CheckAnswer, Question, gpus, intel_gpus, is_xpu, nodes, variable
from xpusetup.machine.facts import NOT_HANDED, SEEN_ELSEWHERE, Node
from xpusetup.machine.works import fails

FROM_WINDOWS = "In Windows: a current Intel driver, then wsl --update and wsl --shutdown."
FROM_WSL = (
    "Start the container with WSL's device and libraries: docker run --device /dev/dxg -v /usr/lib/wsl:/usr/lib/wsl"
    " -e LD_LIBRARY_PATH=/usr/lib/wsl/lib ..."
)
FREE_MEMORY = "doesn't support querying the available free memory"


def check_container_device(question: Question) -> CheckAnswer | None:
    """Look for a container that sees the GPU on the bus and has no node of it."""
    container = question.facts.container
    if container is None or container.kind in ("", "wsl2") or question.facts.in_wsl:
        return None  # WSL has no /dev/dri: wsl.dxg looks for what it has
    if container.details.get("/dev/dri") == NOT_HANDED:
        seen = f"{container.kind} starts it without /dev/dri"
        return CheckAnswer(weight(question), seen, {"container": container.kind}) if fails(question.facts) else None
    driven = [gpu for gpu in intel_gpus(question) if gpu.driver in DRIVERS]
    elsewhere = all(gpu.driver == SEEN_ELSEWHERE for gpu in intel_gpus(question))
    unseen = not intel_gpus(question) and not question.facts.is_told("hardware.gpus")
    blind = elsewhere and is_xpu(question) and (fails(question.facts) or unseen)
    if not driven and not blind:
        return None
    if not nodes(question) and not question.facts.is_told("hardware.nodes"):
        return None
    if not nodes(question):
        words = {"container": container.kind, **(FOR_LXC if container.kind == "lxc" else {})}
        return CheckAnswer(weight(question), f"{container.kind} without /dev/dri", words)
    return CheckAnswer("ok", f"{container.kind} with {len(nodes(question))} node(s)")


FOR_LXC = {
    "means": "The container (LXC) has the host's GPU on the bus, and was handed no node of it",
    "mend": (
        "On the host hand the render node in with the number that render has inside of the container (GID: getent group"
        " render, inside), and start it anew: Proxmox 8.2 and newer as dev0 (or Resources, Add, Device Passthrough),"
        " Incus and LXD as a device of type gpu."
    ),
    "commands": (
        "pct set ID --dev0 /dev/dri/renderD128,gid=GID && pct reboot ID\n"
        "incus config device add NAME gpu gpu gid=GID || lxc config device add NAME gpu gpu gid=GID"
    ),
}


def check_wsl(question: Question) -> CheckAnswer | None:
    """Look for the way to Windows' driver."""
    container = question.facts.container
    paths = {path: state for path, state in (container.details if container else {}).items() if path != "image"}
    if container is None or not paths or not question.facts.in_wsl or not is_xpu(question):
        return None
    lacking = [path for path, state in paths.items() if state != "there"]
    if not lacking:
        return CheckAnswer("ok", "/dev/dxg, libdxcore.so")
    inside = container.kind != "wsl2"
    seen = f"no {', '.join(lacking)}{f' in the {container.kind} container' if inside else ''}"
    return CheckAnswer(weight(question), seen, {"mend": FROM_WSL if inside else FROM_WINDOWS})


def check_wsl_driver(question: Question) -> CheckAnswer | None:
    """Look for the abort of a guest driver that does not fit Windows' driver."""
    userland = question.facts.userland
    if not question.facts.in_wsl or userland is None or userland.sycl is None:
        return None
    ends = [line for line in userland.sycl if line.startswith("Abort was called")]
    return CheckAnswer("fail", ends[0]) if ends else CheckAnswer("ok", "sycl-ls runs")


def check_wsl_limit(question: Question) -> CheckAnswer | None:
    """Say what is known of large allocations under WSL2."""
    return CheckAnswer("info", "WSL2") if question.facts.in_wsl and is_xpu(question) else None


def _applies(question: Question) -> bool:
    return question.device.nodes == "render" and not question.facts.in_wsl


def check_render_node(question: Question) -> CheckAnswer | None:
    """Look for render nodes; the compute driver opens nothing else."""
    if not _applies(question) or question.facts.hardware is None:
        return None
    found = nodes(question)
    if not found:
        drivers = ", ".join(f"{gpu.address}: {gpu.driver or 'no driver'}" for gpu in gpus(question))
        kernel = question.facts.kernel
        idle = [name for name in DRIVERS if kernel and not gpus(question) and name in kernel.modules]
        drivers = drivers or (f"{idle[0]} is loaded and has taken no GPU" if idle else "no GPU")
        return CheckAnswer(weight(question), f"no /dev/dri/renderD* ({drivers})")
    return CheckAnswer("ok", ", ".join(node.path for node in found))


def check_fake_node(question: Question) -> CheckAnswer | None:
    """Look for files and folders that have the name of a node."""
    hardware = question.facts.hardware
    fakes = hardware.fakes if hardware else []
    if not fakes or question.device.nodes != "render":
        return None
    seen = f"{', '.join(fakes)} is a plain file or folder, no device"
    return CheckAnswer("warn" if nodes(question) else weight(question), seen, {"node": fakes[0]})


def _closed(question: Question) -> list[Node]:
    return [node for node in nodes(question) if not node.openable] if _applies(question) else []


def check_container_group(question: Question) -> CheckAnswer | None:
    """Look for a node in a container whose group's number this user does not have."""
    container, closed = question.facts.container, _closed(question)
    if container is None or container.kind in ("", "wsl2") or not nodes(question):
        return None
    if not closed:
        return CheckAnswer("ok", "the node's group is one of this user's")
    group = _group(question, closed[0])
    gid = group if group != "?" else f"$(stat -c %g {closed[0].path})"
    mapped = container.kind == "lxc" or group in {"nogroup", "nobody"}
    start = (
        f"pct set ID --dev0 {closed[0].path},gid=GID"
        if mapped
        else f"docker run --device /dev/dri --group-add {gid} ..."
    )
    if container.kind == "podman" and mapped:
        start = "podman run --device /dev/dri --group-add keep-groups ..."
    if "compose" in container.details and not mapped:
        start = (
            f"group_add: ['{gid}']  # in the compose file, or in .env what that takes for it; then docker compose up -d"
        )
    if container.kind == "kubernetes" and not mapped:
        start = f"securityContext: {{supplementalGroups: [{gid}]}}  # in the pod's spec"
    words = {"gid": gid, "container": container.kind, "start": start}
    if _of_linuxserver(question) and not mapped:
        words |= FOR_ABC
    return CheckAnswer(weight(question), f"{closed[0].path} belongs to group {group} of the host", words)


FOR_ABC = {
    "means": (
        "The node belongs to a number that is no group of this user here. Images of linuxserver.io start their programs"
        " as abc, with the groups that /etc/group gives it: --group-add reaches only the first process"
    ),
    "mend": (
        "Make abc a member of the node's group inside, in a script of /custom-cont-init.d so that it stays, then"
        " restart the container; newer releases of most of these images do it at their start (take the newest)."
    ),
    "commands": (
        "docker exec NAME sh -c 'G=$(stat -c %g /dev/dri/renderD128); getent group $G || groupadd -g $G hostrender;"
        " usermod -aG $(getent group $G | cut -d: -f1) abc'\ndocker restart NAME"
    ),
}


def _of_linuxserver(question: Question) -> bool:
    """Say whether this is a container of linuxserver.io, whose programs run as abc."""
    container, system = question.facts.container, question.facts.system
    image = container.details.get("image", "") if container else ""
    return "linuxserver/" in image or (system is not None and system.user == "abc")


def check_session(question: Question) -> CheckAnswer | None:
    """Look for a group that the user has joined, but not this session."""
    system, closed = question.facts.system, _closed(question)
    if system is not None and not closed and _joined_unseen(question):
        return CheckAnswer(
            "fail", f"{system.user} is in the GPU's group in /etc/group and not in this session's groups"
        )
    if system is None or not closed:
        return None
    late = [node for node in closed if node.gid in system.joined and node.gid not in system.groups]
    if not late:
        return None
    return CheckAnswer(
        weight(question), f"{system.user} is in group {_group(question, late[0])}; this session began before"
    )


def _joined_unseen(question: Question) -> bool:
    """Say whether this session lacks a group that was joined, where nothing works and nobody told of the nodes."""
    facts = question.facts
    if facts.system is None or not _applies(question) or facts.is_told("hardware.nodes") or not fails(facts):
        return False
    return bool(facts.system.groups) and not set(facts.system.joined) <= set(facts.system.groups)


def check_render_group(question: Question) -> CheckAnswer | None:
    """Try the nodes; a group that was joined counts only in sessions that began afterwards."""
    user = question.facts.system.user if question.facts.system else "$USER"
    if _applies(question) and (alone := _root_alone(question)):
        return CheckAnswer(weight(question), f"programs list {alone} to root and no GPU to this user", {"user": user})
    if not _applies(question) or not nodes(question):
        return None
    closed = _closed(question)
    if closed:
        seen = ", ".join(f"{node.path} belongs to group {_group(question, node)}" for node in closed)
        words = {"user": user, **_of_group(_group(question, closed[0]), user)}
        return CheckAnswer(weight(question), f"{user} may not open it: {seen}", words)
    return CheckAnswer("ok", f"{user} may open it", {"user": user})


def _of_group(group: str, user: str) -> dict[str, str]:
    """Give what mends a node of a group that is neither render nor video: root's own, or one of a maker of devices."""
    if group == "root":
        mend = (
            "On the host give it a group at each start: a udev rule (SUBSYSTEM=='drm', KERNEL=='renderD*',"
            " GROUP='render', MODE='0660'), or where the system has none a task at start with chmod 666. Nobody should"
            " join the group root for it."
        )
        means = "The node belongs to root's own group, as no udev rule gives it another: only root may open it"
        return {"means": means, "mend": mend, "commands": "sudo chmod 666 /dev/dri/renderD128"}
    if not group.isidentifier() or group in ("render", "video", "nogroup", "nobody"):
        return {}
    means = f"Here the node's group is {group}, and {user} is no member of it"
    mend = "Then log out and in again; a container's user wants the number of that group (group_add), as names differ."
    commands = f"sudo usermod -aG {group} {user} || sudo synogroup --memberadd {group} {user}\ngetent group {group}"
    return {"means": means, "mend": mend, "commands": commands}


def _root_alone(question: Question) -> str:
    """Give a GPU that programs list to root and not to the user, where neither a group nor a variable tells why."""
    userland, system = question.facts.userland, question.facts.system
    joined = system is not None and system.named.get("render") in system.joined
    found = userland.as_root if userland else []
    return "" if joined or not found or variable(question, "OCL_ICD_VENDORS") else found[0]


def _group(question: Question, node: Node) -> str:
    """Give a node's group by its number, or by its name where the number was not told."""
    named = {number: name for name, number in (question.facts.system.named if question.facts.system else {}).items()}
    return named.get(node.gid, "?") if node.gid >= 1 << 31 else str(node.gid)


def check_free_memory(question: Question) -> CheckAnswer | None:
    """Look for torch's complaint that the driver does not tell how much memory is free."""
    torch = question.facts.torch
    if torch is None or torch.report is None:
        return None
    lines = [line for line in torch.report.messages if FREE_MEMORY in line]
    return CheckAnswer("info", lines[0]) if lines else None
