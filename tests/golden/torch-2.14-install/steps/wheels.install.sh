#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# wheels.install: in place of what conflicts with them
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash wheels.install.sh
set -eu
STEP=wheels.install
AFTER='torch.download vision.download audio.download triton.download'
NEEDS=network
KEEP='HOME PATH LANG TMPDIR TERM PIP_* UV_* GIT_CONFIG_* GIT_SSL_* SSL_CERT_* REQUESTS_CA_BUNDLE *_proxy *_PROXY SSH_AUTH_SOCK XDG_CACHE_HOME'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/venv/lib/python3.11/site-packages/torch-2.14.1+xpu.dist-info/RECORD "$ROOT"/venv/lib/python3.11/site-packages/torchvision-0.29.1+xpu.dist-info/RECORD "$ROOT"/venv/lib/python3.11/site-packages/torchaudio-2.11.0+xpu.dist-info/RECORD "$ROOT"/venv/lib/python3.11/site-packages/triton_xpu-3.8.0.dist-info/RECORD "$ROOT"/results/installed.json)
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/install_published.py --wheels "$ROOT"/published --index \
  https://download.pytorch.org/whl/xpu --constraints "$ROOT"/venv/xpusetup-constraints.txt --requirements \
  "$ROOT"/helpers/requirements/published-27705ed8a250.txt --record "$ROOT"/origins --out \
  "$ROOT"/results/installed.json --wheel torch==2.14.1+xpu --wheel torchvision==0.29.1+xpu --wheel \
  torchaudio==2.11.0+xpu --wheel triton-xpu==3.8.0 --remove \
  'it is compiled for another torch, and this one has XPU support of its own' intel-extension-for-pytorch \
  intel-extension-for-deepspeed oneccl-bind-pt oneccl-bindings-for-pytorch --remove \
  'it owns the package folder triton, as triton-xpu does' triton pytorch-triton pytorch-triton-xpu \
  pytorch-triton-rocm triton-rocm
run "$ROOT"/venv/bin/python "$ROOT"/helpers/make_movable.py
finish
