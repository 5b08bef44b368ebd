"""Facts from what was pasted: what was told is taken, and all else is marked as not told. Pure."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from xpusetup.base.document import read_as
from xpusetup.machine.facts import NOT_HANDED, NOT_TOLD, SEEN_ELSEWHERE, VGA_ALONE, Facts
from xpusetup.machine.gpus import GpuTable
from xpusetup.machine.parsers import parse_blacklist
from xpusetup.machine.versions import DRIVER_PACKAGES, LEVEL_ZERO_ALONE
from xpusetup.paste.hardware import hardware_of, of_sycl
from xpusetup.paste.lines import CONTAINER, Pasted
from xpusetup.paste.others import gaudi_of
from xpusetup.paste.pytorch import find_environment
from xpusetup.paste.reader import read_pasted
from xpusetup.paste.system import system_of, take_collected

SYSTEM, CARDS, ACCESS = "cat /etc/os-release; uname -r", "lspci -nnk", "id; ls -l /dev/dri /dev/dri/by-path"
DEVICES, TORCH = "sycl-ls", "python -m torch.utils.collect_env"
MESSAGES = "sudo dmesg | grep -iE 'i915|xe |guc|drm'"
SAVE = "xpusetup doctor --save FILE"
DECIDE = (SYSTEM, CARDS, ACCESS, DEVICES, TORCH, MESSAGES)
"""What tells the common causes of a GPU that is not found apart: kernel, card and driver, rights, Level Zero, torch."""
PARTS: dict[str, str] = {
    "system": SYSTEM,
    "system.groups": ACCESS,
    "hardware.gpus": CARDS,
    "hardware.driver": CARDS,
    "hardware.bar": "lspci -vv",
    "hardware.nodes": ACCESS,
    "hardware.access": ACCESS,
    "kernel": SYSTEM,
    "kernel.messages": MESSAGES,
    "kernel.firmware": "ls /lib/firmware/xe /lib/firmware/i915",
    "kernel.modules": "lsmod | grep -E '^(i915|xe) '",
    "kernel.cmdline": "cat /proc/cmdline",
    "userland.packages": "dpkg -l || rpm -qa || pacman -Q",
    "userland.libraries": "ldconfig -p",
    "userland.level_zero": DEVICES,
    "userland.sycl": DEVICES,
    "userland.clinfo": "clinfo -l",
    "userland.opencl": "clinfo -l",
    "userland.headers": "ls /usr/include/level_zero",
    "container": SAVE,
    "torch": TORCH,
    "torch.build": TORCH,
    "torch.distributions": "pip list",
    "torch.report": "python -c 'import torch; print(torch.xpu.is_available())'",
    "torch.conflicts": SAVE,
    "torch.misfits": SAVE,
    "environment": "env",
    "toolkits": SAVE,
    "tools": SAVE,
    "python": TORCH,
    "resources": SAVE,
    "network": SAVE,
    "caches": SAVE,
    "tree": SAVE,
    "gaudi": SAVE,
    "ascend": SAVE,
}
"""The parts of facts that can be told or not, and what to paste so that they are."""
NOT_BUILT = "not compiled with XPU"
OF_CUDA = ("nvidia-cuda-runtime", "nvidia-cublas", "nvidia-cudnn")
"""Packages that a torch for CUDA brings."""
OF_CUDA_ALONE = re.compile(r"Found no NVIDIA driver on your system|No CUDA GPUs are available")
"""What a torch for CUDA alone says, where it has no GPU."""
PLAIN = re.compile(r"\d+\.\d+\.\d+")
"""The version of a wheel from PyPI; those for XPU and those built from source have more behind it."""
NOT_NAMED = "of an unknown version"
ZE = {"ZE_RESULT_ERROR_UNINITIALIZED": 0x78000001, "ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE": 0x70020000}
OWN_BUILD = re.compile(
    r"\bi915-dkms\b|\bi915[/,]\S* .*: installed|\bi915\b.{0,40}\bback-?port|\bback-?port.{0,40}\bi915\b"
)
"""Words that tell of Intel's own i915, which serves GPUs that are newer than the kernel."""
DENIED = re.compile(r"(?i)\b(?:no|not|without|missing|should|need\w*|install|remov\w+|uninstall\w*|un)\b|n't\b|\?")
LOADING = re.compile(
    r"(?:Import|OS|ModuleNotFound)Error: (?!No module named .torch(?!gen)\w).*"
    r"(?:\.so\b|torch|undefined symbol|GLIBC|LIBUR|version `|\.dll)"
    r"|Failed to load the backend",
)
"""Errors at which `import torch` ends: it imports torchvision, torchaudio and the like nowhere."""
WARNED = re.compile(
    r"(?:XPU|DPCPP) [Dd]evice count is zero|No XPU devices are available"
    r"|Failed to initialize XPU devices|free memory|Can't initialize Level Zero"
)


