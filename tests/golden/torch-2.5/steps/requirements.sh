#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# requirements: 41 pinned build requirements
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
run "$ROOT"/venv/bin/python -m pip --disable-pip-version-check install --no-deps pip==24.3.1
run "$ROOT"/venv/bin/python -m pip --disable-pip-version-check install --no-deps --report \
  "$ROOT"/venv/build-requirements.json astunparse==1.6.3 attrs==24.2.0 build==1.2.2.post1 certifi==2024.8.30 \
  charset-normalizer==3.4.0 cmake==3.30.5 'exceptiongroup==1.2.2; python_full_version < '"'"'3.11'"'"'' \
  expecttest==0.2.1 filelock==3.16.1 fsspec==2024.10.0 hypothesis==6.115.5 idna==3.10 \
  'importlib-metadata==8.5.0; python_full_version < '"'"'3.10.2'"'"'' intel-openmp==2024.1.2 jinja2==3.1.4 \
  markupsafe==3.0.2 mkl-include==2024.2.0 mkl-static==2024.2.0 mpmath==1.3.0 networkx==3.2.1 ninja==1.11.1.1 \
  numpy==2.0.2 optree==0.13.0 packaging==24.1 pillow==11.0.0 psutil==6.1.0 pybind11==2.13.6 \
  pyproject-hooks==1.2.0 pyyaml==6.0.2 requests==2.32.3 setuptools==75.3.0 six==1.16.0 sortedcontainers==2.4.0 \
  sympy==1.13.1 tbb==2021.13.1 'tomli==2.0.2; python_full_version < '"'"'3.11'"'"'' typing-extensions==4.12.2 \
  urllib3==2.2.3 wheel==0.44.0 'zipp==3.20.2; python_full_version < '"'"'3.10.2'"'"''
run "$ROOT"/venv/bin/python "$ROOT"/helpers/keep_report.py "$ROOT"/venv/build-requirements.json
run "$ROOT"/venv/bin/python "$ROOT"/helpers/make_movable.py
finish
