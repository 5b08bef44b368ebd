#!/usr/bin/env bash
# Guess: SyclExtension hands its sources to the SYCL compiler. Its own example lists extension.cpp and extension_kernel.cpp.
# Seen: only a file that ends in .sycl goes to icpx. Every .cpp goes to the host's C++ compiler, with SYCL's headers on the path, so it
#   compiles. icpx is not even asked for its version.
# Why it matters: whoever follows the example gets an extension without device code. g++ compiles sycl.hpp and queue.parallel_for
#   without an error, so the build is content.
# Seen with: torch 2.13.0+cpu told that it has XPU, intel-sycl-rt 2026.2.0, Python 3.11, x86_64. Nothing is compiled.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3.11 -m venv "$work/env"
"$work/env/bin/python" -m pip --disable-pip-version-check -q install --no-compile torch==2.13.0+cpu setuptools ninja numpy intel-sycl-rt==2026.2.0 2>/dev/null
cat >"$work/look.py" <<'END'
import sys
from unittest import mock
import torch

torch.xpu._is_compiled = lambda: True  # before cpp_extension asks
torch.xpu.get_arch_list = lambda: ["pvc"]
from setuptools import Distribution
from torch.utils import cpp_extension as ext

class Planned(Exception):
    """The rules are made; nothing has been compiled."""

def compilers(*sources):
    """Tell whether building these sources plans a step of the SYCL compiler, and which versions of it were asked for."""
    build = ext.BuildExtension(Distribution({"ext_modules": [ext.SyclExtension("xpu_extension", list(sources))]}))
    build.ensure_finalized()
    with (mock.patch.object(ext, "_get_icpx_version", return_value="20260200") as asked,
          mock.patch.object(ext, "_write_ninja_file_and_compile_objects", side_effect=Planned) as plan):
        try:
            build.run()
        except Planned:
            pass
    return plan.call_args.kwargs["with_sycl"], asked.called

example = compilers("extension.cpp", "extension_kernel.cpp")
named = compilers("extension.cpp", "extension_kernel.sycl")
documented = "sources=['extension.cpp', 'extension_kernel.cpp']" in ext.SyclExtension.__doc__
print(f"in SyclExtension's documentation: {documented}\n(SYCL step, icpx asked) for the example: {example}, with .sycl: {named}")
sys.exit(0 if documented and example == (False, False) and named == (True, True) else "changed")
END
cd "$work"
touch extension.cpp extension_kernel.cpp extension_kernel.sycl
"$work/env/bin/python" "$work/look.py" 2>/dev/null
