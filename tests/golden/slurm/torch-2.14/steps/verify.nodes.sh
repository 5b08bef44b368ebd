#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# verify.nodes: collectives of xpu over several nodes
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash verify.nodes.sh
set -eu
STEP=verify.nodes
AFTER=verify.smoke
NEEDS='device nodes'
KEEP='HOME PATH LANG TMPDIR TERM ZE_* ONEAPI_DEVICE_SELECTOR SYCL_* HABANA_* ASCEND_* SIMXPU_* SLURM_* MASTER_ADDR MASTER_PORT GLOO_* CCL_* FI_* I_MPI_* UCX_* NCCL_* HCCL_*'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/results/verify.nodes.json)
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/verify_nodes.py --device xpu --collectives xccl --shared "$ROOT"/logs \
  --out "$ROOT"/results/verify.nodes.json
finish