@dataclass(frozen=True)
class PasteReport:
    """From what was judged: how many lines of each kind, and what was not recognised."""

    kinds: tuple[tuple[str, int], ...]
    lines: int
    unread: int
    examples: tuple[str, ...]
    errors: tuple[str, ...]


def facts_from_paste(
    texts: Collection[str],
    taken: str,
    table: GpuTable,
    watched: Collection[str],
) -> tuple[Facts, PasteReport]:
    """Read what was pasted. `taken` is now; `watched` are the variables of the environment that may be kept."""
    got = read_pasted(texts, watched)
    _read_collected(got)
    sections = {
        "system": system_of(got),
        "hardware": hardware_of(got, table),
        "kernel": _kernel(got),
        "userland": _userland(got),
        "container": _container(got),
        "gaudi": gaudi_of(got.everything),
        "torch": _torch(got),
        "environment": got.variables or ({} if "environment" in got.told else None),
    }
    told = got.told | _implied(got, sections)
    notes = {part: NOT_TOLD for part in PARTS if part not in told}
    if "hardware.gpus" in told and got.displays == "vga" and all(gpu.vendor != "8086" for gpu in got.gpus):
        notes["hardware.gpus"] = VGA_ALONE
    facts = read_as(Facts, {"schema": 1, "taken": taken, **sections, "notes": notes, "refused": _refused(got)})
    kinds = tuple(sorted(got.kinds.items(), key=lambda pair: -pair[1]))
    return facts, PasteReport(kinds, got.lines, got.left, tuple(got.unread), tuple(got.errors))


REFUSED = re.compile(
    r"\b0xC0000005\b|\bSegmentation fault\b|\bLLVM ERROR\b|\bAborted \(core dumped\)"
    r"|\b(?:ZE|UR|PI)_(?:RESULT_)?ERROR_(?!UNSUPPORTED_FEATURE)\w+|\bNative API failed\b"
)


def _refused(got: Pasted) -> str:
    """Return the first line by which a program says that the driver refused it; empty without one."""
    return next((line.strip()[:200] for line in got.everything if REFUSED.search(line)), "")


def _read_collected(got: Pasted) -> None:
    """Take what collect_env says over to where other tools say the same."""
    said = got.collected
    if "os" in said and "PRETTY_NAME" not in got.release:
        take_collected(got, said["os"])
    if found := re.match(r"Linux-(\d+\.\d[\w.+-]*?)-(x86_64|aarch64)", said.get("platform", "")):
        got.kernel, got.machine = got.kernel or found[1], got.machine or found[2]
        got.told.update(("system", "kernel"))
    if re.match(r"\d+\.\d", said.get("torch", "")):
        got.distributions["torch"] = said["torch"]
    if said.get("available") in ("True", "False"):
        got.available = said["available"] == "True"
    for name, package in (
        ("icd", "intel-opencl-icd"),
        ("level_zero", "level-zero"),
        ("ipex", "intel-extension-for-pytorch"),
    ):
        if re.match(r"\d", said.get(name, "")):
            (got.distributions if name == "ipex" else got.packages).setdefault(package, said[name].split()[0])


