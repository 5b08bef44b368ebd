"""Modulefiles for Lmod: versions of PyTorch side by side, in a folder that can be moved and made read-only.

A modulefile computes its prefix from its own place: `modulefiles/` and `software/` lie in one folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.base.errors import UsageError
from xpusetup.base.text import comment, lua_long_string, lua_string, markdown_text, render_word
from xpusetup.config.toolkit import PRODUCTS, SYSTEM_ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from xpusetup.base.model import Toolkit
    from xpusetup.config.settings import ModuleSettings
    from xpusetup.emit.matrix import Cell


FOLDER = "software/"
RUNTIMES = ("intel-oneapi", "oneapi", "intel-oneapi-compilers", "intel-oneapi-mkl", "intel/oneapi")
"""Modules that put another SYCL runtime before that of the wheels."""
OTHERS = ("cuda", "rocm", "cann")

HELP = """{title}, made by xpusetup for Python {python}{targets}.

Packages of your own, on top of it (any venv of Python {python}; `pip install` keeps this torch):

    python -m venv ~/mine && source ~/mine/bin/activate && pip install transformers

Console scripts of this module do not see such a venv: python -m torch.distributed.run instead of torchrun."""
HEAD = """help({help})
whatis({whatis_name})
whatis({whatis_version})
whatis({whatis_title})

-- Computed from this file's own place, so that the folder can be moved.
local top = myFileName():gsub("/+[^/]+/+[^/]+/+[^/]+$", "")
local root = pathJoin(top, {folder})
local venv = pathJoin(root, "venv")

if not isFile(pathJoin(venv, "bin/python")) then
  LmodError({not_built} .. pathJoin(root, "build.sh"))
end
family("pytorch")
"""
BODY = """prepend_path("PATH", pathJoin(venv, "bin"))
-- A venv on top finds the packages here after its own.
prepend_path("PYTHONPATH", pathJoin(root, "layer"))
-- pip and uv keep what was built.
setenv("PIP_CONSTRAINT", pathJoin(venv, "xpusetup-constraints.txt"))
setenv("UV_CONSTRAINT", pathJoin(venv, "xpusetup-constraints.txt"))
setenv("XPUSETUP_PREFIX", venv)
"""
SOURCED = "oneAPI's setvars.sh was sourced in this shell, and {name} {has}: begin a new shell"
ALONE = """-- Two SYCL runtimes must not meet in one process: {own}.
if mode() == "load" and os.getenv("SETVARS_COMPLETED") == "1" then
  LmodError({sourced})
end
"""
LAYER = '''"""Let a venv see the packages of the module that is loaded, after its own. Python imports this by itself."""

import os
import site
import sys

PREFIX = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "venv")
PACKAGES = os.path.join(PREFIX, "lib", "python{python}", "site-packages")
OURS = os.path.realpath(sys.prefix) == os.path.realpath(PREFIX)
if sys.version_info[:2] == ({numbers}) and sys.prefix != sys.base_prefix and not OURS:
    site.addsitedir(PACKAGES)
'''

README = """# {count} for Lmod

{rows}

    bash software/BUILD/build.sh             each build, where there is a network and a compiler
    module use $PWD/modulefiles
    module load {first}

