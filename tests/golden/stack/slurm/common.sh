# shellcheck shell=bash
# What the jobs share. Each task is one cell: a folder beside this file that holds a whole build.
# shellcheck disable=SC2034  # read by who sources this
CELLS=(stack-cpu)
MEMORY_PER_JOB=(2560) # MiB that one compile job takes, cell by cell
MODULES=(gcc/13.2)

# A folder on the node's own disk; empty: sources are compiled where they were fetched. Its variables are the job's, and
# need not be set where this is submitted.
scratch_folder() { printf '%s\n' "/local/$USER"; }

load_modules() {
  [ "${#MODULES[@]}" -gt 0 ] || return 0
  set +eu
  local file
  for file in /etc/profile.d/lmod.sh /etc/profile.d/modules.sh; do
    type module >/dev/null 2>&1 && break
    # shellcheck disable=SC1090
    [ -r "$file" ] && . "$file"
  done
  module load "${MODULES[@]}" || { echo "module load ${MODULES[*]} failed" >&2; exit 3; }
  set -eu
}

# As many compile jobs as the task has cores, but no more than its memory holds.
choose_jobs() { # MIB
  local jobs=${SLURM_CPUS_PER_TASK:-1} memory=${SLURM_MEM_PER_NODE:-0}
  if [ "$memory" -gt 0 ] && [ $((memory / $1)) -lt "$jobs" ]; then jobs=$((memory / $1)); fi
  if [ "$jobs" -lt 1 ]; then jobs=1; fi
  export MAX_JOBS=${MAX_JOBS:-$jobs}
  export CMAKE_BUILD_PARALLEL_LEVEL=$MAX_JOBS
}

# On the node's disk the sources have the same path as before, by a mount that this task alone sees: keys, compiler
# flags and wheels stay what they are. Where the node allows no such mount, only temporary files are kept there.
compile_cell() { # CELL
  local code=0 scratch
  scratch=$(scratch_folder) || { echo "[scheduler] scratch names a variable that this job has not" >&2; exit 3; }
  if [ -z "$scratch" ]; then
    bash "$1/compile.sh"
    return
  fi
  mkdir -p "$scratch"
  NODE_FOLDER=$(mktemp -d "$scratch/xpusetup-$SLURM_JOB_ID.XXXXXX") # nobody else can have made it
  trap 'rm -rf "$NODE_FOLDER"' EXIT
  mkdir "$NODE_FOLDER/tmp" "$NODE_FOLDER/src"
  export TMPDIR=$NODE_FOLDER/tmp
  if [ -d "$1/src" ] && unshare --map-root-user --mount true 2>/dev/null; then
    cp -a "$1/src/." "$NODE_FOLDER/src/"
    # shellcheck disable=SC2016  # for the inner shell
    unshare --map-root-user --mount bash -c 'mount --bind "$1" "$2" && exec bash "$3"' \
      bash "$NODE_FOLDER/src" "$PWD/$1/src" "$1/compile.sh" || code=$?
  else
    bash "$1/compile.sh" || code=$?
  fi
  return "$code"
}

# Wheels and what was found out about them, of all cells in one place; wheels as links where the file system has them.
collect() { # CELL
  mkdir -p "results/$1"
  cp -fl "$1"/wheels/*.whl* "results/$1/" 2>/dev/null || cp -f "$1"/wheels/*.whl* "results/$1/" 2>/dev/null || true
  cp -f "$1"/results/*.json "$1/profile.lock.json" "results/$1/" 2>/dev/null || true
}
