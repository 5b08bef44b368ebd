"""What other programs and the kernel write, read as values. Pure; samples are in the tests."""

import configparser
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from xpusetup.machine.environments import LibraryConflict
from xpusetup.machine.facts import Accelerator

# Package databases and the dynamic linker's cache.


PACKAGES = (
    *("libze1", "level-zero", "oneapi-level-zero", "libze-intel-gpu1", "intel-level-zero-gpu", "libze-dev"),
    *("intel-level-zero-gpu-legacy1", "intel-opencl-icd-legacy1", "level-zero-dev", "level-zero-devel"),
    *("intel-opencl-icd", "intel-opencl", "libigc1", "libigc2", "intel-igc-core", "intel-igc-core-2"),
    *("libigdfcl1", "libigdfcl2", "libigdgmm12", "intel-gmmlib", "intel-ocloc", "intel-i915-dkms", "xe-dkms"),
    *("intel-deep-learning-essentials", "linux-firmware", "kernel-firmware-i915", "kernel-firmware-all", "xpu-smi"),
    *("habanalabs-dkms", "habanalabs-graph", "habanalabs-firmware", "habanalabs-thunk", "ocl-icd-libopencl1"),
    *("intel-compute-runtime", "intel-graphics-compiler", "level-zero-loader", "intel-level-zero", "intel-igc"),
    *("intel-igc-opencl", "intel-igc-opencl-2", "intel-igc-libs", "linux-firmware-intel", "intel-gpu-firmware"),
    *("firmware-intel-graphics", "firmware-misc-nonfree", "level-zero-headers", "intel-compute-runtime-legacy"),
    *("intel-opencl-icd-legacy", "libze-intel-gpu-legacy1-1", "oneapi-level-zero-devel", "libigdgmm11"),
    "libze_intel_gpu1",
)
"""The packages that are watched, as Debian, Ubuntu, Fedora, SUSE, Arch and Intel's own repositories name them."""
DISTRIBUTIONS = re.compile(
    r"(pytorch-)?triton.*|torch.*|intel-.*|dpcpp-.*|onemkl-.*|mkl|onecl.*|oneccl.*|impi-rt|tbb|tcmlib|umf|numpy"
    r"|nvidia-.*|habana-.*|pyzes|transformers|accelerate|xpu-.*|bitsandbytes|vllm.*|lightning|diffusers"
)
"""The distributions of Python that are watched."""
GONE = ("not-installed", "config-files")
LIBRARY = re.compile(r"^\s*(\S+) \(([^)]*)\) => (\S+)$", re.MULTILINE)


def parse_dpkg(text: str, watched: Collection[str]) -> tuple[dict[str, str], list[str]]:
    """Read dpkg's status file: versions of the watched packages, and those that are neither installed nor gone."""
    installed, broken = {}, []
    for name, fields in _stanzas(text, watched):
        _, flag, state = [*fields.get("Status", "").split(), "", "", ""][:3]
        if state == "installed" and flag == "ok":
            installed[name] = fields.get("Version", "")
        elif state not in GONE:
            broken.append(name)
    return dict(sorted(installed.items())), sorted(broken)


def _stanzas(text: str, watched: Collection[str]) -> Iterator[tuple[str, dict[str, str]]]:
    for stanza in text.split("\n\n"):
        first, _, rest = stanza.lstrip("\n").partition("\n")
        name = first.removeprefix("Package: ").strip()
        if first.startswith("Package: ") and name in watched:
            lines = (line.partition(": ") for line in rest.splitlines() if not line.startswith(" "))
            yield name, {key: value.strip() for key, _, value in lines}


def parse_rpm(text: str, watched: Collection[str]) -> dict[str, str]:
    r"""Read `rpm -q --qf '%{NAME} %{VERSION}-%{RELEASE}\n'`; packages that are absent are sentences, and left out."""
    pairs = (line.split() for line in text.splitlines())
    return dict(sorted((pair[0], pair[1]) for pair in pairs if len(pair) == 2 and pair[0] in watched))  # noqa: PLR2004


def parse_pacman(text: str, watched: Collection[str]) -> dict[str, str]:
    """Read `pacman -Q`: a name and a version on each line."""
    pairs = (line.split() for line in text.splitlines())
    return dict(sorted((pair[0], pair[1]) for pair in pairs if len(pair) == 2 and pair[0] in watched))  # noqa: PLR2004


