"""What is known of the files of pinned distributions: their sha256, by name and version.

Words: a pin is *held* where the hashes of its files are known beforehand; any other one is of *unverified origin*.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache

from packaging.utils import canonicalize_name

from xpusetup.config.profile import Profile

FILE = "profiles/hashes.txt"
"""The hashes that ship with the program, for all of its profiles: a file of requirements as pip reads it."""
HASH = re.compile("--hash=sha256:([0-9a-f]{64})")


def key_of(pin: str) -> str:
    """Give the name and version of a pin as hashes are kept by them, as name==version."""
    name, _, version = pin.partition(";")[0].partition("==")
    return f"{canonicalize_name(name.strip())}=={version.strip()}"


def pins_of(profile: Profile) -> list[str]:
    """Give all that a profile pins: what builds and run times require, ready wheels, what was published."""
    runtime = profile.runtime_requirements.pins if profile.runtime_requirements else []
    published = profile.published.wheels if profile.published else []
    ready = [f"{part.distribution}=={part.version}" for part in profile.components if part.kind == "wheel"]
    return list(dict.fromkeys((*profile.build_requirements.pins, *runtime, *published, *ready)))


def _held_pins(profile: Profile) -> list[str]:
    """Give all that a profile pins, and what its tool chains are made from, as name==version."""
    kits = (*([profile.toolkit] if profile.toolkit else ()), *profile.other_toolkits)
    made = (pin for kit in kits for pin in (*kit.pins, *kit.replaces))
    return list(dict.fromkeys(map(key_of, (*pins_of(profile), *made))))


def free_pins(profile: Profile) -> list[str]:
    return [pin for pin in _held_pins(profile) if pin not in profile.hashes]


def indexes_of(profile: Profile) -> list[str]:
    named = [part.index for part in profile.components if part.kind == "wheel"]
    return sorted({*named, profile.published.index if profile.published else ""} - {""})


def find_hashes(text: str, wanted: Collection[str]) -> dict[str, list[str]]:
    """Read the hashes of some pins from a file of requirements, in which a blank line stands before each pin."""
    return {pin: HASH.findall(rest) for pin, rest in _split(text).items() if pin in wanted}


@cache
def _split(text: str) -> dict[str, str]:
    return {pin: rest for pin, _, rest in (block.partition(" ") for block in text.split("\n\n"))}


def with_known(profile: Profile, text: str) -> Profile:
    found = find_hashes(text, {*_held_pins(profile)} - {*profile.hashes})
    return replace(profile, hashes={**profile.hashes, **found}) if found else profile


def render_requirements(hashes: Mapping[str, Iterable[str]], pins: Iterable[str]) -> str:
    """Give a file of requirements for pip and uv; a pin without a hash has none there either."""
    blocks = ([pin, *(f"    --hash=sha256:{each}" for each in sorted(hashes.get(key_of(pin), ())))] for pin in pins)
    return "".join(" \\\n".join(block) + "\n" for block in blocks)
