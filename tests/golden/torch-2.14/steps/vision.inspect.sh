#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# vision.inspect: what is in the torchvision wheel
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash vision.inspect.sh
set -eu
STEP=vision.inspect
AFTER=vision.build
NEEDS=''
KEEP='HOME PATH LANG TMPDIR TERM'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/results/vision.inspect.json)
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/inspect_wheel.py --wheels "$ROOT"/wheels --distribution torchvision \
  --version 0.29.1+xpu --without cuda --without rocm --build-folder "$ROOT"/src --build-folder "$ROOT"/venv \
  --out "$ROOT"/results/vision.inspect.json
finish
