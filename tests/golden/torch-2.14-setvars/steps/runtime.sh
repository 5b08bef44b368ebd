#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# runtime: 22 pinned run-time requirements
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash runtime.sh
set -eu
STEP=runtime
AFTER=torch.install
NEEDS=network
KEEP='HOME PATH LANG TMPDIR TERM PIP_* UV_* GIT_CONFIG_* GIT_SSL_* SSL_CERT_* REQUESTS_CA_BUNDLE *_proxy *_PROXY SSH_AUTH_SOCK XDG_CACHE_HOME'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/venv/runtime-requirements.json)
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
export PIP_CONSTRAINT=/dev/null
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/forget_cut_off.py
run "$ROOT"/venv/bin/python "$ROOT"/helpers/pinned_wheels.py install --requirements \
  "$ROOT"/helpers/requirements/runtime-8a3732773b0b.txt --record "$ROOT"/origins --report \
  "$ROOT"/venv/runtime-requirements.json
run "$ROOT"/venv/bin/python "$ROOT"/helpers/keep_report.py "$ROOT"/venv/runtime-requirements.json
run "$ROOT"/venv/bin/python "$ROOT"/helpers/make_movable.py
finish
