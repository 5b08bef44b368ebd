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
run "$ROOT"/venv/bin/python -m pip --disable-pip-version-check install --no-deps --report \
  "$ROOT"/venv/runtime-requirements.json dpcpp-cpp-rt==2026.1.0 impi-rt==2021.18.1 intel-cmplr-lib-rt==2026.1.0 \
  intel-cmplr-lib-ur==2026.1.0 intel-cmplr-lic-rt==2026.1.0 intel-opencl-rt==2026.1.0 intel-openmp==2026.1.0 \
  intel-pti==1.0.1 intel-sycl-rt==2026.1.0 mkl==2026.1.0 oneccl==2022.1.1 oneccl-devel==2022.1.1 \
  onemkl-license==2026.1.0 onemkl-sycl-blas==2026.1.0 onemkl-sycl-dft==2026.1.0 onemkl-sycl-lapack==2026.1.0 \
  onemkl-sycl-rng==2026.1.0 onemkl-sycl-sparse==2026.1.0 pyzes==0.1.2 tbb==2023.1.0 tcmlib==1.5.0 umf==1.1.0
run "$ROOT"/venv/bin/python "$ROOT"/helpers/keep_report.py "$ROOT"/venv/runtime-requirements.json
run "$ROOT"/venv/bin/python "$ROOT"/helpers/make_movable.py
finish