def parse_ldconfig(text: str, watched: Collection[str]) -> dict[str, str]:
    """Read `ldconfig -p`: where the dynamic linker takes the watched libraries from; the first entry counts."""
    found: dict[str, str] = {}
    for soname, kind, path in LIBRARY.findall(text):
        if soname in watched and "libc6" in kind and "x32" not in kind:
            found.setdefault(soname, path)
    return found


@dataclass(frozen=True, kw_only=True)
class EnvironmentLibraries:
    """What helpers/environment_libraries.py writes: what cannot work together; `looked` counts the files it read."""

    prefix: str
    looked: int
    conflicts: list[LibraryConflict]


# The vendors' programs: sycl-ls, clinfo, ocloc, hl-smi, npu-smi; the settings of pip and git; torch/version.py.


SYCL = re.compile(r"^\[[a-z0-9_]+:[a-z]+\]")
HEALTH = ("OK", "Warning", "Alarm", "Critical", "UNKNOWN")
NPU_ROW = re.compile(rf"^\|\s*(\d+)\s+(\S+)\s*\|\s*({'|'.join(HEALTH)})\s*\|", re.MULTILINE)
NPU_VERSION = re.compile(r"npu-smi\s+\S+\s+Version:\s*(\S+)")
OCLOC = re.compile(r"<device_type> can be:(.*?)(?:, ip version|\n\s*-|\n\s*\n|\Z)", re.DOTALL)
TORCH = re.compile(r"^(__version__|xpu|cuda)\s*(?::[^=\n]*)?=\s*(?:'([^']*)'|\"([^\"]*)\"|None)", re.MULTILINE)
COMPILER = re.compile(r"[Cc]ompiler (\d+\.\d+(?:\.\d+)*)")


def parse_compiler_version(text: str) -> str | None:
    """Read the version from what icpx says: "Intel(R) oneAPI DPC++/C++ Compiler 2025.3.1 (2025.3.1.2025...)".

    The open one says "DPC++ compiler 7.0.0 (...)", as PyTorch's FindSYCLToolkit.cmake reads it.
    """
    found = COMPILER.search(text)
    return found[1] if found else None


def parse_sycl_ls(text: str) -> list[str]:
    """Read sycl-ls: its lines of devices, and what it died of."""
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if SYCL.match(line) or line.startswith(("Abort was called", "terminate called"))]


def parse_clinfo(text: str) -> list[str]:
    """Read `clinfo -l`: "platform: device" for each device, the platform alone where it has none."""
    found: list[str] = []
    platform, devices = "", 0
    for line in (*text.splitlines(), "Platform #end: "):
        name, _, value = line.partition(": ")
        if name.startswith("Platform"):
            found += [platform] if platform and not devices else []
            platform, devices = value.strip(), 0
        elif "Device" in name and value:
            found.append(f"{platform}: {value.strip()}")
            devices += 1
    return found


def parse_ocloc_targets(text: str) -> list[str]:
    """Read `ocloc compile --help`: the names of devices that it takes."""
    found = OCLOC.search(text)
    names = re.split(r"[,\s]+", found[1]) if found else []
    return [name for name in names if re.fullmatch(r"[a-z][a-z0-9_.-]*", name)]


def parse_hl_smi(text: str) -> tuple[str | None, list[Accelerator]]:
    """Read `hl-smi -Q index,name,driver_version,memory.used,memory.total -f csv,noheader`."""
    rows = [[field.strip() for field in line.split(",")] for line in text.splitlines()]
    rows = [row for row in rows if len(row) >= 3 and row[0].isdecimal()]  # noqa: PLR2004 - index, name, version
    cards = [Accelerator(index=row[0], name=row[1], used_by=_used(row[3:])) for row in rows]
    return (rows[0][2] if rows else None), cards


def _used(fields: list[str]) -> str:
    return " of ".join(fields[:2])


def parse_npu_smi(text: str) -> tuple[str | None, list[Accelerator]]:
    """Read the table of `npu-smi info`: the driver's version, and a card for each row with a health."""
    version = NPU_VERSION.search(text)
    cards = [Accelerator(index=index, name=name, health=health) for index, name, health in NPU_ROW.findall(text)]
    return (version[1] if version else None), cards


def parse_torch_version(text: str) -> dict[str, str]:
    """Read torch/version.py, which is assignments of texts: __version__, xpu and cuda; empty for None."""
    return {name: single or double for name, single, double in TORCH.findall(text)}


