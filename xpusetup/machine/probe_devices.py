"""What a device file describes, looked for here: its files below /dev, its program, its scripts; and extensions."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from xpusetup.base.document import read_as
from xpusetup.base.errors import NotReadyError, WorkFailedError
from xpusetup.config.devices import Device
from xpusetup.machine.accelerators import Extensions, Presence
from xpusetup.system import files
from xpusetup.system.environment import which_python
from xpusetup.system.files import Sysroot
from xpusetup.system.process import run_process

TOOL_PATIENCE = 5.0
"""Seconds that a vendor's program may take; one that waits for a driver takes for ever."""
SAID = 8
"""Lines of a vendor's program that are kept."""
LOADER = "helpers/load_extensions.py"


def probe_device(device: Device, sysroot: Sysroot, cards: tuple[str, ...]) -> Presence:
    """Look for a device. Its vendor's program is asked, and nothing is changed by that."""
    tool = shutil.which(device.tool.name) if device.tool else None
    known = device.environment
    return Presence(
        cards=cards,
        nodes=tuple(_nodes(device, sysroot)),
        tool=tool or "",
        says=_ask((tool, *device.tool.query)) if tool and device.tool else (),
        script=next((path for path in known.scripts if sysroot.path(path).exists()), "") if known else "",
        ready=any(os.environ.get(name) for name in known.sets) if known and known.sets else None,
    )


def _nodes(device: Device, sysroot: Sysroot) -> Iterator[str]:
    """Give the device's files; where the kernel says whose a file is, another maker's is left out."""
    for pattern in device.hardware.nodes if device.hardware else ():
        for path in sorted(sysroot.path("/").glob(pattern.lstrip("/"))):
            vendor = _vendor(path.name, sysroot)
            if not device.pci_vendors or vendor is None or vendor in device.pci_vendors:
                yield f"/{path.relative_to(sysroot.path('/'))}"


def _vendor(node: str, sysroot: Sysroot) -> str | None:
    for path in sysroot.path("/sys/class").glob(f"*/{node}/device/vendor"):
        text = files.read_text(path)
        if text:
            return text.strip().lower().removeprefix("0x")
    return None


def _ask(argv: tuple[str, ...]) -> tuple[str, ...]:
    output = run_process(argv, seconds=TOOL_PATIENCE)
    lines = [line.rstrip() for line in (output.out or output.err).splitlines() if line.strip()]
    return tuple(lines[:SAID]) if output.code == 0 else (output.why or f"it ended with {output.code}", *lines[-1:])


def active_python() -> tuple[str, str]:
    """Give the interpreter of the active environment and what names it; empty texts where there is none."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        prefix = os.environ.get(name)
        if prefix and (python := find_python(Path(prefix))):
            return python, name
    return which_python("python3") or "", "python3 on PATH"


def find_python(place: Path) -> str:
    """Give the interpreter of an environment that is named by its folder or its interpreter; empty where none is."""
    if place.is_file():
        return str(place)
    return next((str(path) for name in ("python", "python3") if (path := place / "bin" / name).is_file()), "")


def probe_extensions(python: str, *, check: bool, patience: float) -> Extensions:
    """Ask an environment's own interpreter what torch loads there; with `check` let it load that, in children.

    Raises NotReadyError where the interpreter does not run.
    """
    options = ("--check", "--patience", f"{patience:g}") if check else ()
    words = (python, "-B", str(files.package_file(LOADER)), *options)
    output = run_process(words, seconds=_bound(patience) if check else patience, cwd=Path("/"))
    last = next(reversed(output.err.strip().splitlines()), "") or output.why
    if output.code is None and check:
        raise WorkFailedError(
            f"the extensions of {python} were not tried to their end: {last}", fix="--patience SECONDS"
        )
    try:
        return read_as(Extensions, json.loads(output.out.strip().splitlines()[-1]))
    except (IndexError, ValueError) as error:
        fix = "name an environment whose Python runs: --into DIR"
        raise NotReadyError(f"{python} does not say what is installed: {last or 'nothing'}", fix=fix) from error


def _bound(patience: float) -> float:
    """Give the seconds after which a helper that bounds each of its children is itself given up."""
    return patience * 40
