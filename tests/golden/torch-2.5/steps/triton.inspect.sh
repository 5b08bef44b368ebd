#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# triton.inspect: what is in the pytorch-triton-xpu wheel
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash triton.inspect.sh
set -eu
STEP=triton.inspect
AFTER=triton.build
NEEDS=''
KEEP='HOME PATH LANG TMPDIR TERM'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/results/triton.inspect.json)
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/inspect_wheel.py --wheels "$ROOT"/wheels --distribution \
  pytorch-triton-xpu --version 3.1.0 --build-folder "$ROOT"/src --build-folder "$ROOT"/venv --out \
  "$ROOT"/results/triton.inspect.json
finish
