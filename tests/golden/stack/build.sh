#!/usr/bin/env bash
# Builds stack-cpu in this folder, without xpusetup. Run again, it goes on where it stopped.
# MAX_JOBS sets how many compilers run at once; logs/ holds what each step printed.
# helpers.tar holds what steps/*.sh start. This unpacks it; before a step alone: tar -xmf helpers.tar
set -eu
[ -n "${BASH_VERSION-}" ] || exec bash "$0" "$@" # as of: sh SCRIPT
CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
mkdir -p logs
if [ ! -f helpers/lock.sh ]; then # it appears whole: another job may begin now
  tar -xOf helpers.tar helpers/lock.sh >"helpers/.unpacked.$$"
  mv -f "helpers/.unpacked.$$" helpers/lock.sh
fi
# shellcheck disable=SC1091  # it lies in this folder
. helpers/lock.sh
lock_folder "$PWD" || { printf '%s\n  %s\n' "$LOCK_SAYS" "$LOCK_FIX" >&2; exit 3; }
export XPUSETUP_LOCKED=1
if [ -e helpers.tar ] && [ "$(cat helpers/unpacked 2>/dev/null)" != "$(sha256sum <helpers.tar)" ]; then
  tar -xmf helpers.tar # dated now: Python takes no compiled file of an older helper
  sha256sum <helpers.tar >helpers/unpacked
fi

step() { # ID TITLE
  printf '%s: %s\n' "$1" "$2"
  printf '%s\n' "$1" >unfinished # what is killed leaves it
  local code=0
  bash "steps/$1.sh" >"logs/$1.log" 2>&1 || code=$?
  if [ "$code" -eq 4 ] && [ "$1" = verify.smoke ]; then
    echo "built, not verified: there is no device here"
  elif [ "$code" -ne 0 ]; then
    tail -n 12 "logs/$1.log" >&2
    printf '%s\n' "$1" >failed
    rm -f unfinished
    printf 'failed: %s (exit %s)\n' "$1" "$code" >&2
    printf '  all of it: %q\n  again:     bash %q\n' "$PWD/logs/$1.log" "$PWD/steps/$1.sh" >&2
    exit 1
  fi
  [ "$(cat failed 2>/dev/null)" != "$1" ] || rm -f failed
}

step venv 'Python 3.11 environment'
step requirements '21 pinned build requirements'
step torch.fetch 'torch 2.13.0+cpu, a ready wheel'
step torch.install 'install torch 2.13.0+cpu'
step safetensors.fetch 'safetensors 0.8.0, a ready wheel'
step safetensors.fits 'does safetensors fit this torch'
step safetensors.install 'install safetensors 0.8.0'
step safetensors.proof 'safetensors imports'
step einops.fetch 'einops 0.8.2, a ready wheel'
step einops.fits 'does einops fit this torch'
step einops.install 'install einops 0.8.2'
step einops.proof 'einops imports and gives the known answer'
step bitsandbytes.fetch 'bitsandbytes 0.50.2, a ready wheel'
step bitsandbytes.fits 'does bitsandbytes fit this torch'
step bitsandbytes.install 'install bitsandbytes 0.50.2'
step bitsandbytes.proof 'bitsandbytes imports'
step torchao.fetch 'torchao 0.18.0, a ready wheel'
step torchao.fits 'does torchao fit this torch'
step torchao.install 'install torchao 0.18.0'
step torchao.proof 'torchao imports and gives the known answer'
step scatter.interface 'what torch-scatter uses of torch'
step scatter.fetch 'scatter 7d0f0d296'
step scatter.build 'torch-scatter 2.1.2 from source'
step scatter.inspect 'what is in the torch-scatter wheel'
step scatter.fits 'does torch-scatter fit this torch'
step scatter.install 'install torch-scatter 2.1.2'
step scatter.proof 'torch-scatter imports and gives the known answer'
step cluster.interface 'what torch-cluster uses of torch'
step cluster.fetch 'cluster fa6eb0564'
step cluster.build 'torch-cluster 1.6.3 from source'
step cluster.inspect 'what is in the torch-cluster wheel'
step cluster.fits 'does torch-cluster fit this torch'
step cluster.install 'install torch-cluster 1.6.3'
step cluster.proof 'torch-cluster imports and gives the known answer'
step spline-conv.interface 'what torch-spline-conv uses of torch'
step spline-conv.fetch 'spline-conv 94152b530'
step spline-conv.build 'torch-spline-conv 1.2.2 from source'
step spline-conv.inspect 'what is in the torch-spline-conv wheel'
step spline-conv.fits 'does torch-spline-conv fit this torch'
step spline-conv.install 'install torch-spline-conv 1.2.2'
step spline-conv.proof 'torch-spline-conv imports and gives the known answer'
step sparse.interface 'what torch-sparse uses of torch'
step sparse.fetch 'sparse 605b2c12f'
step sparse.build 'torch-sparse 0.6.18 from source'
step sparse.inspect 'what is in the torch-sparse wheel'
step sparse.fits 'does torch-sparse fit this torch'
step sparse.install 'install torch-sparse 0.6.18'
step sparse.proof 'torch-sparse imports and gives the known answer'
step guard 'pip keeps what was installed'
step verify.smoke 'numbers on the CPU'
rm -f failed unfinished
ROOT=$PWD
echo 'the wheels are in '"$ROOT"/wheels
