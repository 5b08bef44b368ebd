"""The lines that people paste: cleaned, the pattern of each kind of line, and what is kept of them. Pure."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

# Text as people post it: lines without what terminals, mail and forums put around them.


MOST_TEXT = 4 << 20
"""Maximum number of characters that are read."""
MOST_LINES = 40_000
"""Maximum number of lines that are read."""
LONGEST = 1000
"""Maximum length of a line, in characters."""
MOST = 400
"""Maximum number of values of one kind that are kept."""
CODES = re.compile(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)|[@-Z\\^_])")
FENCE = re.compile(r"^\s*(?:```|~~~|</?(?:details|summary|pre|code)\b)")
QUOTE = re.compile(r"^(?:> ?){1,5}(?!>)")
SERVICE = re.compile(r"^[a-z][\w.-]{0,40}-\d{1,2}\s{1,8}\| ")
"""What docker compose puts before the lines of a service."""
PYTHON = ">>> "
TYPED = re.compile(
    r"^\s{0,8}(?:\([^()\n]{1,60}\)\s{0,3}){0,2}(?:"
    r"\[?(?P<user>[\w.+-]{1,40})@(?P<host>[\w.-]{1,64})(?:[: ][^\n$#%>]{0,160})?[$#%>]"
    r"|\[?nix-shell:[^\]\n]{0,120}\]?[$#]|[$\u276f\u279c]|[~/][\w./~-]{0,80}[$#])\s{1,3}(?P<command>\S.*)$"
)
OF_WINDOWS = re.compile(
    r"^\s{0,8}(?:\([^()\n]{1,60}\)\s{0,3}){0,2}(?:PS )?[A-Z]:\\[^>\n]{0,160}>(?P<command>.{0,300})$"
)
"""A prompt of Windows."""
BLANK = re.compile(
    r"^\s{0,8}(?:\([^()\n]{1,60}\)\s{0,3}){0,2}(?:\[?[\w.+-]{1,40}@[\w.-]{1,64}(?:[: ][^\n$#%>]{0,160})?[$#%>]|\$)\s*$"
)
"""A prompt after which nothing was typed: the command before it has ended."""
CONTAINER = re.compile(r"[0-9a-f]{12}")
"""The name of a host that Docker gave: that of a container."""
ROOT = re.compile(r"^#\s+(?P<command>\S.*)$")
TOOLS = (
    *("sycl-ls", "clinfo", "xpu-smi", "xpumcli", "lspci", "dmesg", "journalctl", "dpkg", "apt", "rpm", "pacman", "ls"),
    *("id", "groups", "uname", "cat", "lsb_release", "pip", "pip3", "uv", "conda", "vulkaninfo", "printenv", "env"),
    *("python", "python3", "lsmod", "ldconfig", "icpx", "dnf", "zypper", "hostnamectl", "lshw", "docker", "podman"),
    *("vainfo", "whoami", "strace", "hl-smi", "npu-smi", "kubectl", "getsebool", "ausearch", "hwinfo", "which", "find"),
    *("getent", "stat", "grep", "openvino", "systemctl", "snap", "nix-shell"),
)
BARE = re.compile(
    r"^(?:[\w.-]{2,40}[#%$] )?(?:sudo )?(?P<command>(?:lspci|lshw|dpkg|rpm|ls|dmesg|uname)"
    r"(?: -[\w-]{1,20}){0,4}(?: [\w./-]{1,60})?"
    r"(?: ?\|.{1,200}|$)|(?:docker|podman) (?:run|exec) .*|kubectl exec .*)"
)
"""A command that stands on a line of its own, without a prompt."""


def _cut(raw: str) -> str:
    """Give a line without what is too long in it; torch's own settings end with what it was built for."""
    of_torch = len(raw) > LONGEST and "Build settings:" in raw[:40]
    return raw[: LONGEST // 2] + raw[-LONGEST // 2 :] if of_torch else raw[:LONGEST]


def clean_lines(text: str) -> Iterator[str]:
    """Give the lines of what was pasted, without codes of terminals, quotes, emphasis and NUL; fences are empty."""
    for raw in text[:MOST_TEXT].splitlines()[:MOST_LINES]:
        line = CODES.sub("", _cut(raw).replace("\0", "")).replace("**", "").replace("\\`", "`")
        line = SERVICE.sub("", line)
        if not line.startswith(PYTHON):
            line = QUOTE.sub("", line)
        yield "" if FENCE.match(line) else line.replace("`", "").rstrip()


APART = re.compile(
    r"^[^\n]{0,200}?(?:[$#%>] (?:sudo )?(?:\S{0,80}?python[\d.]* -c (?P<q>[\"'])(?:\\.|(?!(?P=q))[^\\\n]){1,2000}(?P=q)"
    r"(?= +(?![|&<>;#]|\d>)\S)|uname -[a-z]{1,3}(?= +(?:\d\.|Linux )\S)|id(?= +uid=)|sycl-ls(?= +\[))"
    r"|>>> [^\n]{0,200}\)(?= +(?:True|False|\d{1,3})\s*$))"
)
"""A command with what it printed behind it on its line, as some forums and chats leave it."""


def split_answers(text: str) -> str:
    """Put what a command printed on a line of its own, where it stands behind the command."""
    found = ((APART.match(line), line) for line in text.split("\n"))
    return "\n".join(f"{one[0]}\n{line[one.end() :].lstrip()}" if one else line for one, line in found)


# What a line can be: one pattern for each.


SPOKEN = re.compile(r"[A-Za-z] +\W?\[\w+:\w+\](?!\[)")
"""A kind of device in somebody's sentence: words before it, and no number after it, as sycl-ls writes."""
SYCL = re.compile(r"\[(?:ext_oneapi_)?(?:level_zero|opencl|cuda|hip|native_cpu):(?:gpu|cpu|acc|fpga)[:\]]")
NUMBERED = re.compile(r"^\[((?:ext_oneapi_)?\w+):(gpu|cpu|acc|fpga):(\d{1,4})\]")
OLD_SYCL = re.compile(r"^\s*\[(?:ext_oneapi_)?(level_zero|opencl|cuda|hip|host):(\d{1,3})\] (GPU|CPU|ACC|HOST) ?: ")
"""A device as sycl-ls listed it until 2022."""
ABORT = re.compile(r"\b(?:Abort was called at|terminate called (?:after|without))")
DEVICE = re.compile(
    r"_(?:Xpu)?DeviceProperties\(name='([^']{1,120})'(?:, platform_name='([^']{1,120})')?(?:, (?:dev_)?type='(\w+)')?"
)
FIELD = re.compile(r"^[\s|*+•-]{0,12}([A-Za-z][\w ./()-]{1,44}?)\s{0,40}[:=|]\s{0,40}(\S.*)$")
RELEASE = re.compile(r"^(PRETTY_NAME|NAME|ID|ID_LIKE|VERSION_ID|VERSION_CODENAME)=(.*)$")
UNAME = re.compile(r"^Linux\s(?!Mint )\S+\s(\d\.\d+[^\s,]*)\s")
KERNEL = re.compile(r"^v?([2-9]\.\d{1,2}(?:\.\d+)?[\w.+~-]*)")
MACHINE = re.compile(r"\b(x86_64|aarch64)\b")
IDENTITY = re.compile(r"\buid=(\d+)(?:\(([^)]*)\))?(?: gid=\S+)?(?: [^\s=]{4,20}=(\S+))?")
JOINED = re.compile(r"^(render|video):x?:(\d+):([\w,.-]*)$")
GROUPS = re.compile(r"^[\w.-]{1,32} : ([\w.-]{1,32}(?: [\w.-]{1,32})* ?)$")
"""What `groups USER` says."""
SLOT = re.compile(
    r"^\s{0,4}(?:[A-Za-z][\w ()/-]{0,30}: )?(?:([0-9a-f]{4}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\s+"
    r"\"?((?:VGA compatible|3D|Display) controller"
    r"|Processing accelerators|[A-Z][\w /-]{2,40})\"?(?: \[([0-9a-f]{4})\])?:? (.*)$"
)
IDS = re.compile(r"\[([0-9a-f]{4}):([0-9a-f]{4})\]")
DRIVES = re.compile(r"^\s*Kernel driver in use:\s*(\S+)")
MODULES = re.compile(r"^\s*Kernel modules?:\s*(\S.*)$")
OWN = re.compile(
    r"^PCI (\S{7,12}\.\d) \[([0-9a-f]{4}):([0-9a-f]{4})\] kernel driver in use: (\S+?)(?:, window (\d{1,9}) MiB)?$"
)
"""A device as `doctor --collect-env` writes it."""
WINDOW = re.compile(r"Memory at \S+ \(64-bit, prefetchable\)(?: \[[^]]*\])* \[size=(\d+)([KMGT])\]")
FAKE = re.compile(
    r"^(?:-[rwxsStT-]{9}|d[rwxsStT-]{9})[+.@]?\s+\d+\s+\S+\s+\S+\s+\d[\d.]*[KMG]?\s.*?(?:/dev/dri/)?"
    r"(renderD\d{1,4})\s*$"
)
"""A file or folder that has the name of a node."""
IDS_IN_WORDS = re.compile(r"\bDevice ([0-9a-f]{4})(?: \(rev|$)")
"""What lspci says of a device whose name its table does not have."""
NODE = re.compile(r"^([cbl-][rwxst-]{9})([+.@]?)\s+\d+\s+(\S+)\s+(\S+)\s+226,\s*(\d+)\s.*?((?:renderD|card)\d+)\s*$")
BY_PATH = re.compile(r"pci-(\S{7,12}\.[0-7])-render\s+->\s+\.\./(renderD\d+)")
NO_NODES = re.compile(
    r"(?:cannot access|No such file or directory).{0,40}/dev/dri|/dev/dri\S*'?: No such file|^ls: .{1,60}'/dev/dri/?'"
)
LOST = re.compile(r"^(?:ls|stat|cat|file): .{0,60}?'?(/(?:dev|usr|lib|opt|etc)/[^\s':\u2019]{2,200})")
"""A file that is not there, in whatever language; what may not be read is told of as denied."""
SAID = re.compile(
    r"^(?:<\d+>)?(?:\[\s*\d+\.\d+\]|\[[^\]\d]{2,6}[^\]]{2,12} \d\d:\d\d:\d\d[^\]]{0,8}\]"
    r"|\w{3} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)? \S+ kernel:"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S* (?:\S+ kernel:|(?=i915 |xe ))?)"
)
DRIVER_SAID = re.compile(
    r"^\s*(?:kernel: )?(?:(?:i915|xe) [0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d: |(?:i915|xe): probe of \d"
    r"|\[drm\] Initialized (?:i915|xe) |Fence expiration time out (?:i915|xe)-)"
)
TIMED = re.compile(
    r"^(?:\w{3} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)? \S+ kernel:|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S* (?:\S+ kernel:)?)\s*"
)
FOUND = re.compile(r"(i915|xe) (\S{7,12}\.\d): .*\bdevice ID ([0-9a-f]{4})\b")
NARROW = re.compile(
    r"Small BAR device|Failed to resize BAR|Using a reduced BAR size of 256MiB"
    r"|Restricting VRAM size to PCI resource size|Small BAR detected for device \S{7,12}\.\d"
)
RENDER = r"/dev/dri/(?:by-path/\S{7,20}-render\b|renderD\d{1,4})"
DENIED = r"(?:permission denied|EACCES\b|errno[ =:]{1,3}13\b)"
CLOSED = re.compile(rf"(?i)({RENDER})\b.{{0,60}}{DENIED}|{DENIED}.{{0,60}}?({RENDER})\b")
REFUSED = re.compile(r"Your graphics device ([0-9a-f]{4}) is not (?:properly|officially) supported")
BLOCKED = re.compile(r"(?i)\b(i915|xe) probe blocked for device id ([0-9a-f]{4})")
TAKEN = re.compile(r"Initialized (xe|i915) \S+(?: \d{8})? for ([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d) on minor")
"""What a driver says that has a GPU."""
SPEAKS = re.compile(r"\b(?:i915|xe) ([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d): ")
PCI_ID = re.compile(r"\b8086:(?:0x)?([0-9a-fA-F]{4})\b")
FORCED = re.compile(r"\b(xe|i915)\.force_probe='?([0-9a-fA-F]{4})\b")
TITLE = re.compile(
    r"(?i)\b(?:Arc(?:\(TM\))?(?: Pro)? [AB]\d{2,3}[A-Z]?|Data Center GPU (?:Max|Flex) \d{3,4}"
    r"|Iris(?:\(R\))? Plus Graphics"
    r"|(?:(?:Ice|Coffee|Comet|Kaby|Gemini|Jasper|Elkhart|Apollo) ?Lake|Skylake|Broadwell)"
    r"(?=[^\n]{0,40}\b(?:GT\d|i-?GPU|graphics|Iris|U?HD)\b))\b"
)
SHORT = re.compile(
    r"(?<![\w./-])(?:([AB]\d{3}M?|B[5-7][05])|(Max 1[15]\d0|Flex 1[47]0)"
    r"|(U?HD|Iris Plus)(?: Graphics)? ([P\d]\d{2,3}))(?![\w-])"
)
"""Graphics as people name them for short."""
CHIPS = (
    (re.compile(r"\bLunar Lake\b|\bUltra \d 2\d\dV\b"), "64a0"),
    (re.compile(r"\bMeteor Lake-U\b|\bUltra \d 1\d\dU\b"), "7d45"),
    (re.compile(r"\bMeteor Lake\b|\bUltra \d 1\d\dH\b"), "7d55"),
    (re.compile(r"\bArrow Lake-?H\b|\bUltra \d 2\d\dH\b"), "7d51"),
    (re.compile(r"\bArrow Lake-?U\b|\bUltra \d 2\d\dU\b"), "7d41"),
    (re.compile(r"\bArrow Lake(?:-?S|-?HX)?\b(?!-)|\bUltra \d 2\d\d(?:KS?|T|HX)?(?![\w-])(?<!F)"), "7d67"),
    (re.compile(r"\bPanther Lake\b|\bUltra X?\d 3\d\d[HUV]?\b"), "b080"),
    (re.compile(r"\b(?:Processor |Intel )?N(?:95|97|100|150|200|305|355)\b(?! ?[a-z])"), "46d1"),
    (re.compile(r"\b(?:Alder|Raptor) Lake-?P\b|\bi[3579]-1[23]\d{2}[HUP]\b|\bi[3579]-1[23]\d{3}(?:HX?|U|P)\b"), "46a6"),
    (re.compile(r"\b(?:Alder|Raptor) Lake(?:-?S)?\b|\bi[3579]-1[234]\d{3}(?:KS?|T)?(?![\w-])"), "4680"),
    (re.compile(r"\bRocket Lake\b|\bi[579]-11[5-9]00K?\b"), "4c8a"),
    (re.compile(r"\bTiger Lake\b"), "9a49"),
)
"""Graphics by the processor that they are part of; those whose name ends in F have none."""
OF_WHEEL = re.compile(
    r"(?i)(?<![\w./-])(?:py)?torch(?: version)?[ =:]{1,3}v?(\d+\.\d+\.\d+[\w.]*\+(?:xpu|cpu|cu\d{2,3}))\b"
)
"""A build of torch as people name it in passing."""
OF_KERNEL = re.compile(
    r"(?:^|[,;(] ?)(?:Linux )?[Kk]ernel(?: version)?:? (\d\.\d{1,2}(?:\.\d{1,3})?(?:-[\w.+-]*\w)?)(?=[,;)]|$)"
)
"""A kernel in a list of what a machine is made of."""
OF_RELEASE = re.compile(
    r"(?i)(?:^|[,;(] ?)(py ?torch|torch|ipex)[ =:]{1,3}v?(\d+\.\d+\.\d+(?:[\w.+]*\w)?)(?=\.?(?:[,;)]|$))"
)
"""A release of torch or of Intel's extension in such a list."""
OLDER_CXX = re.compile(
    r"((?:\.\.)?/\S{1,300}?/lib(?:stdc\+\+|gcc_s)\.so\S{0,20}): version"
    r" [`'\"\u2018]?(\w{2,20}_[\d.]+)['\"\u2019]? not found"
    r" \(required by (/[^\s)]{1,300})\)"
)
"""A C++ library that lacks what a library beside it asks for."""
NEO = re.compile(r"(?<![\d.])(2[2-9]\.\d{2}\.\d{5}(?:\.\d{1,3})?)(?![\d.])")
"""A release of compute-runtime, which has a form of its own."""
CMDLINE = re.compile(r"(?:Kernel c|C)ommand line: (.*)$|\bBOOT_IMAGE=.*$|^GRUB_CMDLINE_LINUX(?:_DEFAULT)?=\"?(.*?)\"?$")
LOADED = re.compile(r"^(i915|xe|dxgkrnl|nvidia|amdgpu)\s+\d+\s+-?\d+")
STATE = r"(?:(?P<state>[uirph][cnUuHFWtTi ])R?\s+)?"
PINNED = re.compile(
    rf"^[\s|*+•-]{{0,8}}(?:\[(?:pip3?|conda)\]\s+)?{STATE}(?P<name>[A-Za-z][\w.+-]{{1,60}}?)(?::(?:amd64|all|i386))?(?:/[\w,.-]{{1,60}})?"
    r"\s{0,60}(?:===?|[:=|@]|\s)\s{0,60}[\[(]?v?(?P<version>\d[\w.+~:-]{1,80})"
)
NEWEST = re.compile(
    r"^(?P<state>)(?P<name>[a-z0-9][\w.+-]{1,60}) is already the newest version \((?P<version>\d[^\s)]{1,80})\)"
)
"""What apt says of a package that it has nothing newer for."""
ABSENT = re.compile(
    r"package '?([\w.+-]{2,60}?)'? (?:is not installed|was not found)|no packages? found matching ([\w.+-]{2,60}?)\.?$"
    r"|^un\s+([\w.+-]{2,60})(?::\w+)?\s"
)
"""What the managers of packages say of one that is not there."""
POLICY = re.compile(r"^([a-z0-9][\w.+-]{1,60}):$")
INSTALLED = re.compile(r"^\s+Install\w{1,6}\s?: ?(\(\S+\)|\d\S*)$")
"""What `apt policy` says of a package: its version, or none, in whatever language."""
RPM = re.compile(
    r"^[\s*-]{0,4}([A-Za-z][\w.+-]{1,60}?)-(\d[\w.+~^]{0,40}(?:-\w[\w.~+^]{0,40})?)(?:\.(?:x86_64|noarch))?$"
)
LISTED = re.compile(r"^(?:[uirph][cnuHFWtTi ]R?\s+\S+\s+\d\S*(?:\s+\S+\s|$)|\S+/\S+ \S+ \w+ \[installed)")
OF_RPM = re.compile(r"^[A-Za-z][\w.+-]{1,80}[- ]\d[\w.+~:^-]{0,60}$")
"""A line of rpm -qa or pacman -Q."""
VARIABLE = re.compile(
    r"^(?:~?/\S{1,80}:(?:\d{1,5}:)?)?\s{0,12}(?:- ?)?"
    r"(?:export\s+|set\s+|setx\s+|ENV\s+)?[\"']?([A-Z_][A-Z0-9_]{1,60})(?:=|:\s)([^\n]*)$"
)
FILTERED = re.compile(r"(?:Output filtered by |Warning: )(\w+) environment variable(?:, which)? is set to (\S+?)\.?$")
"""What sycl-ls says of a variable that leaves devices out."""
SERVICES = re.compile(r"^\s{0,4}services:\s*$")
PRIVILEGED = re.compile(r"^\s+privileged:\s*[\"']?true")
LIBRARY = re.compile(r"^\s*lib\S+ \(libc6[^)]*\) => /")
NO_PLATFORM = re.compile(r"Number of platforms\s+0\b|clGetPlatformIDs\b.{0,80}-1001\b|PLATFORM_NOT_FOUND_KHR")
OPENCL = re.compile(
    r"^\s*(?:Platform #\d+: |[`'-]+ ?Device #\d+: |Number of (?:platforms|devices)\s+\d|(?:Platform|Device) Name\s{2,})"
)
PROPERTY = re.compile(
    r"^\|?[\s|\d]*(Device Name|PCI BDF Address|PCI Device ID|Vendor Name|DRM Device|Device State|SOC UUID)"
    r"\s*:\s*(\S.*?)\s*\|?$"
)
NONE_FOUND = re.compile(
    r"No device discovered|Error: XPUM Service Status Error|level-zero initialization error", re.IGNORECASE
)
CODE = re.compile(r"ze(?:Init|_init)\w*\b.{0,60}?\b(0x7[0-9a-f]{7}|ZE_RESULT_ERROR_\w+)|ZE_RESULT_ERROR_UNINITIALIZED")
SETVARS = re.compile(
    r"^\W{0,4}:: (?:oneAPI environment initialized|initializing oneAPI environment)|setvars\.sh has already been run"
)
ERROR = re.compile(
    r"^\s*(?:E\s+)?(?:[A-Za-z_][\w.]{0,80}\.)?[A-Z]\w{0,60}(?:Error|Exception|Warning): \S"
    r"|^\S{0,200}: UserWarning: \S|^OSError: |^XPU device count is zero"
)
TRUTH = re.compile(r"^\(?(True|False)(?:, \d{1,3}\))?$")
WHEEL = re.compile(r"^(\d+\.\d+\.\d+[\w.]*\+(?:xpu|cpu|cu\d+|rocm[\w.]*|git\w+|cxx11\.abi))$")
ON_XPU = re.compile(r"\btensor\(.{0,200}device='xpu(?::\d+)?'")
"""A tensor that is on the device."""
PRINTED = re.compile(r"^\W{0,2}(\d+\.\d+\.\d+[\w.]*\+xpu[\w.]*)['\"]?[, ]+(True|False)\b")
"""A version of torch, and whether it has a device, as one print says them."""
ANSWERED = re.compile(
    r"(?:torch\.)?xpu(?:\.is_available(?:\(\))?|[ _]is[ _]available| available)"
    r"(?:\W{1,6}|\W{0,3}\s(?:(?:is|says?|returns?|returned|gives?|gave|me|still|always|just|prints?|printed|now|stays?|shows?|equals)"
    r"\s\W{0,3}){1,4})(True|False)\b",
    re.IGNORECASE,
)
COUNTED = re.compile(
    r"(?:torch\.)?xpu\.device_count(?:\(\))?(?:\W{1,6}"
    r"|\W{0,3}\s(?:(?:is|says?|returns?|returned|gives?|gave|me|still|always|just|prints?|now|shows?|reports?)\s){1,3})(\d+)\b"
)
COMMON = {"sudo", "wheel", "adm", "users", "docker", "video", "render", "audio", "plugdev", "input", "lp"}
"""Groups of which one is nearly always among those of a person."""
BY_OTHERS = re.compile(
    r"(?i)\b(?:as root|with sudo|under sudo|using sudo)\b.*\btrue\b|\btrue\b.*\b(?:as root|with sudo)\b"
)
BUILT = re.compile(r"^\s*(?:pytorch|libtorch)\s+\d\S*\s+\S*?(cpu|cuda)")
"""PyTorch in a list of conda, with what it was built for."""
COLLECTED = "Collecting environment information"
ALIASES = {
    "pytorch": "torch",
    "intel_opencl": "intel-opencl-icd",
    "level_zero": "level-zero",
    "compute-runtime": "intel-compute-runtime",
    "ipex": "intel-extension-for-pytorch",
    "intel_extension_for_pytorch": "intel-extension-for-pytorch",
}
"""Packages by the names that reports give them."""
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
WHOLE_LIST = 150
"""Minimum length of a list that is taken for all packages of a system."""
PROSE = 400
"""Lines up to this length are looked through for names of GPUs and drivers."""
WHOLE_BUS = 8
"""Minimum number of devices that are taken for all of a bus."""
WHOLE_LOG = 150
"""Minimum number of kernel messages that are taken for all of them."""
CONTROLLER = r"VGA compatible|3D|Display|Processing acc"
"""Devices that may be GPUs, as lspci names their class."""
STARTED = re.compile(r"\[drm\] Initialized (?:xe|i915) |GuC firmware loaded")
"""What the kernel says once a GPU is up: what would have failed before it is told then."""
LISTS = re.compile(r"^(?:uv )?pip3? (?:list|freeze)[^|]*$|^conda list[^|]*$|^python\S* -m pip (?:list|freeze)[^|]*$")
"""Commands that list all of an environment."""


