# shellcheck shell=bash
# Stand-in for the script of the bundle intel-for-pytorch-gpu-dev 0.5: compiler and libraries, no pti.

if [ "${SETVARS_COMPLETED:-}" = 1 ] && [ "${1:-}" != --force ]; then
  echo ":: WARNING: oneapi-vars.sh has already been run. Skipping re-execution."
  return 3
fi
ls /nonexistent/oneapi-config >/dev/null 2>&1  # rude: ends a shell under set -e
ONEAPI_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
export ONEAPI_ROOT
for __standin_component in compiler umf mkl; do
  # shellcheck disable=SC1090
  . "$ONEAPI_ROOT/$__standin_component/latest/env/vars.sh"
done
unset __standin_component
export SETVARS_COMPLETED=1
