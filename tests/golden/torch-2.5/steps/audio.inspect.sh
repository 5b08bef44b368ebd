#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# audio.inspect: what is in the torchaudio wheel
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash audio.inspect.sh
set -eu
STEP=audio.inspect
AFTER=audio.build
NEEDS=''
KEEP='HOME PATH LANG TMPDIR TERM'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/results/audio.inspect.json)
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/inspect_wheel.py --wheels "$ROOT"/wheels --distribution torchaudio \
  --version 2.5.1+xpu --abi 1 --without cuda --without rocm --build-folder "$ROOT"/src --build-folder \
  "$ROOT"/venv --out "$ROOT"/results/audio.inspect.json
finish
