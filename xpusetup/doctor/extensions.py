"""What `import torch` loads by itself: Gaudi and Ascend, other extensions, and what is wrong with them."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

from xpusetup.base.command import Command
from xpusetup.base.model import Level
from xpusetup.config.devices import Device, wanted_torch
from xpusetup.doctor.hardware import weight
from xpusetup.doctor.question import CheckAnswer, CheckText, Question, distribution, messages, numbers, variable
from xpusetup.machine.accelerators import Extensions, LoadedEntryPoint, LoadOutcome, is_built_in, loads_of, owner_of
from xpusetup.machine.environments import EntryPoint
from xpusetup.machine.facts import Gpu
from xpusetup.machine.fit import CANN_SCRIPT

# What `import torch` loads by itself, and the accelerators that come that way: Gaudi and Ascend.


BROKEN = re.compile(r"Failed to load the backend extension: (\S+?)\.\s")
HARDWARE = {"torch_npu": "19e5", "npu": "19e5", "hpu": "1da3", "device_backend": "1da3"}
"""The maker (PCI) of what an entry serves."""
GAUDI, ASCEND = "1da3", "19e5"
ASCEND_IDS = ("d100", "d500", "d801", "d802", "d803")
EAGER_SINCE = (1, 21)
"""Gaudi's first release that is eager where nothing is set."""
PARTS = ("habanalabs", "habanalabs_cn", "habanalabs_en", "habanalabs_ib")


OF_CANN = re.compile(
    r"\blib(?:hccl|ascend|acl|atb|runtime|ge_|graph|opapi|nnopbase|msprof|tsdclient|c_sec|platform)\w*\.so"
)
SWITCH_OFF = "export TORCH_DEVICE_BACKEND_AUTOLOAD=0"
UNSWITCHED = {
    "means": "That library is of CANN, Ascend's run time: it is not switched on in this shell, or not installed",
    "mend": f"Switch it on. On a machine without an NPU, for one shell: {SWITCH_OFF}",
    "commands": f"source {CANN_SCRIPT}",
}
ELSEWHERE = {
    "means": "Since 2.5 torch loads it at the end of its own import, which then may fail here",
    "mend": "Where it is meant for another machine that is well; here leave it out for one shell.",
    "commands": SWITCH_OFF,
}


def _off(question: Question) -> bool:
    return variable(question, "TORCH_DEVICE_BACKEND_AUTOLOAD") == "0"


def _idle(question: Question, entry: EntryPoint) -> bool:
    """Say whether an entry serves hardware that is not here."""
    vendor = HARDWARE.get(entry.name) or HARDWARE.get(entry.value.partition(":")[0].partition(".")[0])
    hardware = question.facts.hardware
    return vendor is not None and hardware is not None and all(gpu.vendor != vendor for gpu in hardware.gpus)


def check_entries(question: Question) -> CheckAnswer | None:
    torch = question.facts.torch
    if torch is None or not torch.entry_points:
        return None
    seen = ", ".join(f"{entry.name} of {entry.distribution} {entry.version}".rstrip() for entry in torch.entry_points)
    broken = BROKEN.search(torch.report.error) if torch.report else None
    if broken is not None:
        found = next((each.distribution for each in torch.entry_points if each.name == broken[1]), broken[1])
        reason = torch.report.error.rpartition("; because ")[2] if torch.report else ""
        words = UNSWITCHED if OF_CANN.search(reason) else {"python": torch.python, "distribution": found}
        return CheckAnswer("fail", f"{broken[1]} of {found}: {reason}", words)
    idle = [entry for entry in torch.entry_points if _idle(question, entry)]
    if _off(question):
        return CheckAnswer("info", f"switched off by TORCH_DEVICE_BACKEND_AUTOLOAD=0: {seen}")
    return (
        CheckAnswer("warn", f"{idle[0].name} serves hardware that is not here", ELSEWHERE)
        if idle
        else CheckAnswer("ok", seen)
    )


