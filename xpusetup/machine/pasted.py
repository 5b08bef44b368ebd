"""What people paste into a thread, line by line: which tool wrote each line, and what it tells. Pure.

Outputs of any tools stand in any order, with prompts, quotes and fences around them, whole or cut. Each line is judged
by itself as far as that goes, with the last command that was typed for what looks the same in several tools.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xpusetup.machine import paste_lines as lines
from xpusetup.machine.parsers import (
    ABOUT,
    DISTRIBUTIONS,
    PACKAGES,
    SECRET,
    parse_clinfo,
    parse_ldconfig,
    parse_messages,
    parse_sycl_ls,
)
from xpusetup.machine.paste_lines import COLLECT, Pasted, PastedGpu, PastedNode, clean_lines

if TYPE_CHECKING:
    from collections.abc import Collection


SMALL = 256 << 20
"""Bytes of the window that cards have without Resizable BAR."""


class Reader:
    """Reads lines one after the other; what it has read is in `got`."""

    def __init__(self, watched: Collection[str]) -> None:
        """Begin. `watched` are the variables of the environment that may be kept."""
        self.got = Pasted()
        self.watched = frozenset(watched)
        self.command = ""
        self.gpu: PastedGpu | None = None
        self.clinfo: list[str] = []
        self.after = ""
        self.bus = 0
        self.said = 0
        self.shown: set[str] = set()

    def read(self, text: str) -> None:
        """Read one thing that was pasted, from its first line to its last."""
        self.command, self.gpu, self.after = "", None, ""
        for line in clean_lines(text):
            if not line.strip():
                continue
            self.got.lines += 1
            kind = self._read_line(line) or self._mentioned(line)
            if kind:
                self.got.kinds[kind] += 1
            else:
                self.got.left += 1
                self._keep(self.got.unread, line.strip()[:160], 40)
        self._end()

    def _keep(self, those: list[str], value: str, most: int = lines.MOST) -> None:
        if len(those) < most and value not in those:
            those.append(value)

    def _end(self) -> None:
        """Take over what is only known once all lines are read."""
        if self.clinfo:
            self.got.clinfo.extend(each for each in parse_clinfo("\n".join(self.clinfo)) if each not in self.got.clinfo)
            self.clinfo = []
        if self.bus >= lines.WHOLE_BUS:
            self.got.told.add("hardware.gpus")
        if self.got.listed >= lines.WHOLE_LIST:
            self.got.told.add("userland.packages")

    def _mentioned(self, line: str) -> str:
        """Take what is named in running text: ids and names of GPUs, a release of the driver."""
        forms = (lines.FORCED, lines.PCI_ID, lines.TITLE, lines.NEO)
        return "text" if len(line) < lines.PROSE and any(form.search(line) for form in forms) else ""

    def _note_names(self, line: str) -> None:
        for module, device in lines.FORCED.findall(line):
            self._keep(self.got.named, f"[0x{device.lower()}]")
            self.got.said_module = self.got.said_module or module
        for device in lines.PCI_ID.findall(line):
            self._keep(self.got.named, f"[0x{device.lower()}]")
        for title in lines.TITLE.findall(line):
            self._keep(self.got.named, title)
        if found := lines.NEO.search(line):
            self.got.said_driver = self.got.said_driver or found[1]

    def _read_line(self, line: str) -> str:
        if len(line) < lines.PROSE:
            self._note_names(line)
        readers = (
            *(self._typed, self._sycl, self._device, self._kernel_said, self._pci, self._node, self._identity),
            *(self._release, self._opencl, self._smi, self._vulkan, self._torch, self._variable, self._library),
            *(self._loaded, self._field, self._package, self._error),
        )
        return next((kind for reader in readers if (kind := reader(line))), "")

    # What was typed.

    def _typed(self, line: str) -> str:
        if line.startswith(lines.PYTHON):
            self.command = line[len(lines.PYTHON) :]
            return "python"
        found = lines.TYPED.match(line) or lines.ROOT.match(line)
        if found is None:
            return ""
        words = found["command"].removeprefix("sudo ").split()
        if "host" not in found.groupdict() and (not words or words[0] not in lines.TOOLS):
            return ""
        self.command, self.gpu, self.after = " ".join(words), None, ""
        self.got.host = found.groupdict().get("host") or self.got.host
        if words and words[0] in ("env", "printenv") and len(words) == 1:
            self.got.told.add("environment")
        if words and words[0] == "sycl-ls":
            self.got.told.add("userland.sycl")
        return "commands"

    # What lines.SYCL, Level Zero, OpenCL and Vulkan list.

    def _sycl(self, line: str) -> str:
        found = lines.SYCL.search(line)
        if found is not None:
            told = lines.NUMBERED.sub(r"[\1:\2][\1:\3]", line[found.start() :].replace("[ext_oneapi_", "["))
            for each in parse_sycl_ls(told):
                self._keep(self.got.sycl, each)
            self.got.told.add("userland.sycl")
            return "sycl-ls"
        if lines.ABORT.search(line):
            self._keep(self.got.sycl, line[lines.ABORT.search(line).start() :].strip())  # type: ignore[union-attr]
            self.got.told.add("userland.sycl")
            return "aborts"
        if found := lines.CODE.search(line):
            self.got.init = found[1] or "ZE_RESULT_ERROR_UNINITIALIZED"
            return "level zero"
        return ""

    def _device(self, line: str) -> str:
        found = lines.DEVICE.search(line)
        if found is None:
            return ""
        if (found[3] or "gpu") == "gpu":
            device = re.search(r"device_id=(0x[0-9A-Fa-f]{1,4})\b", line)
            if line not in self.shown:
                self.shown.add(line)
                self.got.seen.append(f"{found[1]} [{device[1].lower()}]" if device else found[1])
        return "torch.xpu"

    def _opencl(self, line: str) -> str:
        if not lines.OPENCL.match(line):
            return ""
        self.got.told.update(("userland.clinfo", "userland.opencl"))
        name, _, value = line.strip().partition("  ")
        if name in ("Platform Name", "Device Name") and value.strip():
            line = f"{name.split()[0]} #0: {value.strip()}"
        if "#" in line and len(self.clinfo) < lines.MOST:
            self.clinfo.append(line.lstrip(" `'-"))
        return "clinfo"

    def _smi(self, line: str) -> str:
        if lines.NONE_FOUND.search(line):
            self._keep(self.got.errors, line.strip())
            self.got.init = self.got.init or "none"
            return "xpu-smi"
        found = lines.PROPERTY.match(line)
        if found is None:
            return ""
        if found[1] == "Device Name":
            self.gpu = PastedGpu(name=found[2])
            self._keep(self.got.seen, found[2])
        return "xpu-smi"

    def _vulkan(self, line: str) -> str:
        found = lines.VULKAN.match(line)
        if found is None:
            return ""
        if found[1] == "vendorID":
            self.after = found[2]
        if found[1] == "deviceID" and self.after == "0x8086":
            self._keep(self.got.onboard, f"[{found[2].lower()}]")
        return "vulkaninfo"

    # What the kernel shows: devices, nodes, messages, modules.

    def _pci(self, line: str) -> str:
        if found := lines.OWN.match(line):
            window = int(found[5]) << 20 if found[5] else None
            driver = None if found[4] == "none" else found[4]
            kind = "030000" if found[2] == "8086" else "120000"
            self.got.gpus.append(PastedGpu(found[1], found[2], found[3], "", kind, driver, window, detailed=True))
            return "lspci"
        found = lines.SLOT.match(line)
        if found is not None:
            self.bus += 1
            self.gpu = self._make_gpu(found) if self._is_display(found) else None
            return "lspci"
        if self.gpu is None:
            return "lspci" if lines.DRIVES.match(line) or lines.MODULES.match(line) else ""
        return self._detail(self.gpu, line)

    def _is_display(self, found: re.Match[str]) -> bool:
        return bool(re.match(r"VGA|3D|Display|Processing acc", found[3]))

    def _make_gpu(self, found: re.Match[str]) -> PastedGpu:
        ids = lines.IDS.findall(found[5].lower())
        intel = "Intel" in found[5]
        vendor, device = ids[-1] if ids else ("8086" if intel else "0000", "")
        kind = {"VGA": "030000", "3D ": "030200", "Dis": "038000", "Pro": "120000"}[found[3][:3]]
        address = f"{found[1] or '0000'}:{found[2]}"
        gpu = PastedGpu(address, vendor, device, found[5], kind)
        if all(each.address != address for each in self.got.gpus) and len(self.got.gpus) < lines.MOST:
            self.got.gpus.append(gpu)
        return next((each for each in self.got.gpus if each.address == address), gpu)

    def _detail(self, gpu: PastedGpu, line: str) -> str:
        if found := lines.DRIVES.match(line):
            gpu.driver, gpu.detailed = found[1], True
        elif lines.MODULES.match(line):
            gpu.detailed = True
        elif found := lines.WINDOW.search(line):
            gpu.bar = max(gpu.bar or 0, int(found[1]) * lines.UNITS[found[2]])
        elif not re.match(r"^\s+(?:Subsystem|DeviceName|Flags|Capabilities|Memory|Region|Expansion|Physical)", line):
            return ""
        return "lspci"

    def _node(self, line: str) -> str:
        if found := lines.CLOSED.search(line):
            path = found[1] or found[2]
            self.got.nodes.setdefault(path, PastedNode(path)).closed = True
            self.got.told.update(("hardware.nodes", "hardware.access"))
            return "/dev/dri"
        if lines.NO_NODES.search(line):
            self.got.told.add("hardware.nodes")
            return "/dev/dri"
        if found := lines.NODE.match(line):
            self.got.told.add("hardware.nodes")
            if found[6].startswith("renderD"):
                path = f"/dev/dri/{found[6]}"
                self.got.nodes[path] = PastedNode(path, found[1] + found[2], found[4])
            return "/dev/dri"
        if found := lines.BY_PATH.search(line):
            path = f"/dev/dri/{found[2]}"
            self.got.nodes.setdefault(path, PastedNode(path)).address = found[1]
            return "/dev/dri"
        if (
            self.command.startswith("ls")
            and "/dev/dri" in self.command
            and re.match(r"^(?:by-path|card\d|renderD\d|total \d)", line)
        ):
            self.got.told.add("hardware.nodes")
            for name in re.findall(r"\brenderD\d{1,4}\b", line):
                self.got.nodes.setdefault(f"/dev/dri/{name}", PastedNode(f"/dev/dri/{name}"))
            return "/dev/dri"
        return ""

    def _kernel_said(self, line: str) -> str:
        if found := lines.CMDLINE.search(line):
            self.got.cmdline = self.got.cmdline or SECRET.sub(r"\1=***", next(filter(None, found.groups()), found[0]))
            self.got.told.add("kernel.cmdline")
            return "kernel"
        if not lines.SAID.match(line) and not lines.DRIVER_SAID.match(line):
            return ""
        if ABOUT.search(line):
            for each in parse_messages(lines.TIMED.sub("", line)):
                self._keep(self.got.messages, each)
        self.said += 1
        if self.said >= lines.WHOLE_LOG or lines.STARTED.search(line):
            self.got.told.add("kernel.messages")
        if found := lines.SPEAKS.search(line):
            self._found("", found[1], "")
            self._note_words(line, found[1])
        if found := lines.FOUND.search(line):
            self._found(found[1], found[2], found[3])
        return "dmesg"

    def _note_words(self, line: str, address: str) -> None:
        """Take what drivers say of a GPU: a small window to its memory, or that they do not take it."""
        gpu = next((each for each in self.got.gpus if each.address == address), PastedGpu())
        gpu.bar = SMALL if lines.NARROW.search(line) else gpu.bar
        if refused := lines.REFUSED.search(line):
            gpu.device, gpu.detailed = gpu.device or refused[1], True

    def _found(self, driver: str, address: str, device: str) -> None:
        gpu = next((each for each in self.got.gpus if each.address == address), None)
        if gpu is None:
            gpu = PastedGpu(address, device=device)
            self.got.gpus.append(gpu)
        gpu.device = gpu.device or device
        gpu.driver = gpu.driver or driver or None

    def _loaded(self, line: str) -> str:
        found = lines.LOADED.match(line)
        if found is None:
            return ""
        self.got.modules[found[1]] = None
        self.got.told.add("kernel.modules")
        return "lsmod"

    # The system and who asks.

    def _identity(self, line: str) -> str:
        found = lines.IDENTITY.search(line)
        if found is not None:
            self.got.uid, self.got.user = int(found[1]), found[2]
            pairs = re.findall(r"(\d+)\(([^)]*)\)", found[3] or "")
            self.got.groups.update({name: int(number) for number, name in pairs})
            self.got.told.add("system.groups")
            return "id"
        if self.command.partition(" ")[0] in ("groups", "id") and re.fullmatch(r"[\w .:()-]{3,400}", line.strip()):
            names = line.rpartition(":")[2].split()
            self.got.groups.update({name: -1 - number for number, name in enumerate(names)})
            self.got.told.add("system.groups")
            self.command = ""
            return "id"
        return ""

    def _release(self, line: str) -> str:
        if found := lines.RELEASE.match(line.strip()):
            self.got.release.setdefault(found[1], found[2].strip("\"'"))
            return "os-release"
        if found := lines.UNAME.search(line):
            self._set_kernel(found[1], line)
            return "uname"
        if self.command.startswith("uname") and (found := lines.KERNEL.match(line.strip())):
            self._set_kernel(found[1], line)
            return "uname"
        if found := re.search(r"\bLinux version (\d+\.\d+\S*) ", line):
            self._set_kernel(found[1], line)
            return "uname"
        return ""

    def _set_kernel(self, release: str, line: str) -> None:
        self.got.kernel = self.got.kernel or release
        if found := lines.MACHINE.search(line):
            self.got.machine = self.got.machine or found[1]
        self.got.told.update(("system", "kernel"))

    def _set_system(self, value: str) -> str:
        found = lines.DISTRIBUTION.search(value)
        if found is None:
            return ""
        self.got.release.setdefault("PRETTY_NAME", f"{found[1]} {found[2] or ''}".strip())
        self.got.release.setdefault("NAME", found[1])
        self.got.release.setdefault("VERSION_ID", (found[2] or "").rstrip("."))
        return "system"

    # PyTorch and Python.

    def _torch(self, line: str) -> str:
        if found := lines.ANSWERED.search(line):
            self.got.available = found[1].lower() == "true"
            return "torch.xpu"
        if found := lines.COUNTED.search(line):
            self.got.count = int(found[1])
            return "torch.xpu"
        text = line.strip()
        if found := lines.WHEEL.match(text):
            self.got.distributions.setdefault("torch", found[1])
            return "torch.xpu"
        asked = lines.ASKED.findall(self.command)
        if asked and lines.TRUTH.match(text) and "xpu.is_available()" in asked:
            self.got.available = text == "True"
            return "torch.xpu"
        return "torch.xpu" if lines.COLLECTED in line else ""

    def _variable(self, line: str) -> str:
        if lines.SETVARS.search(line):
            self.got.variables.setdefault("SETVARS_COMPLETED", "1")
            return "setvars.sh"
        found = lines.VARIABLE.match(line)
        if found is None:
            return ""
        if found[1] in self.watched:
            self.got.variables.setdefault(found[1], found[2].strip().strip("\"'"))
        return "environment"

    def _library(self, line: str) -> str:
        if not lines.LIBRARY.match(line):
            return ""
        wanted = {line.split(maxsplit=1)[0]}
        self.got.libraries.update(parse_ldconfig(line, wanted))
        return "ldconfig"

    def _field(self, line: str) -> str:
        """Read a report's own lines: a name, a colon, a value."""
        found = lines.FIELD.match(line.rstrip(" |"))
        if found is None:
            return self._onboard(line) or (self._set_system(line) if len(line) < 80 else "")  # noqa: PLR2004 - prose is longer
        name, value = found[1].strip().lower(), found[2].strip()
        if name in COLLECT:
            self.got.collected.setdefault(COLLECT[name], value)
            self.after = name
            return "collect_env"
        if name.startswith(("os", "operating system", "distro", "description", "linux", "system")) and self._set_system(
            value
        ):
            return "system"
        if name.endswith("driver") and (module := re.match(r"xe\b|i915\b", value)):
            self.got.said_module = module[0]
            return "system"
        if "kernel" in name and "module" not in name and "driver" not in name:
            version = lines.KERNEL.match(re.sub(r"^(?:Linux\s+|kernel\s+)", "", value))
            if version is not None:
                self._set_kernel(version[1], line)
                return "system"
        return ""

    def _onboard(self, line: str) -> str:
        if line.startswith("Intel GPU models"):
            self.after = line.strip(": ").lower()
            return "collect_env"
        if self.after == "intel gpu models onboard" and line.startswith("* "):
            self.got.onboard.append(line[2:].strip())
            return "collect_env"
        return ""

    def _package(self, line: str) -> str:
        self.got.listed += bool(lines.LISTED.match(line))
        if line.startswith("[pip") or lines.LISTS.match(self.command):
            self.got.told.add("torch.distributions")
        text = line.strip()
        found = lines.PINNED.match(line)
        if found is None or not self._take(found["name"], found["version"], found["state"] or ""):
            alone = lines.RPM.match(text)
            if alone is None or not self._take(alone[1], alone[2], ""):
                return "packages" if lines.LISTED.match(line) else ""
        return "packages"

    def _take(self, name: str, version: str, state: str) -> bool:
        name = lines.ALIASES.get(name.lower(), name)
        if name in PACKAGES:
            half = state[1:2] in ("U", "F", "H", "W", "t", "T")
            if half:
                self._keep(self.got.broken, name)
            elif state[:1] in ("i", "h", ""):
                self.got.packages.setdefault(name, version)
            return True
        if DISTRIBUTIONS.fullmatch(name.lower()):
            self.got.distributions.setdefault(re.sub(r"[-_.]+", "-", name).lower(), version)
            return True
        return False

    def _error(self, line: str) -> str:
        if not lines.ERROR.match(line):
            return ""
        self._keep(self.got.errors, line.strip(), 60)
        return "errors"


def read_pasted(texts: Collection[str], watched: Collection[str]) -> Pasted:
    """Read everything that was pasted. `watched`: the variables of the environment that may be kept."""
    reader = Reader(watched)
    for text in texts:
        reader.read(text)
    return reader.got
