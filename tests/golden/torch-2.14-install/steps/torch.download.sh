#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# torch.download: torch 2.14.1+xpu, as published
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash torch.download.sh
set -eu
STEP=torch.download
AFTER=survey
NEEDS=network
KEEP='HOME PATH LANG TMPDIR TERM PIP_* UV_* GIT_CONFIG_* GIT_SSL_* SSL_CERT_* REQUESTS_CA_BUNDLE *_proxy *_PROXY SSH_AUTH_SOCK XDG_CACHE_HOME'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"'/published/torch-2.14.1+xpu-*.whl')
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/fetch_wheel.py --distribution torch --version 2.14.1+xpu --requirements \
  "$ROOT"/helpers/requirements/published-27705ed8a250.txt --record "$ROOT"/origins --index \
  https://download.pytorch.org/whl/xpu --into "$ROOT"/published
finish
