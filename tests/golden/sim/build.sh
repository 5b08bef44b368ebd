#!/usr/bin/env bash
# Builds sim in this folder, without xpusetup. Run again, it goes on where it stopped.
# MAX_JOBS sets how many compilers run at once; logs/ holds what each step printed.
set -eu
[ -n "${BASH_VERSION-}" ] || exec bash "$0" "$@" # as of: sh SCRIPT
CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
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
    printf '  all of it: %q\n  again:     bash %q\n' "$PWD/logs/$1.log" "$PWD/steps/$1.sh" >&2
    exit 1
  fi
}

step venv 'Python 3.11 environment'
step requirements '18 pinned build requirements'
step torch.fetch 'torch 2.13.0+cpu, a ready wheel'
step torch.install 'install torch 2.13.0+cpu'
step simxpu.fetch 'simxpu 14920a327'
step simxpu.build 'simxpu 1.0.0 from source'
step simxpu.inspect 'what is in the simxpu wheel'
step simxpu.install 'install simxpu 1.0.0'
step guard 'pip keeps what was installed'
step verify.smoke 'numbers on simxpu against the CPU'
ROOT=$PWD
echo 'the wheels are in '"$ROOT"/wheels
