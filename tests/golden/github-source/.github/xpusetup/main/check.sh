#!/usr/bin/env bash
# Installs the wheels of main into an environment of their own and computes with them on the device of this machine.
# shellcheck disable=SC1090,SC1091
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")"
ROOT=$PWD
fail() { # MESSAGE FIX CODE
  printf '%s\n  %s\n' "$1" "$2" >&2
  exit "$3"
}
shopt -s nullglob
wheels=(wheels/*.whl published/*.whl dist/*.whl)
[ "${#wheels[@]}" -gt 0 ] || fail "there are no wheels in $ROOT" "build them, or copy them here" 3
mkdir -p results
rm -rf check

/usr/bin/python3.11 -m venv check
cat >check/constraints.txt <<'END'
pip==26.0
build==1.6.1
certifi==2026.7.22
charset-normalizer==3.5.2
cmake==3.31.10
exceptiongroup==1.3.1; python_full_version < '3.11'
filelock==4.0.7
fsspec==2026.9.0
idna==3.20
importlib-metadata==9.0.1; python_full_version < '3.10.2'
intel-cmplr-lib-ur==2026.1.0
intel-openmp==2026.1.0
jinja2==3.1.6
markupsafe==3.0.3
mkl-include==2026.1.0
mkl-static==2026.1.0
mpmath==1.3.0
networkx==3.4.2
ninja==1.11.1.4
numpy==2.2.6; python_full_version < '3.11'
numpy==2.4.6; python_full_version >= '3.11'
onemkl-license==2026.1.0
packaging==26.3
pathspec==1.1.1
pillow==12.3.0
pybind11==3.1.0
pyproject-hooks==1.3.3
pyyaml==6.0.3
requests==2.34.2
scikit-build-core==1.1.0
setuptools==80.10.2
six==1.17.0
sympy==1.14.0
tbb==2023.1.0
tbb-devel==2023.1.0
tcmlib==1.5.0
tomli==2.4.1; python_full_version < '3.11'
typing-extensions==4.16.0
umf==1.1.0
urllib3==2.8.0
wheel==0.48.0
zipp==4.1.0; python_full_version < '3.10.2'
dpcpp-cpp-rt==2026.1.0
impi-rt==2021.18.1
intel-cmplr-lib-rt==2026.1.0
intel-cmplr-lib-ur==2026.1.0
intel-cmplr-lic-rt==2026.1.0
intel-opencl-rt==2026.1.0
intel-openmp==2026.1.0
intel-pti==1.0.1
intel-sycl-rt==2026.1.0
mkl==2026.1.0
oneccl==2022.1.1
oneccl-devel==2022.1.1
onemkl-license==2026.1.0
onemkl-sycl-blas==2026.1.0
onemkl-sycl-dft==2026.1.0
onemkl-sycl-lapack==2026.1.0
onemkl-sycl-rng==2026.1.0
onemkl-sycl-sparse==2026.1.0
pyzes==0.1.2
tbb==2023.1.0
tcmlib==1.5.0
umf==1.1.0
END
check/bin/python -m pip --disable-pip-version-check install --quiet --extra-index-url \
  https://download.pytorch.org/whl/xpu --constraint check/constraints.txt "${wheels[@]}"
"$ROOT"/check/bin/python "$ROOT"/helpers/verify_device.py --device xpu --compile-backend inductor --collectives \
  xccl --level smoke --out "$ROOT"/results/verify.json
