#!/usr/bin/env bash
# Builds torch-2.5 from what was fetched. Run again, it goes on where it stopped.
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

if [ -d wheelhouse ]; then # fetched already: what is installed between two compiles asks no network
  export PIP_NO_INDEX=1 PIP_FIND_LINKS=$PWD/wheelhouse
fi
step venv 'Python 3.11 environment'
step requirements '41 pinned build requirements'
step torch.fetch 'torch v2.5.1 a8d6afb51'
step torch.configure 'configure torch, and read what CMake decided'
step torch.build 'torch 2.5.1+xpu from source'
step torch.inspect 'what is in the torch wheel'
step torch.install 'install torch 2.5.1+xpu'
step triton.fetch 'triton 91b14bf55'
step triton.build 'pytorch-triton-xpu 3.1.0 from source'
step triton.inspect 'what is in the pytorch-triton-xpu wheel'
step triton.install 'install pytorch-triton-xpu 3.1.0'
step vision.fetch 'vision v0.20.1 3ac97aa91'
step vision.build 'torchvision 0.20.1+xpu from source'
step vision.inspect 'what is in the torchvision wheel'
step vision.install 'install torchvision 0.20.1+xpu'
step audio.fetch 'audio v2.5.1 1661daf10'
step audio.build 'torchaudio 2.5.1+xpu from source'
step audio.inspect 'what is in the torchaudio wheel'
step audio.install 'install torchaudio 2.5.1+xpu'
step guard 'pip keeps what was installed'
rm -f failed unfinished
