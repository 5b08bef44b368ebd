"""Versions that do not belong together: Level Zero's loader by what it lacks, drivers that worked. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xpusetup.machine.facts import Shown
from xpusetup.machine.versions import LOADERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


FIRST_WITH: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("1.29", ("zeCommandListAppendMemoryCopyWithParameters", "zeCommandListAppendMemoryFillWithParameters")),
    ("1.29", ("zeCommandListImmediateAppendCommandListsWithParameters", "zeDeviceGetRuntimeRequirements")),
    ("1.27", ("zeDeviceGetAggregatedCopyOffloadIncrementValue", "zeEventCounterBasedCreate")),
    (
        "1.27",
        ("zeEventCounterBasedGetIpcHandle", "zeEventCounterBasedOpenIpcHandle"),
    ),
    ("1.27", ("zeEventCounterBasedGetDeviceAddress", "zeMemGetIpcHandleWithProperties", "zePhysicalMemGetProperties")),
    ("1.25", ("zeCommandListAppendLaunchKernelWithArguments", "zeCommandListAppendLaunchKernelWithParameters")),
    ("1.25", ("zeDeviceSynchronize", "zeDriverGetDefaultContext", "zeKernelGetAllocationPropertiesExp")),
    ("1.22", ("zeDeviceGetVectorWidthPropertiesExt", "zeRTASBuilderCreateExt", "zeRTASBuilderBuildExt")),
    ("1.20", ("zeDeviceImportExternalSemaphoreExt", "zeDeviceReleaseExternalSemaphoreExt")),
    ("1.20", ("zeCommandListAppendSignalExternalSemaphoreExt", "zeCommandListAppendWaitExternalSemaphoreExt")),
    ("1.19", ("zeKernelGetBinaryExp",)),
    ("1.18", ("zeInitDrivers",)),
    (
        "1.16",
        ("zeCommandListCreateCloneExp", "zeCommandListImmediateAppendCommandListsExp"),
    ),
    ("1.16", ("zeCommandListGetNextCommandIdExp", "zeCommandListUpdateMutableCommandsExp", "zeEventGetEventPool")),
    ("1.13", ("zeDeviceGetRootDevice", "zeRTASBuilderCreateExp", "zeMemSetAtomicAccessAttributeExp")),
    ("1.10", ("zeCommandListHostSynchronize", "zeDriverGetLastErrorDescription", "zeEventPoolPutIpcHandle")),
    ("1.10", ("zeMemPutIpcHandle", "zeEventQueryKernelTimestampsExt", "zeMemGetFileDescriptorFromIpcHandleExp")),
    ("1.9", ("zeImageViewCreateExt",)),
    ("1.6", ("zeMemFreeExt", "zeModuleInspectLinkageExt", "zeDevicePciGetPropertiesExt")),
    ("1.4", ("zeEventQueryTimestampsExp", "zeKernelSchedulingHintExp", "zeDeviceSetCacheAdviceExt")),
    ("1.2", ("zeContextCreateEx", "zeDeviceGetGlobalTimestamps", "zeDriverGetExtensionFunctionAddress")),
)
"""The release of Level Zero's loader whose header had a function first, by its tags."""
LACKS = re.compile(
    r"^.*?(?:undefined symbol: |undefined reference to .|symbol lookup error: .{0,200}undefined symbol: "
    r"|(?:procedure )?entry point (?:named )?['\"]?)(?P<name>zes?[A-Z]\w+?)\b(?!ProcAddrTable).*$",
    re.MULTILINE,
)
LINKED = re.compile(r"undefined reference")
WITHOUT_TABLE = re.compile(
    r"^.*?(?:(?P<table>ze[st]?Get\w+ProcAddrTable)\b.{0,60}(?:\bnull\w*\b|not found|missing|failed|0x0+\b|does"
    r" not exist|no such)"
    r"|(?:undefined symbol: |(?:not found|missing|null|cannot find|could not find|failed)\W.{0,40})"
    r"(?P<named>ze[st]?Get\w+ProcAddrTable)).*$",
    re.MULTILINE | re.IGNORECASE,
)
LONGEST = 400
"""Letters of a line that are read: a post may hold lines of any length."""
OF_WINDOWS = r"3[012]\.0\.(?:101|15)\.\d{4}"
INSTALLED = re.compile(
    rf"(?im)\bdriver ?version\W{{1,8}}({OF_WINDOWS})\b|^\s*({OF_WINDOWS})\s+Intel|Intel\(R\)"
    rf" .*\s({OF_WINDOWS})\s*$"
)
"""The driver that Windows' own programs list."""
SHORT = rf"(?P<good>{OF_WINDOWS}|\b(?:[45678]\d{{3}}|101\.\d{{4}}))"
WORKED = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        (
            rf"{SHORT}(?: and (?:older|earlier|before|below|prior))?(?: \w+)?"
            rf" (?:work(?:s|ed)|(?:was|were|is|are|ran|runs) (?:all )?(?:fine|ok|good|well|perfect))"
        ),
        rf"\bwork(?:s|ed|ing)?(?: \w+){{0,3}} (?:with|on|in|under|using)(?: \w+){{0,3}} {SHORT}\b",
        (
            rf"\b(?:roll\w*(?: it)? back|downgrad\w+|revert\w*|go(?:ing|es)? back|went back)(?: \w+){{0,4}} to(?:"
            rf" \w+){{0,3}} {SHORT}\b"
        ),
    )
)
"""Sentences that name a driver of Windows with which it works; the last also as what somebody has tried."""
NOT_HELPED = re.compile(r"(?i)\b(?:not|n't|no|never|neither|same|still|also fail\w*|tried)\b")
CRASHES = re.compile(
    r"Abort was called|3221225477|0xC0000005|\bcrash|access violation|0x78000011|UR_RESULT_ERROR|PI_ERROR|DEVICE_LOST"
    r"|\bfails?\b|\bbroke|\bFalse\b|Error\b",
    re.IGNORECASE,
)


