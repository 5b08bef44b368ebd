"""What is generated for an add-on: headers and registrations by the torchgen of the installed torch, edited sources."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from helperlib.addon.installed import AddonError
from helperlib.addon.source import (
    PROCESSOR,
    PROCESSOR_HEADERS,
    STUB_EDITS,
    STUB_HEADER,
    edit,
)
from helperlib.output import write_text

if TYPE_CHECKING:
    from pathlib import Path

    from helperlib.addon.installed import BaseTorch
    from helperlib.addon.operators import Choice
    from helperlib.addon.source import Trees

FALLBACK = "src/ATen/native/xpu/XPUFallback.template"
STAMP = "generated/made_of"
REGISTRATIONS = ("RegisterXPU.cpp", "RegisterSparseXPU.cpp")
TORCHGEN = (
    *("--backend-whitelist", "XPU", "SparseXPU", "--per-operator-headers", "--static-dispatch-backend", "--xpu"),
    *("--generate", "headers", "sources"),
)
"""As torch-xpu-ops calls it (cmake/Codegen.cmake), but for the C interface of AOTInductor."""
MACROS = "#pragma once\n#define C10_XPU_BUILD_SHARED_LIBS\n"
"""c10/xpu/impl/xpu_cmake_macros.h, which CMake writes: the libraries are shared ones."""


class Generated(NamedTuple):
    """Where generated headers lie, those that come before all others, and sources: registrations, edited ones."""

    headers: Path
    overlay: Path
    registrations: list[Path]
    edited: dict[str, Path]


def generate(work: Path, trees: Trees, torch: BaseTorch, python: Path, choice: Choice, device: str) -> Generated:
    """Write what has changed since the last time. Raises AddonError where torchgen fails or an edit is not found."""
    headers, overlay = work / "generated", work / "overlay"
    _run_torchgen(work, trees, torch, python, choice)
    edit(torch.folder / "include" / STUB_HEADER, STUB_EDITS, overlay / STUB_HEADER)
    keep(overlay / "c10/xpu/impl/xpu_cmake_macros.h", MACROS)
    edited = {}
    if device == "processor":
        edited = {name: edit(trees.torch / name, edits, work / "edited" / name) for name, edits in PROCESSOR.items()}
    for name, edits in PROCESSOR_HEADERS.items():
        if device == "processor":
            edit(trees.ops / "src" / name, edits, overlay / name)
        else:
            (overlay / name).unlink(missing_ok=True)  # of a build for the processor in the same folder
    found = [path for name in REGISTRATIONS if (path := headers / "xpu/ATen" / name).is_file()]
    return Generated(headers, overlay, found, edited)


def keep(path: Path, text: str) -> None:
    """Write a file unless it says the same already: what was compiled from it stays."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_text(path, text)


def is_generated(work: Path, trees: Trees, torch: BaseTorch, choice: Choice) -> bool:
    """Say whether what is generated is there, of all that it is made of."""
    stamp = work / STAMP
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == _made_of(trees, torch, choice)


def _made_of(trees: Trees, torch: BaseTorch, choice: Choice) -> str:
    fallback = (trees.ops / FALLBACK).read_text(encoding="utf-8")
    told = "\0".join((torch.version, torch.git, str(torch.folder), choice.table, fallback))
    return hashlib.sha256(told.encode()).hexdigest()


def _run_torchgen(work: Path, trees: Trees, torch: BaseTorch, python: Path, choice: Choice) -> None:
    """Generate where something of what it is made of has changed: torchgen takes ten seconds and more."""
    if is_generated(work, trees, torch, choice):
        return
    tables, draft = work / "tables", work / "draft"
    shutil.rmtree(draft, ignore_errors=True)
    (draft / "xpu/ATen").mkdir(parents=True)
    shutil.copytree(trees.ops / "yaml/native", tables / "native", dirs_exist_ok=True)
    write_text(tables / "native/native_functions.yaml", choice.table)
    shutil.copytree(torch.folder.parent / "torchgen/packaged/ATen/templates", tables / "templates", dirs_exist_ok=True)
    places = ("--source-path", str(tables), "--install-dir", str(draft / "xpu/ATen"))
    words = (str(python), "-m", "torchgen.gen", *places, *TORCHGEN)
    # torchgen writes some lines in the order of a set, which would have them compiled anew each time
    env = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "PYTHONHASHSEED": "0"}
    done = subprocess.run(words, env=env, cwd=draft, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise AddonError(f"torchgen of torch {torch.version} failed: {last}", "it needs PyYAML: pip install pyyaml")
    fallback = (trees.ops / FALLBACK).read_text(encoding="utf-8")
    _take(draft / "xpu/ATen", work / "generated/xpu/ATen", fallback)
    shutil.rmtree(draft)
    write_text(work / STAMP, _made_of(trees, torch, choice))


def _take(draft: Path, headers: Path, fallback: str) -> None:
    """Keep the headers and registrations of XPU, as torch-xpu-ops' own rules change them (cmake/Codegen.cmake)."""
    for path in (*draft.rglob("*.h"), *(draft / name for name in REGISTRATIONS)):
        text = path.read_text(encoding="utf-8")
        if path.name in REGISTRATIONS:
            lines = text.splitlines(keepends=True)
            text = "".join(
                line.replace("#include <ATen/ops", "#include <xpu/ATen/ops") for line in lines if "empty.h" not in line
            )
            text += fallback if path.name == REGISTRATIONS[0] else ""
        keep(headers / path.relative_to(draft), text)
