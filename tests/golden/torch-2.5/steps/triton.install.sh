#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# triton.install: install pytorch-triton-xpu 3.1.0
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash triton.install.sh
set -eu
STEP=triton.install
AFTER='triton.inspect torch.install'
NEEDS=''
KEEP='HOME PATH LANG TMPDIR TERM'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/venv/lib/python3.11/site-packages/pytorch_triton_xpu-3.1.0.dist-info/RECORD)
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
export PIP_CONSTRAINT=/dev/null
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/remove_conflicts.py --remove \
  'it owns the package folder triton, as pytorch-triton-xpu does' triton triton-xpu pytorch-triton \
  pytorch-triton-rocm triton-rocm
run "$ROOT"/venv/bin/python "$ROOT"/helpers/install_wheel.py --wheels "$ROOT"/wheels --distribution \
  pytorch-triton-xpu --version 3.1.0
finish
