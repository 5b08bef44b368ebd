#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# vision.install: install torchvision 0.20.1+xpu
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash vision.install.sh
set -eu
STEP=vision.install
AFTER='vision.inspect triton.install'
NEEDS=''
KEEP='HOME PATH LANG TMPDIR TERM'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/venv/lib/python3.11/site-packages/torchvision-0.20.1+xpu.dist-info/RECORD)
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
export PIP_CONSTRAINT=/dev/null
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/install_wheel.py --wheels "$ROOT"/wheels --distribution torchvision \
  --version 0.20.1+xpu
finish
