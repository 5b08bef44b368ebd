#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# simxpu.inspect: what is in the simxpu wheel
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash simxpu.inspect.sh
set -eu
STEP=simxpu.inspect
AFTER=simxpu.build
NEEDS=''
KEEP='HOME PATH LANG TMPDIR TERM'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/results/simxpu.inspect.json)
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/inspect_wheel.py --wheels "$ROOT"/wheels --distribution simxpu \
  --version 1.0.0 --abi 1 --without cuda --without rocm --without xpu --build-folder "$ROOT"/src --build-folder \
  "$ROOT"/venv --out "$ROOT"/results/simxpu.inspect.json
finish
