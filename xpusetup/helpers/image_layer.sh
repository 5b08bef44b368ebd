#!/usr/bin/env bash
# One step as a layer of an image: as many compilers as the memory carries, behind a compiler cache where there is one.
# bash helpers/image_layer.sh STEP [MIB], from anywhere: MIB is what one compiler takes.
set -eu
CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

limit() { # the memory that may be taken, in MiB: what is available, or the control group's limit
  local available group=''
  available=$(awk '/^MemAvailable:/ {print int($2 / 1024)}' /proc/meminfo)
  [ ! -r /sys/fs/cgroup/memory.max ] || group=$(cat /sys/fs/cgroup/memory.max)
  case $group in
    '' | max) printf '%s\n' "$available" ;;
    *) [ $((group / 1048576)) -lt "$available" ] && printf '%s\n' $((group / 1048576)) || printf '%s\n' "$available" ;;
  esac
}

jobs() { # MIB
  local cpus memory
  cpus=$(nproc)
  memory=$(($(limit) / $1))
  [ "$memory" -ge 1 ] || memory=1
  [ "$memory" -lt "$cpus" ] && printf '%s\n' "$memory" || printf '%s\n' "$cpus"
}

export MAX_JOBS=${MAX_JOBS:-$(jobs "${2:-2048}")}
if launcher=$(command -v ccache); then
  export COMPILER_LAUNCHER=$launcher CMAKE_C_COMPILER_LAUNCHER=$launcher CMAKE_CXX_COMPILER_LAUNCHER=$launcher
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
fi
exec bash "steps/$1.sh"