def check_autoload_builds(question: Question) -> CheckAnswer | None:
    torch = question.facts.torch
    return CheckAnswer("info", "builds switch it off") if torch is not None and torch.entry_points else None


def _cards(question: Question, vendor: str, ids: tuple[str, ...] = ()) -> list[Gpu]:
    hardware = question.facts.hardware
    found = hardware.gpus if hardware else []
    named = {"" for gpu in found if gpu.name}  # a card of which only the maker's programs tell has no id
    return [gpu for gpu in found if gpu.vendor == vendor and (not ids or gpu.device in {*ids, *named})]


def _title(question: Question, gpu: Gpu) -> str:
    product = question.gpus.find(gpu.vendor, gpu.device) if question.gpus else None
    return product.title() if product else gpu.name or f"{gpu.vendor}:{gpu.device}"


def check_gaudi(question: Question) -> CheckAnswer | None:
    cards = _cards(question, GAUDI)
    return CheckAnswer("info", f"{len(cards)} x {_title(question, cards[0])}") if cards else None


def check_gaudi_modules(question: Question) -> CheckAnswer | None:
    kernel, gaudi = question.facts.kernel, question.facts.gaudi
    if not _cards(question, GAUDI) or kernel is None:
        return None
    lacking = [name for name in PARTS if name not in kernel.modules]
    if "habanalabs" in lacking or (gaudi is not None and not gaudi.nodes):
        seen = f"not loaded: {', '.join(lacking)}" if lacking else "no device node"
        return CheckAnswer(weight(question), f"{seen}{_said(question)}")
    version = (gaudi.driver if gaudi else None) or kernel.modules.get("habanalabs") or "loaded"
    return CheckAnswer("warn", f"not loaded: {', '.join(lacking)}") if lacking else CheckAnswer("ok", version)


def check_gaudi_release(question: Question) -> CheckAnswer | None:
    """Hold the driver's release against that of the bridge, and of the profile that was asked for."""
    gaudi = question.facts.gaudi
    driver = gaudi.driver if gaudi else None
    if not _cards(question, GAUDI) or driver is None:
        return None
    other = _other_release(question, driver)
    return (
        CheckAnswer(weight(question), f"driver {driver}, {other}") if other else CheckAnswer("ok", f"driver {driver}")
    )


def _said(question: Question) -> str:
    """Give the kernel's last word on why the driver did not take a card, where it can be read."""
    lines = messages(question, r"(?i)habanalabs.*(?:fail|error|timed? ?out|cannot)")
    return f"; the kernel says: {lines[-1]}" if lines else ""


def _other_release(question: Question, driver: str) -> str:
    """Name what is of another release than the driver: the bridge that is here, or the one that is asked for."""
    plugin = distribution(question, "habana-torch-plugin")
    if plugin and numbers(plugin) != numbers(driver):
        return f"habana-torch-plugin {plugin}"
    installer = question.profile.installer if question.profile.accelerator == "hpu" else None
    if installer is not None and numbers(installer.release) != numbers(driver):
        return f"{question.profile.name} is for {installer.release}"
    return ""


def check_gaudi_free(question: Question) -> CheckAnswer | None:
    """Look for torch's failure to take the device."""
    torch = question.facts.torch
    if torch is None or torch.report is None or not _cards(question, GAUDI):
        return None
    found = re.search(r"synStatus=\d+ \[[^]]+\] Device acquire failed", torch.report.error)
    return CheckAnswer("fail", found[0]) if found else CheckAnswer("ok", "no failure to take it")


def check_lazy_mode(question: Question) -> CheckAnswer | None:
    if not _cards(question, GAUDI) or question.facts.environment is None:
        return None
    value = variable(question, "PT_HPU_LAZY_MODE")
    if value:
        return CheckAnswer("warn" if value == "2" else "info", f"PT_HPU_LAZY_MODE={value}")
    plugin = distribution(question, "habana-torch-plugin")
    usual = f": {'lazy' if numbers(plugin) < EAGER_SINCE else 'eager'} mode" if plugin else ""
    return CheckAnswer("info", f"PT_HPU_LAZY_MODE is not set{usual}")


