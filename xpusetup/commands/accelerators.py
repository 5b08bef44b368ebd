"""Where device files are found: the one that a profile names, those of the site, those that ship."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.devices import Device, parse_device
from xpusetup.effects import files
from xpusetup.errors import UsageError

if TYPE_CHECKING:
    from xpusetup.settings import Settings

FOLDER = "data/devices"


class UnknownDeviceError(UsageError):
    """No file is about an accelerator of this name."""


def is_device_file(name: str) -> bool:
    """Say whether what stands for a device is the path of its file."""
    return name.endswith(".toml") or "/" in name


def find_device(name: str, file: str, settings: Settings) -> Device:
    """Give what is known of an accelerator: from the file that its profile names, else from the site's, else from ours.

    Raises UsageError for a file that is wrong, is about another device, or is not there.
    """
    if file:
        return _must_be(name, read_device(file), file)
    ours = next((each for path in settings.devices if (each := read_device(path)).name == name), None)
    return ours or shipped_device(name)


def _must_be(name: str, device: Device, file: str) -> Device:
    if device.name != name:
        message = f"{file} is about {device.name!r}, and the profile is for {name!r}"
        raise UsageError(message, fix=f'write accelerator = "{device.name}" into the profile, or name another file')
    return device


def read_device(file: str) -> Device:
    """Read a device file of someone's own. Raises UsageError."""
    text = files.read_input(Path(file).expanduser())
    if text is None:
        raise UsageError(
            f"there is no device file {file} that can be read", fix="docs/devices.md says how to write one"
        )
    return parse_device(text, file)


def shipped_names() -> list[str]:
    """List the devices that ship with the program."""
    return sorted(path.stem for path in files.package_file(FOLDER).glob("*.toml"))


def shipped_device(name: str) -> Device:
    """Read a device file that ships with the program."""
    if name not in shipped_names():
        fix = (
            f'known: {", ".join(shipped_names())}; another one needs a file of its own: device = "FILE" in the profile'
        )
        raise UnknownDeviceError(f"nothing is known of an accelerator {name!r}", fix=fix)
    return parse_device(files.package_text(f"{FOLDER}/{name}.toml"), f"{name}.toml")


def known_devices(settings: Settings, given: tuple[str, ...] = ()) -> tuple[Device, ...]:
    """Give all devices: those that ship, in whose place the site's and then the given ones may stand."""
    found = {name: shipped_device(name) for name in shipped_names()}
    for file in (*settings.devices, *given):
        device = read_device(file)
        found[device.name] = device
    return tuple(found.values())
