# shellcheck shell=bash
# pip's settings say where it finds what it installs. Where that goes is the environment that it is called for: what
# variables and settings files (the system's, the user's, that environment's, PIP_CONFIG_FILE) say of it is left out.
# Sourced for `settle_pip ENVIRONMENT`; `bash pip.sh ENVIRONMENT COMMAND...` runs a command so.

ELSEWHERE='target prefix root user dry-run python'

settle_pip() { # ENVIRONMENT
  [ -z "${SETTLED-}" ] || return 0
  SETTLED=1
  unset PIP_TARGET PIP_PREFIX PIP_ROOT PIP_DRY_RUN PIP_PYTHON
  export PIP_USER=0
  [ "${PIP_CONFIG_FILE-}" != /dev/null ] || return 0 # pip reads no file then
  local home=${HOME-~} own shared folder said # without HOME it is that of the user, as pip has it
  own=("$home/.pip/pip.conf" "${XDG_CONFIG_HOME:-$home/.config}/pip/pip.conf")
  [ ! -e "${PIP_CONFIG_FILE-}" ] || own=("$PIP_CONFIG_FILE") # in place of the user's
  shared=(/etc/pip.conf "$1/pip.conf")
  while read -rd : folder; do shared+=("$folder/pip/pip.conf"); done <<<"${XDG_CONFIG_DIRS:-/etc/xdg}:"
  said=$(grep -hsiE '^[[:space:]]*(--)?(target|prefix|root|user|dry[-_]run|python)[[:space:]]*[=:]' "${own[@]}" "${shared[@]}") || : # a file that is not there is no fault
  [ -n "$said" ] || return 0
  printf 'note: left out of the settings of pip, which installs into %s: %s\n' "$1" "$(printf %s "$said" | tr -s '[:space:]' ' ')" >&2
  PIP_SETTLED=$(mktemp) # for its owner alone: addresses may hold passwords
  merge_settings "${own[@]}" >"$PIP_SETTLED"
  export PIP_CONFIG_FILE=$PIP_SETTLED
}

# Files of settings as one, the last the strongest. An empty value is none to pip, whatever a weaker file says.
merge_settings() { # FILE...
  local file line section key id
  local -A said=() text=()
  for file in "$@"; do
    [ -f "$file" ] && [ -r "$file" ] || continue
    section='' key=''
    while IFS= read -r line || [ -n "$line" ]; do
      case ${line#"${line%%[![:space:]]*}"} in
        '' | [#\;]*) continue ;;
        \[*) section=${line#*\[} section=${section%%\]*} key='' && continue ;;
      esac
      case $line in
        [[:space:]]*) [ -z "$key" ] || { said["$section $key"]+=$'\n'$line && continue; } ;;
      esac
      key=${line%%[=:]*} key=${key//[[:space:]]/} key=${key,,} key=${key//_/-}
      said["$section ${key#--}"]=$line key=${key#--}
    done <"$file"
  done
  for section in global install download wheel uninstall; do
    for key in $ELSEWHERE; do said["$section $key"]="$key ="; done
  done
  for id in "${!said[@]}"; do text["${id% *}"]+=${said[$id]}$'\n'; done
  for section in "${!text[@]}"; do printf '[%s]\n%s' "$section" "${text[$section]}"; done
}

forget_pip() {
  rm -f -- "${PIP_SETTLED-}"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -eu
  trap forget_pip EXIT
  settle_pip "$1"
  "${@:2}"
fi
