#!/usr/bin/env bash
# Guess: torch.utils.cpp_extension's error "SYCL runtime is not dected ... install intel-sycl-rt via pip" goes away once intel-sycl-rt is
#   installed, or once icpx is on PATH.
# Seen: SYCL_HOME is looked for only where torch itself was compiled with XPU. On another torch it stays None with both in place, and
#   the message stays the same. It never says that this torch has no XPU.
# Why it matters: pip replaces torch by a build without XPU easily. Whoever then builds an extension installs run times and compilers
#   again and again, as the message asks, where only another torch helps.
# Seen with: torch 2.13.0+cpu, intel-sycl-rt 2026.2.0, Python 3.11, x86_64.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3.11 -m venv "$work/env"
pip=("$work/env/bin/python" -m pip --disable-pip-version-check -q)
"${pip[@]}" install --no-compile torch==2.13.0+cpu setuptools numpy 2>/dev/null
look() { "$work/env/bin/python" -c 'import sys, torch
torch.xpu._is_compiled = (lambda: True) if sys.argv[1:] else torch.xpu._is_compiled
from torch.utils import cpp_extension
try:
    cpp_extension.SyclExtension("one", ["one.sycl"]); print("found in", cpp_extension.SYCL_HOME)
except OSError as error:
    print(" ".join(str(error).split()))' "$@" 2>/dev/null; }

plain=$(look)
"${pip[@]}" install intel-sycl-rt==2026.2.0 2>/dev/null
run_time=$(look)
mkdir -p "$work/oneapi/bin"
printf '#!/bin/sh\nexit 0\n' >"$work/oneapi/bin/icpx"
chmod +x "$work/oneapi/bin/icpx"
compiler=$(PATH="$work/oneapi/bin:$PATH" look)
xpu=$(look xpu)
printf '%s\n' "bare:               $plain" "with intel-sycl-rt: $run_time" "and icpx on PATH:   $compiler" "same, torch with XPU: ${xpu//$work/...}"
[[ $plain == "SYCL runtime is not "*"install intel-sycl-rt via pip"* && $plain == "$run_time" && $plain == "$compiler" && $xpu == "found in $work/env" ]] ||
  { echo "changed: the advice helps now, or is another"; exit 1; }
