#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# torch.fetch: torch 2.13.0+cpu, a ready wheel
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash torch.fetch.sh
set -eu
STEP=torch.fetch
AFTER=requirements
NEEDS=network
KEEP='HOME PATH LANG TMPDIR TERM PIP_* UV_* GIT_CONFIG_* GIT_SSL_* SSL_CERT_* REQUESTS_CA_BUNDLE *_proxy *_PROXY SSH_AUTH_SOCK XDG_CACHE_HOME'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"'/wheels/torch-2.13.0+cpu-*.whl')
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/fetch_wheel.py --distribution torch --version 2.13.0+cpu --requirements \
  "$ROOT"/helpers/requirements/torch.wheel-473c05452e70.txt --record "$ROOT"/origins --index \
  https://download.pytorch.org/whl/cpu --into "$ROOT"/wheels
finish
