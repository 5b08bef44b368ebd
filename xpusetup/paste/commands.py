"""The commands that people type into what they paste: what their filters let through, and who typed them. Pure."""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xpusetup.machine.versions import COMPILER, LEVEL_ZERO, LOADER
from xpusetup.paste import lines

SIMPLE = re.compile(r"\^?(?:[\w :/-]|\.[*?+]?)+\$?")
"""A part of a pattern that can be tried: letters that stand for themselves, and dots for any."""
HARMLESS = ("cat", "sort", "uniq", "less", "more", "tee", "cut", "column", "tr")
"""Programs in a pipe that drop no kind of line."""
SHORTENS = re.compile(r"\s*\{\s*print\b[^}]*\}\s*")
"""A program of awk that takes columns of every line."""
DISPLAYS = (
    "00:02.0 VGA compatible controller [0300]: Intel Corporation",
    "00:02.0 Display controller [0380]: Intel Corporation",
    "00:02.0 3D controller [0302]: Intel Corporation",
)
"""How lspci begins the line of a GPU."""
LISTS = re.compile(r"^(?:dpkg (?:-l|--list)|apt list --installed|rpm -qa|pacman -Q|dnf list (?:--)?installed)\b")
"""Commands that list the packages of a system."""
HANDED = re.compile(r"(?:--device[= ]|-v |--volume[= ]|-\s*[\"']?)(/dev/(?:dri(?!/by-path)|dxg)\b[^\s:\"']*)")
STARTS = re.compile(r"^(docker|podman)\b.*\b(?:run|create)\b")
MOST_HELD = 4000
"""Maximum length of a command on several lines, in characters."""
SET = re.compile(r"(?:^|\s)([A-Z][A-Z0-9_]{2,60})=(\"[^\"]*\"|'[^']*'|\S+)")


def _pipe(command: str) -> list[list[str]]:
    """Give the words of each program of a pipe; nothing where quotes do not fit."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:
        return []
    parts: list[list[str]] = [[]]
    for word in words:
        if word == "|":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _lets_through(words: Sequence[str], lines: Iterable[str]) -> bool:
    """Say whether one program of a pipe keeps all of these lines, as far as its pattern is plain words."""
    if not words or words[0] in HARMLESS:
        return bool(words)
    if words[0] in ("awk", "gawk", "mawk"):
        return any(map(SHORTENS.fullmatch, words[1:]))
    flags = [word for word in words[1:] if re.match(r"-[A-Za-z]", word)]
    if words[0] not in ("grep", "egrep") or any("v" in flag for flag in flags if not flag.startswith("-e")):
        return False
    patterns = [word for word in words[1:] if not re.match(r"-|\d{1,3}$|2?>", word)]
    wanted = [each.strip("()") for pattern in patterns for each in re.split(r"\\?\|", pattern)]
    plain = [re.compile(each, re.IGNORECASE) for each in wanted if SIMPLE.fullmatch(each)]
    return all(any(each.search(line) for each in plain) for line in lines)


def shows(command: str, lines: Iterable[str]) -> bool:
    """Say whether the filters behind a command let all of these lines through; False where that cannot be said."""
    parts, wanted = _pipe(command), tuple(lines)
    return bool(parts) and all(_lets_through(words, wanted) for words in parts[1:])


def lists_displays(command: str) -> str:
    """Say which display devices an lspci lists: "all" of them, "vga" for the commonest class, or "" for some."""
    parts = _pipe(command)
    chosen = any(word.startswith(("-s", "-d")) for word in (parts[0] if parts else ()))
    if not parts or parts[0][:1] != ["lspci"] or chosen or len(parts) == 1:
        return ""
    return "all" if shows(command, DISPLAYS) else "vga" if shows(command, DISPLAYS[:1]) else ""


def parts_shown(command: str) -> tuple[tuple[str, ...], ...]:
    """Give the parts of the driver of which a command would list a package, each with its packages."""
    command = re.sub(r"^pacman -Qs\s+(?=[^|\s])", "pacman -Q | grep -E ", command)
    if not LISTS.match(command) or "|" not in command:
        return ()
    program = command.partition(" ")[0]
    manager = {"dpkg": "apt", "dnf": "rpm"}.get(program, program)
    groups = (part.get(manager, ()) for part in (LEVEL_ZERO, LOADER, COMPILER))
    return tuple(names for names in groups if names and shows(command, (f"ii  {name} " for name in names)))


LIBRARIES = ("libze_intel_gpu.so", "libze_loader.so")
"""Level Zero's driver and its loader."""


def _lists_libraries(command: str) -> bool:
    """Say whether a command lists the libraries of the system, of which Level Zero's driver would be one."""
    if re.match(r"ldconfig -p\b.*\||ls(?: -\w+)* /usr/lib(?:64|/x86_64-linux-gnu)?/? *\|", command):
        return shows(command, (f"\t{LIBRARIES[0]}.1 (libc6,x86-64) => /usr/lib/{LIBRARIES[0]}.1",))
    return bool(re.match(r"find /(?:usr\S*)? .*-i?name ['\"]?\*?libze_intel\S*", command))


def _lists_modules(command: str) -> bool:
    """Say whether a command lists the drivers of Intel's GPUs among the modules that are loaded."""
    return bool(re.match(r"lsmod\b", command)) and shows(command, ("i915  1 0", "xe  1 0"))


def whole_commands(text: Iterable[str]) -> Iterator[str]:
    """Give lines, those that a backslash continues as one."""
    held = ""
    for line in text:
        if line.endswith(" \\") and len(held) < MOST_HELD:
            held += line[:-1]
        else:
            yield held + (line.lstrip() if held else line)
            held = ""
    if held:
        yield held