def check_gaudi_torch(question: Question) -> CheckAnswer | None:
    """Look for a torch that is not Habana's beside Habana's bridge."""
    torch, plugin = question.facts.torch, distribution(question, "habana-torch-plugin")
    if torch is None or torch.version is None or not plugin:
        return None
    local = torch.version.partition("+")[2]
    if local.startswith(("hpu", "git")):  # Habana's own says which commit it is of
        return CheckAnswer("ok", f"torch {torch.version}")
    return CheckAnswer("fail", f"torch {torch.version}")


def check_ascend(question: Question) -> CheckAnswer | None:
    cards = _cards(question, ASCEND, ASCEND_IDS)
    return CheckAnswer("info", f"{len(cards)} x {_title(question, cards[0])}") if cards else None


def check_cann(question: Question) -> CheckAnswer | None:
    ascend = question.facts.ascend
    if not _cards(question, ASCEND, ASCEND_IDS) or question.facts.environment is None:
        return None
    home = variable(question, "ASCEND_HOME_PATH") or variable(question, "ASCEND_TOOLKIT_HOME")
    if home:
        return CheckAnswer("ok", home)
    script = ascend.scripts[0] if ascend and ascend.scripts else "/usr/local/Ascend/ascend-toolkit/set_env.sh"
    return CheckAnswer(weight(question), "ASCEND_HOME_PATH is not set", {"script": script})


def check_npu_torch(question: Question) -> CheckAnswer | None:
    """Hold torch_npu against torch: each is compiled against one release of it."""
    torch, npu = question.facts.torch, distribution(question, "torch-npu")
    if torch is None or not numbers(torch.version or "") or not npu:
        return None
    wanted = ".".join(map(str, numbers(npu, 3)))
    words = {"python": torch.python, "wanted": wanted}
    level: Level = "ok" if numbers(npu) == numbers(torch.version or "") else "fail"
    return CheckAnswer(level, f"torch-npu {npu} beside torch {torch.version}", words)


def check_two_accelerators(question: Question) -> CheckAnswer | None:
    """Look for torch_npu beside a torch that was built for another accelerator."""
    torch, npu = question.facts.torch, distribution(question, "torch-npu")
    if torch is None or torch.version is None or not npu:
        return None
    other = torch.xpu or torch.cuda
    bad = bool(other) and not _off(question)
    seen = f"torch-npu {npu} beside torch {torch.version}"
    return CheckAnswer("fail" if bad else "ok", seen, {"python": torch.python})


# What is wrong with the extensions that `import torch` loads by itself: what was seen, judged.
#
# The rules: every entry of `torch.backends` is loaded at the end of torch's own import (2.5 and later), one
# that fails makes that import fail, one process has room for one out-of-tree device, and only the text "1"
# switches this on.


AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
FROM_DOCTOR = "autoload.entry_points"
"""The doctor's check of the same matter: its words and its fix are used here."""


@dataclass(frozen=True, kw_only=True)
class Remark:
    """One thing that was found. `fix` holds lines for a shell, `caused_by` the remark that it follows from."""

    id: str
    level: Level
    seen: str
    fix: tuple[str, ...] = ()
    caused_by: str = ""


def judge(look: Extensions, devices: Sequence[Device], texts: Mapping[str, CheckText]) -> list[Remark]:
    """Give all remarks on an environment, causes before what follows from them."""
    if look.torch is None:
        return [Remark(id="autoload.torch", level="info", seen=f"there is no torch in {look.prefix}")]
    unfit = {id(entry): why for entry in look.entries if (why := find_unfit(entry, look, devices))}
    return [
        *_torch(look),
        *(_pin(entry, look, devices, unfit[id(entry)]) for entry in look.entries if id(entry) in unfit),
        *(_entry(entry, load, look, texts, unfit) for entry, load in loads_of(look)),
        *_together(look, devices, texts),
        *_switch(look),
    ]


