#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# torch.fetch: torch v2.5.1 a8d6afb51
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash torch.fetch.sh
set -eu
STEP=torch.fetch
AFTER=''
NEEDS=network
KEEP='HOME PATH LANG TMPDIR TERM PIP_* UV_* GIT_CONFIG_* GIT_SSL_* SSL_CERT_* REQUESTS_CA_BUNDLE *_proxy *_PROXY SSH_AUTH_SOCK XDG_CACHE_HOME'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/src/torch/.git/HEAD "$ROOT"/src/torch/third_party/torch-xpu-ops/.git/HEAD)
begin

cd "$ROOT"
run /usr/bin/python3.11 "$ROOT"/helpers/fetch_source.py --repo https://github.com/pytorch/pytorch --rev \
  a8d6afb511a69687bbb2b7e88a3cf67917e1697e --tag v2.5.1 --confidence confirmed --into "$ROOT"/src/torch
run /usr/bin/python3.11 "$ROOT"/helpers/fetch_source.py --repo https://github.com/intel/torch-xpu-ops --rev \
  7e3d00acea9f0d3728048a5b2743de20d55c64ba --pin-file "$ROOT"/src/torch/third_party/xpu.txt --confidence likely \
  --into "$ROOT"/src/torch/third_party/torch-xpu-ops
finish