# The kernel, the driver in user space, where this runs, and PyTorch.


def _kernel(got: Pasted) -> dict[str, Any] | None:
    if not any((got.kernel, got.messages, got.cmdline, got.modules, got.blacklisted)):
        return None
    return {
        "release": got.kernel or "0",
        "cmdline": got.cmdline,
        "modules": got.modules,
        "blacklisted": _barred(got),
        "dkms": ["i915"] if any(OWN_BUILD.search(line) and not DENIED.search(line) for line in got.everything) else [],
        "messages": got.messages or ([] if "kernel.messages" in got.told else None),
        "firmware": None,
        "claims": None,
    }


def _barred(got: Pasted) -> list[str]:
    """Give the drivers that modprobe.d or the command line keep from loading."""
    off = [name for name in ("i915", "xe") if re.search(rf"\b{name}\.(?:modeset=0|disable=1)\b", got.cmdline)]
    return [*got.blacklisted, *off, *parse_blacklist((), got.cmdline, ("i915", "xe"))]


def _userland(got: Pasted) -> dict[str, Any] | None:
    if got.said_driver and not any(name in got.packages for name in DRIVER_PACKAGES):
        got.packages["intel-compute-runtime"] = got.said_driver
    there = (
        got.packages,
        got.broken,
        got.libraries,
        got.sycl,
        got.clinfo,
        got.seen,
        got.init,
        got.no_platform,
        got.lacks,
        got.told & {"userland.sycl"},
    )
    if not any(there) and _loader_error(got) == "" and got.available is None:
        return None
    return {
        "packages": got.packages if got.packages or "userland.packages" in got.told else None,
        "broken": got.broken,
        "libraries": got.libraries or None,
        "level_zero": _ladder(got),
        "sycl": got.sycl if "userland.sycl" in got.told else None,
        "clinfo": got.clinfo or ([] if got.no_platform else None),
        "opencl": {},
        "as_root": got.as_root,
        "lacking": got.lacks,
    }


def _loader_error(got: Pasted) -> str:
    return next((line for line in got.errors if "libze_loader.so" in line and "cannot open" in line), "")


def _ladder(got: Pasted) -> dict[str, Any] | None:
    """Give how far Level Zero gets: what lists a device by it has climbed all of it."""
    listed = [of_sycl(line) for line in got.sycl if "level_zero:gpu" in line] or (
        got.seen if got.available is not False else []
    )
    if listed:
        return {"init": 0, "drivers": 1, "devices": [{"name": name.strip(" ,"), "kind": "gpu"} for name in listed]}
    if error := _loader_error(got):
        return {"error": error}
    if got.init:
        code = ZE.get(got.init) or (int(got.init, 16) if got.init.startswith("0x") else 0)
        return {"init": code, "drivers": None if code else 1}
    aborts = [line for line in got.sycl if not line.startswith("[")]
    if aborts:
        return {"error": f"a program that uses the driver ends with: {aborts[0]}"}
    if "userland.sycl" in got.told and not _is_riddle(got):
        return {"error": "sycl-ls lists no GPU of Level Zero"}
    return None


def _is_riddle(got: Pasted) -> bool:
    """Say whether OpenCL lists a GPU and Level Zero's driver is installed too: what it lacks is not told then."""
    return got.lists_gpu("opencl") and any(name in got.packages for name in LEVEL_ZERO_ALONE)


WSL = re.compile(r"^c[rwx-]{9}.*\s/dev/dxg$|^WSL version: |\bmicrosoft-standard-WSL2")
"""What is only there under WSL2."""


OF_LXC = re.compile(
    r"\bpct (?:enter|exec|set|config|start|reboot)\b|/etc/pve/lxc/\d|\blxc-(?:attach|start)\b"
    r"|\b(?:lxc|incus) (?:exec|config|shell)\b"
)
"""Commands and files by which a container is one of LXC, Incus or Proxmox."""
COMPOSE = re.compile(r"\bdocker[- ]compose\b.* (?:up|run|exec|config)\b|\b(?:docker-)?compose\.ya?ml\b")
"""Words by which a container is one of Docker Compose."""


