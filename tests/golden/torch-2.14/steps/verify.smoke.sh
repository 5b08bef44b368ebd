#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# verify.smoke: numbers on xpu against the CPU
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash verify.smoke.sh
set -eu
STEP=verify.smoke
AFTER=guard
NEEDS=device
KEEP='HOME PATH LANG TMPDIR TERM ZE_* ONEAPI_DEVICE_SELECTOR SYCL_* HABANA_* ASCEND_* SIMXPU_*'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/results/verify.json)
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/verify_device.py --device xpu --compile-backend inductor --collectives \
  xccl --level smoke --out "$ROOT"/results/verify.json
finish
