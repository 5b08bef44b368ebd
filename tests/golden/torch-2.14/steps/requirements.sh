#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# requirements: 43 pinned build requirements
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash requirements.sh
set -eu
STEP=requirements
AFTER=venv
NEEDS=network
KEEP='HOME PATH LANG TMPDIR TERM PIP_* UV_* GIT_CONFIG_* GIT_SSL_* SSL_CERT_* REQUESTS_CA_BUNDLE *_proxy *_PROXY SSH_AUTH_SOCK XDG_CACHE_HOME'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/venv/build-requirements.json)
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
export PIP_CONSTRAINT=/dev/null
cd "$ROOT"
run "$ROOT"/venv/bin/python "$ROOT"/helpers/forget_cut_off.py
run "$ROOT"/venv/bin/python "$ROOT"/helpers/pinned_wheels.py install --requirements \
  "$ROOT"/helpers/requirements/build-9732bc796706.txt --record "$ROOT"/origins --report \
  "$ROOT"/venv/build-requirements.json
run "$ROOT"/venv/bin/python "$ROOT"/helpers/keep_report.py "$ROOT"/venv/build-requirements.json
run "$ROOT"/venv/bin/python "$ROOT"/helpers/make_movable.py
finish