def parse_pip_settings(text: str) -> dict[str, str]:
    """Read a pip.conf: the addresses that pip asks, by the name of the setting; a file that is no INI holds none."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    wanted = ("index-url", "extra-index-url", "find-links", "proxy")
    found = {name: " ".join(parser[part][name].split()) for part in parser.sections() for name in parser[part]}
    return {name.replace("_", "-"): value for name, value in found.items() if name.replace("_", "-") in wanted}


def parse_redirects(text: str) -> dict[str, str]:
    r"""Read `git config --get-regexp '^url\..*\.insteadof$'`: {address that is used: what it replaces}."""
    found = {}
    for line in text.splitlines():
        name, _, replaced = line.partition(" ")
        found[name.removeprefix("url.").rsplit(".", 1)[0]] = replaced.strip()
    return found


def parse_routes(old: str | None, new: str | None) -> bool | None:
    """Say whether /proc/net/route and ipv6_route have a route that leaves the machine; link-local ones do not."""
    if old is None and new is None:
        return None
    rows = [line.split() for line in (old or "").splitlines()[1:]]
    later = [line.split() for line in (new or "").splitlines()]
    rows += [row[-1:] for row in later if row and not row[0].startswith(("fe8", "ff"))]
    return any(row and row[0] != "lo" for row in rows)


def parse_entry_points(text: str, group: str) -> dict[str, str]:
    """Read an entry_points.txt: {name: object} of one group."""
    found, section = {}, ""
    for line in (line.strip() for line in text.splitlines()):
        if line.startswith("["):
            section = line.strip("[]")
        elif section == group and "=" in line:
            name, _, value = line.partition("=")
            found[name.strip()] = value.strip()
    return found


# The kernel's own texts: command line, module tables, messages, and the resources of PCI devices.


ABOUT = re.compile(
    r"i915|\b(?:xe|guc|huc|dmc)\b|habanalabs|davinci|dxgkrnl|resizable bar|resize bar|bar size|gpu hang"
    r"|\b(?:DMAR|AMD-Vi): .*\bfault\b|\bAER: .*(?:fatal|uncorrect)|severity=uncorrect|fell off the bus"
    r"|device is inaccessible|unable to change power state",
    re.IGNORECASE,
)
PREFETCHABLE, MEMORY_64 = 0x2000, 0x100000
SECRET = re.compile(r"(?i)(token|password|passwd|secret|key)=\S+")
KEPT = 200
"""Maximum number of kernel messages that are kept, the newest."""


def parse_resource(text: str) -> int | None:
    """Read a device's `resource` file: the bytes of its largest prefetchable 64-bit window, None without one."""
    sizes = []
    for line in text.splitlines()[:6]:
        fields = line.split()
        if len(fields) == 3:  # noqa: PLR2004 - start, end, flags
            start, end, flags = (int(field, 16) for field in fields)
            if flags & PREFETCHABLE and flags & MEMORY_64 and end > start:
                sizes.append(end - start + 1)
    return max(sizes, default=None)


def parse_aliases(text: str, devices: Iterable[str], modules: Iterable[str]) -> dict[str, list[str]]:
    """Read modules.alias: which of the modules say by themselves that they drive each Intel device id."""
    found: dict[str, set[str]] = {device: set() for device in devices}
    wanted = set(modules)
    for device, takers in found.items():
        pattern = re.compile(rf"^alias pci:v00008086d0000{device.upper()}\S* (\S+)$", re.MULTILINE)
        takers.update(module for module in pattern.findall(text) if module in wanted)
    return {device: sorted(takers) for device, takers in found.items()}


def parse_blacklist(texts: Iterable[str], cmdline: str, modules: Iterable[str]) -> list[str]:
    """Read modprobe.d files and the kernel's command line: which of the modules may not load by themselves."""
    named = set()
    for text in texts:
        named.update(re.findall(r"^\s*blacklist\s+(\S+)", text, re.MULTILINE))
        named.update(re.findall(r"^\s*install\s+(\S+)\s+/(?:usr/)?s?bin/(?:true|false)\b", text, re.MULTILINE))
    for words in re.findall(r"(?:^|\s)(?:modprobe\.blacklist|module_blacklist|rd\.driver\.blacklist)=(\S+)", cmdline):
        named.update(words.split(","))
    return sorted(named & set(modules))


def parse_messages(text: str) -> list[str]:
    """Read the kernel's messages: the lines on accelerators, without the time that begins them."""
    lines = (re.sub(r"^(<\d+>)?\[[^\]]*\]\s*", "", line).rstrip() for line in text.splitlines())
    return list(dict.fromkeys(line for line in lines if ABOUT.search(line)))[-KEPT:]


def without_secrets(cmdline: str) -> str:
    """Give a command line in which values that may be secrets are stars."""
    return SECRET.sub(r"\1=***", cmdline.strip())
