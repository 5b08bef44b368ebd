#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# audio.fetch: audio v2.5.1 1661daf10
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash audio.fetch.sh
set -eu
STEP=audio.fetch
AFTER=''
NEEDS=network
KEEP='HOME PATH LANG TMPDIR TERM PIP_* UV_* GIT_CONFIG_* GIT_SSL_* SSL_CERT_* REQUESTS_CA_BUNDLE *_proxy *_PROXY SSH_AUTH_SOCK XDG_CACHE_HOME'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/src/audio/.git/HEAD)
begin

cd "$ROOT"
run /usr/bin/python3.11 "$ROOT"/helpers/fetch_source.py --repo https://github.com/pytorch/audio --rev \
  1661daf10599ca8889f092ec37814fabbe202bb0 --tag v2.5.1 --confidence confirmed --into "$ROOT"/src/audio
finish
