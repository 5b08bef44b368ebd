#!/usr/bin/env bash
# Submits the builds, and for each its verification when it went well. Submitted again, each goes on where it stopped.
# Names of cells as arguments: those alone.
set -eu
[ -n "${BASH_VERSION-}" ] || exec bash "$0" "$@" # as of: sh SCRIPT
CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
# shellcheck disable=SC1091  # it lies in this folder
. ./common.sh
refuse() { # WHAT FIX CODE
  printf '%s\n  %s\n' "$1" "$2" >&2
  exit "$3"
}

[ $# -gt 0 ] || set -- "${CELLS[@]}"
tasks=''
for cell in "$@"; do
  index=''
  for i in "${!CELLS[@]}"; do [ "${CELLS[$i]}" != "$cell" ] || index=$i; done
  [ -n "$index" ] || refuse "there is no cell $cell" "there is: ${CELLS[*]}" 2
  [ "$(cat "$cell/fetched" 2>/dev/null)" = "$(sha256sum <"$cell/fetch.sh")" ] ||
    refuse "$cell was not fetched since its files were written" "where there is a network: bash fetch.sh $cell" 3
  tasks=$tasks${tasks:+,}$index
done
command -v sbatch >/dev/null || refuse "there is no sbatch here" "go to a login node of the cluster" 3
# Asked first, for its answer to anything else would be taken for one about the jobs.
! command -v sinfo >/dev/null || said=$(sinfo --noheader 2>&1 >/dev/null) ||
  refuse "nothing was submitted, for Slurm does not answer: $said" "once it does (sinfo): bash submit.sh" 3
# Limits that are given for a build by a variable are not those of what follows it.
later() {
  env -u SBATCH_PARTITION -u SBATCH_TIMELIMIT -u SBATCH_MEM_PER_NODE -u SBATCH_MEM_PER_CPU sbatch "$@"
}
together=''
for index in ${tasks//,/ }; do
  [ ! -f "${CELLS[$index]}/nodes.sh" ] || together=$together${together:+,}$index
done
# A job that waits for another is taken also where it could never begin: asked before any is submitted.
[ -z "$together" ] || said=$(later --test-only --array="$together" nodes.sbatch 2>&1) ||
  refuse "nothing was submitted, for no job over 2 nodes can begin: $said" \
    "[scheduler] nodes, gres and gpu_partition of the site file say what it asks for; nodes = 1 leaves it out" 3
mkdir -p logs
build=$(sbatch --parsable --array="$tasks" build.sbatch)
build=${build%%;*} # a federation adds the name of the cluster
verify=$(later --parsable --array="$tasks" --dependency="aftercorr:$build" \
  --kill-on-invalid-dep=yes verify.sbatch)
echo "verifications ${verify%%;*}, each after its build"
echo "builds $build; what came of them: xpusetup status --root $PWD"
[ -n "$together" ] || exit 0
nodes=$(later --parsable --array="$together" --dependency="aftercorr:${verify%%;*}" \
  --kill-on-invalid-dep=yes nodes.sbatch)
echo "collectives over 2 nodes ${nodes%%;*}, each after its verification"
