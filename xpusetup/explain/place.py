"""On what kind of system a log was written, as far as it tells: what is advised has to work there."""

import re
from collections.abc import Iterable, Sequence

from xpusetup.base.command import Command
from xpusetup.explain.finder import System

SIGNS: tuple[tuple[System, re.Pattern[str]], ...] = (
    (
        "windows",
        re.compile(r"(?:^|[\s\"'(\[])[A-Za-z]:\\|WinError|\bLNK\d{4}\b|error C\d{4}\b|win_amd64|\.dll\b|\.exe\b"),
    ),
    (
        "fedora",
        re.compile(
            r"\b(?:dnf|yum|rpm)\b|Unable to find a match: |No match for argument: |\.(?:el|fc)\d+\b"
            r"|RHEL|Fedora|CentOS|Rocky",
            re.IGNORECASE,
        ),
    ),
    ("suse", re.compile(r"\bzypper\b|suse|sles", re.IGNORECASE)),
    ("arch", re.compile(r"\bpacman\b|^==> (?:ERROR|WARNING)|-arch\d|PKGBUILD", re.MULTILINE)),
    (
        "debian",
        re.compile(
            r"^(?:E|W|Err:\d+|N): |\b(?:dpkg|apt|apt-get)\b|ubuntu|debian|\.deb\b", re.MULTILINE | re.IGNORECASE
        ),
    ),
)
"""What the lines around a failure tell."""
PROMPTS: tuple[tuple[System, re.Pattern[str]], ...] = (
    ("wsl", re.compile(r"microsoft-standard-WSL|/usr/lib/wsl/|/dev/dxg\b|/mnt/c/(?:Users|Windows)\b", re.IGNORECASE)),
    (
        "docker",
        re.compile(
            r"^(?:\([\w.-]+\) )?root@[0-9a-f]{12}:|^#\d+ \[[^\n]{1,60}\] (?:RUN|FROM|COPY)\b|/\.dockerenv"
            r"|^\S*[#$] (?:sudo )?(?:docker|podman) (?:run|exec)\b",
            re.MULTILINE,
        ),
    ),
    (
        "windows",
        re.compile(
            r"^(?:\([\w.-]+\) ?)*(?:PS )?[A-Z]:\\[^\n>]*>|^\s*File \"[A-Za-z]:\\|win_amd64|^Windows PowerShell"
            r"|^Microsoft Windows \[Version",
            re.MULTILINE,
        ),
    ),
    (
        "fedora",
        re.compile(
            r"^(?:[^\n]{0,80}[#$] |\+ )?(?:sudo )?(?:dnf|yum) |\.(?:el|fc)\d+[._]|Rocky Linux|Red Hat|AlmaLinux|CentOS"
            r"|Fedora Linux|/etc/redhat-release|\(ol\d\)",
            re.MULTILINE,
        ),
    ),
    ("suse", re.compile(r"^(?:[^\n]{0,80}[#$>] |\+ )?(?:sudo )?zypper |openSUSE|SUSE Linux", re.MULTILINE)),
    (
        "arch",
        re.compile(
            r"^(?:[^\n]{0,80}[#$] |\+ )?(?:sudo )?(?:pacman|yay|paru) |\d-arch\d|Arch Linux|CachyOS", re.MULTILINE
        ),
    ),
    (
        "debian",
        re.compile(
            r"^(?:[^\n]{0,80}[#$] |\+ )?(?:sudo )?(?:apt|apt-get|dpkg) |\dubuntu\d|~(?:20|22|24|26)\.04\b"
            r"|Ubuntu \d\d\.\d\d|Debian GNU|\bkubuntu\b",
            re.MULTILINE,
        ),
    ),
)
"""What prompts, commands and versions anywhere in a log tell."""
FAMILIES: dict[str, System] = {
    **dict.fromkeys(("debian", "ubuntu"), "debian"),
    **dict.fromkeys(("fedora", "rhel", "centos"), "fedora"),
    **dict.fromkeys(("suse", "opensuse", "sles"), "suse"),
    "arch": "arch",
}
"""By the names in os-release's ID and ID_LIKE."""
DISTRIBUTIONS: tuple[System, ...] = ("debian", "fedora", "suse", "arch")


