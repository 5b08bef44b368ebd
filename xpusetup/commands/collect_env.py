"""doctor --collect-env: a report in the form of PyTorch's collect_env, with what that lacks of an Intel GPU. Pure.

The form and its words are those of torch/utils/collect_env.py; what was not seen is N/A there, as it has it.
"""

import re
from collections.abc import Iterator

from xpusetup.config.toolkit import PRODUCTS
from xpusetup.machine.facts import Facts
from xpusetup.machine.gpus import GpuTable

ABSENT, FAILED = "N/A", "Could not collect"
PACKAGE = re.compile(r"level-zero|libze|igc|igdgmm|gmmlib|opencl|compute-runtime|ocloc|-dkms|firmware|xpu-smi")
"""What belongs to the driver, by parts of its name."""
TROUBLE = re.compile(r"(?i)error|fail|wedged|hang|reset|timed? ?out|firmware")
MOST = 20
"""Maximum number of kernel messages in the report."""


def make_report(facts: Facts, gpus: GpuTable) -> str:
    """Give the report; nothing in it is hidden yet."""
    parts = (_torch(facts), _system(facts), _python(facts), _gpus(facts, gpus), _more(facts), _libraries(facts))
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _torch(facts: Facts) -> Iterator[str]:
    torch = facts.torch
    version = torch.version if torch else None
    yield "Collecting environment information..."
    yield f"PyTorch version: {version or ABSENT}"
    yield f"Is debug build: {ABSENT}"
    yield f"CUDA used to build PyTorch: {(torch.cuda if torch else None) or None}"
    yield f"ROCM used to build PyTorch: {ABSENT}"


def _system(facts: Facts) -> Iterator[str]:
    system = facts.system
    yield f"OS: {system.name} ({system.machine})" if system else f"OS: {ABSENT}"
    for title, name in (("GCC", "gcc"), ("Clang", "clang"), ("CMake", "cmake")):
        tool = facts.tool(name)
        yield f"{title} version: {(tool.version if tool else None) or FAILED}"
    yield f"Libc version: {ABSENT}"


def _python(facts: Facts) -> Iterator[str]:
    python, system = facts.python, facts.system
    yield f"Python version: {python.version if python else ABSENT} (64-bit runtime)"
    yield f"Python platform: Linux-{system.kernel}-{system.machine}" if system else f"Python platform: {ABSENT}"


def _gpus(facts: Facts, gpus: GpuTable) -> Iterator[str]:
    torch, userland = facts.torch, facts.userland
    report = torch.report if torch else None
    packages = (userland.packages or {}) if userland else {}
    yield f"Is XPU available: {ABSENT if report is None or report.available is None else report.available}"
    yield f"XPU used to build PyTorch: {(torch.xpu if torch else None) or ABSENT}"
    yield "Intel GPU driver version:"
    yield from [f"* {name}:\t{version}" for name, version in packages.items() if PACKAGE.search(name)] or [ABSENT]
    yield "Intel GPU models onboard:"
    found = [gpu for gpu in (facts.hardware.gpus if facts.hardware else []) if gpu.vendor == "8086"]
    titles = {gpu.address: product.title() for gpu in found if (product := gpus.find(gpu.vendor, gpu.device))}
    yield from [f"* {titles.get(gpu.address, 'Intel GPU')} [0x{gpu.device}]" for gpu in found] or [ABSENT]
    yield "Intel GPU models detected:"
    yield from [f"* [{place}] {name}" for place, name in enumerate(report.devices if report else [])] or [ABSENT]


def _more(facts: Facts) -> Iterator[str]:
    """Give what collect_env does not ask: kernel driver, firmware, Level Zero, SYCL, oneAPI, variables."""
    kernel, userland = facts.kernel, facts.userland
    yield "Intel GPU details (xpusetup):"
    yield f"Kernel: {kernel.release if kernel else ABSENT}"
    for gpu in facts.hardware.gpus if facts.hardware else []:
        window = f", window {gpu.bar >> 20} MiB" if gpu.bar else ""
        yield f"PCI {gpu.address} [{gpu.vendor}:{gpu.device}] kernel driver in use: {gpu.driver or 'none'}{window}"
    for node in facts.hardware.nodes if facts.hardware else []:
        yield f"Node {node.path}, {'may be opened' if node.openable else 'may not be opened'}"
    yield from _level_zero(facts)
    yield from userland.sycl or [] if userland else []
    for kit in facts.toolkits.found if facts.toolkits else []:
        title = PRODUCTS[kit.kind].title if kit.kind in PRODUCTS else kit.kind
        yield f"{title} {kit.version or 'of an unknown version'} in {kit.root}"
    yield from [f"{name}={value}" for name, value in sorted((facts.environment or {}).items())]
    said = [line for line in (kernel.messages or []) if TROUBLE.search(line)] if kernel else []
    yield from [f"kernel: {line}" for line in said[-MOST:]]


def _level_zero(facts: Facts) -> Iterator[str]:
    ladder = facts.userland.level_zero if facts.userland else None
    if ladder is None:
        yield f"Level Zero: {ABSENT}"
        return
    init = "not reached" if ladder.init is None else f"{ladder.init:#x}"
    yield f"Level Zero: loader {ladder.loader or 'not found'}, zeInit {init}, {len(ladder.devices)} device(s)"
    if ladder.error:
        yield f"Level Zero error: {ladder.error}"
    for device in ladder.devices:
        yield f"Level Zero device: {device.name}, driver {device.driver_version}, memory {device.memory}"


def _libraries(facts: Facts) -> Iterator[str]:
    found = facts.torch.distributions if facts.torch else {}
    yield "Versions of relevant libraries:"
    yield from [f"[pip3] {name}=={version}" for name, version in found.items()] or [ABSENT]
