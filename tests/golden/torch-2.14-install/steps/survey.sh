#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# survey: what stands in the environment
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash survey.sh
set -eu
STEP=survey
AFTER=venv
NEEDS=''
KEEP='HOME PATH LANG TMPDIR TERM'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/results/survey.json)
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/install_published.py --look --out "$ROOT"/results/survey.json --wheel \
  torch==2.14.1+xpu --wheel torchvision==0.29.1+xpu --wheel torchaudio==2.11.0+xpu --wheel triton-xpu==3.8.0 \
  --remove 'it is compiled for another torch, and this one has XPU support of its own' \
  intel-extension-for-pytorch intel-extension-for-deepspeed oneccl-bind-pt oneccl-bindings-for-pytorch --remove \
  'it owns the package folder triton, as triton-xpu does' triton pytorch-triton pytorch-triton-xpu \
  pytorch-triton-rocm triton-rocm
finish
