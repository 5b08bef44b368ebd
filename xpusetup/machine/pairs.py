"""Which torch a torchvision or torchaudio takes: by its own metadata, else by the table here. Pure.

Up to a release each is compiled against one torch; from then on it is bound to torch by the stable interface alone, and
takes later ones too. Sources: Requires-Dist of torchvision 0.25.0 to 0.29.2 and of torchaudio 2.9.1 to 2.11.1.
"""

import re

from packaging.specifiers import InvalidSpecifier, SpecifierSet

OPEN = {"torchvision": ((0, 29, 1), ">=2.14"), "torchaudio": ((2, 11, 0), ">=2.11")}
"""From which release on a companion takes each torch from which on. Before, it is of one release of torch."""
NEWEST = {"torchvision": ((2, 14, 0), "0.29.2"), "torchaudio": ((2, 11, 0), "2.11.0")}
"""The last torch that has a companion of its own, and the companion that serves every later one."""
SHIFT = 15
"""What torchvision's minor was ahead of torch's: 0.15 belongs to 2.0, 0.29.0 to 2.14."""
EXACT = re.compile(r"==\s*(\d+\.\d+)[^,]*")


def table_of(name: str, version: str) -> str:
    """Give what a companion of this version requires of torch, as a specifier; empty where that is not known."""
    found = _release(version)
    since, wanted = OPEN[name]
    if found >= since:
        return wanted
    major, minor = found[:2]
    if name == "torchvision" and major == 0:
        return f"==2.{minor - SHIFT}.*" if minor >= SHIFT else f"==1.{minor - 1}.*"
    return f"=={major or 1}.{minor}.*" if name == "torchaudio" else ""


def own_release(name: str, torch: tuple[int, int, int]) -> str:
    """Give the version of a companion that goes with a torch 2."""
    last, newest = NEWEST[name]
    if torch > last:
        return newest
    _major, minor, patch = torch
    return f"0.{minor + SHIFT}.{patch}" if name == "torchvision" else f"2.{minor}.{patch}"


def takes(name: str, version: str, torch: str, asked: str = "") -> bool:
    """Say whether a companion goes with a torch; `asked` is what its own metadata requires of that, where it is known.

    One release of torch is as good as the next patch of it, whatever the metadata says.
    """
    wanted = EXACT.sub(r"==\1.*", asked) or table_of(name, version)
    try:
        return not wanted or SpecifierSet(wanted).contains(".".join(map(str, _release(torch))))
    except InvalidSpecifier:
        return True


def _release(version: str) -> tuple[int, int, int]:
    """Give a version's numbers: 2.11.0a0+git1 is (2, 11, 0)."""
    major, minor, patch = [*map(int, re.findall(r"\d+", version.partition("+")[0])[:3]), 0, 0, 0][:3]
    return major, minor, patch
