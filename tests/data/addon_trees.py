"""Small trees of our own, laid out as those of PyTorch and torch-xpu-ops: operators of kernels that are not there.

They follow torch-xpu-ops at 28cfac20ec662abdb0ac98faf122450013e8f520 (the pin of PyTorch 2.6.0): the table of
yaml/native/native_functions.yaml, host code as in src/ATen/native/xpu/TensorAdvancedIndexing.cpp and Distributions.cpp,
kernels in src/ATen/native/xpu/sycl; and PyTorch 2.6.0: version.txt, third_party/xpu.txt, the macros of
aten/src/ATen/native/Activation.cpp, the stubs of Distributions.cpp there. The true trees were built by the same code
(docs/real-xpu-add-on.md); they are too large for every run of the tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

TABLE = """\
- func: twice.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    XPU: twice_out
    SparseXPU: twice_sparse_out

- func: thrice(Tensor self) -> Tensor
  dispatch:
    XPU: thrice_xpu

# dispatch:
#   XPU: nothing
- func: half(Tensor self) -> Tensor
  dispatch:
    XPU: half_xpu

- func: flat(Tensor self) -> Tensor
  dispatch:
    XPU: flat_xpu

- func: drawn_(Tensor self) -> Tensor
  dispatch:
    XPU: drawn_

- func: both.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  ufunc_inner_loop:
    Generic: both (AllAndComplex)
  dispatch:
    XPU: both_out

- func: scaled(Tensor self) -> Tensor
  dispatch:
    XPU: scaled_xpu

- func: seen(Tensor(a) self) -> Tensor(a)
  dispatch:
    XPU: seen

- func: lost(Tensor self) -> Tensor
  dispatch:
    XPU: lost_xpu

- func: direct(Tensor self) -> Tensor
  dispatch:
    XPU: direct_xpu
"""
HOST = """\
namespace at::native {
REGISTER_XPU_DISPATCH(twice_stub, &xpu::twice_kernel);
REGISTER_XPU_DISPATCH(half_stub, xpu::half_kernel)
Tensor thrice_xpu(const Tensor& self) { return helper(self); }
static Tensor helper(const Tensor& self) {
  if (self.numel()) { xpu::thrice_kernel(self); } // xpu::half_kernel is only named here
  return self.half_xpu();
}
Tensor direct_xpu(const Tensor& self) { return at::xpu::half(self); }
Tensor flat_xpu(const Tensor& self) { return self; }
static void both(const Tensor& self) { self.numel() ? xpu::twice_kernel(self) : xpu::half_kernel(self); }
REGISTER_XPU_DISPATCH(both_stub, &both);
static void scale(const Tensor& self) { xpu::half_kernel(self); }
REGISTER_XPU_DISPATCH(ScaleKernel, &scale);
}
"""
DRAWN = """\
struct DrawnStub { void operator()(Tensor& self) { drawn_stub(self); } };
Tensor& drawn_(Tensor& self) { return templates::drawn_impl<DrawnStub>(self); }
REGISTER_XPU_DISPATCH(drawn_stub, &xpu::drawn_kernel);
"""
NATIVE = """\
CREATE_TORCH_IMPL_FUNC(twice_out, twice_stub)
Tensor half_xpu(const Tensor& self) { half_stub(self); return self; }
TORCH_IMPL_FUNC(both_out)(const Tensor& self, const Tensor& out) { both_stub(device_type(), self); }
Tensor scaled_xpu(const Tensor& self) { ScaleKernel(self.device().type(), self); return self; }
"""
FILES = {
    "ops/yaml/native/native_functions.yaml": TABLE,
    "ops/tools/codegen/remove_headers.py": "",
    "ops/src/ATen/native/xpu/XPUFallback.template": "",
    "ops/src/ATen/native/xpu/Host.cpp": HOST,
    "ops/src/ATen/native/xpu/Drawn.cpp": DRAWN,
    "ops/src/ATen/native/xpu/sycl/Twice.cpp": "void twice_kernel(const Tensor& self) { launch(); }",
    "ops/src/ATen/native/xpu/sycl/Thrice.cpp": "void thrice_kernel(const Tensor& self) { twice_kernel(self); }",
    "ops/src/ATen/native/xpu/sycl/Half.cpp": "void half_kernel(const Tensor& self) {}",
    "ops/src/ATen/native/xpu/sycl/Drawn.cpp": "void drawn_kernel(const Tensor& self) {}",
    "ops/src/ATen/native/xpu/sycl/All.h": "".join(
        f"TORCH_XPU_API void {name}_kernel(const Tensor& self);\n" for name in ("twice", "thrice", "half", "drawn")
    ),
    "torch/version.txt": "2.6.0a0\n",
    "torch/third_party/xpu.txt": "a" * 40,
    "torch/aten/src/ATen/native/Ops.cpp": NATIVE,
    "torch/aten/src/ATen/native/Views.h": "inline Tensor seen(const Tensor& self) { return self; }",
    "torch/aten/src/ATen/native/cuda/Lost.cpp": "Tensor lost_xpu(const Tensor& self) { return self; }",
}


def write_trees(folder: Path) -> Path:
    """Write both into a folder, as `torch` and `ops`."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder
