"""devices: accelerators, extensions, what breaks `import torch`; results of many machines side by side."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from xpusetup.base.command import Advice, Command
from xpusetup.base.document import fields_of
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.commands.env import ChosenPython, choose_python
from xpusetup.commands.result import Result
from xpusetup.config.devices import Device, known_devices
from xpusetup.doctor.extensions import Remark, judge
from xpusetup.doctor.question import check_texts
from xpusetup.machine.accelerators import AcceleratorRow, Extensions, LoadedEntryPoint, Presence, cards_of, make_rows
from xpusetup.machine.probe_devices import probe_device, probe_extensions
from xpusetup.machine.probe_hardware import probe_hardware
from xpusetup.machine.tables import gpu_table
from xpusetup.run.root import LOCKED, find_roots
from xpusetup.run.workspace import Where, load_settings
from xpusetup.system import files
from xpusetup.system.environment import from_home
from xpusetup.system.files import Sysroot
from xpusetup.system.trust import find_foreign, require_trust
from xpusetup.verify import outcomes

# devices table: results of verify from many machines and builds, as one table of devices and checks.


IN_A_ROOT = ("manifest.json", "results/verify.json")
"""Where a root has its verification; the first also says of which profile and machine."""


@dataclass(frozen=True, kw_only=True)
class DeviceTable(outcomes.CheckTable):
    """The table of devices, also as Markdown."""

    markdown: str


def tabulate(results: Sequence[str]) -> Result[DeviceTable]:
    """Make the table of saved results, of roots and of folders of roots.

    Raises UsageError for what holds no verification.
    """
    table = outcomes.make_table([proof for name in results for proof in _read_proofs(from_home(name))])
    return Result("devices table", DeviceTable(**fields_of(table), markdown=outcomes.render_page(table)))


def _read_proofs(path: Path) -> Iterator[outcomes.VerificationRecord]:
    if not path.is_dir():
        text = files.read_input(path)
        if text is None:
            raise UsageError(f"there is no file {path} that can be read", fix=f"what can be shown: {outcomes.SAVED}")
        yield outcomes.parse_proof(text, str(path))
        return
    several = [root.path for root in find_roots(path)]
    found = [proof for each in several or [path] if (proof := _in_root(each))]
    if not found:
        built = several or [path] if (path / LOCKED).exists() else several
        lines = [Command(f"xpusetup verify --root {shlex.quote(str(each))}") for each in built[:1]]
        fix = Advice(*lines, "\nor " if lines else "", f"name saved results: {outcomes.SAVED}")
        raise UsageError(f"nothing in {path} was ever verified", fix=fix)
    yield from found


def _in_root(root: Path) -> outcomes.VerificationRecord | None:
    for name in IN_A_ROOT:
        if (text := files.read_text(root / name)) is not None:
            with suppress(UsageError):  # a manifest of a build that was not verified yet
                return outcomes.parse_proof(text, str(root / name))
    return None


# devices: the accelerators that are known and here, an environment's extensions, and what breaks `import torch`.


QUICK = 20.0
"""Seconds that an interpreter may take to list what is installed; on a network file system the first start is slow."""


@dataclass(frozen=True, kw_only=True)
class ExtendedEnvironment:
    """An environment whose extensions were looked at, and why it is that one; `torch` is None where it has none."""

    python: str
    prefix: str
    chosen_by: str
    torch: str | None


@dataclass(frozen=True, kw_only=True)
class DeviceList:
    """The accelerators and what is wrong with an environment's extensions; `checked`: each of them was loaded.

    `environment` is None where none is active, `follows` the command that loads them; `compile_backends` are those of
    torch.compile that extensions bring.
    """

    environment: ExtendedEnvironment | None
    follows: str
    checked: bool
    devices: list[AcceleratorRow]
    compile_backends: list[LoadedEntryPoint]
    findings: list[Remark]


def list_devices(where: Where, files: tuple[str, ...] = ()) -> Result[DeviceList]:
    """List the accelerators and the extensions; torch is not imported, and an environment without torch is no fault."""
    chosen = choose_python(where)
    devices = _known(chosen, files)
    look = probe_extensions(chosen.python, check=False, patience=QUICK) if chosen.python else None
    return Result("verify --devices", describe(look, devices, _seen(devices), chosen.by))


def check_devices(where: Where, files: tuple[str, ...] = (), *, patience: float) -> Result[DeviceList]:
    """Load every extension in a process of its own. The code is 1 where something breaks `import torch`."""
    chosen = choose_python(where)
    if not chosen.python:
        line = Command("xpusetup verify --devices --into DIR", gaps=("DIR",))
        raise NotReadyError("no Python environment is active here", fix="name one: ", command=line)
    devices = _known(chosen, files)
    look = probe_extensions(chosen.python, check=True, patience=patience)
    if look.torch is None:
        fix = "name another: xpusetup verify --devices --into DIR\nor install one: "
        raise NotReadyError(f"there is no torch in {look.prefix} ({chosen.by})", fix=fix, command="xpusetup install")
    found = describe(look, devices, _seen(devices), chosen.by)
    return Result("verify --devices", found, code=1 if any(each.level == "fail" for each in found.findings) else 0)


def _known(chosen: ChosenPython, given: tuple[str, ...]) -> tuple[Device, ...]:
    """Give all devices, whose vendors' programs will be asked. Raises UntrustedError for files of others."""
    settings = load_settings()
    with files.noting() as seen:
        devices = known_devices(settings, (*((chosen.file,) if chosen.file else ()), *given))
    require_trust(find_foreign(seen))
    return devices


def describe(
    look: Extensions | None, devices: tuple[Device, ...], seen: Mapping[str, Presence], chosen_by: str
) -> DeviceList:
    """Give the result for an environment as it was seen; None where there was none to look at."""
    torch = look.torch.version if look and look.torch else None
    return DeviceList(
        environment=ExtendedEnvironment(python=look.python, prefix=look.prefix, chosen_by=chosen_by, torch=torch)
        if look
        else None,
        follows=Command("xpusetup verify --devices"),
        checked=look is not None and look.loads is not None,
        devices=make_rows(devices, seen, look),
        compile_backends=look.compilers if look else [],
        findings=judge(look, devices, check_texts()) if look else [],
    )


def _seen(devices: tuple[Device, ...]) -> dict[str, Presence]:
    sysroot, table = Sysroot.from_environment(), gpu_table()
    hardware = probe_hardware(sysroot)
    return {each.name: probe_device(each, sysroot, cards_of(each, hardware, table)) for each in devices}
