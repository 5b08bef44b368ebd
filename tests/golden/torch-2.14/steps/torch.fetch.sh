#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# torch.fetch: torch v2.14.1 5c4886908
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash torch.fetch.sh
set -eu
STEP=torch.fetch
AFTER=''
NEEDS=network
KEEP='HOME PATH LANG TMPDIR TERM PIP_* UV_* GIT_CONFIG_* GIT_SSL_* SSL_CERT_* REQUESTS_CA_BUNDLE *_proxy *_PROXY SSH_AUTH_SOCK XDG_CACHE_HOME'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/src/torch/.git/HEAD "$ROOT"/src/torch/third_party/torch-xpu-ops/.git/HEAD "$ROOT"/src/torch/third_party/sycl-tla/.git/HEAD "$ROOT"/src/torch/third_party/onednn/.git/HEAD)
begin

cd "$ROOT"
run /usr/bin/python3.11 "$ROOT"/helpers/fetch_source.py --repo https://github.com/pytorch/pytorch --rev \
  5c4886908584029761b579af026dcfb627c84070 --tag v2.14.1 --confidence likely --into "$ROOT"/src/torch
run /usr/bin/python3.11 "$ROOT"/helpers/fetch_source.py --repo https://github.com/intel/torch-xpu-ops --pin-file \
  "$ROOT"/src/torch/third_party/xpu.txt --confidence unconfirmed --into \
  "$ROOT"/src/torch/third_party/torch-xpu-ops
run /usr/bin/python3.11 "$ROOT"/helpers/fetch_source.py --repo https://github.com/intel/sycl-tla.git --tag v0.9 \
  --confidence likely --into "$ROOT"/src/torch/third_party/sycl-tla
run /usr/bin/python3.11 "$ROOT"/helpers/fetch_source.py --repo https://github.com/uxlfoundation/oneDNN --rev \
  6db5f1ba860ca8f65c3f65c4498ad867e9642447 --tag v3.12.3 --pin-file \
  "$ROOT"/src/torch/cmake/Modules/FindMKLDNN.cmake --clones https://github.com/uxlfoundation/oneDNN --clones \
  https://github.com/oneapi-src/oneDNN --confidence likely --into "$ROOT"/src/torch/third_party/onednn
finish
