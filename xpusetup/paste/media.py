"""Whether a post is about video alone, what its host lists, and errors of video that read like those of disks. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xpusetup.machine.works import is_gpu_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xpusetup.paste.lines import Pasted


VIDEO = re.compile(
    r"(?i)\bva-?api\b|\bvainfo\b|\blibva\b|\bNo VA display\b|\bVaError\b|\bAVHWDevice"
    r"|\b(?:h264|hevc|av1)_(?:qsv|vaapi)\b|\bQSV\b|\bQuick ?Sync\b|\btranscod\w+|_drv_video\.so|\bMFX session\b"
)
COMPUTE = re.compile(
    r"(?i)\b(?:py)?torch\b|\bopencl\b|\bclinfo\b|\blevel[- _]?zero\b|\bsycl\b|\bopenvino\b|\bipex\b|\boneapi\b|\bxpu\b"
    r"|\bo?llama\b|\bcompute[- ]runtime\b|\bvulkan\b|\bdarktable\b|\bblender\b|\btone-?mapping\b|\btonemap_opencl\b"
)
OF_DISKS = ("sys.io", "compile.disk_full", "sys.disk_full")
"""Failures of disks, in words that drivers of GPUs use too."""
OF_VIDEO = re.compile(
    r"(?i)vaapi|qsv|init_hw_device|AVHWDevice|[Ee]rror while (?:filtering|processing)|tonemap|\bi915\b|\bxe \d|\bdrm\b"
    r"|/dev/dri|\biHD\b|hwupload|hwaccel|[Dd]evice creation failed|opencl|vulkan|\bvf#\d|Parsed_|Conversion failed"
    r"|\bBAR ?\d|\bGPU\b|[Ee]rror (?:initializing|reinitializing|submitting|encoding|sending|muxing)"
    r"|\b(?:vpp|scale)_|mfx"
)


def about_media(text: Iterable[str]) -> str:
    """Give the line by which a post is about video, where nothing in it is about computing; else nothing."""
    lines = list(text)
    if any(COMPUTE.search(line) for line in lines):
        return ""
    return next((line.strip()[:200] for line in lines if VIDEO.search(line)), "")


def listed_by_host(hosts: Sequence[Pasted]) -> str:
    """Give a GPU that the machine around a container lists: its kernel drives it, whatever its age."""
    shown = (line for host in hosts for line in (*host.clinfo, *host.sycl))
    return next((line.strip()[:200] for line in shown if is_gpu_line(line)), "")


def opened_by_another(cause: str, error: str, lines: Sequence[str]) -> bool:
    """Say whether the other driver of video opened the GPU right after one that did not: older graphics want that."""
    if cause != "va.init":
        return False
    places = [place for place, line in enumerate(lines) if error.strip() and error.strip()[:100] in line]
    return bool(places) and all(_opened(lines[each + 1 : each + 1 + FURTHER]) for each in places)


def _opened(lines: Sequence[str]) -> bool:
    text = "\n".join(lines)
    return "i965_drv_video.so" in text and "va_openDriver() returns 0" in text


FURTHER = 5
"""As many lines after a driver's failure libva has tried the next one."""


def is_of_video(cause: str, error: str) -> bool:
    """Say whether an error that reads like one of a disk is one of a program for video, or of a GPU's driver."""
    return cause in OF_DISKS and OF_VIDEO.search(error) is not None
