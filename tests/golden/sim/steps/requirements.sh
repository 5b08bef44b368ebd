#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# requirements: 18 pinned build requirements
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
run "$ROOT"/venv/bin/python -m pip --disable-pip-version-check install --no-deps pip==26.0
run "$ROOT"/venv/bin/python -m pip --disable-pip-version-check install --no-deps --report \
  "$ROOT"/venv/build-requirements.json build==1.6.1 filelock==4.1.0 fsspec==2026.9.0 jinja2==3.1.6 \
  markupsafe==3.0.4 mpmath==1.3.0 networkx==3.4.2 ninja==1.13.2 'numpy==2.2.6; python_version < '"'"'3.11'"'"'' \
  'numpy==2.4.6; python_version >= '"'"'3.11'"'"'' packaging==26.3 pyproject-hooks==1.3.3 setuptools==80.10.2 \
  sympy==1.14.0 'tomli==2.5.0; python_version < '"'"'3.11'"'"'' typing-extensions==4.16.0 wheel==0.48.0
run "$ROOT"/venv/bin/python "$ROOT"/helpers/keep_report.py "$ROOT"/venv/build-requirements.json
run "$ROOT"/venv/bin/python "$ROOT"/helpers/make_movable.py
finish
