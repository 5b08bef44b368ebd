#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# vision.fetch: vision v0.20.1 3ac97aa91
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash vision.fetch.sh
set -eu
STEP=vision.fetch
AFTER=''
NEEDS=network
KEEP='HOME PATH LANG TMPDIR TERM PIP_* UV_* GIT_CONFIG_* GIT_SSL_* SSL_CERT_* REQUESTS_CA_BUNDLE *_proxy *_PROXY SSH_AUTH_SOCK XDG_CACHE_HOME'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/src/vision/.git/HEAD)
begin

cd "$ROOT"
run /usr/bin/python3.11 "$ROOT"/helpers/fetch_source.py --repo https://github.com/pytorch/vision --rev \
  3ac97aa9120137381ed1060f37237e44485ac2aa --tag v0.20.1 --confidence confirmed --into "$ROOT"/src/vision
finish
