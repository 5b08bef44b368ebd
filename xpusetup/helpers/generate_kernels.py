"""Compiles kernels for GPUs that need not be here: by Triton to SPIR-V, by ocloc to machine code, which is read back.

Nothing is run on a device. What ocloc says of a GPU (its extensions) stands in for what a driver would say. Each target
has a process of its own, because a compiler may crash; what all came to is one JSON document.
"""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from helperlib.codegen.inductor import compile_source, generate_model
from helperlib.env.distributions import find_version
from helperlib.output import count, end_of, say_summary, write_json
from helperlib.wheel.images import NAMES, find_lacking, names_of, read_versions

DISTRIBUTIONS = ("triton-xpu", "pytorch-triton-xpu", "triton")
"""Of the Triton here that may know Intel GPUs."""
QUERIED = "CL_DEVICE_EXTENSIONS"
EXTENSIONS = {
    "has_fp64": "cl_khr_fp64",
    "has_bfloat16_conversion": "cl_intel_bfloat16_conversions",
    "has_subgroup_2d_block_io": "cl_intel_subgroup_2d_block_io",
    "has_subgroup_matrix_multiply_accumulate": "cl_intel_subgroup_matrix_multiply_accumulate",
    "has_subgroup_matrix_multiply_accumulate_tensor_float32": "cl_intel_subgroup_matrix_multiply_accumulate_tf32",
}
"""What Triton wants to know of a GPU, by the extension of OpenCL that says it (driver.py of its back end)."""
MATRIX = re.compile(r"matrix_multiply_accumulate|SubgroupMatrixMultiply")
HALF = "*half"
QUERY_SECONDS, OCLOC_SECONDS = 60, 300


class Ocloc:
    """Intel's offline compiler, in a folder of its own: it writes its answers into the one where it is started."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program, self.folder = program, folder

    def run(self, *words: str, seconds: int = QUERY_SECONDS) -> tuple[int, str]:
        """Give its exit code and all that it said; 124 where it did not end."""
        try:
            done = subprocess.run(
                (self.program, *words),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                check=False,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            return 124, f"ocloc did not end within {seconds} s"
        return done.returncode, done.stdout

    def version(self) -> str:
        """Give the release of the compute runtime that it is from, as it says it; empty where it does not."""
        found = re.search(r"\d+\.\d+\.\d+", self.run("--version")[1])
        return ".".join(part.lstrip("0") or "0" for part in found[0].split(".")) if found else ""

    def extensions(self, target: str) -> tuple[frozenset[str], str]:
        """Give what a GPU can, and its words where it does not know the GPU: its exit code is 0 all the same."""
        answer = self.folder / QUERIED
        answer.unlink(missing_ok=True)
        _, said = self.run("query", QUERIED, "-device", target)
        found = frozenset(answer.read_text(encoding="utf-8").split()) if answer.is_file() else frozenset()
        return found, "" if found else _telling(said)

    def compile(self, spirv: bytes, target: str, flags: str) -> tuple[bytes, str]:
        """Give the machine code, or its words."""
        source, image = self.folder / "kernel.spv", self.folder / "kernel.image"
        image.unlink(missing_ok=True)
        source.write_bytes(spirv)
        options = ("-options", flags) if flags.strip() else ()
        words = ("compile", "-file", source.name, "-spirv_input", "-device", target, *options, "-o", image.name)
        code, said = self.run(*words, seconds=OCLOC_SECONDS)
        if code == 0 and image.is_file():
            return image.read_bytes(), ""
        return b"", _telling(said) or f"it ended with {code} and said nothing"


def _telling(said: str) -> str:
    """Give the lines of ocloc that say what is wrong: no warnings, and not the command that it repeats."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    plain = [line for line in lines if not re.match(r"(?i)warning|command was", line)]
    telling = [line for line in plain if re.search(r"(?i)error|could not|cannot|unknown|invalid|did not|fail", line)]
    reasons = [line for line in telling if not re.match(r"(?i)build failed", line)]
    return " ".join((reasons or telling or plain)[:3])


def describe_gpu(target: str, extensions: frozenset[str], ocloc_version: str) -> dict[str, Any]:
    """Give a GPU as Triton's driver would; GPUs with 2D block reads (Xe-HPC, Xe2 and later) have no narrow sub-groups.

    The driver is as new as ocloc: both have the build number of one release.
    """
    able = {name: extension in extensions for name, extension in EXTENSIONS.items()}
    wide = able["has_subgroup_2d_block_io"]
    build = ocloc_version.rpartition(".")[2] or "0"
    return {
        "name": target,
        "vendor": "Intel",
        "architecture": 1,
        "driver_version": f"1.6.{build}+0",
        "max_work_group_size": 1024,
        "max_num_sub_groups": 64,
        "sub_group_sizes": [16, 32] if wide else [8, 16, 32],
        "has_16bit_atomics": wide,
        **able,
    }


def compile_target(target: str, ocloc: Ocloc, out: Path) -> None:
    """Compile all kernels for one target, and write what came of them: those of a model last, which may end it all."""
    extensions, refusal = ocloc.extensions(target)
    found: dict[str, Any] = {"name": target, "refused": refusal, "kernels": []}
    if not refusal:
        os.environ["TRITON_INTEL_DEVICE_ARCH"] = target.replace("-", "_")
        os.environ["TRITON_INTEL_DEVICE_EXTENSIONS"] = " ".join(sorted(extensions))  # from 3.8 on SYCL is asked else
        os.environ["TRITON_ALWAYS_COMPILE"] = "1"
        os.environ["TRITON_CACHE_DIR"] = str(ocloc.folder / "cache")
        gpu = describe_gpu(target, extensions, ocloc.version())
        from helperlib.codegen.kernels import KERNELS  # noqa: PLC0415 - it imports triton, after the variables are set

        for name, kernel in KERNELS.items():
            half = half_of(gpu) if HALF in kernel.types.values() else ""
            known = {"name": name, "origin": "written", "half": half}
            made = partial(compile_by_triton, kernel, gpu)
            found["kernels"].append(compile_kernel(known, made, target, ocloc))
        found["model"] = {"torch": "", "why": "the process ended within inductor", "calls": []}
        write_json(out, found)
        model = generate_model(gpu)
        for name, source in model.kernels.items():
            known = {"name": name, "origin": "inductor", "half": ""}
            made = partial(compile_source, name, source, ocloc.folder)
            found["kernels"].append(compile_kernel(known, made, target, ocloc))
        found["model"] = {"torch": model.torch, "why": model.why, "calls": model.calls}
    write_json(out, found)


def compile_kernel(known: dict[str, Any], make: Callable[[], Any], target: str, ocloc: Ocloc) -> dict[str, Any]:
    """Compile one kernel, which `make` lets Triton do first, and say how far it came beside what it is known by."""
    began = time.monotonic()
    found: dict[str, Any] = {**known, "stage": "triton", "error": "", "spirv_bytes": 0, "image_bytes": 0}
    found |= {"versions": [], "matrix": False, "ocloc_seconds": 0.0}
    try:
        made = make()
    except Exception as error:  # noqa: BLE001 - whatever a compiler throws is a finding about it
        return {**found, "error": end_of(error), "seconds": _since(began)}
    spirv = made.asm["spv"]
    found |= {"stage": "ocloc", "spirv_bytes": len(spirv), "matrix": bool(MATRIX.search(str(made.asm["llir"])))}
    before = processor_seconds()
    image, said = ocloc.compile(spirv, target, str(getattr(made.metadata, "build_flags", "")))
    found |= {"seconds": _since(began), "ocloc_seconds": round(processor_seconds() - before, 2)}
    if said:
        return {**found, "error": said}
    versions = sorted(set(read_versions(image)))
    found |= {"stage": "image", "image_bytes": len(image), "versions": versions}
    return {**found, "error": judge_image(image, target, versions, str(made.metadata.name))}


def processor_seconds() -> float:
    """Give what the programs that this one waited for took of processors: another's load does not change it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def half_of(gpu: dict[str, Any]) -> str:
    """Give the type of 16 bits that matrices have: ocloc refuses bf16 for GPUs that do not convert it."""
    return "bf16" if gpu["has_bfloat16_conversion"] else "fp16"


def compile_by_triton(kernel: Any, gpu: dict[str, Any]) -> Any:
    """Let Triton make SPIR-V of a kernel."""
    import triton  # noqa: PLC0415 - what it does follows variables
    from triton.backends.compiler import GPUTarget  # noqa: PLC0415 - same
    from triton.compiler import ASTSource  # noqa: PLC0415 - same

    types = {name: kind.replace("half", half_of(gpu)) for name, kind in kernel.types.items()}
    taken = [at for at, kind in enumerate(kernel.types.values()) if kind != "constexpr"]
    attributes = {(at,): [["tt.divisibility", 16]] for at in taken} if kernel.aligned else None
    source = ASTSource(kernel.function, signature=types, constexprs=kernel.constants, attrs=attributes)
    return triton.compile(source, target=GPUTarget("xpu", gpu, 32), options=kernel.options)


def judge_image(image: bytes, target: str, versions: list[str], kernel: str) -> str:
    """Say what is wrong with an image: it has to name the GPU that it was asked for, and hold the kernel."""
    if not versions:
        return "no GPU is named in the image"
    if target in NAMES and find_lacking([target], versions):
        return f"the image is for {', '.join(names_of(versions))}"
    if f".text.{kernel}\0".encode() not in image:
        return f"the image has no kernel {kernel}"
    return ""


def _since(began: float) -> float:
    return round(time.monotonic() - began, 2)


def run_target(target: str, program: str, seconds: int) -> dict[str, Any]:
    """Compile for one target in another process; one that crashes or does not end is a finding too."""
    with tempfile.TemporaryDirectory(prefix="generate-") as folder:
        out = Path(folder) / "found.json"
        words = (sys.executable, __file__, "--target", target, "--ocloc", program, "--out", str(out))
        try:
            done = subprocess.run(words, stdout=sys.stderr, check=False, timeout=seconds)
            why = f"the process of {target} ended with {done.returncode}"
        except subprocess.TimeoutExpired:
            why = f"the process of {target} did not end within {seconds} s"
        if out.is_file():
            found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
            return found
        return {"name": target, "refused": "", "kernels": [], "crashed": why}


def main() -> None:
    """Compile for all targets, each in a process of its own, or for one in this one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", default="", help="for which GPUs, in ocloc's words, with commas")
    parser.add_argument("--target", default="", help="for this one, in this process")
    parser.add_argument("--ocloc", default="", help="the program; else the one on PATH")
    parser.add_argument("--seconds", type=int, default=900, help="for each target")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    program = options.ocloc or shutil.which("ocloc") or ""
    with tempfile.TemporaryDirectory(prefix="ocloc-") as folder:
        ocloc = Ocloc(program, Path(folder))
        if options.target:
            compile_target(options.target, ocloc, options.out)
            return
        triton, found = next(filter(None, map(find_version, DISTRIBUTIONS)), ""), []
        if triton and program:
            found = [run_target(name, program, options.seconds) for name in options.targets.split(",") if name]
        told = {"triton": triton, "ocloc": ocloc.version() if program else "", "program": program, "targets": found}
        write_json(options.out, told)
    say_summary(count(len(found), "target"), f"Triton {triton}" if triton else "no Triton")


if __name__ == "__main__":
    main()
