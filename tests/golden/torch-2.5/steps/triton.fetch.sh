#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR/.. disable=SC1090,SC1091,SC2016,SC2034
# triton.fetch: triton 91b14bf55
# One step of xpusetup. To do it again by hand: XPUSETUP_FORCE=1 bash triton.fetch.sh
set -eu
STEP=triton.fetch
AFTER=''
NEEDS=network
KEEP='HOME PATH LANG TMPDIR TERM PIP_* UV_* GIT_CONFIG_* GIT_SSL_* SSL_CERT_* REQUESTS_CA_BUNDLE *_proxy *_PROXY SSH_AUTH_SOCK XDG_CACHE_HOME XPUSETUP_ARCHIVES'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=("$ROOT"/src/triton/.git/HEAD "$ROOT"/src/triton/third_party/SPIRV-LLVM-Translator/.git/HEAD "$ROOT"/src/triton/third_party/SPIRV-Headers/.git/HEAD "$ROOT"/src/triton.llvm/.archive "$ROOT"/src/triton.pybind11/.archive)
begin

cd "$ROOT"
run /usr/bin/python3.11 "$ROOT"/helpers/fetch_source.py --repo \
  https://github.com/intel/intel-xpu-backend-for-triton --rev 91b14bf5593cf58a8541f3e6b9125600a867d4ef \
  --confidence confirmed --into "$ROOT"/src/triton
run /usr/bin/python3.11 "$ROOT"/helpers/fetch_source.py --repo \
  https://github.com/KhronosGroup/SPIRV-LLVM-Translator --rev dad1f0eaab8047a4f73c50ed5f3d1694b78aae97 \
  --pin-file "$ROOT"/src/triton/lib/Target/SPIRV/spirv-llvm-translator.conf --clones \
  https://github.com/KhronosGroup/SPIRV-LLVM-Translator --confidence confirmed --into \
  "$ROOT"/src/triton/third_party/SPIRV-LLVM-Translator
run /usr/bin/python3.11 "$ROOT"/helpers/fetch_source.py --repo https://github.com/KhronosGroup/SPIRV-Headers --rev \
  b73e168ca5e123dcf3dea8a34b19a5130f421ae1 --pin-file \
  "$ROOT"/src/triton/third_party/SPIRV-LLVM-Translator/spirv-headers-tag.conf --confidence confirmed --into \
  "$ROOT"/src/triton/third_party/SPIRV-Headers
run /usr/bin/python3.11 "$ROOT"/helpers/fetch_archive.py --url \
  https://github.com/intel/intel-xpu-backend-for-triton/releases/download/llvm-ce80c80d/llvm-ce80c80d-almalinux-x64.tar.gz \
  --store "$ROOT"/archives --record "$ROOT"/origins --pin-file "$ROOT"/src/triton/cmake/llvm-hash.txt --setting \
  triton.LLVM_SYSPATH --into "$ROOT"/src/triton.llvm
run /usr/bin/python3.11 "$ROOT"/helpers/fetch_archive.py --url \
  https://github.com/pybind/pybind11/archive/refs/tags/v2.13.1/pybind11-2.13.1.tar.gz --store "$ROOT"/archives \
  --record "$ROOT"/origins --sha256 51631e88960a8856f9c497027f55c9f2f9115cafb08c0005439838a05ba17bfc --into \
  "$ROOT"/src/triton.pybind11
finish
