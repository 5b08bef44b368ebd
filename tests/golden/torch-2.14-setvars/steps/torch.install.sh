#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# torch.install: install torch 2.14.1+xpu
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash torch.install.sh
set -eu
STEP=torch.install
AFTER='torch.inspect requirements'
NEEDS=''
KEEP='HOME PATH LANG TMPDIR TERM'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/venv/lib/python3.11/site-packages/torch-2.14.1+xpu.dist-info/RECORD)
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
export PIP_CONSTRAINT=/dev/null
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/remove_conflicts.py --remove intel-extension-for-pytorch \
  'it is compiled for another torch, which has XPU support of its own since' --remove \
  intel-extension-for-deepspeed 'it is compiled for another torch, which has XPU support of its own since' \
  --remove oneccl-bind-pt 'it is compiled for another torch, which has XPU support of its own since' --remove \
  oneccl-bindings-for-pytorch 'it is compiled for another torch, which has XPU support of its own since'
run "$ROOT"/venv/bin/python "$ROOT"/helpers/install_wheel.py --wheels "$ROOT"/wheels --distribution torch --version \
  2.14.1+xpu
finish
