#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# torch.inspect: what is in the torch wheel
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash torch.inspect.sh
set -eu
STEP=torch.inspect
AFTER=torch.build
NEEDS=''
KEEP='HOME PATH LANG TMPDIR TERM'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/results/torch.inspect.json)
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/inspect_wheel.py --wheels "$ROOT"/wheels --distribution torch --version \
  2.14.1+xpu --requires-xpu --abi 1 --arch pvc,bmg,dg2,arl-h,mtl-h,lnl-m,ptl-h,ptl-u --without cuda --without \
  rocm --build-folder "$ROOT"/src --build-folder "$ROOT"/venv --out "$ROOT"/results/torch.inspect.json
finish
