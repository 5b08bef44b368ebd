"""What the kernel and the bus tell in what people paste: devices, nodes, messages, modules, line by line. Pure."""

import re

from xpusetup.machine.parsers import ABOUT, SECRET, parse_messages
from xpusetup.paste import lines
from xpusetup.paste.commands import HANDED, lists_displays
from xpusetup.paste.lines import PastedGpu, PastedNode
from xpusetup.paste.places import PlaceReader

SMALL = 256 << 20
"""Bytes of the window that cards have without Resizable BAR."""
BARRED = re.compile(
    r"^(?:[\w./~+-]{1,120}:(?:\d{1,5}[:-])?|\d{1,5}[:-])?\s{0,8}(?:blacklist\s{1,8}(i915|xe)\b"
    r"|install\s{1,8}(i915|xe)\s{1,8}/(?:usr/)?s?bin/(?:true|false)\b"
    r"|options\s{1,8}(i915|xe)\b.*\b(?:modeset=0|disable=1))"
)
"""Lines of modprobe.d that keep a driver from loading, with the file and number that grep puts before them."""
ECHOED = re.compile(r"(?:echo|printf) .{0,4}\b(?:blacklist|install) (i915|xe)\b[^|>]{0,40}[|>].*/etc/modprobe\.d/")
"""A command that writes such a line."""
UNMAPPED = ("nogroup", "nobody", "65534")
"""The group of a node in a container that has none of its number; the host's own listing of the node says less."""
VENDORS = {"Intel": "8086", "NVIDIA": "10de", "Advanced Micro Devices": "1002", "AMD": "1002"}


def _vendor(name: str) -> str:
    """Give a maker's id by what lspci or lshw calls it."""
    return next((number for title, number in VENDORS.items() if title in name), "0000")


RAW = re.compile(
    r"^(?P<slot>(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (?:Class )?\[?(?P<kind>0[0-9a-f]{3})\]?: "
    r"(?:Device )?\[?(?P<vendor>[0-9a-f]{4}):(?P<device>[0-9a-f]{4})\]?(?P<rest>.*)$"
)
"""lspci -n, or an lspci without its table of names, as routers and storage boxes have it."""
QUOTED = re.compile(
    r"^(?P<slot>(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) \"(?P<title>[^\"]+) \[(?P<kind>0[0-9a-f]{3})\]\" "
    r"\"(?P<maker>[^\"]*) \[(?P<vendor>[0-9a-f]{4})\]\" \"(?P<name>[^\"]*) \[(?P<device>[0-9a-f]{4})\]\"(?P<rest>.*)$"
)
"""lspci -mmnn."""
KINDS = {"0300": "VGA compatible controller", "0302": "3D controller", "0380": "Display controller"}


def plain_slot(line: str) -> str:
    """Give a line of lspci -n or -mm as lspci -nn would have it; any other as it is."""
    found = RAW.match(line) or QUOTED.match(line)
    if found is None or found["kind"] not in (*KINDS, "1200"):
        return line
    words = found.groupdict()
    title = KINDS.get(words["kind"], "Processing accelerators")
    name = f"{words.get('maker') or ''} {words.get('name') or 'Device'}".strip()
    return f"{words['slot']} {title} [{words['kind']}]: {name} [{words['vendor']}:{words['device']}]{words['rest']}"