def _container(got: Pasted) -> dict[str, Any] | None:
    shown = any(WSL.search(line) for line in got.everything)
    wsl = "microsoft" in got.kernel.lower() or "/dev/dxg" in got.lost or shown
    wanted = "/dev/dxg" if wsl else "/dev/dri"
    if got.inside == "container" and any("kubectl exec" in line for line in got.everything):
        return {"kind": "kubernetes"}
    inside = got.inside == "container" or bool(CONTAINER.fullmatch(got.host))
    lost = got.handed is not None and not any(path.startswith(wanted) for path in got.handed)
    if inside or lost or got.image:
        details = {"image": got.image} if got.image else {}
        details |= {"compose": "yes"} if got.kinds["compose"] or any(map(COMPOSE.search, got.everything)) else {}
        by_docker = any(re.search(r"\b(?:docker|podman)[ -](?:exec|run|compose|ps)\b", line) for line in got.everything)
        by_lxc = got.by_lxc or (not by_docker and any(map(OF_LXC.search, got.everything)))
        kind = "lxc" if by_lxc and not got.starts and not got.image else got.starts or "docker"
        return {"kind": kind, "details": {**details, **({wanted: NOT_HANDED} if lost else {})}}
    if wsl:
        return {"kind": "wsl2", "details": {"/dev/dxg": "not there"} if "/dev/dxg" in got.lost else {}}
    return {"kind": "lxc"} if got.by_lxc else None


def _torch(got: Pasted) -> dict[str, Any] | None:
    said = [line for line in got.errors if WARNED.search(line) or NOT_BUILT in line or OF_CUDA_ALONE.search(line)]
    version = got.distributions.get("torch")
    asked = got.available is not None or got.count is not None
    conflicts = _conflicts(got)
    if not any((version, got.distributions, asked, _loading(got), said, conflicts)):
        return None
    if got.collected.get("cuda_available") == "True" and not said and not _has_none(got) and not conflicts:
        return None
    version = version or (NOT_NAMED if said or _is_for_others(got) else None)
    build = _build(got, version or "")
    home = _prefix(conflicts[0]["first"]) if conflicts else find_environment(got.everything)
    return {
        "python": "python",
        "prefix": home,
        "kind": "conda" if CONDA.search(f"{home}/") else "venv",
        "distributions": got.distributions,
        "version": version,
        "xpu": build.get("xpu"),
        "cuda": build.get("cuda"),
        "conflicts": conflicts or None,
        "replaced": got.replaced,
        "report": _report(got, version, build),
    }


CONDA = re.compile(r"(?i)/(?:\w*conda\w*|\w*mamba\w*|miniforge\w*|envs)/")


OF_ENVIRONMENT = re.compile(r"(?<!\S)(/\S{0,200}?(?:/envs/[\w.-]+|/(?:\w*conda3?|miniforge3?|\w*mamba)))/(?:lib|bin)/")
"""A path in an environment of conda."""


def _conflicts(got: Pasted) -> list[dict[str, Any]]:
    """Give the C++ libraries of an environment that lack what others ask for; the system's own are none."""
    home = next((found[1] for line in got.everything if (found := OF_ENVIRONMENT.search(line))), "")
    full = [(re.sub(r"^\.\.(?:/\.\.)*", f"{home}/lib" if home else "", a), n, b) for a, n, b in got.lacking_cxx]
    mine = [each for each in full if _prefix(each[0]) not in ("", "/usr")]
    return [
        {"kind": "version", "level": "fail", "library": b, "names": [n], "count": 1, "first": a} for a, n, b in mine
    ]


def _prefix(library: str) -> str:
    """Give the environment to which a library belongs."""
    return re.split(r"/(?:lib|bin)/", library, maxsplit=1)[0]


