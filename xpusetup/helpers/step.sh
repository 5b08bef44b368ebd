# shellcheck shell=bash
# What every step script does, whoever calls it: one clean environment, one lock, one key, one stamp.
# A script sets STEP, AFTER, NEEDS, KEEP, MAKES (CXX or TOOLKIT where its needs name them, ALWAYS where it is never
# done, BUILD_PATH where its root is to be seen at one path), sources this file, calls `begin`, runs its commands and
# calls `finish`.

ROOT=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck disable=SC1091  # it lies beside this file
. "$ROOT/helpers/lock.sh"
# shellcheck disable=SC1091  # as that
. "$ROOT/helpers/pip.sh"

fail() { # MESSAGE FIX [CODE]
  printf 'xpusetup: %s: %s\n  %s\n' "$STEP" "$1" "$2" >&2
  exit "${3:-1}"
}

# Flags of compilers, first lines of scripts, pip and PATH could not hold it: said now, not after hours. A folder that
# travelled may lie anywhere; xpusetup refuses the same letters (check_folder).
refuse_odd_root() {
  local odd=$'[][:space:]:;\'"`\\\\$&|<>(){}*?!#@[]'
  # shellcheck disable=SC2254  # a pattern
  case $ROOT in *$odd*) fail "the folder $ROOT holds a letter that compiler flags and PATH cannot carry" "move it to a plainer path" 3 ;; esac
}

# Start again with nothing but what is on the list: the caller's CFLAGS, CC, LD_LIBRARY_PATH, PYTHONPATH and the
# like must not leak into a build.
clean_environment() {
  [ -z "${XPUSETUP_CLEAN-}" ] || return 0
  local kept=() name pattern
  set -f # the patterns name variables, not files of the current folder
  while IFS= read -r name; do
    # by being set, or set and empty, these end a program with SYCL or write files (doctor/variables.py)
    case $name=${!name} in SYCL_PI_TRACE=* | SYCL_DUMP_IMAGES=* | SYCL_PRINT_EXECUTION_GRAPH=* | ONEAPI_DEVICE_SELECTOR=) continue ;; esac
    for pattern in $KEEP; do
      # shellcheck disable=SC2254  # the list holds patterns
      case $name in $pattern) kept+=("$name=${!name}") && break ;; esac
    done
  done < <(compgen -e)
  local session=''
  [ -z "${XPUSETUP_LOCKED-}" ] || session=$(stat_of $$) # what outlives its build is known by root and session
  exec env -i "${kept[@]}" XPUSETUP_CLEAN=1 XPUSETUP_LOCKED="${XPUSETUP_LOCKED:+$ROOT ${session%% *}}" XPUSETUP_FORCE="${XPUSETUP_FORCE-}" \
    XPUSETUP_BUILD_PATH="${XPUSETUP_BUILD_PATH-}" bash "$ROOT/steps/$STEP.sh"
}

# What compiles starts once more where it sees its root at BUILD_PATH, if that can be (helpers/fixed_path.py).
enter_build_path() {
  [ -n "${BUILD_PATH-}" ] && [ -z "${XPUSETUP_SEEN_AT-}" ] && [ -x "$ROOT/venv/bin/python" ] || return 0
  exec "$ROOT/venv/bin/python" "$ROOT/helpers/fixed_path.py" "$ROOT" "$BUILD_PATH" "${TOOLKIT-}" bash "$ROOT/steps/$STEP.sh"
}

# From here on its root is what it sees. Whoever reads the log sees it where it lies: each path there can be opened.
use_build_path() {
  [ "${XPUSETUP_SEEN_AT:-$ROOT}" != "$ROOT" ] || return 0
  REAL_ROOT=$ROOT ROOT=$XPUSETUP_SEEN_AT
  [ "${CCACHE_BASEDIR-}" != "$REAL_ROOT" ] || export CCACHE_BASEDIR=$ROOT
  exec > >(exec sed -u "s|$ROOT/|$REAL_ROOT/|g") 2>&1 # no root holds what sed would take for more than a letter
  FILTER=$!
}

# Let what was printed last arrive before the step ends; what a daemon holds open is not waited for.
end_filter() {
  [ -n "${FILTER-}" ] || return 0
  exec >&- 2>&-
  local tries=50
  while kill -0 "$FILTER" 2>/dev/null && [ "$((tries -= 1))" -gt 0 ]; do sleep 0.02; done
}

