#!/usr/bin/env bash
# Installs the wheels of torch-2.14 into an environment of their own and computes with them on the device of this machine.
# shellcheck disable=SC1090,SC1091
set -eu
[ -n "${BASH_VERSION-}" ] || exec bash "$0" "$@" # as of: sh SCRIPT
CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
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

if [ -e helpers.tar ] && [ "$(cat helpers/unpacked 2>/dev/null)" != "$(sha256sum <helpers.tar)" ]; then
  tar -xmf helpers.tar # dated now: Python takes no compiled file of an older helper
  sha256sum <helpers.tar >helpers/unpacked
fi
/usr/bin/python3.11 -m venv check
. helpers/pip.sh
trap forget_pip EXIT
settle_pip "$ROOT/check"
"$ROOT"/check/bin/python "$ROOT"/helpers/install_published.py --wheels "$ROOT"/published --wheel \
  torch==2.14.1+xpu --wheel torchvision==0.29.1+xpu --wheel torchaudio==2.11.0+xpu --wheel triton-xpu==3.8.0 \
  --index https://download.pytorch.org/whl/xpu --requirements \
  "$ROOT"/helpers/requirements/published-27705ed8a250.txt --record "$ROOT"/origins --out \
  "$ROOT"/results/check.json
"$ROOT"/check/bin/python "$ROOT"/helpers/install_suite_needs.py --wheels "$ROOT"/dist
"$ROOT"/check/bin/python "$ROOT"/helpers/verify_device.py --device xpu --compile-backend inductor --collectives \
  xccl --level smoke --out "$ROOT"/results/verify.json
