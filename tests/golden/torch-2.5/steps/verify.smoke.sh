#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# verify.smoke: numbers on xpu against the CPU
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash verify.smoke.sh
set -eu
STEP=verify.smoke
AFTER=guard
NEEDS=device
KEEP='HOME PATH LANG TMPDIR TERM ZE_* ONEAPI_DEVICE_SELECTOR SYCL_* HABANA_* ASCEND_* SIMXPU_*'
TOOLKIT=/opt/intel/oneapi/pytorch-gpu-dev-0.5/bin/icpx
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/results/verify.json)
begin

# the 2024.1.4 toolkit
for script in /opt/intel/oneapi/pytorch-gpu-dev-0.5/oneapi-vars.sh /opt/intel/oneapi/pti/latest/env/vars.sh; do
  [ -f "$script" ] || fail "the toolkit has no $script" "install the part of the toolkit that brings it, or choose another toolkit: [toolkit] in the site file" 3
done
set +eu
set --
source /opt/intel/oneapi/pytorch-gpu-dev-0.5/oneapi-vars.sh
source /opt/intel/oneapi/pti/latest/env/vars.sh
set -eu
[ -n "${CMPLR_ROOT-}" ] || fail "the toolkit did not set CMPLR_ROOT" "run it by hand and read what it says" 3
command -v icpx >/dev/null || fail "the toolkit has no icpx" "run it by hand and read what it says" 3
icpx --version | grep -qF -- 2024.1.4 || fail "the toolkit that was switched on is not 2024.1.4" "choose another one: [toolkit] in the site file" 3

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/verify_device.py --device xpu --compile-backend inductor --collectives \
  xccl --level smoke --out "$ROOT"/results/verify.json
finish
