# shellcheck shell=bash
# Stand-in for Intel's setvars.sh, with its manners. Lines marked "rude" are left out of a polite one.

__standin_usage() {
  echo "usage: source setvars.sh [--force] [--help] [...]"
  echo "  other arguments go to the env/vars.sh of each component"
}

__standin_args=()
__standin_force=0
for __standin_arg in "$@"; do
  case "$__standin_arg" in
    --help) __standin_usage; return 254 ;;
    --force) __standin_force=1 ;;
    *) __standin_args+=("$__standin_arg") ;;
  esac
done

if ! command -v ps >/dev/null 2>&1; then
  echo ":: ERROR: the 'ps' command was not found (package procps): the shell cannot be told." >&2
  return 251
fi

if [ "${SETVARS_COMPLETED:-}" = 1 ] && [ "$__standin_force" = 0 ]; then
  echo ":: WARNING: setvars.sh has already been run. Skipping re-execution."
  echo "   To force a re-execution of setvars.sh, use the '--force' option."
  return 3
fi

ls /nonexistent/oneapi-config >/dev/null 2>&1  # rude: ends a shell under set -e
__standin_config=$SETVARS_CONFIG  # rude: ends a shell under set -u

ONEAPI_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
export ONEAPI_ROOT
echo " "
echo ":: initializing oneAPI environment ..."
for __standin_component in compiler pti umf tcm ccl mpi mkl; do
  echo ":: $__standin_component -- latest"
  # shellcheck disable=SC1090
  . "$ONEAPI_ROOT/$__standin_component/latest/env/vars.sh" "${__standin_args[@]}"
done
export ONEAPI_STANDIN_ARGS="${__standin_args[*]}"
export ONEAPI_STANDIN_NOTE="first line
second line = with 'quotes' and \$signs"
intel_standin_function() { echo "a function, exported under a name that is none"; }
export -f intel_standin_function
unset ONEAPI_STANDIN_UNSET
unset __standin_arg __standin_args __standin_component __standin_config __standin_force
export SETVARS_COMPLETED=1
echo ":: oneAPI environment initialized ::"
