#!/usr/bin/env bash
# Verifies stack-cpu on the device of this machine. Run again, it goes on where it stopped.
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
  if [ "$code" -ne 0 ]; then
    tail -n 12 "logs/$1.log" >&2
    printf '%s\n' "$1" >failed
    rm -f unfinished
    printf 'failed: %s (exit %s)\n' "$1" "$code" >&2
    printf '  all of it: %q\n  again:     bash %q\n' "$PWD/logs/$1.log" "$PWD/steps/$1.sh" >&2
    exit 1
  fi
  [ "$(cat failed 2>/dev/null)" != "$1" ] || rm -f failed
}

step verify.smoke 'numbers on the CPU'
rm -f failed unfinished
