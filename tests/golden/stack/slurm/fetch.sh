#!/usr/bin/env bash
# For the login node: fetches what every cell is built from. Compute nodes need no network then. It can be run again.
# Names of cells as arguments: those alone.
set -eu
[ -n "${BASH_VERSION-}" ] || exec bash "$0" "$@" # as of: sh SCRIPT
CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
# shellcheck disable=SC1091  # it lies in this folder
. ./common.sh
load_modules
[ $# -gt 0 ] || set -- "${CELLS[@]}"
for cell in "$@"; do
  echo "== $cell"
  bash "$cell/fetch.sh"
done
