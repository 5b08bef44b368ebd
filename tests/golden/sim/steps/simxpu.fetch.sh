#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# simxpu.fetch: simxpu 14920a327
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash simxpu.fetch.sh
set -eu
STEP=simxpu.fetch
AFTER=''
NEEDS=network
KEEP='HOME PATH LANG TMPDIR TERM PIP_* UV_* GIT_CONFIG_* GIT_SSL_* SSL_CERT_* REQUESTS_CA_BUNDLE *_proxy *_PROXY SSH_AUTH_SOCK XDG_CACHE_HOME'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/src/simxpu/.git/HEAD)
begin

cd "$ROOT"
run /usr/bin/python3.11 "$ROOT"/helpers/make_repository.py "$ROOT"/helpers/simxpu "$ROOT"/src/simxpu.git
run /usr/bin/python3.11 "$ROOT"/helpers/fetch_source.py --repo "$ROOT"/src/simxpu.git --rev \
  14920a32752e62e3b88c965384bcd7cff9cff9b7 --confidence confirmed --into "$ROOT"/src/simxpu
finish
