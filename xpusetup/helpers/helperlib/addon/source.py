"""The sources of an add-on: which they are, and the small edits that are made to copies of them.

An edit is checked to be found exactly as often as it should be. Where it is not, the sources are another release's
than those that it was written for, and nothing is built.
"""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from helperlib.addon.installed import AddonError, release_of
from helperlib.output import write_text

if TYPE_CHECKING:
    from pathlib import Path


class Edit(NamedTuple):
    """What is replaced in a file: a pattern, what stands for it, how often it is found."""

    pattern: str
    replacement: str
    times: int = 1


class Trees(NamedTuple):
    """The two source trees, PyTorch's and that of torch-xpu-ops, with the release and the pin of the first."""

    torch: Path
    ops: Path
    release: str
    pin: str


STUB_HEADER = "ATen/native/DispatchStub.h"
STUB_EDITS = (
    Edit(r"#if defined\(USE_XPU\)(?=\s+void set_xpu_dispatch_ptr)", "#if 1"),
    Edit(r"impl\.xpu_dispatch_ptr = (reinterpret_cast<void\*>\(fn_ptr\));", r"xpu_addon_set_kernel(&impl, \1);"),
    Edit(
        r"(template <typename rT, typename T, typename\.\.\. Args>\s+struct DispatchStub<)",
        r"TORCH_XPU_API void xpu_addon_set_kernel(DispatchStubImpl* stub, void* kernel);\n\n\1",
    ),
)
"""A torch without XPU has no slot for its kernels in a stub: the setter fills a table of the add-on."""
PROCESSOR = {
    "c10/xpu/XPUFunctions.cpp": (
        Edit(r"sycl::backend::ext_oneapi_level_zero", "sycl::backend::opencl"),
        Edit(r"device\.is_gpu\(\)", "device.is_cpu()"),
    ),
    "c10/xpu/XPUStream.cpp": (
        Edit(r"(?<=sycl::property::queue::in_order\(\))", ", sycl::property::queue::enable_profiling()", 2),
    ),
    "torch/csrc/xpu/Module.cpp": (
        Edit(
            r"c10::xpu::get_raw_device\(device_index\)\s*\.get_info<[\w:]+::free_memory>\(\)",
            "static_cast<size_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE)",
        ),
    ),
}
"""What is edited for the processor. c10/xpu takes GPUs of Level Zero alone, and the processor is a device of OpenCL.
It has no time stamps of its own, so that its queues have to keep them, and does not say what memory is free, which the
machine does."""
PROCESSOR_HEADERS = {
    "comm/DeviceProperties.h": (
        Edit(
            r"return (k\.get_info<::sycl::info::kernel_device_specific::work_group_size>\(dev\));",
            r"int64_t largest = \1, size = 1;\n  while (size * 2 <= largest)\n    size *= 2;\n  return size;",
        ),
    ),
    "ATen/native/xpu/sycl/Reduce.h": (
        Edit(
            r"if \(num_items < max_sg_sz\)\s+group_width = max_sg_sz;",
            r"if (num_items < max_sg_sz)\n      group_width = max_sg_sz;\n    num_items = group_width * group_height;",
        ),
    ),
}
"""What is edited of torch-xpu-ops for the processor. It takes the largest group of a kernel for a power of two, which
it is on GPUs; here it is not, and sums come out wrong. Where a reduction is small it widens the group and keeps the
local memory of the narrow one, which is written beyond where the kernel's sub-groups are smaller than the device's
largest: on the processor that is the stack."""


def read_trees(torch: Path, ops: Path) -> Trees:
    """Give the two trees. Raises AddonError where they are not of one release."""
    version, pinned = _read(torch / "version.txt"), _read(torch / "third_party/xpu.txt")
    release = release_of(version)
    if not release or not pinned:
        raise AddonError(f"{torch} is no source tree of PyTorch with XPU", "name a checkout of a release's tag")
    if not (ops / "yaml/native/native_functions.yaml").is_file():
        raise AddonError(f"{ops} is no source tree of torch-xpu-ops", "name a checkout at third_party/xpu.txt")
    if not (ops / "tools/codegen/remove_headers.py").is_file():
        why = f"torch-xpu-ops of {release} generates its headers in a way that is not known here"
        raise AddonError(why, "the way of torch 2.6 is known")
    if (ops / ".git").exists() and not _holds(ops, pinned):
        why = f"{ops} does not have the commit {pinned} that PyTorch {release} pins"
        raise AddonError(why, f"git -C {ops} fetch && git -C {ops} checkout {pinned}")
    return Trees(torch, ops, release, pinned)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def _holds(tree: Path, commit: str) -> bool:
    """Say whether what is checked out is a commit, or commits on top of it."""
    words = ("git", "-C", str(tree), "merge-base", "--is-ancestor", commit, "HEAD")
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def edit(source: Path, edits: tuple[Edit, ...], out: Path) -> Path:
    """Write an edited copy, where it is not there already. Raises AddonError where an edit is not found."""
    text = source.read_text(encoding="utf-8")
    for each in edits:
        text, times = re.subn(each.pattern, each.replacement, text)
        if times != each.times:
            why = f"{source} is not as it is known: {each.pattern} was found {times} times instead of {each.times}"
            raise AddonError(why, "take the sources of a release that is known: 2.6")
    if _read(out) != text.strip():
        write_text(out, text)
    return out
