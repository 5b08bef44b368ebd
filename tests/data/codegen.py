"""What generate_kernels.py wrote of targets that came out differently, by hand from what the real one wrote."""

from __future__ import annotations

from xpusetup.verify.codegen import CodegenRecord, GeneratedKernel, ModelCode, RecordedTarget

NOTES = {
    "pvc": (
        "080000000400000001000000496e74656c475400f7040000080000000400000002000000496e74656c475400080c0000"
        "080000000400000003000000496e74656c47540000072700080000000500000004000000496e74656c475400312e373300000000"
        "080000000400000006000000496e74656c47540007000f03080000000400000007000000496e74656c4754000a000000"
        "080000000400000008000000496e74656c47540001000000"
    ),
    "bmg": (
        "080000000400000001000000496e74656c475400fa040000080000000400000002000000496e74656c475400090c0000"
        "080000000400000003000000496e74656c47540000002000080000000500000004000000496e74656c475400312e373300000000"
        "080000000400000006000000496e74656c47540000400005080000000400000007000000496e74656c4754000a000000"
        "080000000400000008000000496e74656c47540001000000"
    ),
}
"""The section .note.intelgt.compat as ocloc 26.27.39122 wrote it for the addition of vectors, in hexadecimal."""
REFUSAL = "Could not determine device target: xe9."


def kernel(name: str, version: str = "12.60", error: str = "", *, matrix: bool = False) -> GeneratedKernel:
    """Give a kernel that went well, or ended where ocloc compiled it."""
    made = not error
    return GeneratedKernel(
        name=name,
        origin="inductor" if name.startswith("triton_") else "written",
        stage="image" if made else "ocloc",
        error=error,
        spirv_bytes=4096,
        image_bytes=12345 if made else 0,
        versions=[version] if made else [],
        matrix=matrix,
        half="bf16" if name == "matmul" else "",
        seconds=0.5,
        ocloc_seconds=0.1,
    )


NO_TORCH = ModelCode(torch="", why="there is no torch in this environment", calls=[])
COMPILED = ModelCode(torch="2.14.1", why="", calls=["addmm"])
FUSED = ("triton_per_fused_0", "triton_per_fused_1")


def target(
    name: str, version: str, matmul: str = "", *, matrix: bool = True, model: ModelCode = NO_TORCH
) -> RecordedTarget:
    """Give a target with the three kernels, and those of the model; `matmul` is what ocloc said of the third."""
    kernels = [kernel("add", version), kernel("softmax", version), kernel("matmul", version, matmul, matrix=matrix)]
    kernels += [] if model.why else [kernel(each, version) for each in FUSED]
    return RecordedTarget(name=name, refused="", kernels=kernels, model=model)


PVC, BMG = target("pvc", "12.60"), target("bmg", "20.1")
REFUSED = RecordedTarget(name="xe9", refused=REFUSAL, kernels=[])
FAILED = target("mtl-h", "12.71", "error: backend compiler failed build.", matrix=False)
CRASHED = RecordedTarget(name="lnl-m", refused="", kernels=[], crashed="the process of lnl-m ended with -11")


def record(
    *targets: RecordedTarget, triton: str = "3.7.0+git64bb0de3", program: str = "/usr/bin/ocloc"
) -> CodegenRecord:
    """Give what the helper wrote of these targets."""
    return CodegenRecord(triton=triton, ocloc="26.27.39122" if program else "", program=program, targets=list(targets))
