"""The offline installers of toolkits that are known: data/installers.toml."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from xpusetup.errors import UsageError
from xpusetup.load import parse_data
from xpusetup.values import Operand, Sourced, Strict, VersionText

if TYPE_CHECKING:
    from xpusetup.profile import ToolkitWanted

ORIGIN = "data/installers.toml"


class Installer(Sourced):
    """One installer: a file that holds all of a toolkit and needs no network."""

    version: VersionText
    address: Operand


class _InstallerFile(Strict):
    installer: list[Installer]


def parse_installers(text: str) -> list[Installer]:
    """Read data/installers.toml."""
    return parse_data(text, _InstallerFile, ORIGIN).installer


def choose_installer(known: list[Installer], wanted: ToolkitWanted, profile: str) -> Installer:
    """Give the newest installer of the version that a profile prefers. Raises UsageError where none is known."""
    series = SpecifierSet(f"=={wanted.preferred}.*")
    fitting = [each for each in known if series.contains(each.version)]
    if not fitting:
        message = f"no offline installer of oneAPI {wanted.preferred} is known for {profile}"
        fix = "leave --toolkit out, and carry Intel's packages over yourself"
        raise UsageError(message, fix=f"{fix}: {wanted.packages.page}" if wanted.packages.page else fix)
    return max(fitting, key=lambda each: Version(each.version))