# A caller that holds the lock hands its descriptor down; a script run by hand takes the lock itself.
lock_root() {
  if [ -n "${XPUSETUP_LOCKED-}" ]; then
    note_step "$ROOT" "$STEP" || fail "$LOCK_SAYS" "$LOCK_FIX" 3
  else
    lock_folder "$ROOT" || fail "$LOCK_SAYS" "$LOCK_FIX" 3
  fi
}

identity() { # NEED
  case $1 in
    compiler) printf '%s %s\n' "$(command -v "$CXX")" "$("$CXX" --version | sed -n 1p)" ;; # read to its end: no pipe breaks
    toolkit) stat -L -c '%n %s %Y' -- "$(readlink -f -- "$TOOLKIT")" ;;
  esac
}

# What the step follows from; its key is the hash of this text.
step_inputs() {
  printf 'xpusetup 1\nroot %s\nscript %s\n' "$ROOT" "$(hash_of <"$ROOT/steps/$STEP.sh")"
  local name
  for name in $AFTER; do printf 'after %s %s\n' "$name" "$(result_of "$name")"; done
  for name in $NEEDS; do identity "$name"; done
}

# A step that looks at an interface stands for what it saw there alone, and not for its key.
result_of() { # STEP
  local from=1
  case $1 in *.interface) from=2 ;; esac
  tail -n "+$from" "$ROOT/stamps/$1" | cut -d ' ' -f 1 | hash_of
}

hash_of() {
  sha256sum | cut -d ' ' -f 1
}

# One line for each file that the step made: sha256, size, times of writing and of any change, inode, path. A pattern
# has to match one file.
made() {
  local pattern path
  for pattern in "${MAKES[@]}"; do
    path=$(compgen -G "$pattern") || fail "did not make $pattern" "read the log above" 1
    [ "$(wc -l <<<"$path")" -eq 1 ] || fail "several files match $pattern" "remove those of older builds" 1
    printf '%s %s %s\n' "$(hash_of <"$path")" "$(stat -L -c '%s %.9Y %.9Z %i' -- "$path")" "$path"
  done
}

# Files are hashed again only where size, times or inode differ. The time of writing alone anyone can set back.
intact() { # STAMP
  local sha size time touched inode path
  while read -r sha size time touched inode path; do
    [ -f "$path" ] || return 1
    [ "$(stat -L -c '%s %.9Y %.9Z %i' -- "$path")" = "$size $time $touched $inode" ] && continue
    [ "$(hash_of <"$path")" = "$sha" ] || return 1
  done < <(tail -n +2 "$1")
}

begin() {
  refuse_odd_root
  clean_environment
  export PYTHONDONTWRITEBYTECODE=1 # on a full disk Python leaves half a .pyc, which stops every later run
  enter_build_path
  umask 022 # the modes of files go into wheels
  lock_root
  mkdir -p "$ROOT/stamps" "$ROOT/inputs" "$ROOT/src" "$ROOT/wheels" "$ROOT/results"
  local name
  for name in $AFTER; do
    [ -f "$ROOT/stamps/$name" ] || fail "$name has not been done" "bash $ROOT/steps/$name.sh" 3
  done
  case " $NEEDS " in
    *" compiler "*) command -v "$CXX" >/dev/null || fail "there is no compiler $CXX" "install it, or choose one" 3 ;;
  esac
  case " $NEEDS " in
    *" toolkit "*) [ -e "$TOOLKIT" ] || fail "there is no $TOOLKIT" "install the toolkit: xpusetup setup --for build" 3 ;;
  esac
  INPUTS=$(step_inputs)
  KEY=$(printf '%s\n' "$INPUTS" | hash_of)
  local stamp=$ROOT/stamps/$STEP
  if [ -z "$XPUSETUP_FORCE${ALWAYS-}" ] && [ -f "$stamp" ] && [ "$(head -n 1 "$stamp")" = "$KEY" ] &&
    [ ! -s "$ROOT/inputs/.begun.$STEP" ] && intact "$stamp"; then # what "status --check" found damaged stands there
    printf '%s is done\n' "$STEP"
    exit 0
  fi
  rm -f "$stamp" "$ROOT/stamps/.$STEP".*
  watch_git
  go_on
  use_build_path
  trap 'tell_asked; [ -z "${LOCKED_FOLDER-}" ] || disown_root "$LOCKED_FOLDER" $$; forget_pip; end_filter' EXIT
  shopt -s inherit_errexit
}