def loader_before(lines: Sequence[str], packages: Mapping[str, str]) -> dict[str, Shown]:
    """Tell of a loader that lacks a function which came later: older than what calls it."""
    found = next(filter(None, (LACKS.match(line[:LONGEST]) for line in lines)), None)
    if found is None or LINKED.search(found[0]) or "libze_intel_gpu" in found[0].partition("undefined symbol")[0][-60:]:
        return {}
    first = next((release for release, names in FIRST_WITH if found["name"] in names), "")
    there = next((f"{name} {packages[name]}" for name in LOADERS if name in packages), "")
    asks = f", which came with the loader {first}" if first else ""
    have = f"; the one here is {there}" if there else ""
    means = (
        f"What calls Level Zero asks its loader (libze_loader) for {found['name']}{asks}, and the one that"
        f" it gets is older{have}"
    )
    least = f" ({first} or newer)" if first else ""
    mend = (
        f"Update the loader{least}: libze1 (Debian, Ubuntu), level-zero (Intel's repositories, RHEL, SUSE),"
        " oneapi-level-zero (Fedora), level-zero-loader (Arch); its releases are at"
        " github.com/oneapi-src/level-zero. In Windows it comes with Intel's graphics driver (ze_loader.dll)."
        " Where the package is new enough, another one is found before it: ldconfig -p | grep ze_loader,"
        " LD_LIBRARY_PATH."
    )
    told = Shown(line=found[0].strip()[:160], means=means, mend=mend, same=["import.ze_symbol", "import.undef_any"])
    return {"umd.ze_loader": told}


def loader_after(lines: Sequence[str]) -> dict[str, Shown]:
    """Tell of a loader that asks the driver for a table of functions which the driver does not have yet."""
    text = "\n".join(line[:LONGEST] for line in lines)
    found = WITHOUT_TABLE.search(text)
    if found is None:
        return {}
    table = found["table"] or found["named"]
    driver = next((next(filter(None, each.groups())) for each in INSTALLED.finditer(text)), "")
    which = f" ({driver})" if driver else ""
    means = (
        f"The loader of Level Zero is newer than the GPU's driver{which}: it asks the driver for {table}, the"
        " driver does not have it, and the loader gives the driver up"
    )
    mend = (
        "Bring both to one age: a newer driver, or where the GPU gets none (graphics before Gen12: Windows"
        " 31.0.101.2xxx, Linux 24.35 legacy) the loader of the driver's time: in Windows the"
        " System32\\ze_loader.dll that the driver installs, not one that was built or copied beside the program;"
        " or a newer loader, which passes over what a driver lacks (1.17.45, 1.18.3 and newer)."
    )
    told = Shown(line=found[0].strip()[:160], means=means, mend=mend, same=["ze.uninitialized", "import.ze_symbol"])
    return {"umd.gives_up": told}


def driver_that_worked(lines: Sequence[str]) -> dict[str, Shown]:
    """Tell of a driver of Windows in whose place another one is said to have worked."""
    text = "\n".join(line[:LONGEST] for line in lines)
    there = [next(filter(None, each.groups())) for each in INSTALLED.finditer(text)]
    if not there or not there[0].startswith(("31.0.101", "32.0.101")) or not CRASHES.search(text):
        return {}
    for line in text.splitlines():
        for form in WORKED:
            found = form.search(line)
            if found is None or NOT_HELPED.search(line[: found.end()].rpartition(". ")[2][-70:]):
                continue
            good = found["good"].removeprefix("101.")
            if any(each.endswith(good) for each in there):
                continue
            means = (
                f"Intel's graphics driver in Windows was changed: with {good} it worked, and with the"
                f" {there[0]} that is installed it does not"
            )
            mend = (
                f"Install the driver {good} again (remove the present one with its files first, and keep"
                f" Windows from updating it), or"
                " a newer one than the installed, in which it may be mended; take the newest first."
            )
            told = Shown(
                line=line.strip()[:160],
                means=means,
                mend=mend,
                same=["rt.neo_abort", "win.crash", "rt.segfault"],
                firm=True,
            )
            return {"win.driver": told}
    return {}
