#!/usr/bin/env bash
# Fetches what torch-2.14 is built from. Run again, it goes on where it stopped.
# MAX_JOBS sets how many compilers run at once; logs/ holds what each step printed.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")"
mkdir -p logs
# shellcheck disable=SC1091  # it lies in this folder
. helpers/lock.sh
lock_folder "$PWD" || { printf '%s\n  %s\n' "$LOCK_SAYS" "$LOCK_FIX" >&2; exit 3; }
export XPUSETUP_LOCKED=1
rm -f failed

step() { # ID TITLE
  printf '%s: %s\n' "$1" "$2"
  local code=0
  bash "steps/$1.sh" >"logs/$1.log" 2>&1 || code=$?
  if [ "$code" -eq 4 ] && [ "$1" = verify.smoke ]; then
    echo "built, not verified: there is no device here"
  elif [ "$code" -ne 0 ]; then
    tail -n 12 "logs/$1.log" >&2
    printf '%s\n' "$1" >failed
    printf 'failed: %s (exit %s)\n' "$1" "$code" >&2
    printf '  all of it: logs/%s.log\n  again:     bash steps/%s.sh\n' "$1" "$1" >&2
    exit 1
  fi
}

step venv 'Python 3.11 environment'
step requirements '42 pinned build requirements'
step torch.fetch 'torch v2.14.1 5c4886908'
step triton.fetch 'triton-xpu 3.8.0, a ready wheel'
step vision.fetch 'vision v0.29.1 1f1a920d6'
step audio.fetch 'audio v2.11.0 34c52a67e'
ROOT=$PWD
echo "wheelhouse: 22 pinned run-time requirements"
PIP_CONSTRAINT=/dev/null "$ROOT"/venv/bin/python -m pip --disable-pip-version-check download --no-deps --dest "$ROOT"/wheelhouse \
  dpcpp-cpp-rt==2026.1.0 impi-rt==2021.18.1 intel-cmplr-lib-rt==2026.1.0 intel-cmplr-lib-ur==2026.1.0 \
  intel-cmplr-lic-rt==2026.1.0 intel-opencl-rt==2026.1.0 intel-openmp==2026.1.0 intel-pti==1.0.1 \
  intel-sycl-rt==2026.1.0 mkl==2026.1.0 oneccl==2022.1.1 oneccl-devel==2022.1.1 onemkl-license==2026.1.0 \
  onemkl-sycl-blas==2026.1.0 onemkl-sycl-dft==2026.1.0 onemkl-sycl-lapack==2026.1.0 onemkl-sycl-rng==2026.1.0 \
  onemkl-sycl-sparse==2026.1.0 pyzes==0.1.2 tbb==2023.1.0 tcmlib==1.5.0 umf==1.1.0 >logs/wheelhouse.log 2>&1 || {
  tail -n 12 logs/wheelhouse.log >&2
  echo "failed: wheelhouse, all of it: logs/wheelhouse.log" >&2
  exit 1
}
sha256sum <fetch.sh >fetched