class KernelReader(PlaceReader):
    """Reads what the kernel shows; what it has read is in `got`.

    `command` is what was typed last, `gpu` the device of which lspci has the details.
    """

    def __init__(self) -> None:
        super().__init__()
        self.command = ""
        self.gpu: PastedGpu | None = None
        self.composed = False

    def _keep(self, those: list[str], value: str, most: int = lines.MOST) -> None:
        if len(those) < most and value not in those:
            those.append(value)

    def _pci(self, line: str) -> str:
        if found := lines.OWN.match(line):
            window = int(found[5]) << 20 if found[5] else None
            driver = None if found[4] == "none" else found[4]
            kind = "030000" if found[2] == "8086" else "120000"
            self.got.gpus.append(PastedGpu(found[1], found[2], found[3], "", kind, driver, window, detailed=True))
            return "lspci"
        found = lines.SLOT.match(plain_slot(line))
        if found is not None:
            self.heard.bus += 1
            if (listed := lists_displays(self.command)) and self._is_display(found):
                self.got.displays = self.got.displays if self.got.displays == "all" else listed
                self.got.told.add("hardware.gpus")
            self.gpu = self._make_gpu(found) if self._is_display(found) else None
            return "lspci"
        if self.gpu is None:
            return "lspci" if lines.DRIVES.match(line) or lines.MODULES.match(line) else ""
        return self._detail(self.gpu, line)

    def _is_display(self, found: re.Match[str]) -> bool:
        return bool(re.match(lines.CONTROLLER, found[3])) and not re.search(r"\b[NV]PU\b|Neural", found[5])

    def _make_gpu(self, found: re.Match[str]) -> PastedGpu:
        ids = lines.IDS.findall(found[5].lower())
        said = lines.IDS_IN_WORDS.search(found[5])
        vendor, device = ids[-1] if ids else (_vendor(found[5]), said[1] if said else "")
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
        elif re.match(r"^\s+(?:Subsystem|DeviceName)", line):
            gpu.detailed = gpu.detailed or bool(re.search(r"^lspci (?!.*-\w*v).*-\w*k", self.command))
        elif not re.match(r"^\s+(?:Flags|Capabilities|Memory|Region|Expansion|Physical)", line):
            return ""
        return "lspci"

    def _node(self, line: str) -> str:
        if found := lines.CLOSED.search(line):
            path = found[1] or found[2]
            place = re.search(r"pci-(\S+)-render", path)
            node = self.got.nodes.setdefault(path, PastedNode(path, address=place[1] if place else None))
            node.closed = True
            self.got.told.update(("hardware.nodes", "hardware.access"))
            return "/dev/dri"
        if lines.NO_NODES.search(line):
            self.got.told.add("hardware.nodes")
            return "/dev/dri"
        if found := lines.NODE.match(line):
            self.got.told.add("hardware.nodes")
            if found[6].startswith("renderD"):
                path = f"/dev/dri/{found[6]}"
                group = "nogroup" if found[4] in UNMAPPED else found[4]
                self.got.by_lxc = self.got.by_lxc or group == "nogroup"
                if path not in self.got.nodes or self.got.nodes[path].group != "nogroup":
                    self.got.nodes[path] = PastedNode(path, found[1] + found[2], group)
            return "/dev/dri"
        if found := lines.FAKE.match(line) or lines.BY_PATH.search(line):
            self._note_named(found)
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

    def _note_named(self, found: re.Match[str]) -> None:
        """Note the place on the bus of a node, or what only has the name of one."""
        if found.re is lines.FAKE:
            self.got.told.add("hardware.nodes")
            self._keep(self.got.fakes, f"/dev/dri/{found[1]}")
        else:
            path = f"/dev/dri/{found[2]}"
            self.got.nodes.setdefault(path, PastedNode(path)).address = found[1]

    def _kernel_said(self, line: str) -> str:
        typed = re.match(r"cat /(?:proc|etc/kernel)/cmdline", self.command)
        if found := lines.CMDLINE.search(line) or (re.search(r"(?<!\S)[\w.]+=\S.*", line) if typed else None):
            self.got.cmdline = self.got.cmdline or SECRET.sub(r"\1=***", next(filter(None, found.groups()), found[0]))
            self.got.told.add("kernel.cmdline")
            return "kernel"
        if not lines.SAID.match(line) and not lines.DRIVER_SAID.match(line):
            return ""
        if ABOUT.search(line):
            for each in parse_messages(lines.TIMED.sub("", line)):
                self._keep(self.got.messages, each)
        self.heard.said += 1
        if self.heard.said >= lines.WHOLE_LOG or lines.STARTED.search(line):
            self.got.told.add("kernel.messages")
        if found := lines.SPEAKS.search(line):
            self._found("", found[1], "")
            self._note_words(line, found[1])
        if found := lines.FOUND.search(line):
            self._found(found[1], found[2], found[3])
        if found := lines.TAKEN.search(line):
            self._found(found[1], found[2], "")
        return "dmesg"

    def _note_words(self, line: str, address: str) -> None:
        """Take what drivers say of a GPU: a small window to its memory, or that they do not take it."""
        gpu = next((each for each in self.got.gpus if each.address == address), PastedGpu())
        gpu.bar = SMALL if lines.NARROW.search(line) else gpu.bar
        if blocked := lines.BLOCKED.search(line):
            gpu.device, gpu.blocked = gpu.device or blocked[2].lower(), blocked[1].lower()
        if refused := lines.REFUSED.search(line):
            gpu.device = gpu.device or refused[1]
            gpu.refused = gpu.refused or ("xe" if re.search(rf"\bxe {re.escape(address)}", line) else "i915")

    def _found(self, driver: str, address: str, device: str) -> None:
        gpu = next((each for each in self.got.gpus if each.address == address), None)
        if gpu is None:
            gpu = PastedGpu(address, device=device)
            self.got.gpus.append(gpu)
        gpu.device = gpu.device or device
        gpu.driver = gpu.driver or driver or None

    def _composed(self, line: str) -> str:
        """Read what a file of docker compose hands to its containers."""
        if lines.SERVICES.match(line):
            self.composed, self.got.starts, self.got.handed = True, "docker", self.got.handed or ()
        elif self.composed and lines.PRIVILEGED.match(line):
            self.got.handed = ("/dev/dri", "/dev/dxg")
        elif self.composed and (found := HANDED.findall(line)):
            self.got.handed = (*(self.got.handed or ()), *found)
        elif self.composed and (named := re.match(r"^\s+image:\s*[\"']?(\S+?)[\"']?$", line)):
            self.got.image = self.got.image or named[1]
        else:
            return ""
        return "compose"

    def _loaded(self, line: str) -> str:
        if found := lines.LOST.match(line):
            self._keep(self.got.lost, found[1])
            return "files"
        if found := BARRED.match(line):
            self._keep(self.got.blacklisted, next(filter(None, found.groups())))
            return "modprobe.d"
        found = lines.LOADED.match(line)
        if found is None:
            return ""
        self.got.modules[found[1]] = None
        self.got.told.add("kernel.modules")
        return "lsmod"
