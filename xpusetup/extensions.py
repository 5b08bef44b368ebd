"""What is wrong with the extensions that `import torch` loads by itself: what was seen, judged.

The rules: every entry of `torch.backends` is loaded at the end of torch's own import (2.5 and later), one that fails
makes that import fail, one process has room for one out-of-tree device, and only the text "1" switches this on.
"""

from __future__ import annotations

import shlex
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

from xpusetup.accelerators import is_built_in, loads_of, owner_of
from xpusetup.devices import wanted_torch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from xpusetup.catalog import CheckText
    from xpusetup.devices import Device
    from xpusetup.facts.extensions import Entry, Extensions, Load
    from xpusetup.model import Level

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
        fix = (f"xpusetup doctor --into {shlex.quote(look.prefix)} --for run",)
        yield Remark(id="autoload.torch", level="fail", seen=f"torch itself cannot be imported: {alone.error}", fix=fix)
    else:
        yield Remark(id="autoload.torch", level="ok", seen=f"torch {alone.version} imports, without extensions")


def find_unfit(entry: Entry, look: Extensions, devices: Sequence[Device]) -> str:
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


def _requirements(entry: Entry) -> Iterator[Requirement]:
    """Give what a package asks of torch; a line that is no requirement binds nobody, as pip has it too."""
    for text in entry.requires:
        with suppress(InvalidRequirement):
            yield Requirement(text)


def _applies(asked: Requirement) -> bool:
    """Leave out what counts only for an extra, or elsewhere."""
    return asked.marker is None or asked.marker.evaluate({"extra": ""})


def _pin(entry: Entry, look: Extensions, devices: Sequence[Device], why: str) -> Remark:
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
    entry: Entry, load: Load | None, look: Extensions, texts: Mapping[str, CheckText], unfit: Mapping[int, str]
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
    fix = _without([entry], look, texts)
    level: Level = "warn" if look.loads and look.loads.torch.switch is None else "fail"  # nothing loads it by itself
    return Remark(id=name, level=level, seen=f"{who} cannot be loaded: {seen}", fix=fix, caused_by=cause)


def reason_of(error: str) -> str:
    """Give the innermost of chained errors: torch's own words around it say nothing of the extension."""
    return error.rpartition("; because ")[2]


def named(entry: Entry) -> str:
    """Give an entry as people name it, with its package."""
    return f"{entry.name} of {entry.distribution or 'an unknown package'} {entry.version}".rstrip()


def _without(entries: Sequence[Entry], look: Extensions, texts: Mapping[str, CheckText]) -> tuple[str, ...]:
    """Give what takes extensions away, in the words of the doctor; of several, one has to go."""
    fixes = [
        texts[FROM_DOCTOR].fix({"python": look.python, "distribution": entry.distribution or entry.name})
        for entry in entries
    ]
    commands = [line for fix in fixes for line in fix.commands_for(())]
    either = "# one of these:" if len(commands) > 1 else ""
    return tuple(line for line in (either, *commands, f"# {fixes[0].say}") if line)


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
