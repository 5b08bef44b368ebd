#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# guard: pip keeps what was installed
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash guard.sh
set -eu
STEP=guard
AFTER=audio.install
NEEDS=''
KEEP='HOME PATH LANG TMPDIR TERM'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/venv/xpusetup-constraints.txt "$ROOT"/results/guard.json)
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/guard_environment.py --pin torch --pin triton-xpu --pin torchvision \
  --pin torchaudio --keep dpcpp-cpp-rt --keep impi-rt --keep intel-cmplr-lib-rt --keep intel-cmplr-lib-ur \
  --keep intel-cmplr-lic-rt --keep intel-opencl-rt --keep intel-openmp --keep intel-pti --keep intel-sycl-rt \
  --keep mkl --keep oneccl --keep oneccl-devel --keep onemkl-license --keep onemkl-sycl-blas --keep \
  onemkl-sycl-dft --keep onemkl-sycl-lapack --keep onemkl-sycl-rng --keep onemkl-sycl-sparse --keep pyzes \
  --keep tbb --keep tcmlib --keep umf --conflict torch \
  'it is compiled for another torch, and this one has XPU support of its own' intel-extension-for-pytorch \
  intel-extension-for-deepspeed oneccl-bind-pt oneccl-bindings-for-pytorch --conflict triton-xpu \
  'it owns the package folder triton, as triton-xpu does' triton pytorch-triton pytorch-triton-xpu \
  pytorch-triton-rocm triton-rocm --constraints "$ROOT"/venv/xpusetup-constraints.txt --out \
  "$ROOT"/results/guard.json
finish
