"""Which GPU a variable leaves, and which drivers of OpenCL are registered: lists held against what fails. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xpusetup.machine.facts import Shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


CHOOSES = re.compile(
    r"\b(ONEAPI_DEVICE_SELECTOR)[\s=:\"']{1,5}[\"']?(?:level_zero|\*):(?:gpu:)?(\d)\b(?![\d,;.])"
    r"|\b(ZE_AFFINITY_MASK)[\s=:\"']{1,5}[\"']?(\d)\b(?![\d,.])"
)
"""A variable that leaves one GPU."""
ECHOED = re.compile(r"\becho \"?\$\{?(ONEAPI_DEVICE_SELECTOR|ZE_AFFINITY_MASK)\b")
VALUE = re.compile(r"^\s*(?:(?:level_zero|\*):)?(\d)\s*$")
LISTED = re.compile(
    r"\[(?:ext_oneapi_)?level_zero:gpu(?:\]\[level_zero)?:(\d)\]\s*(?:Intel\(R\) (?:oneAPI Unified Runtime over )?"
    r"Level-Zero,\s*)?(?:Intel\(R\) )?([^\n\[|]{3,60}?)(?:\s+\d+\.\d+(?:\.\d+)?)?\s*(?:\[|$)"
)
CARD = re.compile(
    r"\b(?:Arc(?:\(TM\))? (?:Pro )?[AB]\d{2,3}M?|Data Center GPU|Flex 1\d0|\[0x(?:56[9abc]|e2[012]|0bd)\w\])"
)
ONBOARD = re.compile(
    r"\bU?HD Graphics\b|\bIris\(R\) (?:Xe|Plus)\b|\bIris Xe\b"
    r"|\bArc(?:\(TM\))?(?: \d\d\d[TV])?(?: GPU| Graphics)|\bIntel\(R\) Graphics\b|^Graphics$"
)
WRONG = re.compile(
    r"(?i)\b(?:wrong|only|just|instead|unable|can(?:no|')t|cannot|could not|not|n't|never|ignor\w+|always|still)\b"
    r"[^\n.]{0,60}\b(?:i-?GPU|d-?GPU|integrated|dedicated|discrete|Arc|[AB]\d{2,3}M?|Iris|U?HD|card|GPU|device)\b"
    r"|\b(?:us(?:es|ing|ed)|pick(?:s|ed)|tak(?:es|ing)|runs? on|running on|choos\w+|select(?:s|ed)|lands? on"
    r"|falls? back to)\b[^\n.]{0,30}\b(?:i-?GPU|integrated|Iris|U?HD)\b"
    r"|(?:\u603b\u662f|\u4e00\u76f4|\u53ea\u4f1a?|\u4ecd\u7136|\u9ed8\u8ba4)[^\n]{0,6}(?:\u7528|\u8dd1)[^\n]{0,10}"
    r"(?:\u6838\u663e|\u96c6\u663e|U?HD|Iris)"
    r"|(?:\u72ec\u663e|\u72ec\u7acb\u663e\u5361)[^\n]{0,12}(?:0 ?%|\u6ca1|\u4e0d|\u65e0)"
    r"|\b(?:nur|immer|statt)\b[^\n.]{0,40}\b(?:i-?GPU|interne|Iris|U?HD)\b"
)
"""Words by which someone says that the wrong GPU is taken, in English, Chinese and German."""
INTENDED = re.compile(
    r"(?i)\bI (?:want|need|use|chose|choose|take|prefer)\b[^\n.]{0,30}\b(?:i-?GPU|integrated|Iris|U?HD)\b"
    r"|\bon purpose\b"
)


def weaker_left(text: Sequence[str]) -> dict[str, Shown]:
    """Give a variable that leaves a program the integrated GPU, where a card is listed under another number."""
    every, listed = list(_chosen(text)), _most_listed(text)
    if not every or len({each[1] for each in every}) > 1 or every[0][1] not in listed:
        return {}
    name, number, line = every[0]
    cards = {place: title for place, title in listed.items() if CARD.search(title)}
    if number in cards or not cards or not ONBOARD.search(listed[number]):
        return {}
    if not any(WRONG.search(each) for each in text) or any(INTENDED.search(each) for each in text):
        return {}
    card, title = next(iter(cards.items()))
    value = f"level_zero:{card}" if name.startswith("ONEAPI") else card
    means = (
        f"{name} leaves the program number {number} alone, which sycl-ls lists as the integrated GPU"
        f" ({listed[number]}); the card ({title}) is number {card}. Numbers are in Level Zero's order, which need"
        " not be the one of a task manager or of the program's own list"
    )
    mend = (
        f"Let it name the card ({name}={value}; Windows: set {name}={value}), or unset it. Where the program sets it"
        " itself: choose the other device in its settings, take another release of it, or switch the integrated GPU off"
        " in the device manager or the firmware set-up."
    )
    shown = Shown(line=line, means=means, mend=mend, firm=True, commands=[f"export {name}={value}", "sycl-ls"])
    return {"umd.device_choice": shown}


def _chosen(text: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Give variables that leave one GPU, with its number and the line."""
    for place, line in enumerate(text):
        if found := CHOOSES.search(line):
            yield found[1] or found[3], found[2] or found[4], line.strip()
        elif (echoed := ECHOED.search(line)) and (value := VALUE.match("".join(text[place + 1 : place + 2]))):
            yield echoed[1], value[1], f"{echoed[1]}={value[1]}"


