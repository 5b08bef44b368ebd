"""devices: the accelerators that are known and here, an environment's extensions, and what breaks `import torch`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xpusetup.accelerators import cards_of, make_rows
from xpusetup.commands.accelerators import known_devices
from xpusetup.commands.default import open_built
from xpusetup.commands.inspecting import find_built
from xpusetup.commands.knowledge import check_texts, gpu_table
from xpusetup.commands.result import Result
from xpusetup.commands.workspace import load_settings
from xpusetup.effects.probe_devices import active_python, find_python, probe_device, probe_extensions
from xpusetup.effects.probe_hardware import probe_hardware
from xpusetup.effects.sysroot import Sysroot
from xpusetup.errors import NotReadyError, UsageError
from xpusetup.extensions import judge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xpusetup.accelerators import Presence
    from xpusetup.commands.places import Where
    from xpusetup.devices import Device
    from xpusetup.facts.extensions import Extensions

KEPT = {"name", "value", "distribution", "version"}
QUICK = 20.0
"""Seconds that an interpreter may take to list what is installed; on a network file system the first start is slow."""


@dataclass(frozen=True)
class Chosen:
    """The interpreter that is asked, why it is that one, and the device file that belongs to it."""

    python: str
    by: str
    file: str = ""


def list_devices(where: Where, files: tuple[str, ...] = ()) -> Result:
    """List the accelerators and the extensions; torch is not imported, and an environment without torch is no fault."""
    chosen = _choose(where)
    look = probe_extensions(chosen.python, check=False, patience=QUICK) if chosen.python else None
    return Result("devices list", _data(look, chosen, files))


def check_devices(where: Where, files: tuple[str, ...] = (), *, patience: float) -> Result:
    """Load every extension in a process of its own. The code is 1 where something breaks `import torch`."""
    chosen = _choose(where)
    if not chosen.python:
        raise NotReadyError("no Python environment is active here", fix="name one: xpusetup devices check --into DIR")
    look = probe_extensions(chosen.python, check=True, patience=patience)
    if look.torch is None:
        fix = "name another: xpusetup devices check --into DIR\nor install one: xpusetup install"
        raise NotReadyError(f"there is no torch in {look.prefix} ({chosen.by})", fix=fix)
    data = _data(look, chosen, files)
    return Result("devices check", data, code=1 if any(each["level"] == "fail" for each in data["findings"]) else 0)


def _choose(where: Where) -> Chosen:
    """Choose the environment: that of --into, that of the root which is named, else the active one."""
    if where.into:
        place = Path(where.into).expanduser().absolute()
        python = find_python(place)
        if not python:
            raise UsageError(f"{place} is no environment: it has no bin/python", fix="name a venv, or an interpreter")
        return Chosen(python, "--into")
    if where.profile or where.root or where.name:
        workspace = open_built(where)
        return Chosen(str(find_built(workspace).python), "the build that is named", workspace.profile.device)
    return Chosen(*active_python())


def _data(look: Extensions | None, chosen: Chosen, files: tuple[str, ...]) -> dict[str, Any]:
    devices = known_devices(load_settings(), (*((chosen.file,) if chosen.file else ()), *files))
    return describe(look, devices, _seen(devices), chosen.by)


def describe(
    look: Extensions | None, devices: tuple[Device, ...], seen: Mapping[str, Presence], chosen_by: str
) -> dict[str, Any]:
    """Give the result for an environment as it was seen; None where there was none to look at."""
    return {
        "environment": _environment(look, chosen_by),
        "next": "xpusetup devices check",
        "checked": look is not None and look.loads is not None,
        "devices": [asdict(row) for row in make_rows(devices, seen, look)],
        "compile_backends": [entry.model_dump(include=KEPT) for entry in look.compilers] if look else [],
        "findings": [asdict(remark) for remark in judge(look, devices, check_texts())] if look else [],
    }


def _environment(look: Extensions | None, chosen_by: str) -> dict[str, Any] | None:
    if look is None:
        return None
    version = look.torch.version if look.torch else None
    return {"python": look.python, "prefix": look.prefix, "chosen_by": chosen_by, "torch": version}


def _seen(devices: tuple[Device, ...]) -> dict[str, Presence]:
    sysroot, table = Sysroot.from_environment(), gpu_table()
    hardware = probe_hardware(sysroot)
    return {each.name: probe_device(each, sysroot, cards_of(each, hardware, table)) for each in devices}
