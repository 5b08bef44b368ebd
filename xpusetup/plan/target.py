"""From Profile, Facts and settings to the Target: pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.base.model import NONE, Provider, Request, Target, Toolkit
from xpusetup.base.text import render_word
from xpusetup.config.devices import Device, make_modes
from xpusetup.config.profile import Profile
from xpusetup.config.settings import Settings
from xpusetup.config.toolkit import SYSTEM_ROOT, ToolkitWanted
from xpusetup.machine.facts import Facts, ToolkitSeen
from xpusetup.machine.gpus import GpuProduct, GpuTable, hide_integrated
from xpusetup.machine.toolkits import needs_ocloc, runs_wheels, usable_toolkits


@dataclass(frozen=True)
class ArchSelection:
    """Device targets, and what to say of them."""

    targets: tuple[str, ...]
    note: str = ""


def make_target(profile: Profile, facts: Facts, device: Device, request: Request, settings: Settings) -> Target:
    """Say what to build for. A toolkit that is not here is assumed at its usual place: the gate stops builds."""
    if facts.python is None:
        raise NotReadyError("no Python was probed", command="xpusetup doctor --for build")
    known = device.environment.variables if device.environment else {}
    return Target(
        python=facts.python.executable,
        python_version=".".join(facts.python.version.split(".")[:2]),
        accelerator=profile.accelerator,
        cc=settings.compilers.cc,
        cxx=settings.compilers.cxx,
        linker=settings.compilers.linker,
        arch=_make_arch(profile, request, settings),
        toolkit=_make_toolkit(profile.toolkit, facts, settings) if profile.toolkit else None,
        device_expected=device.expected,
        compile_backend=device.compile_backend,
        collective_backend=device.collective_backend,
        gaps=device.listed_gaps,
        skips=tuple(device.skips),
        variables=tuple(f"{name}={value}" for name, value in known.items()),
        scripts=tuple(device.environment.scripts) if device.environment else (),
        modes=make_modes(profile, device),
        extension=device.extension.module if device.extension and device.extension.imported else "",
        loader=device.extension.loader if device.extension else "",
    )


def _make_arch(profile: Profile, request: Request, settings: Settings) -> tuple[str, ...]:
    if profile.arch is None:
        if request.arch:
            raise UsageError(f"{profile.name} has no list of device targets", fix="leave --arch out")
        return ()
    return request.arch or tuple(settings.arch or profile.arch.default)


WITHOUT_OCLOC = (
    "no ocloc is here: the GPU's driver compiles each kernel when it is first used."
    " For machine code install intel-ocloc (on Debian sid libigc2 too; Debian 12 and 13 have none),"
    " and build with --arch LIST"
)


def select_arch(profile: Profile, facts: Facts, gpus: GpuTable, built: tuple[str, ...] = ()) -> ArchSelection:
    """Give the device targets of `--arch auto`: those of the GPUs here, in the spelling of the profile's list.

    `built` are the targets of an earlier build that was aimed in the same way. They stay where they serve the GPUs that
    are here, so that nothing is compiled again on a machine that shows no GPU, as a login node does.
    """
    if profile.arch is None:
        return ArchSelection(())
    listed = tuple(profile.arch.default)
    if profile.arch.none and needs_ocloc(profile.toolkit, facts):
        return ArchSelection((NONE,), WITHOUT_OCLOC)
    seen = used_devices(facts, gpus, profile.accelerator)
    named = {product.title(): product.family.target_in(listed) for product in seen}
    lost = [title for title, target in named.items() if not target]
    if built and set(named.values()) - {""} <= set(built):
        return ArchSelection(built)
    if lost:
        note = f"{lost[0]} is no target of {profile.name}: all targets are compiled, and its own code when first used"
        return ArchSelection(listed, note)
    return ArchSelection(tuple(dict.fromkeys(named.values())) or listed)


def used_devices(facts: Facts, gpus: GpuTable, accelerator: str) -> Sequence[GpuProduct]:
    """Give the devices that PyTorch would use."""
    there = facts.hardware.gpus if facts.hardware else []
    found = [product for gpu in there if (product := gpus.find(gpu.vendor, gpu.device)) is not None]
    ours = [product for product in found if product.family.accelerator == accelerator]
    return hide_integrated(ours, lambda product: product.family)


def _make_toolkit(wanted: ToolkitWanted, facts: Facts, settings: Settings) -> Toolkit:
    if wanted.kind == "wheels" and not runs_wheels(facts):
        raise NotReadyError("Intel's wheels have a compiler for x86_64 alone", fix="build on a machine of that kind")
    seen = next(iter(usable_toolkits(wanted, facts)), None) or _assume(wanted, settings)
    provider = _provider(wanted, seen, settings)
    return Toolkit(
        provider=provider,
        product=wanted.product.title,
        version=seen.version or wanted.preferred,
        compiler=seen.compiler,
        root=seen.root,
        scripts=_scripts(provider, wanted, seen),
        prelude=tuple(settings.toolkit.prelude) if provider == "modules" else _paths(wanted, seen),
        sets=tuple(wanted.sets),
        at_run_time=wanted.runtime == "toolkit",
    )


def _assume(wanted: ToolkitWanted, settings: Settings) -> ToolkitSeen:
    if wanted.kind == "dpclang":
        root = settings.toolkit.root or SYSTEM_ROOT
        return ToolkitSeen(
            kind=wanted.kind, root=root, version=wanted.preferred, compiler=f"{root}/bin/{wanted.product.compiler}"
        )
    root = settings.toolkit.root or "/opt/intel/oneapi"
    scripts = [f"{root}/{script}" for script in wanted.scripts]
    return ToolkitSeen(
        root=root, version=wanted.preferred, compiler=f"{root}/compiler/latest/bin/icpx", scripts=scripts
    )


def _provider(wanted: ToolkitWanted, seen: ToolkitSeen, settings: Settings) -> Provider:
    """Prefer the component scripts that official builds source; fall back to all of setvars.sh.

    How a site provides oneAPI is nothing that the open compiler has, but for a module that brings it.
    """
    asked = settings.toolkit.provider
    if wanted.kind == "wheels":
        return "scripts"
    if wanted.kind == "dpclang":
        return asked if asked in ("modules", "environment") else "scripts"
    there = {f"{seen.root}/{script}" for script in wanted.scripts} <= set(seen.scripts)
    return asked or ("scripts" if there or seen.setvars is None else "setvars")


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


PATHS = {"PATH": "bin", "PKG_CONFIG_PATH": "lib/pkgconfig", "LD_LIBRARY_PATH": "lib"}
"""What an open DPC++ in a folder of its own needs, as upstream's CI sets it (torch-xpu-ops, _linux_build.yml)."""


def _paths(wanted: ToolkitWanted, seen: ToolkitSeen) -> tuple[str, ...]:
    if wanted.kind != "dpclang" or seen.root == SYSTEM_ROOT:
        return ()
    folders = {name: render_word(f"{seen.root}/{folder}") for name, folder in PATHS.items()}
    return tuple(f"export {name}={folder}${{{name}:+:${name}}}" for name, folder in folders.items())
