#!/usr/bin/env bash
# Guess: `pip install intel-openmp` (or mkl, which requires it) beside SYCL's run time changes nothing for SYCL: both loaders have
#   the same SONAME, and pip ends with 0.
# Seen: intel-openmp 2026.2.0 requires intel-cmplr-lib-ur with ==, so pip replaces the Unified Runtime's loader. The new loader has
#   dropped functions under the same SONAME, and libsycl of 2026.1.0 does not load any more. pip still ends with 0.
# Why it matters: torch's XPU wheels pin these run-time packages. Any later `pip install mkl` can break `import torch`, and the message
#   names a symbol that no requirement speaks of.
# Seen with: intel-sycl-rt 2026.1.0, intel-openmp 2026.2.0, pip 23.2 and 26.2, Python 3.11, x86_64.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
pip=("$work/env/bin/python" -m pip --disable-pip-version-check -q)
load() { "$work/env/bin/python" -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$work/env/lib/libsycl.so.9" 2>&1; }

"${pip[@]}" install --no-deps intel-sycl-rt==2026.1.0 intel-cmplr-lib-ur==2026.1.0 intel-cmplr-lib-rt==2026.1.0 intel-cmplr-lic-rt==2026.1.0 umf==1.1.0 tcmlib==1.5.0
load && echo "before: libsycl.so.9 loads"

status=0
"${pip[@]}" install intel-openmp==2026.2.0 2>"$work/pip" || status=$?
echo "pip install intel-openmp==2026.2.0 ends with $status"
"$work/env/bin/python" -m pip list --disable-pip-version-check | grep -E "^intel.(cmplr.lib.ur|sycl.rt|openmp) "

if said=$(load); then echo "changed: libsycl.so.9 still loads"; exit 1; fi
echo "after: ${said##*$'\n'}"
[ "$status" = 0 ] && grep -q 'undefined symbol: ur' <<<"$said" || { echo "changed: another status or another reason"; exit 1; }
