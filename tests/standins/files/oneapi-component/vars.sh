# shellcheck shell=bash
# Stand-in for the env/vars.sh of the component @COMPONENT@: says nothing, sets its own.

@VARIABLE@="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
export @VARIABLE@
export PATH="$@VARIABLE@/bin${PATH:+:$PATH}"
export LD_LIBRARY_PATH="$@VARIABLE@/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export LIBRARY_PATH="$@VARIABLE@/lib${LIBRARY_PATH:+:$LIBRARY_PATH}"
export CPATH="$@VARIABLE@/include${CPATH:+:$CPATH}"
@MORE@