def _torch(look: Extensions) -> Iterator[Remark]:
    if look.loads is None:
        return
    alone = look.loads.torch
    if not alone.imported:
        fix = (Command(f"xpusetup doctor --into {shlex.quote(look.prefix)} --for run"),)
        yield Remark(id="autoload.torch", level="fail", seen=f"torch itself cannot be imported: {alone.error}", fix=fix)
    else:
        yield Remark(id="autoload.torch", level="ok", seen=f"torch {alone.version} imports, without extensions")


def find_unfit(entry: LoadedEntryPoint, look: Extensions, devices: Sequence[Device]) -> str:
    """Say why an extension is for another torch than the one that is installed; empty where it fits, or may."""
    version = look.torch.version if look.torch else None
    if not version:
        return ""
    for asked in _requirements(entry):
        if _applies(asked) and not asked.specifier.contains(version, prereleases=True):
            return f"{entry.distribution} {entry.version} requires torch{asked.specifier}, and torch is {version}"
    device = owner_of(entry, devices)
    wanted = wanted_torch(device, entry.version) if device else ""
    if wanted and not f"{'.'.join(map(str, Version(version).release))}.".startswith(f"{wanted}."):
        return f"{entry.distribution} {entry.version} is for torch {wanted}, and torch is {version}"
    return ""


def _requirements(entry: LoadedEntryPoint) -> Iterator[Requirement]:
    """Give what a package asks of torch; a line that is no requirement binds nobody, as pip has it too."""
    for text in entry.requires:
        with suppress(InvalidRequirement):
            yield Requirement(text)


def _applies(asked: Requirement) -> bool:
    """Leave out what counts only for an extra, or elsewhere."""
    return asked.marker is None or asked.marker.evaluate({"extra": ""})


def _pin(entry: LoadedEntryPoint, look: Extensions, devices: Sequence[Device], why: str) -> Remark:
    device = owner_of(entry, devices)
    fitting = _fitting(device, look.torch.version or "") if device and look.torch else ""
    told = f"# install the {entry.distribution} that is for torch {look.torch.version if look.torch else ''}"
    line = f"{look.python} -m pip install {shlex.quote(f'{entry.distribution}=={fitting}')}" if fitting else told
    return Remark(id="autoload.pin", level="warn", seen=why, fix=(line,))


def _fitting(device: Device, torch: str) -> str:
    """Give the versions of an extension that are for a torch, as pip takes them; empty where none is known."""
    release = Version(torch).release
    rule = device.extension.torch if device.extension else "metadata"
    if rule == "table":
        public = f"{'.'.join(map(str, release))}."
        rows = [row.extension for row in device.releases if public.startswith(f"{row.torch}.")]
        return f"{rows[0]}.*" if rows else ""
    parts = {"release": 3, "minor": 2}.get(rule, 0)
    return f"{'.'.join(map(str, release[:parts]))}.*" if parts else ""


def _entry(
    entry: LoadedEntryPoint,
    load: LoadOutcome | None,
    look: Extensions,
    texts: Mapping[str, CheckText],
    unfit: Mapping[int, str],
) -> Remark:
    """Say of one extension whether it loads, or, where that was not tried, whether it can."""
    name = "autoload.extension" if entry.found else "autoload.module"
    who = named(entry)
    if load is None and entry.found:
        return Remark(id=name, level="info", seen=f"{who}, not tried")
    if load is not None and load.imported:
        after = f"; then: {load.error}" if load.error else ""
        return Remark(id=name, level="warn" if after else "ok", seen=f"{who} loads in {load.seconds:.1f} s{after}")
    module = entry.value.partition(":")[0]
    lacks = "" if entry.found else f"there is no module {module}"
    seen = lacks or reason_of(load.error if load else "")
    cause = "autoload.pin" if id(entry) in unfit else ""
    fix = (f"source {CANN_SCRIPT}  # or where CANN lies",) if OF_CANN.search(seen) else _without([entry], look, texts)
    level: Level = "warn" if look.loads and look.loads.torch.switch is None else "fail"  # nothing loads it by itself
    return Remark(id=name, level=level, seen=f"{who} cannot be loaded: {seen}", fix=fix, caused_by=cause)


