#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# extension.build: acme, from where it lies
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash extension.build.sh
set -eu
STEP=extension.build
AFTER=guard
NEEDS='network compiler'
KEEP='HOME PATH LANG TMPDIR TERM PIP_* UV_* GIT_CONFIG_* GIT_SSL_* SSL_CERT_* REQUESTS_CA_BUNDLE *_proxy *_PROXY SSH_AUTH_SOCK XDG_CACHE_HOME MAX_JOBS CMAKE_BUILD_PARALLEL_LEVEL COMPILER_LAUNCHER CMAKE_*_COMPILER_LAUNCHER CCACHE_* SCCACHE_*'
CXX=g++
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"'/dist/*.whl')
begin

export PATH="$ROOT"/venv/bin:"$PATH" VIRTUAL_ENV="$ROOT"/venv
export CC=gcc
export CXX=g++
export DIST_EXTRA_CONFIG="$ROOT"/extension/setup.cfg
launch_compilers
cd "$ROOT"
run rm -rf "$ROOT"/dist "$ROOT"/extension
run bash -c 'mkdir -p "$0" && printf "[build]\nbuild_base = %s/build\n" "${0//%/%%}" >"$0/setup.cfg"' \
  "$ROOT"/extension
run "$ROOT"/venv/bin/python "$ROOT"/helpers/pinned_wheels.py install --requirements \
  "$ROOT"/helpers/requirements/tools-0d26c27f9aad.txt --record "$ROOT"/origins
run "$ROOT"/venv/bin/python "$ROOT"/helpers/install_suite_needs.py --build-of "$ROOT"/../../..
run "$ROOT"/venv/bin/python -m pip --disable-pip-version-check wheel --no-build-isolation --no-deps --wheel-dir \
  "$ROOT"/dist "$ROOT"/../../..
run bash -c 'exec "$0" -m pip install --no-deps --no-index --force-reinstall "$1"/*.whl' "$ROOT"/venv/bin/python \
  "$ROOT"/dist
run "$ROOT"/venv/bin/python "$ROOT"/helpers/install_suite_needs.py --wheels "$ROOT"/dist
run "$ROOT"/venv/bin/python -I -c 'import acme'
finish
