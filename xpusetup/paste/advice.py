"""Commands as who posted types them: with uv, on clusters with modules, on systems that are one image. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from xpusetup.base.command import Advice, Command
from xpusetup.base.model import Fix
from xpusetup.machine.installs import for_uv

OF_PIP = re.compile(r"\S*python\S* -m pip (install|uninstall)\b(.*)$")
TYPED = r"^[^\n]{0,80}?(?:[$#%>] |^)"
USES_UV = re.compile(rf"{TYPED}uv (?:pip|venv|sync|add|run)\b", re.MULTILINE)
USES_PIP = re.compile(rf"{TYPED}(?:python3? -m )?pip3? (?:install|uninstall)\b", re.MULTILINE)
USES_PYTHON = re.compile(rf"{TYPED}(?:[A-Z_]+=\S* )*(python3?)(?= |$)", re.MULTILINE)
OWN_PYTHON = re.compile(r"^python3?(?= (?!-m venv))")  # outside of an environment many systems have python3 alone
USES_MODULES = re.compile(rf"{TYPED}(?:module|ml) (?:load|purge|list|add|use)\b", re.MULTILINE)
LAYERED = re.compile(
    r"(?i)\brpm-ostree\b|\bfedora (?:silverblue|kinoite|coreos|iot|atomic)\b|\b(?:silverblue|bazzite|bluefin)\b"
)
AS_A_WHOLE = re.compile(r"\b(?:IncusOS|Talos(?: Linux)?|Flatcar|Bottlerocket|TrueNAS SCALE|Unraid|SteamOS)\b")
OF_SYSTEM = re.compile(
    r"^sudo (?:apt(?:-get)?|dnf|zypper|pacman|add-apt-repository|update-initramfs|dracut|mkinitcpio)\b"
)
OF_DNF = re.compile(r"^sudo dnf (install|upgrade)(?: -y)? (.*)$")


def python_in(text: str) -> str:
    """Give the name by which Python is called in a text: python3 if that alone is typed there, else python."""
    return "python3" if {found[1] for found in USES_PYTHON.finditer(text)} == {"python3"} else "python"


def name_python(line: str, name: str) -> str:
    """Give a command with that name of Python."""
    return OWN_PYTHON.sub(name, line)


@dataclass(frozen=True)
class Habits:
    """How somebody installs: with uv, by modules of a cluster, in layers over an image; or not at all, by `whole`.

    `python`: what Python is called there.
    """

    uv: bool = False
    modules: bool = False
    layered: bool = False
    whole: str = ""
    python: str = "python"

    def command(self, line: str) -> str:
        """Give a command as it is typed there; empty for one that has no use there."""
        line = name_python(line, self.python)
        if self.uv and (found := OF_PIP.match(line)):
            words = found[2].replace(" -y", "").replace("--force-reinstall", "--reinstall")
            return for_uv(f"uv pip {found[1]}{words}")
        if self.layered and (found := OF_DNF.match(line)):
            return f"sudo rpm-ostree install {found[2]}" if found[1] == "install" else "sudo rpm-ostree upgrade"
        if self.modules and line.startswith("exec env -i "):
            return "module purge"
        return "" if self.whole and OF_SYSTEM.match(line) else line

    def commands(self, lines: Iterable[Command]) -> tuple[Command, ...]:
        """Give commands as they are typed there."""
        return tuple(line.like(typed) for line in lines if (typed := self.command(line)))

    def fix(self, fix: Fix) -> Fix:
        rows = tuple((family, self.commands(lines)) for family, lines in fix.commands)
        lost = self.whole and any(OF_SYSTEM.match(line) for _, lines in fix.commands for line in lines)
        more = f"{self.whole} has no packages to install: take a newer image of it, or do it in the container."
        return replace(fix, commands=rows, say=Advice.lines(filter(None, (fix.say, more)), " ") if lost else fix.say)


def habits_of(texts: Iterable[str], *, contained: bool = False) -> Habits:
    """Read from what was pasted how its author installs; `contained`: a container is judged, which has packages."""
    text = "\n".join(texts)
    python = python_in(text)
    whole = None if contained else AS_A_WHOLE.search(text)
    return Habits(
        uv=bool(USES_UV.search(text)) and not USES_PIP.search(text),
        modules=bool(USES_MODULES.search(text)),
        layered=bool(LAYERED.search(text)),
        whole=whole[0] if whole else "",
        python=python,
    )
