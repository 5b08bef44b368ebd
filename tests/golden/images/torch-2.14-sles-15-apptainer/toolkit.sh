# shellcheck shell=bash disable=SC1090,SC1091,SC2043
# Switches the toolkit on, in the shell that reads this.
fail() { printf 'xpusetup: %s\n  %s\n' "$1" "$2" >&2; exit "${3:-1}"; }
for script in /opt/intel/oneapi/compiler/latest/env/vars.sh /opt/intel/oneapi/pti/latest/env/vars.sh /opt/intel/oneapi/umf/latest/env/vars.sh /opt/intel/oneapi/tcm/latest/env/vars.sh /opt/intel/oneapi/ccl/latest/env/vars.sh /opt/intel/oneapi/mpi/latest/env/vars.sh; do
  [ -f "$script" ] || fail "the toolkit has no $script" "install the part of the toolkit that brings it, or choose another toolkit: [toolkit] in the site file" 3
done
set +eu
set --
source /opt/intel/oneapi/compiler/latest/env/vars.sh
source /opt/intel/oneapi/pti/latest/env/vars.sh
source /opt/intel/oneapi/umf/latest/env/vars.sh
source /opt/intel/oneapi/tcm/latest/env/vars.sh
source /opt/intel/oneapi/ccl/latest/env/vars.sh
source /opt/intel/oneapi/mpi/latest/env/vars.sh
set -eu
[ -n "${CMPLR_ROOT-}" ] || fail "the toolkit did not set CMPLR_ROOT" "run it by hand and read what it says" 3
command -v icpx >/dev/null || fail "the toolkit has no icpx" "run it by hand and read what it says" 3
icpx --version | grep -qF -- 2026.1 || fail "the toolkit that was switched on is not 2026.1" "choose another one: [toolkit] in the site file" 3
export CC=gcc-13 CXX=g++-13
