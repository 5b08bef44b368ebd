#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# venv: Python 3.11 environment
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash venv.sh
set -eu
STEP=venv
AFTER=''
NEEDS=''
KEEP='HOME PATH LANG TMPDIR TERM'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/venv/pyvenv.cfg)
begin

cd "$ROOT"
run /usr/bin/python3.11 "$ROOT"/helpers/make_environment.py --into "$ROOT"/venv
finish
