#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# toolkit: SYCL from wheels 2026.1.0 as a tool chain
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash toolkit.sh
set -eu
STEP=toolkit
AFTER=requirements
NEEDS=network
KEEP='HOME PATH LANG TMPDIR TERM PIP_* UV_* GIT_CONFIG_* GIT_SSL_* SSL_CERT_* REQUESTS_CA_BUNDLE *_proxy *_PROXY SSH_AUTH_SOCK XDG_CACHE_HOME'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/toolkit/toolkit.json "$ROOT"/toolkit/bin/icpx)
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
export PIP_CONSTRAINT=/dev/null
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/make_sycl_toolkit.py --requirements \
  "$ROOT"/helpers/requirements/toolkit-18bc54846e69.txt --record "$ROOT"/origins --into "$ROOT"/toolkit
finish
