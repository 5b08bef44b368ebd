"""From Profile, Facts and settings to the Target: pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from xpusetup.errors import NotReadyError, UsageError
from xpusetup.facts import ToolkitSeen
from xpusetup.model import Provider, Target, Toolkit

if TYPE_CHECKING:
    from xpusetup.devices import Device
    from xpusetup.facts import Facts
    from xpusetup.model import Request
    from xpusetup.profile import Profile, ToolkitWanted
    from xpusetup.settings import Settings


def make_target(profile: Profile, facts: Facts, device: Device, request: Request, settings: Settings) -> Target:
    """Say what to build for. A toolkit that is not here is assumed at its usual place: the gate stops builds."""
    if facts.python is None:
        raise NotReadyError("no Python was probed", fix="xpusetup doctor")
    return Target(
        python=facts.python.executable,
        python_version=".".join(facts.python.version.split(".")[:2]),
        accelerator=profile.accelerator,
        cc=settings.compilers.cc,
        cxx=settings.compilers.cxx,
        arch=_make_arch(profile, request, settings),
        toolkit=_make_toolkit(profile.toolkit, facts, settings) if profile.toolkit else None,
        device_expected=device.expected,
    )


def _make_arch(profile: Profile, request: Request, settings: Settings) -> tuple[str, ...]:
    if profile.arch is None:
        if request.arch:
            raise UsageError(f"{profile.name} has no list of device targets", fix="leave --arch out")
        return ()
    return request.arch or tuple(settings.arch or profile.arch.default)


def _make_toolkit(wanted: ToolkitWanted, facts: Facts, settings: Settings) -> Toolkit:
    seen = _choose(wanted, facts) or _assume(wanted, settings)
    provider = settings.toolkit.provider or _natural(wanted, seen)
    return Toolkit(
        provider=provider,
        version=seen.version or wanted.preferred,
        compiler=seen.compiler,
        root=seen.root,
        scripts=_scripts(provider, wanted, seen),
        prelude=tuple(settings.toolkit.prelude) if provider == "modules" else (),
        sets=tuple(wanted.sets),
        at_run_time=wanted.runtime == "toolkit",
    )


def _choose(wanted: ToolkitWanted, facts: Facts) -> ToolkitSeen | None:
    accepted = SpecifierSet(wanted.accepts)
    found = facts.toolkits.found if facts.toolkits else []
    fitting = [kit for kit in found if kit.version and accepted.contains(kit.version)]
    return min(fitting, key=lambda kit: not (kit.version or "").startswith(wanted.preferred), default=None)


def _assume(wanted: ToolkitWanted, settings: Settings) -> ToolkitSeen:
    root = settings.toolkit.root or "/opt/intel/oneapi"
    scripts = [f"{root}/{script}" for script in wanted.scripts]
    return ToolkitSeen(
        root=root, version=wanted.preferred, compiler=f"{root}/compiler/latest/bin/icpx", scripts=scripts
    )


def _natural(wanted: ToolkitWanted, seen: ToolkitSeen) -> Provider:
    """Prefer the component scripts that official builds source; fall back to all of setvars.sh."""
    there = {f"{seen.root}/{script}" for script in wanted.scripts} <= set(seen.scripts)
    return "scripts" if there or seen.setvars is None else "setvars"


def _scripts(provider: Provider, wanted: ToolkitWanted, seen: ToolkitSeen) -> tuple[str, ...]:
    if provider == "setvars":
        return (seen.setvars or f"{seen.root}/setvars.sh",)
    if provider == "scripts":
        return tuple(f"{seen.root}/{_of_version(script, seen)}" for script in wanted.scripts)
    return ()


def _of_version(script: str, seen: ToolkitSeen) -> str:
    """Take the compiler's own folder where `latest` may be another version's."""
    folder = seen.compiler.removeprefix(f"{seen.root}/").removesuffix("/bin/icpx")
    return script.replace("compiler/latest/", f"{folder}/") if folder.startswith("compiler/") else script