def variables_of(command: str) -> dict[str, str]:
    """Give the variables that a command sets for itself or for the container that it starts."""
    return {name: value.strip("\"'") for name, value in SET.findall(command)}


def handed_over(command: str) -> tuple[str, ...] | None:
    """Give the GPU devices that a command hands to the container it starts; None for another command."""
    if not STARTS.match(command):
        return None
    return ("/dev/dri", "/dev/dxg") if "--privileged" in command else tuple(HANDED.findall(command))


ASKS_IMAGE = re.compile(
    r"(?:^|[\s;&'\"])(?:cat|dpkg(?:-query)?|rpm|apt(?:-get|-cache)?|pip3?|ls|head|grep|uname|id|env|which)\b"
    r"(?: |$|['\"])"
)


def only_asks(command: str) -> bool:
    """Say whether a command starts a container without a GPU and only to ask what is in its image."""
    return handed_over(command) == () and ASKS_IMAGE.search(command) is not None


IMAGE = re.compile(
    r"(?<!\S)(?=\S*[a-z])((?:[a-z0-9.-]+(?::\d+)?/)?(?:[a-z0-9._-]+/)?[a-z0-9._-]+:[A-Za-z0-9][\w.-]{0,120})(?!\S)"
)
"""An image with its tag."""


def image_of(command: str) -> str:
    """Give the image that a command makes a container from, where it is named with a tag; a mapped folder is none."""
    words = " ".join(word for word in command.split() if not word.startswith(("-", "/")))
    found = IMAGE.search(words)
    return found[1] if found else ""


@dataclass(frozen=True)
class Silence:
    """What a command tells by showing nothing: parts of facts, and packages that are not there."""

    told: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    no_platform: bool = False
    displays: str = ""


SHOWS_ASCEND = re.compile(r"(?:env|printenv)\b.*\bgrep\b.*ASCEND|echo \"?\$\{?ASCEND_\w+")
"""Commands that show Ascend's variables."""


def by_silence(command: str) -> Silence:
    """Give what follows where a command, with its filters, shows nothing at all."""
    if re.match(r"clinfo(?: -l| --list)?(?: *2>\S+)?$", command):
        return Silence(("userland.clinfo", "userland.opencl"), no_platform=True)
    if displays := lists_displays(command):
        return Silence(("hardware.gpus",), displays=displays)
    rows = (
        ("hardware.nodes", bool(re.match(r"ls(?: -\w+)* /dev/dri/?(?:\*|render\S*)?$", command))),
        ("environment", bool(SHOWS_ASCEND.match(command))),
        ("kernel.modules", _lists_modules(command)),
    )
    lacks = LIBRARIES[:1] if _lists_libraries(command) else tuple(e for names in parts_shown(command) for e in names)
    return Silence(tuple(part for part, shown in rows if shown), lacks=lacks)


# Variables of the environment in what people paste: every form in which shells, files and programs write one.


NAME, VALUE = r"(?P<name>[A-Z_][A-Z0-9_]{1,60})", r"(?P<value>[^\n]{0,400}?)"
FORMS = (
    re.compile(rf"^\s*(?:PS [^>]{{0,120}}> ?)?\$env:{NAME}\s*=\s*[\"']?{VALUE}[\"']?;?\s*$", re.IGNORECASE),
    re.compile(rf"\bos\.environ\[[\"']{NAME}[\"']\]\s*=\s*[\"']{VALUE}[\"']"),
    re.compile(rf"\bos\.(?:putenv|environ\.setdefault)\([\"']{NAME}[\"'],\s*[\"']{VALUE}[\"']\)"),
    re.compile(rf"^\s*Environment=[\"']?{NAME}={VALUE}[\"']?\s*$"),
    re.compile(rf"^\s*(?:-\s*)?[\"']{NAME}[\"']\s*:\s*[\"']{VALUE}[\"'],?\s*$"),
    re.compile(rf"^\s*(?:set|setx) (?:-\w+ |/m )?{NAME} [\"']?{VALUE}[\"']?\s*$", re.IGNORECASE),
)
"""PowerShell, Python, a unit of systemd, JSON, and fish or Windows' setx."""
ECHOED = re.compile(
    r"^(?:sudo )?(?:echo|printenv|Write-Host) [\"']?(?:\$env:|\$\{?|%)?([A-Z_][A-Z0-9_]{1,60})[}%]?[\"']?$"
)
"""A command that shows one variable."""
RUNS = re.compile(
    r"\s(?:[A-Z_][A-Z0-9_]{1,60}=\S*\s+)*(?:\S*/)?(?:python|sycl-ls|clinfo|\./|torchrun|ollama|bash)\b.*$"
)
"""The program that a line starts behind its variables."""


def variable_in(line: str, command: str, shown: int) -> tuple[str, str]:
    """Give the variable that a line sets or shows, with its value; two empty words for none.

    `command` is what was typed last, and `shown` how many lines it has shown before this one.
    """
    if (found := ECHOED.match(command)) and shown == 0 and len(line.split()) == 1:
        return found[1], line.strip()
    if found := next(filter(None, (form.search(line) for form in FORMS)), None):
        return found["name"], found["value"].strip()
    found = lines.FILTERED.search(line) or lines.VARIABLE.match(line)
    if found is None:
        return "", ""
    value = found[2] if " " not in found[2] else RUNS.sub("", found[2])
    return found[1], value.strip().strip("\"'")
