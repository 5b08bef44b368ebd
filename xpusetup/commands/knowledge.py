"""The data files that several commands ask: read once."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from xpusetup.commands.workspace import load_profile, profile_names
from xpusetup.effects import files
from xpusetup.gpus import parse_gpus
from xpusetup.targets import parse_targets

if TYPE_CHECKING:
    from xpusetup.catalog import CheckText
    from xpusetup.gpus import GpuTable
    from xpusetup.images import ImageTable
    from xpusetup.profile import Profile
    from xpusetup.targets import TargetTable
    from xpusetup.way.machine import Known


@cache
def gpu_table() -> GpuTable:
    """Read data/gpus.toml."""
    return parse_gpus(files.package_text("data/gpus.toml"))


@cache
def target_table() -> TargetTable:
    """Read data/targets.toml."""
    return parse_targets(files.package_text("data/targets.toml"))


@cache
def known() -> Known:
    """Read all that the way is found from."""
    from xpusetup.platforms import parse_distributions, parse_platforms  # noqa: PLC0415 - a build asks for GPUs alone
    from xpusetup.way.machine import Known  # noqa: PLC0415 - same

    return Known(
        gpu_table(),
        parse_platforms(files.package_text("data/platforms.toml")),
        parse_distributions(files.package_text("data/distributions.toml")),
    )


@cache
def image_table() -> ImageTable:
    """Read data/images.toml."""
    from xpusetup.images import parse_images  # noqa: PLC0415 - only who makes an image needs it

    return parse_images(files.package_text("data/images.toml"))


@cache
def check_texts() -> dict[str, CheckText]:
    """Read data/checks.toml."""
    from xpusetup.catalog import parse_check_texts  # noqa: PLC0415 - only who judges a machine needs them

    return parse_check_texts(files.package_text("data/checks.toml"))


@cache
def every_profile() -> tuple[Profile, ...]:
    """Load the profiles that ship with the program."""
    return tuple(load_profile(name) for name in profile_names())


def shipped() -> tuple[Profile, ...]:
    """Load the releases that ship with the program."""
    return tuple(profile for profile in every_profile() if profile.name.startswith("torch-"))