# A step that has no network asks for none: what it needs was fetched. Git writes down what it asks for all the same,
# also where a network would answer, and whoever called it; the last lines of the log name it.
watch_git() {
  case " $NEEDS " in *" network "*) return ;; esac
  export GIT_TRACE2_EVENT=$ROOT/inputs/.git.$STEP
  rm -f "$GIT_TRACE2_EVENT"
}

tell_asked() {
  [ -s "${GIT_TRACE2_EVENT-}" ] || return 0
  sed -nE -e 's/.*"child_class":"remote-[^"]*".*"([a-z+]+:\/\/)([^"@/]*@)?([^"]*)"\]\}$/\1\3/p' \
    -e 's/.*"child_class":"transport\/ssh".*"([^"]+)","[^"]* '"'\/?([^']*)'"'"\]\}$/ssh:\/\/\1\/\2/p' "$GIT_TRACE2_EVENT" | sort | uniq -c |
    while read -r times address; do printf 'note: git asked for %s (%s), and this step has no network\n' "$address" "$times"; done
  rm -f "$GIT_TRACE2_EVENT"
}

# What an attempt that was cut off has installed is there by half at worst, and pip takes it for whole: it comes again.
go_on() {
  BEGUN=$ROOT/inputs/.begun.$STEP
  if [ -e "$BEGUN" ]; then export PIP_FORCE_REINSTALL=1; else : >"$BEGUN"; fi
}

# Where the caller names a compiler cache: put it before the compilers that are found on PATH. The key is settled by now.
# torch 2.13 and newer put the ccache or sccache of PATH before an extension's compiler by themselves, asked or not.
launch_compilers() {
  export TORCH_NO_COMPILER_WRAPPER=1
  [ -n "${COMPILER_LAUNCHER-}" ] || return 0
  local name real folder=$ROOT/launcher
  mkdir -p "$folder"
  for name in "$CC" "$CXX"; do
    case $name in */*) continue ;; esac # CMake and setuptools call it by its path
    real=$(command -v "$name") || continue
    printf '#!/usr/bin/env bash\nexec %q %q "$@"\n' "$COMPILER_LAUNCHER" "$real" >"$folder/.$name.$$"
    chmod +x "$folder/.$name.$$"
    mv -f "$folder/.$name.$$" "$folder/$name"
  done
  export PATH=$folder:$PATH
}

# Source trees of the user's own: what CMake would fetch or check out there stays as it is, but below build/.
# shellcheck disable=SC2016  # what stands in single quotes is for the script that is written here
hold_git() { # FOLDER...
  local real place folder=$ROOT/held
  real=$(command -v git) || return 0
  mkdir -p "$folder"
  {
    printf '#!/usr/bin/env bash\ncase $(pwd -P) in\n'
    for place in "$@"; do
      place=$(readlink -f -- "$place")
      # what a build clones there is its own; Triton's is in python/build
      printf '%q/build/* | %q/python/build/*) ;;\n%q | %q/*) own=1 ;;\n' "$place" "$place" "$place" "$place"
    done
    printf 'esac\ncase "${own-} ${1-}" in\n'
    printf '"1 fetch" | "1 checkout" | "1 reset" | "1 clean" | "1 pull")\n'
    printf '  echo "xpusetup: left out, it is a source tree of your own: git $*" && exit ;;\nesac\nexec %q "$@"\n' "$real"
  } >"$folder/.git.$$"
  chmod +x "$folder/.git.$$"
  mv -f "$folder/.git.$$" "$folder/git"
  export PATH=$folder:$PATH
}

run() {
  [ -z "${VIRTUAL_ENV-}" ] || settle_pip "$VIRTUAL_ENV"
  printf '+'
  printf ' %q' "$@"
  printf '\n'
  "$@"
}

finish() {
  ROOT=${REAL_ROOT-$ROOT}
  { printf '%s\n\n' "$INPUTS"; cat "$ROOT/steps/$STEP.sh"; } >"$ROOT/inputs/$STEP"
  { printf '%s\n' "$KEY"; made; } >"$ROOT/stamps/.$STEP.$$"
  mv -f "$ROOT/stamps/.$STEP.$$" "$ROOT/stamps/$STEP"
  rm -f "$BEGUN"
}
