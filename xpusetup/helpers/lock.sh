# shellcheck shell=bash
# One build at a time in a root. The lock is flock(2) on ROOT/lock, whose descriptor the steps inherit. Where that does
# not work (NFS without lockd, Lustre without -o flock, some FUSE), it is a file, ROOT/lock.owner, which says who holds
# it: host, boot, namespace of process numbers, process, its start, its session. A step that runs then notes itself in
# ROOT/lock.step.ID, so that one that outlived its build is seen. Sourced by steps and build.sh; xpusetup calls it.

LOCK_SAYS='' LOCK_FIX=''

boot_id() { cat /proc/sys/kernel/random/boot_id 2>/dev/null || printf 'unknown\n'; }
namespace() { readlink /proc/self/ns/pid 2>/dev/null || printf 'unknown\n'; }

stat_of() { # PROCESS: prints its session and its start; fails where it does not live
  local text
  text=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  # shellcheck disable=SC2086  # fields; the name before them may hold anything
  set -- ${text##*) }
  [ "$1" != Z ] && printf '%s %s\n' "$4" "${20}"
}

# Write who a process is, whole.
write_who() { # FILE PROCESS
  local session start
  read -r session start < <(stat_of "$2") || return 1
  printf '%s %s %s %s %s %s\n' "$(uname -n)" "$(boot_id)" "$(namespace)" "$2" "$start" "$session" >"$1.$2~"
  mv -f "$1.$2~" "$1"
}

# Say whether the process that a file names lives: 0 it does, 1 it does not, 2 nobody can say from here.
lives() { # FILE
  local host='' boot space process start session now
  { read -r host boot space process start session <"$1"; } 2>/dev/null
  [ -n "$host" ] || return 1
  [ "$host" = "$(uname -n)" ] || return 2
  [ "$boot" = "$(boot_id)" ] || return 1 # this machine was started again since
  [ "$space" = "$(namespace)" ] || return 2
  if now=$(stat_of "$process"); then
    [ "${now#* }" = "$start" ]
  else
    [ "$session" = "$process" ] && has_session "$session" # what it started may have outlived it
  fi
}

has_session() { # SESSION
  local entry now
  for entry in /proc/[0-9]*; do
    now=$(stat_of "${entry#/proc/}") && [ "${now% *}" = "$1" ] && return 0
  done
  return 1
}

# Take the name of the lock for a file that is written already. A link appears whole; not every file system has them.
claim() { # MINE FILE
  ln -- "$1" "$2" 2>/dev/null && return 0
  [ -e "$2" ] && return 1
  (set -o noclobber && cat "$1" >"$2") 2>/dev/null
}

same() { # FILE FILE
  [ "$(cat "$1")" = "$(cat "$2" 2>/dev/null)" ]
}

# Remove a lock whose owner is dead. Another one may have done so a moment ago: then what was moved lives, and goes back.
put_aside() { # FILE PROCESS
  mv -- "$1" "$1.$2-old" 2>/dev/null || return 0
  local code=0
  lives "$1.$2-old" || code=$?
  if [ "$code" -ne 1 ]; then ln -- "$1.$2-old" "$1" 2>/dev/null || true; fi
  rm -f -- "$1.$2-old"
}

refuse_owner() { # ROOT CODE
  local host boot space process rest
  { read -r host boot space process rest <"$1/lock.owner" || true; } 2>/dev/null
  if [ "$2" -eq 0 ]; then
    LOCK_SAYS="another build (process $process) is at work in $1" LOCK_FIX="wait until it ends, or build elsewhere"
  else
    LOCK_SAYS="a build on $host (process $process) is at work in $1, or was when that machine went down"
    LOCK_FIX="if nothing of it runs there any more: rm $1/lock.owner"
  fi
}

# Make the file the lock of a process. What it needs is there for one who writes alone; a moment later it looks again.
own_root() { # ROOT PROCESS
  local file=$1/lock.owner mine=$1/.lock.$2 code
  write_who "$mine" "$2" || return 1
  until { same "$mine" "$file" || claim "$mine" "$file"; } && sleep 0.2 && same "$mine" "$file"; do
    code=0
    lives "$file" || code=$?
    if [ "$code" -ne 1 ]; then
      rm -f -- "$mine"
      refuse_owner "$1" "$code"
      return 1
    fi
    sleep 0.2 # one that is being written holds nothing yet
    lives "$file" || put_aside "$file" "$2"
  done
  rm -f -- "$mine"
}

disown_root() { # ROOT PROCESS
  local host boot space process rest
  { read -r host boot space process rest <"$1/lock.owner"; } 2>/dev/null || return 0
  if [ "$process" = "$2" ] && [ "$host" = "$(uname -n)" ]; then
    outlived "$1" >/dev/null || true
    rm -f -- "$1/lock.owner"
  fi
}

# Print the process of a step that outlived its build; forget those that ended.
outlived() { # ROOT
  local file host boot space process rest
  for file in "$1"/lock.step.*; do
    [ -e "$file" ] || continue
    if lives "$file"; then
      read -r host boot space process rest <"$file" && printf '%s\n' "$process" && return 0
    fi
    rm -f -- "$file"
  done
  return 1
}

# A file of one for whom flock does not work counts for those for whom it does.
respect_owner() { # ROOT
  [ -e "$1/lock.owner" ] || return 0
  local code=0
  lives "$1/lock.owner" || code=$?
  [ "$code" -eq 1 ] && put_aside "$1/lock.owner" $$ && return 0
  refuse_owner "$1" "$code"
  return 1
}

# Lock a root until this shell and all it starts have ended.
lock_folder() { # ROOT
  local code=0 process
  if command -v flock >/dev/null; then
    exec 9>>"$1/lock"
    flock -n 9 2>/dev/null || code=$?
    if [ "$code" -eq 1 ]; then
      LOCK_SAYS="another build is at work in $1" LOCK_FIX="wait for it, or end it"
      return 1
    fi
    if [ "$code" -eq 0 ]; then respect_owner "$1" && return 0 || return 1; fi
  fi
  own_root "$1" $$ || return 1
  LOCKED_FOLDER=$1
  trap 'disown_root "$LOCKED_FOLDER" $$' EXIT
  if process=$(outlived "$1"); then
    LOCK_SAYS="a step (process $process) outlived its build in $1" LOCK_FIX="wait until it ends"
    return 1
  fi
}

# Note a step that a build has started. It writes first and looks then, the next build the other way round.
note_step() { # ROOT STEP
  [ -e "$1/lock.owner" ] || return 0
  write_who "$1/lock.step.$2" $$ || return 1
  local host boot space process rest
  { read -r host boot space process rest <"$1/lock.owner" || true; } 2>/dev/null
  if [ "$process" != "$PPID" ]; then
    LOCK_SAYS="the build that started this step has ended" LOCK_FIX="build again"
    return 1
  fi
}

# For xpusetup: bash lock.sh own_root ROOT PROCESS
if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  "$@" || {
    code=$?
    printf '%s\n%s\n' "$LOCK_SAYS" "$LOCK_FIX" >&2
    exit "$code"
  }
fi
