#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# venv: a look at the environment /opt/conda/envs/x
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash venv.sh
set -eu
STEP=venv
AFTER=''
NEEDS=''
KEEP='HOME PATH LANG TMPDIR TERM'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/results/environment.json)
begin

export PYTHONNOUSERSITE=1
cd "$ROOT"
run /opt/conda/envs/x/bin/python "$ROOT"/helpers/adopt_environment.py --prefix /opt/conda/envs/x --python 3.11 \
  --reports /opt/conda/envs/x/share/xpusetup --requires pip==26.0 --requires build==1.6.1 --requires \
  filelock==4.1.0 --requires fsspec==2026.9.0 --requires jinja2==3.1.6 --requires markupsafe==3.0.4 --requires \
  mpmath==1.3.0 --requires networkx==3.4.2 --requires ninja==1.13.2 --requires numpy==2.4.6 --requires \
  packaging==26.3 --requires pyproject-hooks==1.3.3 --requires setuptools==80.10.2 --requires sympy==1.14.0 \
  --requires typing-extensions==4.16.0 --requires wheel==0.48.0 --out "$ROOT"/results/environment.json
finish
