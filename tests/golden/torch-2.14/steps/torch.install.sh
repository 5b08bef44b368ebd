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
run "$ROOT"/venv/bin/python "$ROOT"/helpers/remove_conflicts.py --remove \
  'it is compiled for another torch, and this one has XPU support of its own' intel-extension-for-pytorch \
  intel-extension-for-deepspeed oneccl-bind-pt oneccl-bindings-for-pytorch
run "$ROOT"/venv/bin/python "$ROOT"/helpers/install_wheel.py --wheels "$ROOT"/wheels --distribution torch --version \
  2.14.1+xpu
finish
