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
run "$ROOT"/venv/bin/python "$ROOT"/helpers/guard_environment.py --pin torch --pin pytorch-triton-xpu --pin \
  torchvision --pin torchaudio --conflict torch \
  'it is compiled for another torch, and this one has XPU support of its own' intel-extension-for-pytorch \
  intel-extension-for-deepspeed oneccl-bind-pt oneccl-bindings-for-pytorch --conflict pytorch-triton-xpu \
  'it owns the package folder triton, as pytorch-triton-xpu does' triton triton-xpu pytorch-triton \
  pytorch-triton-rocm triton-rocm --constraints "$ROOT"/venv/xpusetup-constraints.txt --out \
  "$ROOT"/results/guard.json
finish
