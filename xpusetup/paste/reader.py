"""What people paste into a thread, line by line: which tool wrote each line, and what it tells. Pure.

Outputs of any tools stand in any order, with prompts, quotes and fences around them, whole or cut. Each line is judged
by itself as far as that goes, with the last command that was typed for what looks the same in several tools.
"""

import re
from collections.abc import Collection

from xpusetup.machine.parsers import (
    DISTRIBUTIONS,
    PACKAGES,
    parse_ldconfig,
    parse_sycl_ls,
)
from xpusetup.paste import lines
from xpusetup.paste.commands import (
    handed_over,
    image_of,
    only_asks,
    parts_shown,
    shows,
    variable_in,
    variables_of,
    whole_commands,
)
from xpusetup.paste.ends import ZE_DRIVER
from xpusetup.paste.kernel import ECHOED, plain_slot
from xpusetup.paste.lines import COLLECT, Pasted, PastedGpu, clean_lines
from xpusetup.paste.places import heading
from xpusetup.paste.pytorch import LISTED, NAMED, OF_TORCH, TorchReader
from xpusetup.paste.system import find_release

MOST_KEPT = 4000
"""Maximum number of lines that are kept whole."""


class Reader(TorchReader):
    """Reads lines one after the other; what it has read is in `got`."""

    def __init__(self, watched: Collection[str]) -> None:
        """Begin. `watched` are the variables of the environment that may be kept."""
        super().__init__()
        self.watched = frozenset(watched)
        self.after = ""
        self.shown: set[str] = set()
        self.places: dict[str, str] = {}
        self.in_list = False

    def read(self, text: str) -> None:
        self.command, self.gpu, self.after, self.by_root, self.composed = "", None, "", False, False
        for line in whole_commands(clean_lines(text)):
            if not line.strip():
                continue
            if (place := heading(line)) is not None:
                self._end_command()
                self.entering = self.entering and place == "container"
                self.go(place)
            self.got.lines += 1
            if len(self.got.everything) < MOST_KEPT:
                self.got.everything.append(line)
            kind = self._read_line(line) or self._mentioned(line)
            self.shown_lines += kind != "commands"
            self.rows += kind == "packages"
            if kind:
                self.got.kinds[kind] += 1
            else:
                self.got.left += 1
                self._keep(self.got.unread, line.strip()[:160], 40)
        self._end()

    def _mentioned(self, line: str) -> str:
        """Take what is named in running text: ids and names of GPUs, a release of the driver."""
        forms = (lines.FORCED, lines.PCI_ID, lines.TITLE, lines.NEO, lines.SHORT, lines.OF_WHEEL)
        return "text" if len(line) < lines.PROSE and any(form.search(line) for form in forms) else ""

    def _note_names(self, line: str) -> None:
        for module, device in lines.FORCED.findall(line):
            self._keep(self.got.named, f"[0x{device.lower()}]")
            self.got.said_module = self.got.said_module or module
        for device in lines.PCI_ID.findall(line):
            self._keep(self.got.named, f"[0x{device.lower()}]")
        for title in lines.TITLE.findall(line):
            self._keep(self.got.named, title)
        for card, center, old, number in lines.SHORT.findall(line):
            names = (f"Arc {card}", f"Arc Pro {card}") if card else (f"Data Center GPU {center}",)
            for each in (f"{old} Graphics {number}",) if old else names:
                self._keep(self.got.named, each)
        for form, device in lines.CHIPS:
            if form.search(line):
                self._keep(self.got.chips, f"[0x{device}]")
        self._note_releases(line)
        if found := lines.OF_KERNEL.search(line):
            self._set_kernel(found[1], line)
        if found := lines.NEO.search(line):
            self.got.said_driver = self.got.said_driver or found[1]

    def _read_line(self, line: str) -> str:
        slot = lines.SLOT.match(plain_slot(line))
        if len(line) < lines.PROSE and (slot is None or self._is_display(slot)):
            self._note_names(line)
        readers = (
            *(self._typed, self._sycl, self._device, self._kernel_said, self._pci, self._node, self._identity),
            *(self._release, self._opencl, self._smi, self._changed, self._torch),
            *(self._variable, self._library),
            *(self._loaded, self._composed, self._field, self._missing, self._package, self._error),
        )
        return next((kind for reader in readers if (kind := reader(line))), "")

    # What was typed.

    def _typed(self, line: str) -> str:
        if found := lines.OF_WINDOWS.match(line):
            self._end_command(closed=True)
            self.got.windows = True
            self._begin(found["command"].strip())
            return "commands"
        if line.startswith(lines.PYTHON):
            self.command = line[len(lines.PYTHON) :]
            return "python"
        if lines.BLANK.match(line):
            self._end_command(closed=True)
            self.command = ""
            return "commands"
        found = lines.TYPED.match(line) or lines.ROOT.match(line) or lines.BARE.match(line)
        if found is None:
            return ""
        words, named = found["command"].removeprefix("sudo ").split(), found.groupdict()
        if "host" not in named and (not words or words[0] not in lines.TOOLS):
            return ""
        self._end_command(closed=True)
        self._begin(self._note_place(named.get("user") or "", named.get("host") or "", found["command"]))
        return "commands"

    def _note_place(self, user: str, host: str, command: str) -> str:
        """Note who types where, and give the command as it runs there."""
        self._note_started(command)
        typed, command = command, self.follow(host, command)
        if command != typed:
            self._note_variables(typed)
        self.by_root = command.startswith("sudo ") or (user == "root" and host in self.plain)
        self.heard.users |= {user} if user else set()
        self.plain |= {host} if host and user != "root" else set()
        return command.removeprefix("sudo ")

    def _note_started(self, command: str) -> None:
        """Note which container a command starts, and what that is given."""
        bare = command.removeprefix("sudo ")
        if (handed := handed_over(bare)) is not None and not (self.got.handed and only_asks(bare)):
            self.got.handed, self.got.starts = handed, bare.partition(" ")[0]
            self.got.image = image_of(bare) or self.got.image

    def _note_variables(self, command: str) -> None:
        """Take the variables that a command sets for itself, or for the container that it starts."""
        for name, value in variables_of(command).items():
            if name in self.watched:
                self.got.variables.setdefault(name, value)

    def _begin(self, command: str) -> None:
        """Begin the output of a command: some of them tell by what they do not show."""
        self.command, self.gpu, self.after, self.shown_lines, self.by_uv = command, None, "", 0, False
        if command in ("env", "printenv"):
            self.got.told.add("environment")
        if command.partition(" ")[0] == "sycl-ls" and not self.by_root:
            self.got.told.add("userland.sycl")
        self.expected, self.rows = parts_shown(command), 0
        self._note_variables(command)
        if found := ECHOED.search(command):
            self._keep(self.got.blacklisted, found[1])

    # What SYCL, Level Zero and OpenCL list.

    def _sycl(self, line: str) -> str:
        if old := lines.OLD_SYCL.match(line):
            line = f"[{old[1]}:{old[3].lower()}][{old[1]}:{old[2]}] {line[old.end() :]}"
            if old[1] == "host":
                return "sycl-ls"
        found = lines.SYCL.search(line)
        if found is not None and not lines.SPOKEN.search(line):
            told = lines.NUMBERED.sub(r"[\1:\2][\1:\3]", line[found.start() :].replace("[ext_oneapi_", "["))
            for each in parse_sycl_ls(told):
                self._keep(self.heard.sycl_of_root if self.by_root else self.got.sycl, each)
            self.got.told.add("userland.sycl")
            return "sycl-ls"
        if found := lines.ABORT.search(line):
            self._keep(self.got.sycl, line[found.start() :].strip())
            self.got.told.add("userland.sycl")
            self.after = "abort" if line.endswith("in file:") else ""
            return "aborts"
        if self.after == "abort" and self.got.sycl:
            self.got.sycl[-1] += f" {line.strip()}"
            self.after = ""
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
            self.got.described = True
            device = re.search(r"device_id=(0x[0-9A-Fa-f]{1,4})\b", line)
            if line not in self.shown:
                self.shown.add(line)
                self.got.seen.append(f"{found[1]} [{device[1].lower()}]" if device else found[1])
        return "torch.xpu"

    def _opencl(self, line: str) -> str:
        if lines.NO_PLATFORM.search(line):
            self.heard.no_platform.add(self.by_root)
        elif not lines.OPENCL.match(line):
            return ""
        self.got.told.update(("userland.clinfo", "userland.opencl"))
        name, _, value = line.strip().partition("  ")
        if name in ("Platform Name", "Device Name") and value.strip():
            line = f"{name.split()[0]} #0: {value.strip()}"
        shown = self.heard.shown_to[self.by_root]
        if "#" in line and len(shown) < lines.MOST:
            shown.append(line.lstrip(" `'-+"))
        return "clinfo"

    def _smi(self, line: str) -> str:
        if lines.NONE_FOUND.search(line):
            self._keep(self.got.errors, line.strip())
            self.got.init = self.got.init or "none"
            return "xpu-smi"
        found = lines.PROPERTY.match(line)
        if found is None:
            return ""
        if found[1] == "Device Name" and self.by_root and self.got.init == "none":
            self.got.as_root.append(found[2])
        elif found[1] == "Device Name":
            self.gpu = PastedGpu(name=found[2])
            self._keep(self.got.seen, found[2])
        elif found[1] == "PCI BDF Address" and self.gpu is not None and not self.by_root:
            self._note_card(found[2], self.gpu.name)
        return "xpu-smi"

    def _note_card(self, address: str, name: str) -> None:
        """Take a card that xpu-smi lists by its place, each once; of those of one name each counts."""
        if self.places.setdefault(address, name) != name:
            return
        missing = list(self.places.values()).count(name) - self.got.seen.count(name)
        self.got.seen.extend([name] * max(0, missing))

    # The system and who asks.

    def _identity(self, line: str) -> str:
        found = lines.IDENTITY.search(line)
        if found is not None:
            self.got.uid, self.got.user = int(found[1]), found[2] or self.got.user
            pairs = re.findall(r"(\d+)(?:\(([^)]*)\))?", found[3] or "")
            self.got.groups.update({name or number: int(number) for number, name in pairs})
            self.got.told.add("system.groups")
            return "id"
        if found := lines.JOINED.match(line.strip()):
            self.got.joined[found[1]] = int(found[2])
            self.got.members.setdefault(found[1], found[3].split(","))
            return "id"
        if (found := lines.GROUPS.match(line.strip())) and lines.COMMON & set(found[1].split()):
            self.got.groups.update({name: -1 - number for number, name in enumerate(found[1].split())})
            self.got.told.add("system.groups")
            return "id"
        if self.command == "whoami" and line.strip() == "root":
            self.got.uid = 0
            return "id"
        if self.command.partition(" ")[0] in ("groups", "id") and re.fullmatch(r"[\w .:()-]{3,400}", line.strip()):
            names = line.rpartition(":")[2].split()
            self.got.user = self.got.user or (line.partition(" : ")[0].strip() if " : " in line else "")
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
        found = find_release(value)
        for name, told in found.items():
            self.got.release.setdefault(name, told)
        return "system" if found else ""

    # Variables, libraries, reports and packages.

    def _variable(self, line: str) -> str:
        if lines.SETVARS.search(line):
            self.got.variables.setdefault("SETVARS_COMPLETED", "1")
            return "setvars.sh"
        name, value = variable_in(line, self.command, self.shown_lines)
        if not name or (f"{name}=" not in line and name not in self.watched):
            return ""
        if name in self.watched:
            self.got.variables.setdefault(name, value)
        return "environment"

    def _library(self, line: str) -> str:
        if not lines.LIBRARY.match(line):
            return ""
        wanted = {line.split(maxsplit=1)[0]}
        self.got.filtered = "|" in self.command
        if "|" in self.command and shows(self.command, (f"\t{ZE_DRIVER} (libc6,x86-64) => /usr/lib/{ZE_DRIVER}",)):
            self.listing = True
        self.got.libraries = parse_ldconfig(line, wanted) | self.got.libraries
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

    def _missing(self, line: str) -> str:
        """Read that a package is not there."""
        if found := lines.ABSENT.search(line):
            self.heard.absent.add(found[1] or found[2] or found[3])
            return "packages"
        if found := lines.POLICY.match(line):
            self.after = f"policy {found[1]}"
            return "packages" if found[1] in PACKAGES else ""
        if self.after.startswith("policy ") and (found := lines.INSTALLED.match(line)):
            name, self.after = self.after.partition(" ")[2], ""
            if found[1].startswith("("):
                self.heard.absent.add(name)
            else:
                self._take(name, found[1], "")
            return "packages"
        return ""

    def _package(self, line: str) -> str:
        line = line.removeprefix("local/")  # as pacman -Qs has it
        of_rpm = self.command.startswith(("rpm ", "pacman ")) and lines.OF_RPM.match(line)
        self.got.listed += bool(of_rpm or lines.LISTED.match(line))
        self.rows += bool(of_rpm)
        if line.startswith("[pip") or lines.LISTS.match(self.command):
            self.got.told.add("torch.distributions")
        text = line.strip()
        self.in_list = line.startswith("[") or len(text.split()) <= 2 or "list" in self.command  # noqa: PLR2004 - both
        if found := lines.BUILT.match(line):
            self.got.collected.setdefault("conda", found[1])
        found = lines.NEWEST.match(text) or lines.PINNED.match(line)
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
        if not DISTRIBUTIONS.fullmatch(name.lower()):
            return False
        if name.lower() == "torch":
            self._torch_is(version, LISTED if self.in_list else NAMED)
        else:
            self.got.distributions.setdefault(re.sub(r"[-_.]+", "-", name).lower(), version)
        return True

    def _error(self, line: str) -> str:
        if found := lines.OLDER_CXX.search(line):
            self.got.lacking_cxx.append((found[1], found[2], found[3]))
        if lines.ERROR.match(line):
            self._keep(self.got.errors, line.strip(), 60)
            if self.got.available and OF_TORCH.search(line):
                self.got.available = None  # it had a device, and since then does not import any more
        return "errors" if found or lines.ERROR.match(line) else ""


def read_pasted(texts: Collection[str], watched: Collection[str]) -> Pasted:
    """Read everything that was pasted. `watched`: the variables of the environment that may be kept."""
    reader = Reader(watched)
    for text in texts:
        reader.read(text)
    return reader.judged()