When all are built, the whole folder can be moved and made read-only (`chmod -R a-w`): a modulefile computes its prefix
from its own place. Of `software/BUILD/` only `venv/` and `layer/` are needed then. The Python below an environment has
to stay where it is.
"""


def render_modules(cells: Sequence[Cell], settings: ModuleSettings) -> dict[str, str]:
    """Give a modulefile for each build, by file name; the builds lie in `software/`."""
    names = _names(cells)
    files: dict[str, str] = {}
    for cell, (name, version) in zip(cells, names, strict=True):
        files[f"modulefiles/{name}/{version}.lua"] = _modulefile(cell, name, version, settings)
        files[f"{FOLDER}{cell.name}/layer/sitecustomize.py"] = _layer(cell)
    first = "/".join(names[0])
    count = f"{len(cells)} {'build' if len(cells) == 1 else 'builds'}"
    rows = "\n".join(_rows(cells, names))
    return {**files, "README.md": README.format(count=count, rows=rows, first=first)}


def _names(cells: Sequence[Cell]) -> list[tuple[str, str]]:
    """Name each module and its version; what does not tell builds apart by itself gets the name of its cell.

    Raises UsageError for a profile that has nothing to name a module after.
    """
    found = [(_module(cell), _version(cell)) for cell in cells]
    return [
        (name, version if found.count((name, version)) == 1 else f"{version}-{cell.name}")
        for cell, (name, version) in zip(cells, found, strict=True)
    ]


def _module(cell: Cell) -> str:
    """Name a module: a torch alone after its device, a stack and whatever has no torch after its profile."""
    kind = cell.plan.target.accelerator
    return f"pytorch-{kind}" if _main(cell)[0] == "torch" and not _members(cell) else cell.profile.name


def _members(cell: Cell) -> str:
    """Name what stands on the torch of a stack; empty for any other profile."""
    there = {step.component for step in cell.plan.steps}
    parts = [part for part in cell.profile.components if part.member and part.kind != "skip"]
    return ", ".join(f"{part.distribution} {part.version}" for part in parts if part.name in there)


def _version(cell: Cell) -> str:
    return _main(cell)[1]


def _main(cell: Cell) -> tuple[str, str]:
    """Give the distribution that the module is about, and its version: torch, else the last one."""
    parts = [(part.distribution, part.version) for part in cell.profile.components if part.kind != "skip"]
    if not parts:
        raise UsageError(f"{cell.profile.name} provides no distribution", fix="name another profile")
    return next((part for part in parts if part[0] == "torch"), parts[-1])


def _modulefile(cell: Cell, name: str, version: str, settings: ModuleSettings) -> str:
    target = cell.plan.target
    targets = f" and {', '.join(target.arch)}" if target.arch else ""
    members = _members(cell)
    main = f"{' '.join(_main(cell))}{f' with {members}' if members else ''}"
    kit = target.toolkit if target.toolkit and target.toolkit.at_run_time else None
    brings = cell.profile.toolkit is not None and (kit is None or kit.product != PRODUCTS["oneapi"].title)
    conflicts = [*settings.conflicts, *(RUNTIMES if brings else ()), *OTHERS]
    lines = [
        HEAD.format(
            help=lua_long_string(HELP.format(title=main, python=target.python_version, targets=targets)),
            whatis_name=lua_string(f"Name: {name}"),
            whatis_version=lua_string(f"Version: {version}"),
            whatis_title=lua_string(f"Description: {main}"),
            folder=lua_string(f"{FOLDER}{cell.name}"),
            not_built=lua_string(f"{name}/{version} is not built yet: bash "),
        ),
        *_calls("conflict", dict.fromkeys(conflicts)),
        *(f"depends_on({lua_string(each)})" for each in settings.requires),
        *(_alone(name, kit) if brings else ()),
        *(_toolkit(kit) if kit else ()),
        BODY,
    ]
    return "\n".join(lines)


def _alone(name: str, kit: Toolkit | None) -> Iterator[str]:
    """Refuse oneAPI beside wheels that have another SYCL runtime: their own, or that of the open compiler."""
    has = f"needs the runtime of {kit.title}" if kit else "brings a runtime of its own"
    own = f"these need that of {comment(kit.title)}" if kit else "the wheels bring their own"
    yield ALONE.format(sourced=lua_string(SOURCED.format(name=name, has=has)), own=own)


def _calls(function: str, words: Iterable[str]) -> Iterator[str]:
    yield f"{function}({', '.join(map(lua_string, words))})"


def _toolkit(kit: Toolkit) -> Iterator[str]:
    """Switch on the toolkit where the wheels bring no runtime of their own."""
    yield f"-- These wheels need the runtime of {comment(kit.title)} itself."
    for line in kit.prelude:
        verb, _, name = line.partition("module load ")
        if not verb and name:
            yield from (f"depends_on({lua_string(each)})" for each in name.split())
    if kit.product == PRODUCTS["dpclang"].title and kit.root != SYSTEM_ROOT:
        yield f"prepend_path({lua_string('LD_LIBRARY_PATH')}, {lua_string(f'{kit.root}/lib')})"
    for script in kit.scripts:
        yield f"source_sh({lua_string('bash')}, {lua_string(render_word(script))})"


def _layer(cell: Cell) -> str:
    version = cell.plan.target.python_version
    numbers = [str(int(part)) for part in version.split(".")]
    return LAYER.format(python=".".join(numbers), numbers=", ".join(numbers))


def _rows(cells: Sequence[Cell], names: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield "| module | build | profile | Python |\n|---|---|---|---|"
    for cell, name in zip(cells, names, strict=True):
        words = ("/".join(name), cell.name, cell.profile.name, cell.plan.target.python_version)
        yield f"| {' | '.join(map(markdown_text, words))} |"
