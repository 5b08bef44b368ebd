#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# triton.fetch: triton-xpu 3.8.0, a ready wheel
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash triton.fetch.sh
set -eu
STEP=triton.fetch
AFTER=requirements
NEEDS=network
KEEP='HOME PATH LANG TMPDIR TERM PIP_* UV_* GIT_CONFIG_* GIT_SSL_* SSL_CERT_* REQUESTS_CA_BUNDLE *_proxy *_PROXY SSH_AUTH_SOCK XDG_CACHE_HOME'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"'/wheels/triton_xpu-3.8.0-*.whl')
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/fetch_wheel.py --distribution triton-xpu --version 3.8.0 --requirements \
  "$ROOT"/helpers/requirements/triton.wheel-cfd5021f3d1f.txt --record "$ROOT"/origins --index \
  https://download.pytorch.org/whl/xpu --into "$ROOT"/wheels
finish
