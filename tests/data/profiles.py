"""Profiles as text and as values: the shipped ones, and a small one to be broken."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.config.devices import parse_device
from xpusetup.config.hashes import FILE, with_known
from xpusetup.config.load import parse_profile
from xpusetup.config.take import ORIGIN, parse_ways, take_parts

if TYPE_CHECKING:
    from xpusetup.config.devices import Device
    from xpusetup.config.profile import Profile
    from xpusetup.config.take import Ways

TOP = Path(__file__).parents[2]
SHIPPED = tuple(sorted(path.stem for path in (TOP / "profiles").glob("*.toml")))

FROM_SOURCE = tuple(f"torch-2.{minor}" for minor in range(6, 15))
"""Releases whose Triton is a ready wheel that can be built from source instead."""

SMALL = """\
schema = 1
name = "small"
summary = "one component"
tier = "test"
tried = "never"
accelerator = "cpu"
python = ">=3.10"

[build_requirements]
pins = ["pip==26.0", "setuptools==80.10.2"]

[[components]]
kind = "source"
name = "first"
distribution = "first"
version = "1.0"
repo = "https://example.org/first"
rev = "0123456789abcdef0123456789abcdef01234567"
source = "made up"
confidence = "confirmed"
frontend = "build"

[[components]]
kind = "wheel"
name = "second"
distribution = "second"
version = "2.0"
after = ["first"]
source = "made up"
confidence = "confirmed"
"""


@cache
def shipped(name: str) -> Profile:
    profile = parse_profile((TOP / f"profiles/{name}.toml").read_text(), f"{name}.toml")
    return with_known(profile, (TOP / FILE).read_text())


def small(*changes: tuple[str, str], more: str = "") -> Profile:
    """Give the small profile with texts replaced, each of which has to be there."""
    return parse_profile(small_text(*changes, more=more), "small.toml")


def small_text(*changes: tuple[str, str], more: str = "") -> str:
    text = SMALL + more
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


@cache
def ways() -> Ways:
    return parse_ways((TOP / "xpusetup" / ORIGIN).read_text())


def taken(name: str, **takes: str) -> Profile:
    """Give a shipped profile with parts taken as is said, as triton="source"."""
    return take_parts(shipped(name), takes, ways()).profile


@cache
def device(name: str) -> Device:
    return parse_device((TOP / f"xpusetup/data/devices/{name}.toml").read_text())
