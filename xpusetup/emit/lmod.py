"""Modulefiles for Lmod: versions of PyTorch side by side, in a folder that can be moved and made read-only.

A modulefile computes its prefix from its own place: `modulefiles/` and `software/` lie in one folder.
"""

from collections.abc import Sequence

from xpusetup.base.errors import UsageError
from xpusetup.base.model import Target
from xpusetup.config.settings import ModuleSettings
from xpusetup.config.toolkit import PRODUCTS, SYSTEM_ROOT
from xpusetup.emit.matrix import Cell
from xpusetup.emit.template import render_template

FOLDER = "software/"
RUNTIMES = ("intel-oneapi", "oneapi", "intel-oneapi-compilers", "intel-oneapi-mkl", "intel/oneapi")
"""Modules that put another SYCL runtime before that of the wheels."""
OTHERS = {"cuda": "cuda", "rocm": "cuda", "cann": "npu"}
"""Modules of other accelerators' software, each with the accelerator that computes by it and so conflicts with none."""

SOURCED = "oneAPI's setvars.sh was sourced in this shell, and {name} {has}: begin a new shell"


def render_modules(cells: Sequence[Cell], settings: ModuleSettings) -> dict[str, str]:
    """Give a modulefile for each build, by file name; the builds lie in `software/`.

    What does not tell builds apart by itself gets the name of its cell. Raises UsageError for a profile that has
    nothing to name a module after, and where a part is left out: its environment would be without constraints.
    """
    if not all(any(step.id == "guard" for step in cell.plan.steps) for cell in cells):
        raise UsageError("a module holds the whole of a profile", fix="leave --only and --until out")
    found = [(_module(cell), _main(cell)[1]) for cell in cells]
    names = [
        (name, version if found.count((name, version)) == 1 else f"{version}-{cell.name}")
        for cell, (name, version) in zip(cells, found, strict=True)
    ]
    files: dict[str, str] = {}
    for cell, (name, version) in zip(cells, names, strict=True):
        files[f"modulefiles/{name}/{version}.lua"] = _modulefile(cell, name, version, settings)
        files[f"{FOLDER}{cell.name}/layer/sitecustomize.py"] = _layer(cell)
    rows = [
        ("/".join(name), cell.name, cell.profile.name, cell.plan.target.python_version)
        for cell, name in zip(cells, names, strict=True)
    ]
    return {**files, "README.md": render_template("module/README.md", builds=rows)}


def _module(cell: Cell) -> str:
    """Name a module: a torch alone after its device, a stack and whatever has no torch after its profile."""
    kind = cell.plan.target.accelerator
    return f"pytorch-{kind}" if _main(cell)[0] == "torch" and not _members(cell) else cell.profile.name


def _members(cell: Cell) -> str:
    """Name what stands on the torch of a stack; empty for any other profile."""
    there = {step.component for step in cell.plan.steps}
    parts = [part for part in cell.profile.components if part.member and part.kind != "skip"]
    return ", ".join(f"{part.distribution} {part.version}" for part in parts if part.name in there)


def _main(cell: Cell) -> tuple[str, str]:
    """Give the distribution that the module is about, and its version: torch, else the last one."""
    parts = [(part.distribution, part.version) for part in cell.profile.components if part.kind != "skip"]
    if not parts:
        raise UsageError(f"{cell.profile.name} provides no distribution", fix="name another profile")
    return next((part for part in parts if part[0] == "torch"), parts[-1])


def _modulefile(cell: Cell, name: str, version: str, settings: ModuleSettings) -> str:
    target, members = cell.plan.target, _members(cell)
    kit = target.toolkit if target.toolkit and target.toolkit.at_run_time else None
    brings = cell.profile.toolkit is not None and (kit is None or kit.product != PRODUCTS["oneapi"].title)
    has = f"needs the runtime of {kit.title}" if kit else "brings a runtime of its own"
    loads = (line.partition("module load ") for line in (kit.prelude if kit else ()))
    own = kit is not None and kit.product == PRODUCTS["dpclang"].title and kit.root != SYSTEM_ROOT
    return render_template(
        "module/modulefile.lua",
        main=f"{' '.join(_main(cell))}{f' with {members}' if members else ''}",
        name=name,
        version=version,
        python=target.python_version,
        targets=target.arch,
        folder=f"{FOLDER}{cell.name}",
        conflicts=list(dict.fromkeys([*settings.conflicts, *(RUNTIMES if brings else ()), *_others(target)])),
        requires=settings.modules,
        alone=SOURCED.format(name=name, has=has) if brings else "",
        kit=kit,
        modules=[name for before, _, names in loads if not before for name in names.split()],
        libraries=f"{kit.root}/lib" if kit and own else "",
        scripts=target.scripts,
    )


def _others(target: Target) -> list[str]:
    return [name for name, accelerator in OTHERS.items() if accelerator != target.accelerator]


def _layer(cell: Cell) -> str:
    return render_template("module/sitecustomize.py", version=[*map(int, cell.plan.target.python_version.split("."))])