def reason_of(error: str) -> str:
    """Give the innermost of chained errors: torch's own words around it say nothing of the extension."""
    return error.rpartition("; because ")[2]


def named(entry: LoadedEntryPoint) -> str:
    """Give an entry as people name it, with its package."""
    return f"{entry.name} of {entry.distribution or 'an unknown package'} {entry.version}".rstrip()


def _without(entries: Sequence[LoadedEntryPoint], look: Extensions, texts: Mapping[str, CheckText]) -> tuple[str, ...]:
    """Give what takes extensions away, in the words of the doctor; of several, one has to go."""
    fixes = [
        texts[FROM_DOCTOR].fix({"python": look.python, "distribution": entry.distribution or entry.name})
        for entry in entries
    ]
    commands = [line for fix in fixes for line in fix.commands_for(())]
    either = "# one of these:" if len(commands) > 1 else ""
    return tuple(line for line in (either, *commands, f"# {fixes[0].say}") if line)


OFF = f"{AUTOLOAD}=0 leaves extensions out"


def _together(look: Extensions, devices: Sequence[Device], texts: Mapping[str, CheckText]) -> Iterator[Remark]:
    """Say what several accelerators in one process come to."""
    rivals = [entry.name for entry in look.entries]
    rivals += [
        f"torch's own {device.name}" for device in devices if device.built_in == "builds" and is_built_in(device, look)
    ]
    whole = look.loads.together if look.loads else None
    well = look.loads is not None and all(load.imported for load in look.loads.each)
    if whole is not None and well and not whole.imported:
        seen = f"{', '.join(rivals)} load one by one, and not together: {reason_of(whole.error)}"
        yield Remark(id="autoload.together", level="fail", seen=seen, fix=_without(look.entries, look, texts))
    elif len(rivals) > 1 and look.entries:
        owners = [owner for entry in look.entries if (owner := owner_of(entry, devices)) and owner.extension]
        alone = [owner.extension.alone for owner in owners if owner.extension and owner.extension.alone]
        said = "; ".join(alone) or "one process has room for one out-of-tree device"
        if len(rivals) > len(look.entries) and not alone:
            said = f"torch.accelerator is one alone; beside simxpu CUDA's backward passes were seen to fail; {OFF}"
        level: Level = "warn" if alone or whole is None else "info"
        yield Remark(id="autoload.together", level=level, seen=f"{', '.join(rivals)} in one environment: {said}")


def _switch(look: Extensions) -> Iterator[Remark]:
    """Say what the caller's switch does: this torch's own rule where it was asked, else that only "1" turns it on."""
    if look.loads is not None and look.loads.torch.imported and look.loads.torch.switch is None:
        version = look.loads.torch.version
        yield Remark(
            id="autoload.switch", level="info", seen=f"torch {version} loads no extensions by itself: since 2.5"
        )
        return
    rule = look.loads.torch.switch if look.loads else None
    value = look.switch
    if rule is not None and (rule.enabling != ["1"] or not rule.unset):
        seen = f"this torch takes {', '.join(map(repr, rule.enabling))} for yes, others only '1'"
        yield Remark(id="autoload.switch", level="warn", seen=seen, fix=(f"export {AUTOLOAD}=1",))
    if value is None or value in (rule.enabling if rule else ["1"]):
        return
    if value == "0":
        yield Remark(id="autoload.switch", level="info", seen=f"{AUTOLOAD}=0: no extension is loaded in this shell")
    else:
        seen = f"{AUTOLOAD}={value!r} turns extensions off: only '1' turns them on"
        fix = (f"export {AUTOLOAD}=1", f"# or, where off is meant: export {AUTOLOAD}=0")
        yield Remark(id="autoload.switch", level="warn", seen=seen, fix=fix)
