"""The vendors' programs: sycl-ls, clinfo, ocloc, hl-smi, npu-smi; the settings of pip and git; torch/version.py."""

from __future__ import annotations

import configparser
import re

from xpusetup.facts import Accelerator

SYCL = re.compile(r"^\[[a-z0-9_]+:[a-z]+\]")
HEALTH = ("OK", "Warning", "Alarm", "Critical", "UNKNOWN")
NPU_ROW = re.compile(rf"^\|\s*(\d+)\s+(\S+)\s*\|\s*({'|'.join(HEALTH)})\s*\|", re.MULTILINE)
NPU_VERSION = re.compile(r"npu-smi\s+\S+\s+Version:\s*(\S+)")
OCLOC = re.compile(r"<device_type> can be:(.*?)(?:, ip version|\n\s*-|\n\s*\n|\Z)", re.DOTALL)
TORCH = re.compile(r"^(__version__|xpu|cuda)\s*(?::[^=\n]*)?=\s*(?:'([^']*)'|\"([^\"]*)\"|None)", re.MULTILINE)
COMPILER = re.compile(r"Compiler (\d+\.\d+(?:\.\d+)*)")


def parse_compiler_version(text: str) -> str | None:
    """Read the version from what icpx says: "Intel(R) oneAPI DPC++/C++ Compiler 2025.3.1 (2025.3.1.2025...)"."""
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
