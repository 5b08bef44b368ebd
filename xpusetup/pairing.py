"""Which PyTorch goes with which release of a device's software, and in which mode: what cannot be is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.devices import find_release, wanted_torch
from xpusetup.errors import UsageError
from xpusetup.model import Mode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from xpusetup.devices import Device, ModeKnown
    from xpusetup.profile import Installer, Profile

CALLED = {"fork": "the maker's fork of PyTorch", "public": "the public PyTorch", "any": "whichever PyTorch it brings"}


def make_modes(profile: Profile, device: Device) -> tuple[Mode, ...]:
    """Give the modes that a profile verifies, the device's first where it names none.

    Raises UsageError for a torch that is not that of the software's release, and for a mode that does not exist or
    does not work with this PyTorch.
    """
    if profile.installer is not None:
        _check_torch(profile, profile.installer, device)
        _check_kind(profile, profile.installer, device)
    known = {mode.name: mode for mode in device.modes}
    names = profile.modes or [mode.name for mode in device.modes[:1]]
    return tuple(_make_mode(_check_mode(profile, name, known)) for name in names)


def find_mode(modes: Iterable[Mode], name: str) -> Mode:
    """Give the mode of this name. Raises UsageError where the build has no such mode."""
    found = {mode.name: mode for mode in modes}
    if name not in found:
        has = f"it has: {', '.join(found)}" if found else "its device has no modes"
        raise UsageError(f"this build has no mode {name!r}", fix=f"{has}; a profile says which: modes = [...]")
    return found[name]


def device_modes(device: Device) -> tuple[Mode, ...]:
    """Give all modes of a device, whatever PyTorch they work with."""
    return tuple(map(_make_mode, device.modes))


def _make_mode(mode: ModeKnown) -> Mode:
    return Mode(
        name=mode.name,
        variables=_pairs(mode.environment),
        models=_pairs(mode.models),
        skips=tuple(mode.skips),
    )


def _pairs(variables: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in variables.items())


def torch_of(profile: Profile) -> str:
    """Give the version of torch that a profile ends with, or its beginning; empty where it brings none."""
    named = (part.version for part in profile.components if part.name == "torch" and part.kind != "skip")
    return next(named, profile.installer.brings.get("torch", "") if profile.installer else "")


def _check_torch(profile: Profile, installer: Installer, device: Device) -> None:
    torch, wanted = torch_of(profile).partition("+")[0], wanted_torch(device, installer.release)
    if not torch or not wanted or f"{torch}.".startswith(f"{wanted}.") or f"{wanted}.".startswith(f"{torch}."):
        return
    fitting = [row.extension for row in device.releases if f"{torch}.".startswith(f"{row.torch}.")]
    other = f"; torch {torch} is that of {', '.join(fitting)}" if fitting else ""
    raise UsageError(
        f"{profile.name}: {_software(installer, device)} is for torch {wanted}, not for {torch}",
        fix=f"take torch {wanted}{other}",
    )


def _check_kind(profile: Profile, installer: Installer, device: Device) -> None:
    row = find_release(device, installer.release)
    kinds = row.pytorch if row else []
    if not kinds or profile.pytorch in (*kinds, "any"):
        return
    rows = [each for each in device.releases if profile.pytorch in each.pytorch]
    others = f"; {CALLED[profile.pytorch]} goes with {', '.join(each.extension for each in rows)}" if rows else ""
    raise UsageError(
        f"{profile.name}: {_software(installer, device)} is not known to work with {CALLED[profile.pytorch]}",
        fix=f'pytorch = "{kinds[0]}" works with it{others}',
    )


def _software(installer: Installer, device: Device) -> str:
    row = find_release(device, installer.release)
    return row.toolkit if row and row.toolkit else f"release {installer.release}"


def _check_mode(profile: Profile, name: str, known: Mapping[str, ModeKnown]) -> ModeKnown:
    if name not in known:
        has = ", ".join(known) or "none"
        raise UsageError(f"{profile.name}: {profile.accelerator} has no mode {name!r}", fix=f"its modes: {has}")
    mode = known[name]
    if mode.pytorch and profile.pytorch not in mode.pytorch:
        others = [each.name for each in known.values() if not each.pytorch or profile.pytorch in each.pytorch]
        raise UsageError(
            f"{profile.name}: mode {name} works with {CALLED[mode.pytorch[0]]} alone,"
            f" and this profile has {CALLED[profile.pytorch]}",
            fix=f'take mode {" or ".join(others)}, or a profile with pytorch = "{mode.pytorch[0]}"',
        )
    return mode
