"""What runs and logs tell of operators on the CPU, made by hand: every wording, with what it is seen behind."""

from __future__ import annotations

from typing import Any

from xpusetup.base.document import read_as
from xpusetup.verify.fallbacks import FallbackRecord

SINCE = "(Triggered internally at /pytorch/build/aten/src/ATen/xpu/RegisterXPU.cpp:7614.)"
ONCE = (
    "Aten Op fallback from XPU to CPU happends. This may have performance implications. If need debug the fallback ops "
    "please set environment variable `PYTORCH_DEBUG_XPU_FALLBACK=1` "
)
LOG = f"""\
============================= test session starts ==============================
The operator 'add.out' registered to be forced to fallback to CPU.
tests/models/test_x.py::test_a
  /venv/lib/python3.12/site-packages/torch/functional.py:12: UserWarning: The operator 'aten::_fft_r2c on the XPU backend is falling back to run on the CPU. {SINCE}
    return _VF.stft(input, n_fft)
2026-08-22T10:11:12.1234567Z [W822 10:11:12.123456789 RegisterXPU.cpp:7614] Warning: The operator 'aten::linalg_eig.out on the XPU backend is falling back to run on the CPU. (function operator())
a.py:1: UserWarning: The operator 'aten::_fft_r2c' on the XPU backend is falling back to run on the CPU. {SINCE}
a.py:1: UserWarning: The operator 'aten::add.out on the XPU backend is falling back to run on the CPU. {SINCE}
old.py:3: UserWarning: The operator 'aten::bitwise_left_shift.Tensor_outon the XPU backend and will fall back to run on the CPU.
  | UserWarning: The operator 'aten::permutation on the XPU
  | backend is falling back to run on the CPU.
wrapped.py:9: UserWarning: The operator 'aten::take on the
    XPU backend is falling back to run on the CPU.
/venv/transformers/pytorch_utils.py:341: UserWarning: {ONCE} {SINCE}
E   NotImplementedError: The operator 'aten::nll_loss2d_forward' is not currently implemented for the XPU device. Please open a feature on https://github.com/intel/torch-xpu-ops/issues.
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, xpu:0 and cpu! (Operator aten::index_copy.out)
[W801 RegisterXPU.cpp:1] Warning: aten::geqrf already has a kernel registered for XPU, skipping fallback. Please remove it from the fallback_list in XPUFallback.cpp. (function operator())
The operator of this crane falls back on the rope. aten::add is an operator.
"""  # noqa: E501 - as they are written
ASCEND = (
    "[W compiler_depend.ts:28] Warning: CAUTION: The operator 'aten::take' is not currently supported on the NPU "
    "backend and will fall back to run on the CPU. (function npu_cpu_fallback)\n"
)


def seen(name: str, calls: int = 1, *, kernel: str | None = None, **more: bool) -> dict[str, Any]:
    """Give one operator of a run, as collect_fallbacks.py writes it."""
    source = "/pytorch/build/xpu/XPUFallback.cpp:9" if kernel else None
    return {
        "name": name,
        "calls": calls,
        "announced": False,
        "refused": False,
        "kernel": kernel,
        "registered": source,
        **more,
    }


def workload(title: str, *operators: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Give one workload of a run."""
    empty: dict[str, Any] = {"own": {"aten::mm.out": 9, "aten::take": 4}, "unseen": [], "unnamed": 0, "errors": {}}
    return {"title": title, "operators": list(operators), **empty, **more}


XPU_DOCUMENT: dict[str, Any] = {
    "device": "xpu",
    "torch": "2.13.0+xpu",
    "blind": "",
    "forced": ["aten::add.out"],
    "workloads": [
        workload("train a small model", seen("aten::add.out", 12, kernel="kernel", announced=True)),
        workload(
            "linear algebra",
            seen("aten::linalg_eig", 1, kernel="kernel", announced=True),
            seen("aten::newest", 2, kernel="backend fallback", announced=True),
            seen("aten::take", 1, announced=True),
            unseen=["aten::odd"],
            unnamed=1,
            errors={"svd": "RuntimeError: [x] a driver that fails"},
        ),
        workload("nothing falls back"),
    ],
}
OTHER_DOCUMENT: dict[str, Any] = {
    **XPU_DOCUMENT,
    "device": "simxpu",
    "torch": "2.13.0+cpu",
    "blind": "this PyTorch has no torch._C._dispatch_dump_table",
    "forced": [],
    "workloads": [
        workload(
            "train a small model",
            seen("aten::linalg_eig", 3, kernel="backend fallback"),
            seen("aten::said", 1, announced=True),
            seen("aten::gone", 1, refused=True),
        )
    ],
}
XPU_RUN = read_as(FallbackRecord, XPU_DOCUMENT)
OTHER_RUN = read_as(FallbackRecord, OTHER_DOCUMENT)