def _build(got: Pasted, version: str) -> Mapping[str, str]:
    """Say for what a torch was built: by its own words, its version, or what is beside it. Empty: not told."""
    said, local = got.collected, version.partition("+")[2]
    there = got.distributions
    xpu = said.get("xpu", "") if re.match(r"\d", said.get("xpu", "")) else "yes"
    cuda = said.get("cuda", "") if re.match(r"\d", said.get("cuda", "")) else ""
    rules: tuple[tuple[bool, str, str], ...] = (
        (said.get("compiled") == "False", "", cuda),
        (local.startswith("cu"), "", cuda or f"{local[2:-1]}.{local[-1:]}"),
        (local.startswith("cpu"), "", ""),
        (xpu != "yes" or local.startswith(("xpu", "cxx11")) or bool(got.described and version), xpu, ""),
        (bool(cuda), "", cuda),
        (bool({"intel-sycl-rt", "triton-xpu", "pytorch-triton-xpu"} & set(there)), xpu, ""),
        (got.available is not True and any(name.startswith(OF_CUDA) for name in there), "", "yes"),
        (any(NOT_BUILT in line for line in got.errors), "", ""),
        (got.available is not True and any(map(OF_CUDA_ALONE.search, got.errors)), "", "yes"),
        (any(WARNED.search(line) for line in got.errors), xpu, ""),
        ("conda" in said and got.available is not True, "", "yes" if said.get("conda") == "cuda" else ""),
        (bool(PLAIN.fullmatch(version)) and _has_none(got) and "intel-extension-for-pytorch" not in there, "", ""),
    )
    return next(({"xpu": xpu, "cuda": cuda} for holds, xpu, cuda in rules if holds), {})


def _is_for_others(got: Pasted) -> bool:
    """Say whether torch told for what it was built, and not its version."""
    return re.match(r"\d", got.collected.get("cuda", "")) is not None


def _has_none(got: Pasted) -> bool:
    """Say whether torch was asked for a device and has none."""
    return got.available is False or (got.available is None and got.count == 0)


def _loading(got: Pasted) -> str:
    return next((line for line in got.errors if LOADING.search(line)), "")


def _report(got: Pasted, version: str | None, build: Mapping[str, str]) -> dict[str, Any] | None:
    messages = [line for line in got.errors if WARNED.search(line)]
    error = _loading(got) if got.available is not True else ""
    imported = "imported" in got.collected and not messages
    if got.available is None and got.count is None and not messages and not error and not imported:
        return None
    asked = None if error or (imported and got.count is None) else bool(got.count)
    return {
        "error": error,
        "messages": messages,
        "seconds": 0.0,
        "version": version,
        "compiled": bool(build["xpu"]) if build else None,
        "available": got.available if got.available is not None else asked,
        "count": len(got.seen) or got.count or (1 if got.available else 0),
        "devices": got.seen,
    }


def _implied(got: Pasted, sections: Mapping[str, Any]) -> set[str]:
    """Give the parts that are known from others."""
    told: set[str] = {name for name in ("system", "kernel", "torch", "container", "gaudi") if sections[name]}
    if not got.release or not got.kernel:
        told.discard("system")
    if not got.kernel:
        told.discard("kernel")
    hardware, userland, torch = sections["hardware"], sections["userland"], sections["torch"]
    if hardware and any(gpu["vendor"] == "8086" for gpu in hardware["gpus"]):
        told.add("hardware.gpus")
        told |= {"hardware.driver"} if all(gpu["driver"] != SEEN_ELSEWHERE for gpu in hardware["gpus"]) else set()
        told |= {"hardware.bar"} if all(gpu.get("bar") for gpu in hardware["gpus"]) else set()
    if got.nodes and ("system.groups" in got.told or all(node.mode[7:9] == "rw" for node in got.nodes.values())):
        told.add("hardware.access")
    if userland:
        told |= {"userland"} | ({"userland.level_zero"} if userland["level_zero"] else set())
        told |= {"userland.libraries"} if got.libraries and not got.filtered else set()
    if torch:
        told |= {"torch.build"} if torch["xpu"] is not None else set()
        told |= {"torch.report"} if torch["report"] else set()
    return told
