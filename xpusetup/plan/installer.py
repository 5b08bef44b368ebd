"""Steps for what the device's maker installs with a program of its own: that, and a look at what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.model import ROOT, Step
from xpusetup.plan.context import file_name
from xpusetup.plan.guard import UNBOUND
from xpusetup.plan.requirements import RECORD

if TYPE_CHECKING:
    from xpusetup.plan.context import Context
    from xpusetup.profile import Installer, Profile

PROGRAMS = f"{ROOT}/installers"
PAIRING = "pairing"


def installer_step(installer: Installer) -> str:
    """Give the id of the step that runs the installer."""
    return f"{installer.name}.install"


def make_installer(context: Context, installer: Installer, last: str) -> Step:
    """Give the step that lets the maker's program fill the environment."""
    result = f"{context.layout.results}/{installer.name}.json"
    asked = (f"--ask={word}" for word in installer.ask)
    options = (
        *("--program", installer.program, "--url", installer.url, "--into", PROGRAMS, "--record", RECORD),
        *("--release", installer.release),
        *(*asked, "--prefix-variable", installer.prefix_variable, "--prefix", context.layout.venv),
        *(word for name, version in installer.brings.items() for word in ("--brings", f"{name}={version}")),
        *("--out", result, "--", *installer.arguments),
    )
    return Step(
        id=installer_step(installer),
        title=f"{installer.program} of release {installer.release}",
        run=(context.helper("makers_installer.py", *options), *context.movable()),
        env=UNBOUND,
        needs=("network",),
        after=(last,),
        locks=("venv",),
        makes=(*_records(context, installer), result),
        component=installer.name,
    )


def _records(context: Context, installer: Installer) -> tuple[str, ...]:
    """Give the lists of files of what the installer brings and nothing else takes the place of."""
    packages = f"{context.layout.venv}/lib/python{context.target.python_version}/site-packages"
    return tuple(f"{packages}/{file_name(name)}-*.dist-info/RECORD" for name in lasting(context.profile, installer))


def lasting(profile: Profile, installer: Installer) -> tuple[str, ...]:
    """Give the distributions that the installer brings and that no component replaces."""
    replaced = {part.distribution for part in profile.components if part.kind != "skip"}
    return tuple(name for name in installer.brings if name not in replaced)


def make_pairing(context: Context, installer: Installer, last: str) -> Step:
    """Give the step that looks whether driver packages, extension and torch belong together, and have one C++ ABI."""
    result = f"{context.layout.results}/pairing.json"
    versions = {**installer.brings, **_versions(context.profile)}
    options = (
        *(word for name, version in versions.items() for word in ("--wants", f"{name}={version}")),
        *("--pytorch", context.profile.pytorch, "--out", result),
    )
    return Step(
        id=PAIRING,
        title="torch and extension of one release, with one C++ ABI",
        run=(context.helper("inspect_pairing.py", *options),),
        after=(last,),
        makes=(result,),
    )


def _versions(profile: Profile) -> dict[str, str]:
    return {part.distribution: part.version for part in profile.components if part.kind != "skip"}
