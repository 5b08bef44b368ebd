"""Lists of devices as programs print them: dpctl's as sycl-ls would, those of others by their form alone. Pure."""

from __future__ import annotations

import re

DPCTL = re.compile(
    r"<dpctl\.SyclDevice \[(?:backend_type\.)?(level_zero|opencl|cuda|hip)"
    r", (?:device_type\.)?(gpu|cpu|accelerator), {0,3}([^\n<>]{1,80}?)\] at 0x"
)
"""A device as dpctl shows it."""
TITLED = re.compile(r"^\s+Name\s{2,}(\S[^\n]{1,80})$")
FILTER = re.compile(r"^\s*Filter [Ss]tring\s+(level_zero|opencl|cuda|hip):(gpu|cpu|accelerator):(\d{1,3})\s*$")
"""A device in dpctl's long list: its name, and some lines later the string that chooses it."""
LISTING = re.compile(
    r"\bdpctl\.(?:lsplatform|get_devices|get_num_devices|has_\w+|select_\w+)\(|^Intel\(R\) Level-Zero \d"
    r"|\bsycl::(?:device|platform|queue)\b.{0,80}\bIntel\(R\)"
    r"|^\W{0,4}\[?[\"'](?:CPU|GPU|NPU)(?:\.\d)?[\"'](?:, ?[\"'](?:CPU|GPU|NPU)(?:\.\d)?[\"']){0,8}\]"
    r"|(?i:\bavailable[_ ]devices\b\W.{0,60}\b(?:CPU|GPU|NPU)\b)|^\W{0,6}(?:GPU|NPU|CPU)(?:\.\d)?: Intel\(R\)"
    r"|\bggml_(?:vulkan|sycl_init|opencl)\b|^\s*(?:SYCL|Vulkan|OpenCL|GPUOpenCL)\d: "
    r"|\bfound \d+ (?:SYCL|Vulkan|OpenCL) devices?\b|^Device: (?:xpu|cpu)\b|^Total VRAM \d+ MB"
    r"|\blibva (?:info|error): |^vainfo: |\bdetected platform xpu\b|\binference compute\b.{0,200}\blibrary="
    r"|^FULL_DEVICE_NAME\b|\bxpu:\d\b"
    r"|^(?:Running|Selected|Using|Executing|Target|Offload)[ \w]{0,20}(?:device|on)\W{1,3}.{0,20}\bIntel\(R\)"
)
"""Lines that tell which devices a program was shown; what they name is read as names are."""


class DpctlReader:
    """Writes what dpctl lists as sycl-ls lists it. `titled` is the device that was named last."""

    def __init__(self) -> None:
        """Begin with nothing named."""
        self.titled = ""

    def as_sycl(self, line: str, place: int) -> str:
        """Give a device that dpctl lists as sycl-ls does, and any other line as it is."""
        if found := TITLED.match(line):
            self.titled = found[1].strip()
        if found := DPCTL.search(line):
            return _written(found[1], found[2], str(place), found[3])
        if self.titled and (found := FILTER.match(line)):
            return _written(found[1], found[2], found[3], self.titled)
        return line


def _written(backend: str, kind: str, place: str, name: str) -> str:
    return f"[{backend}:{kind.replace('accelerator', 'acc')}][{backend}:{place}] {name}"
