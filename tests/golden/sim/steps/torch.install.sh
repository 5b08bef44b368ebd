#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# torch.install: install torch 2.13.0+cpu
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash torch.install.sh
set -eu
STEP=torch.install
AFTER='torch.fetch requirements'
NEEDS=''
KEEP='HOME PATH LANG TMPDIR TERM'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/venv/lib/python3.11/site-packages/torch-2.13.0+cpu.dist-info/RECORD)
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
export PIP_CONSTRAINT=/dev/null
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/install_wheel.py --wheels "$ROOT"/wheels --distribution torch --version \
  2.13.0+cpu
finish