@dataclass
class PastedGpu:
    """A display device as it was told of; what was not told is None."""

    address: str = ""
    vendor: str = "8086"
    device: str = ""
    name: str = ""
    kind: str = "030000"
    driver: str | None = None
    bar: int | None = None
    detailed: bool = False
    refused: str = ""
    blocked: str = ""


@dataclass
class PastedNode:
    """A render node with its rights and its group's name."""

    path: str
    mode: str = ""
    group: str = ""
    address: str | None = None
    closed: bool = False


@dataclass
class Pasted:
    """All that was read. `told` are the parts of facts of which something is known, `kinds` how many lines of each.

    `as_root`: what was listed to root and not to the user, `lacks`: packages that a list would show if they were there,
    `handed`: devices that a container was given, `displays`: "all" or "vga" where display devices were listed by class,
    `joined`: groups that /etc/group gives the user, `starts`: what starts a container ("docker", "podman"), `image`:
    what it is made from, `inside`: "container" or "guest" where it is about one, `lost`: files that are not there,
    `fakes`: files and folders with the name of a node, `everything`: all lines, `windows`: prompts of Windows
    stand in it, `described`: torch itself has told of a device.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    told: set[str] = field(default_factory=set)
    unread: list[str] = field(default_factory=list)
    lines: int = 0
    left: int = 0
    release: dict[str, str] = field(default_factory=dict)
    kernel: str = ""
    machine: str = ""
    user: str = ""
    uid: int | None = None
    groups: dict[str, int] = field(default_factory=dict)
    host: str = ""
    gpus: list[PastedGpu] = field(default_factory=list)
    nodes: dict[str, PastedNode] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)
    cmdline: str = ""
    modules: dict[str, None] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    listed: int = 0
    distributions: dict[str, str] = field(default_factory=dict)
    libraries: dict[str, str] = field(default_factory=dict)
    sycl: list[str] = field(default_factory=list)
    clinfo: list[str] = field(default_factory=list)
    no_platform: bool = False
    as_root: list[str] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)
    handed: tuple[str, ...] | None = None
    blacklisted: list[str] = field(default_factory=list)
    joined: dict[str, int] = field(default_factory=dict)
    members: dict[str, list[str]] = field(default_factory=dict)
    chips: list[str] = field(default_factory=list)
    filtered: bool = False
    starts: str = ""
    image: str = ""
    inside: str = ""
    by_lxc: bool = False
    lost: list[str] = field(default_factory=list)
    fakes: list[str] = field(default_factory=list)
    everything: list[str] = field(default_factory=list)
    windows: bool = False
    described: bool = False
    displays: str = ""
    seen: list[str] = field(default_factory=list)
    onboard: list[str] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    said_driver: str = ""
    said_module: str = ""
    init: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    collected: dict[str, str] = field(default_factory=dict)
    available: bool | None = None
    count: int | None = None
    errors: list[str] = field(default_factory=list)
    replaced: str = ""
    lacking_cxx: list[tuple[str, str, str]] = field(default_factory=list)

    def lists_gpu(self, backend: str = "") -> bool:
        """Say whether sycl-ls lists a GPU, of any backend or of this one."""
        return any(f"{backend}:gpu]" in line for line in self.sycl)


COLLECT = {
    "pytorch version": "torch",
    "is debug build": "debug",
    "cuda used to build pytorch": "cuda",
    "rocm used to build pytorch": "rocm",
    "xpu used to build pytorch": "xpu",
    "is xpu available": "available",
    "is cuda available": "cuda_available",
    "os": "os",
    "gcc version": "gcc",
    "clang version": "clang",
    "cmake version": "cmake",
    "libc version": "libc",
    "python version": "python",
    "python platform": "platform",
    "cuda runtime version": "cuda_runtime",
    "nvidia driver version": "nvidia",
    "ipex version": "ipex",
    "dpcpp runtime": "dpcpp",
    "intel opencl icd version": "icd",
    "level zero version": "level_zero",
    "is xnnpack available": "xnnpack",
}
"""The lines of PyTorch's collect_env, and of that of Intel's extension."""