def _most_listed(text: Sequence[str]) -> dict[str, str]:
    """Give the longest list of Level Zero's GPUs in one go, by their numbers."""
    lists: list[dict[str, str]] = [{}]
    for line in text:
        found = LISTED.search(line)
        if found and found[1] in lists[-1]:
            lists.append({})
        if found:
            lists[-1][found[1]] = found[2].strip(" ,")
    return max(lists, key=len)


VENDORS = re.compile(
    r"^(?:.{0,80}[$#>] ?|sudo )?(?:ls|ll|cat|find|tree|dir|head|more)\b[^\n]*OpenCL/vendors"
    r"|^/etc/OpenCL/vendors/?:?\s*$"
)
LIBRARIES = re.compile(r"^(?:.{0,80}[$#>] ?|sudo )?(?:ls|ll|find)\b[^\n]*\blibze\*?[_*.so]*\s*$")
PROMPT = re.compile(r"^\s*(?:\([\w.-]+\) ?)?(?:[\w.-]+@[\w.-]+[:\w~/. -]*|~?[\w/~.-]{0,30} ?)?[$#%>]\s?\S|^\s*[$#]\s*$")
ICD = re.compile(r"(?<![\w.+-])([\w.+-]+\.icd)\b")
NOT_OF_GPU = re.compile(
    r"(?i)^(?:intel64\w*|intel32\w*|intel[-_]?cpu\w*|Intel_FPGA\w*|\w*fpga\w*|nvidia\w*|pocl\w*|amdocl\w*|rocm\w*"
    r"|rusticl|mesa|xilinx)\.icd$"
)
"""Drivers that serve no GPU of Intel's: the processor's, an emulation, those of others, Mesa's own."""
FAILS = re.compile(
    r"(?i)^\s{0,8}\[opencl:(?:cpu|acc|fpga)|(?:number of|num|found) platforms?\W+0\b|is_available\W{1,6}False"
    r"|XPU device count is zero"
    r"|\['CPU'\]|\bunsupported GPU\b|UNINITIALIZED|No device of requested type|no (?:level.?zero|intel|gpu|xpu) \w*"
    r"|\b(?:not|n't) (?:\w+ )?(?:list|find|found|see|detect|show|available)"
)
INTELS = re.compile(
    r"(?i)\bArc\b|\bIris\b|\bU?HD Graphics\b|\[?8086:|\bIntel(?:\(R\))? i?GPU|\bi-?GPU\b|\bXPU\b|/dev/dri|sycl-ls"
    r"|\b[AB]\d{3}\b|\b(?:Flex|Max) 1\d\d0?\b|\bIntel Graphics\b"
)
LISTS_GPU = re.compile(
    r"level_zero:gpu|opencl:gpu|Intel\(R\) OpenCL (?:HD )?Graphics\b"
    r"|Device (?:#\d: |Name +)Intel\(R\) (?:Arc|U?HD|Iris|Graphics|Data)|is_available\W{1,6}True"
)
THERE = re.compile(
    r"libze_intel_gpu\.so|libigdrcl\.so|^(?:ii|hi) +(?:intel-opencl-icd|libze-intel-gpu1|intel-level-zero-gpu)\b"
    r"|^(?:local/)?(?:intel-compute-runtime|intel-level-zero|intel-opencl)\S*[ -]\d",
    re.MULTILINE,
)


def no_driver_listed(text: Sequence[str]) -> dict[str, Shown]:
    """Give a list of OpenCL's drivers, or of Level Zero's libraries, in which that of Intel's GPUs is not."""
    whole = "\n".join(text)
    if (
        not INTELS.search(whole)
        or LISTS_GPU.search(whole)
        or THERE.search(whole)
        or not any(FAILS.search(line) for line in text)
    ):
        return {}
    seen = _others_alone(text) or _loader_alone(text)
    if not seen:
        return {}
    means = (
        f"Intel's GPU driver for computing (compute-runtime) is not installed here: {seen}. A toolkit (oneAPI) and the"
        " kernel's driver do not bring it"
    )
    mend = (
        "Install it: intel-opencl-icd and libze-intel-gpu1 with libze1 (Debian, Ubuntu; of 2023 and 2024:"
        " intel-level-zero-gpu and level-zero), intel-compute-runtime and level-zero-loader (Arch), intel-opencl,"
        " intel-level-zero and oneapi-level-zero (Fedora); elsewhere the files of a release of"
        " github.com/intel/compute-runtime. In a container or under WSL2: inside of it."
    )
    same = ["ze.no_device", "ocl.none_listed", "ocl.no_platform", "rt.count_zero", "rt.no_devices", "ov.no_gpu"]
    return {"umd.ze_intel_gpu": Shown(line=seen, means=means, mend=mend, same=same)}


def _others_alone(text: Sequence[str]) -> str:
    """Say that only drivers of others are registered with OpenCL; empty where not, or where nothing was shown."""
    names = [name for line in _under(text, VENDORS) for name in ICD.findall(line)]
    if not names or not all(NOT_OF_GPU.match(name) for name in names):
        return ""
    return f"/etc/OpenCL/vendors has {', '.join(dict.fromkeys(names))} alone, and none of them serves a GPU of Intel's"


def _loader_alone(text: Sequence[str]) -> str:
    """Say that of Level Zero only the loader is there."""
    shown = [line for line in _under(text, LIBRARIES) if "libze" in line]
    return (
        "of Level Zero only the loader (libze_loader) is there" if any("libze_loader" in each for each in shown) else ""
    )


def _under(text: Sequence[str], command: re.Pattern[str]) -> Iterator[str]:
    """Give what stands below a command or heading, up to the next prompt."""
    inside = False
    for line in text:
        if command.search(line):
            inside = True
        elif inside and PROMPT.match(line):
            inside = False
        elif inside:
            yield line