def find_system(texts: Iterable[str], families: Sequence[str] = ()) -> System | None:
    """Say what the lines around a failure tell of the system; where they tell nothing, this machine's families do."""
    text = "\n".join(texts)
    told = next((system for system, sign in SIGNS if sign.search(text)), None)
    return told or next((FAMILIES[name] for name in families if name in FAMILIES), None)


def find_systems(near: Iterable[str], log: str, families: Sequence[str] = ()) -> tuple[System, ...]:
    """Give all that is known of the place, the narrower first: a container or WSL, then what the system is.

    What the lines near the failure tell comes before what the rest of the log does, and both before this machine.
    """
    told = [system for system, sign in PROMPTS if sign.search(log)]
    close = find_system(near)
    nests = [system for system in told if system in {"wsl", "docker"}]
    kinds = [close, *(system for system in told if system not in nests and close is None)]
    main = next((kind for kind in kinds if kind), None) or find_system((), families)
    return (*nests, *([main] if main else []))


# Commands are Linux' and Debian's where a failure names none for a system: what cannot work there is left out.


PACKAGES: dict[System, re.Pattern[str]] = {
    "debian": re.compile(r"\b(?:apt|apt-get|apt-cache|dpkg)\b"),
    "fedora": re.compile(r"\b(?:dnf|yum)\b"),
    "suse": re.compile(r"\bzypper\b"),
    "arch": re.compile(r"\bpacman\b"),
}
UNIX_ONLY = re.compile(
    r"^(?:sudo|apt|apt-get|apt-cache|dnf|ls|ldconfig|ldd|dmesg|lspci|lsmod|modprobe|journalctl|cat|env \||strings"
    r"|ulimit|chmod|df|free|file|readelf|nm|which|mount|systemctl|find|grep|sed|uname|clinfo \||rm|ln|echo \$"
    r"|mkdir -p|unset|nproc)\b"
)
WITHIN = re.compile(r"\$\(|2>/dev/null|/dev/dri|/usr/|/opt/intel/(?!oneapi/setvars)")
SETVARS = '"C:\\Program Files (x86)\\Intel\\oneAPI\\setvars.bat"'
GREP = re.compile(r" \| grep (?:-\w+ )*'?(?P<words>[\w|.+-]+)'?")
EXPORT = re.compile(r"^export (?P<name>\w+)=(?P<value>[^\s$]*)$")


BY_PIP = Command("pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/xpu")


def fit_commands(commands: Iterable[Command], systems: Sequence[System]) -> list[Command]:
    """Leave out commands that the system does not have, and write those that Windows says otherwise in its way."""
    told = next((system for system in systems if system in {"windows", *DISTRIBUTIONS}), None)
    if told == "windows":
        commands = [BY_PIP if command.startswith("xpusetup install") else command for command in commands]
        return [command.like(fit) for command in commands if (fit := _for_windows(command))]
    others = [sign for system, sign in PACKAGES.items() if told and system != told]
    return [command for command in commands if not any(sign.search(command) for sign in others)]


def _for_windows(command: str) -> str:
    """Give a command as Windows' own shell takes it, or nothing. This program does not run there, and pip does."""
    if command.startswith("source /opt/intel/oneapi/setvars.sh"):
        return SETVARS
    if exported := EXPORT.match(command):
        return f"set {exported['name']}={exported['value']}"
    if UNIX_ONLY.match(command) or WITHIN.search(command):
        return ""
    filtered = GREP.sub(lambda found: f' | findstr /i "{found["words"].replace("|", " ")}"', command)
    return re.sub(r"'([^'\"]*)'", r'"\1"', filtered)
